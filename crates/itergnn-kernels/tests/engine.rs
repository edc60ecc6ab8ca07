//! The fused engine against the reference: outputs and gradients, every combination, every instruction set.

#![allow(clippy::unwrap_used)]

mod cases;

use cases::{Batch, Case, Random, configs, relative_difference, sized};
use itergnn_kernels::Isa;
use itergnn_kernels::Real;
use itergnn_kernels::block::*;
use itergnn_kernels::settings::*;

/// Double precision: only the order of sums differs.
const TIGHT: f64 = 1e-11;
/// Single precision: a few hundred roundings of 6e-8 in sums whose terms partly cancel.
const SINGLE_OUTPUT: f64 = 2e-5;
/// The same over all iterations backwards.
const SINGLE_GRADIENT: f64 = 5e-4;

const ALL: Wanted = Wanted { node_inputs: true, edge_features: true };

fn compare<T: Real>(
    case: &Case<T>,
    engine: Engine,
    wanted: Wanted,
    expected: &(BlockOutput<f64>, BlockGradients<f64>),
    (output_tolerance, gradient_tolerance): (f64, f64),
) {
    let (output, gradients) = case.fused(engine, wanted);
    let about = (case.config, engine);
    let (stops, wanted_stops) = (&output.stops, &expected.0.stops);
    assert_eq!((&stops.steps, &stops.capped), (&wanted_stops.steps, &wanted_stops.capped), "{about:?}");
    let mut pairs = vec![
        ("output", relative_difference(&output.output, &expected.0.output), output_tolerance),
        ("unspent", relative_difference(&stops.unspent, &wanted_stops.unspent), output_tolerance),
        ("remaining", relative_difference(&stops.remaining, &wanted_stops.remaining), output_tolerance),
        ("confidences", relative_difference(&stops.confidences, &wanted_stops.confidences), output_tolerance),
        ("hidden", relative_difference(&gradients.hidden, &expected.1.hidden), gradient_tolerance),
    ];
    if wanted.node_inputs {
        let difference = relative_difference(&gradients.node_inputs, &expected.1.node_inputs);
        pairs.push(("node inputs", difference, gradient_tolerance));
    }
    if wanted.edge_features {
        let difference = relative_difference(&gradients.edge_features, &expected.1.edge_features);
        pairs.push(("edge features", difference, gradient_tolerance));
    }
    for (what, difference, tolerance) in pairs {
        assert!(difference <= tolerance, "{about:?} {wanted:?}: {what} differs by {difference}");
    }
    let largest = expected.1.parameters.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for slot in ParameterLayout::new(&case.config).slots() {
        for position in slot.range() {
            let difference = (gradients.parameters[position].to_f64() - expected.1.parameters[position]).abs();
            assert!(difference <= gradient_tolerance * largest, "{about:?} {slot:?} at {position}: {difference}");
        }
    }
}

#[test]
fn fused_equals_reference_in_double_precision() {
    let mut random = Random(22);
    let engine = Engine::with_isa(Isa::Portable).unwrap();
    for (number, config) in configs(3, 21, 1).into_iter().enumerate() {
        let batch = Batch::random(&mut random, &[9, 0, 1, 13], 3);
        // Equal edge features let path-sim share messages, unless their gradient is wanted.
        let case = Case::random(&mut random, config, batch, number % 4 < 2);
        let expected = case.reference();
        for wanted in [ALL, Wanted::default()] {
            compare(&case, engine, wanted, &expected, (TIGHT, TIGHT));
        }
    }
}

#[test]
fn every_instruction_set_equals_reference_in_single_precision() {
    let mut random = Random(3);
    for (number, config) in configs(3, 20, 2).into_iter().enumerate() {
        let batch = Batch::random(&mut random, &[2, 11, 8], 3);
        let case = Case::random(&mut random, config, batch, number % 4 < 2);
        let expected = case.reference();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let engine = Engine::with_isa(isa).unwrap();
            compare(&case.to_f32(), engine, Wanted::default(), &expected, (SINGLE_OUTPUT, SINGLE_GRADIENT));
        }
    }
}

fn widths_agree(random: &mut Random, training_cap: usize, layers: impl Fn(usize) -> Vec<LayerConfig>) {
    let iterative = IterConfig { training_cap, epsilon: 1e-3, decay: 0.9999, ..IterConfig::default() };
    for (input_width, hidden_width, edge_width) in
        [(3, 64, 1), (0, 16, 0), (1, 1, 0), (0, 33, 3), (2, 70, 1), (5, 130, 2), (4, 64, 0)]
    {
        for layer in layers(edge_width) {
            let layer = sized(layer, input_width, hidden_width, edge_width);
            let config = BlockConfig { layer, controller: ControllerConfig::Iter(iterative) };
            let batch = Batch::random(random, &[7, 5], 3);
            let case = Case::random(random, config, batch, false);
            let expected = case.reference();
            let portable = Engine::with_isa(Isa::Portable).unwrap();
            compare(&case, portable, ALL, &expected, (TIGHT, TIGHT));
            for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                let engine = Engine::with_isa(isa).unwrap();
                compare(&case.to_f32(), engine, ALL, &expected, (SINGLE_OUTPUT, SINGLE_GRADIENT));
            }
        }
    }
}

#[test]
fn widths_of_all_kinds_agree() {
    widths_agree(&mut Random(6), 10, |_| cases::layers());
}

#[test]
fn widths_of_all_kinds_agree_for_convolutions() {
    // Sums grow with every step, and rounding with them.
    widths_agree(&mut Random(5), 3, cases::convolutions);
}
