//! The gradients of a GIN layer against finite differences, its instruction sets against each other, and its laws.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use itergnn_kernels::gin::{Gin, GinConfig, GinInputs, GinLayout};
use itergnn_kernels::segments::Segments;
use itergnn_kernels::settings::IterConfig;
use itergnn_kernels::{GraphStructure, Isa};

/// Central differences with steps of 1e-6 of functions of size 1 have errors of about 1e-9; kinks of ReLU that a step
/// crosses are what is left.
const DIFFERENCE_TOLERANCE: f64 = 1e-6;

/// Sums of a few hundred f32 numbers in another order, relative to the largest gradient.
const ISA_TOLERANCE: f32 = 2e-4;

const NODES: usize = 13;
const HIDDEN: usize = 5;

/// Repeatable numbers in [-1, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn take(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// A directed ring with a chord, a lone node, a line both ways, and a ring again.
fn graphs() -> GraphStructure {
    let into: [&[&[u32]]; 4] =
        [&[&[4, 2], &[0], &[1], &[2], &[3]], &[&[]], &[&[1], &[0, 2], &[1]], &[&[3], &[0], &[1], &[2]]];
    let (mut senders, mut incoming) = (Vec::new(), Vec::new());
    for graph in into {
        let base = incoming.len() as u32;
        for given in graph {
            senders.extend(given.iter().map(|sender| sender + base));
            incoming.push(given.len());
        }
    }
    assert_eq!(incoming.len(), NODES);
    let sizes = Segments::from_lengths(into.map(<[&[u32]]>::len));
    GraphStructure::new(senders, Segments::from_lengths(incoming), sizes).expect("edges stay inside their graphs")
}

fn parameters(layout: &GinLayout) -> Vec<f64> {
    let mut parameters: Vec<f64> = Numbers(9).take(layout.parameters).into_iter().map(|value| 0.7 * value).collect();
    for map in &layout.maps {
        parameters[map.scale.clone()].iter_mut().for_each(|scale| *scale += 1.0);
    }
    parameters
}

fn cases() -> Vec<GinConfig> {
    let iterated = |training_cap, epsilon, decay| GinConfig {
        input_width: HIDDEN,
        hidden_width: HIDDEN,
        iteration: Some(IterConfig { training_cap, epsilon, decay, ..IterConfig::default() }),
    };
    // The second epsilon is so large that graphs leave at different steps.
    let once = GinConfig { input_width: 3, hidden_width: HIDDEN, iteration: None };
    vec![once, iterated(3, 1e-7, 0.9), iterated(6, 0.2, 0.95)]
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// The product of the new states with fixed numbers, as a function of states and parameters.
struct Measure {
    gin: Gin<f64>,
    structure: GraphStructure,
    weights: Vec<f64>,
}

impl Measure {
    fn of(config: GinConfig) -> Self {
        let gin = Gin::new(config, Isa::Portable).unwrap();
        Self { gin, structure: graphs(), weights: Numbers(2).take(NODES * HIDDEN) }
    }

    fn at(&self, states: &[f64], parameters: &[f64]) -> f64 {
        let inputs = GinInputs { structure: &self.structure, states, parameters };
        let (output, _) = self.gin.forward(&inputs, &mut vec![0.0; self.gin.layout().statistics]).unwrap();
        output.states.iter().zip(&self.weights).map(|(state, weight)| state * weight).sum()
    }
}

#[test]
fn gradients_are_finite_differences() {
    const STEP: f64 = 1e-6;
    for config in cases() {
        let measure = Measure::of(config);
        let layout = measure.gin.layout();
        let (states, parameters) = (Numbers(5).take(NODES * config.input_width), parameters(layout));
        let inputs = GinInputs { structure: &measure.structure, states: &states, parameters: &parameters };
        let (output, tape) = measure.gin.forward(&inputs, &mut vec![0.0; layout.statistics]).unwrap();
        if config.iteration.is_some_and(|iteration| iteration.epsilon > 0.1) {
            let steps = &output.stops.steps;
            assert!(steps.iter().any(|step| *step != steps[0]), "{steps:?}");
        }
        let found = measure.gin.backward(&parameters, &tape, &measure.weights, true).unwrap();
        let moved = |values: &[f64], at: usize, by: f64| {
            let mut values = values.to_vec();
            values[at] += by;
            values
        };
        for (at, found) in found.parameters.iter().enumerate() {
            let along = |by| measure.at(&states, &moved(&parameters, at, by));
            let difference = (along(STEP) - along(-STEP)) / (2.0 * STEP);
            assert!((difference - found).abs() < DIFFERENCE_TOLERANCE, "{config:?} {at}: {difference} {found}");
        }
        for (at, found) in found.states.iter().enumerate() {
            let along = |by| measure.at(&moved(&states, at, by), &parameters);
            let difference = (along(STEP) - along(-STEP)) / (2.0 * STEP);
            assert!((difference - found).abs() < DIFFERENCE_TOLERANCE, "{config:?} {at}: {difference} {found}");
        }
        assert!(measure.gin.backward(&parameters, &tape, &measure.weights, false).unwrap().states.is_empty());
    }
}

#[test]
fn instruction_sets_agree() {
    for config in cases() {
        let Measure { gin, structure, weights } = Measure::of(config);
        let (states, parameters) = (Numbers(5).take(NODES * config.input_width), parameters(gin.layout()));
        let mut statistics = vec![0.5; gin.layout().statistics];
        let inputs = GinInputs { structure: &structure, states: &states, parameters: &parameters };
        let (expected, tape) = gin.forward(&inputs, &mut statistics).unwrap();
        let gradients = gin.backward(&parameters, &tape, &weights, true).unwrap();
        let inferred = gin.infer(&inputs, &statistics).unwrap();
        let (states, parameters, weights) = (single(&states), single(&parameters), single(&weights));
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let own = Gin::<f32>::new(config, isa).unwrap();
            let mut own_statistics = vec![0.5; statistics.len()];
            let inputs = GinInputs { structure: &structure, states: &states, parameters: &parameters };
            let (output, tape) = own.forward(&inputs, &mut own_statistics).unwrap();
            let close = |found: &[f32], expected: &[f64]| {
                let largest = expected.iter().fold(1.0_f32, |largest, value| largest.max(value.abs() as f32));
                let near = |(found, expected): (&f32, &f64)| (found - *expected as f32).abs() < ISA_TOLERANCE * largest;
                found.len() == expected.len() && found.iter().zip(expected).all(near)
            };
            assert!(close(&output.states, &expected.states), "{isa:?} {config:?}");
            assert_eq!(output.stops.steps, expected.stops.steps);
            assert!(close(&own_statistics, &statistics), "{isa:?} {config:?}");
            let found = own.backward(&parameters, &tape, &weights, true).unwrap();
            assert!(close(&found.parameters, &gradients.parameters), "{isa:?} {config:?}");
            assert!(close(&found.states, &gradients.states), "{isa:?} {config:?}");
            assert!(close(&own.infer(&inputs, &own_statistics).unwrap().states, &inferred.states), "{isa:?}");
        }
    }
}

