//! The reference against finite differences in double precision.

#![allow(clippy::unwrap_used)]

mod cases;

use cases::{Batch, Case, Random, configs};
use itergnn_kernels::block::{BlockConfig, reference};

/// Half-width of the central difference.
const STEP: f64 = 1e-6;

/// Truncation (step squared) and rounding (1e-16 / step) of the difference, with a margin for values of order ten.
const TOLERANCE: f64 = 2e-8;

fn loss(case: &Case<f64>) -> f64 {
    let (output, _) = reference::forward(&case.config, &case.inputs()).unwrap();
    let outputs = output.output.iter().zip(&case.output_gradient);
    let unspent = output.stops.unspent.iter().zip(&case.unspent_gradient);
    outputs.chain(unspent).map(|(value, gradient)| value * gradient).sum()
}

fn moved(case: &Case<f64>, directions: &[Vec<f64>; 4], step: f64) -> f64 {
    let mut case = case.clone();
    let fields = [&mut case.parameters, &mut case.hidden, &mut case.node_inputs, &mut case.edge_features];
    for (values, direction) in fields.into_iter().zip(directions) {
        values.iter_mut().zip(direction).for_each(|(value, direction)| *value += step * direction);
    }
    loss(&case)
}

#[test]
fn gradients_equal_finite_differences_for_every_combination() {
    let mut random = Random(7);
    let weighted = configs(2, 4, 1).into_iter().filter(BlockConfig::is_convolution);
    for config in configs(2, 5, 2).into_iter().chain(weighted) {
        let batch = Batch::random(&mut random, &[4, 0, 1, 3], 2);
        let case = Case::random(&mut random, config, batch, false);
        let (_, gradients) = case.reference();
        let analytic = [&gradients.parameters, &gradients.hidden, &gradients.node_inputs, &gradients.edge_features];
        // All at once, then each kind of input alone, so that no error can hide behind another.
        for only in 0..5 {
            let mut directions: [Vec<f64>; 4] =
                std::array::from_fn(|kind| random.signed_values(analytic[kind].len(), 1.0));
            for (kind, direction) in directions.iter_mut().enumerate() {
                if only < 4 && only != kind {
                    direction.fill(0.0);
                }
            }
            let expected: f64 = analytic
                .iter()
                .zip(&directions)
                .flat_map(|(gradient, direction)| gradient.iter().zip(direction))
                .map(|(gradient, direction)| gradient * direction)
                .sum();
            let found = (moved(&case, &directions, STEP) - moved(&case, &directions, -STEP)) / (2.0 * STEP);
            let size = expected.abs().max(1.0);
            assert!((found - expected).abs() < TOLERANCE * size, "{config:?} {only}: {found} instead of {expected}");
        }
    }
}