#[test]
fn states_of_inference_do_not_depend_on_the_batch() {
    for config in cases() {
        let Measure { gin, structure, .. } = Measure::of(config);
        let (states, parameters) = (Numbers(5).take(NODES * config.input_width), parameters(gin.layout()));
        let statistics = vec![0.5; gin.layout().statistics];
        let inputs = GinInputs { structure: &structure, states: &states, parameters: &parameters };
        let together = gin.infer(&inputs, &statistics).unwrap();
        let first = structure.select_graphs(&[0]);
        let alone = GinInputs { structure: &first, states: &states[..5 * config.input_width], ..inputs };
        let alone = gin.infer(&alone, &statistics).unwrap();
        assert_eq!(alone.states.len(), 5 * HIDDEN);
        assert!(alone.states.iter().zip(&together.states).all(|(alone, together)| (alone - together).abs() < 1e-12));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let config = cases()[0];
    let Measure { gin, structure, weights } = Measure::of(config);
    let (states, parameters) = (Numbers(5).take(NODES * 3), parameters(gin.layout()));
    let mut statistics = vec![0.0; gin.layout().statistics];
    let inputs = GinInputs { structure: &structure, states: &states, parameters: &parameters };
    let (_, tape) = gin.forward(&inputs, &mut statistics).unwrap();
    assert!(gin.backward(&parameters, &tape, &weights[1..], true).is_err());
    assert!(gin.backward(&parameters[1..], &tape, &weights, true).is_err());
    assert!(gin.forward(&GinInputs { parameters: &parameters[1..], ..inputs }, &mut statistics).is_err());
    assert!(gin.forward(&inputs, &mut []).is_err());
    assert!(gin.infer(&GinInputs { states: &[0.0], ..inputs }, &statistics).is_err());
    let sizes = Segments::from_lengths([0, NODES]);
    let empty = GraphStructure::new(structure.senders(), structure.incoming().clone(), sizes).unwrap();
    assert!(gin.infer(&GinInputs { structure: &empty, ..inputs }, &statistics).is_err());
    assert!(Gin::<f32>::new(GinConfig { hidden_width: 0, ..config }, Isa::Portable).is_err());
    assert!(Gin::<f32>::new(GinConfig { input_width: 4, ..cases()[1] }, Isa::Portable).is_err());
}
