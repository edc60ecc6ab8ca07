//! The gradients of a GIN classifier against finite differences, its instruction sets against each other, and its laws.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use itergnn_kernels::gin::{Gin, GinInputs, GinLayout, GinWanted};
use itergnn_kernels::segments::Segments;
use itergnn_kernels::settings::{ControllerConfig, IterConfig, JumpingKnowledgeConfig, ReadoutKind};
use itergnn_kernels::{GraphStructure, Isa};

/// Central differences with steps of 1e-6 of functions of size 1 have errors of about 1e-9; kinks of ReLU that a step
/// crosses are what is left.
const DIFFERENCE_TOLERANCE: f64 = 1e-6;

/// Sums of a few hundred f32 numbers in another order, relative to the largest gradient.
const ISA_TOLERANCE: f32 = 2e-4;

const NODES: usize = 13;
const GRAPHS: usize = 4;
const WIDTH: usize = 3;
const HIDDEN: usize = 5;
const CLASSES: usize = 2;

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
    let into: [&[&[u32]]; GRAPHS] =
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
    for map in layout.blocks.iter().flat_map(|block| &block.maps) {
        parameters[map.scale.clone()].iter_mut().for_each(|scale| *scale += 1.0);
    }
    parameters
}

fn cases() -> Vec<JumpingKnowledgeConfig> {
    let gin = |blocks, pooling| JumpingKnowledgeConfig {
        hidden_width: HIDDEN,
        blocks,
        pooling,
        ..JumpingKnowledgeConfig::new(WIDTH, CLASSES)
    };
    let iterated = |pooling, training_cap, epsilon, decay| {
        let inference_cap = Some(training_cap);
        let iter = IterConfig { training_cap, inference_cap, epsilon, decay, ..IterConfig::default() };
        JumpingKnowledgeConfig { controller: Some(ControllerConfig::Iter(iter)), ..gin(2, pooling) }
    };
    // The last epsilon is so large that graphs leave at different steps.
    vec![
        gin(2, ReadoutKind::Sum),
        gin(1, ReadoutKind::Mean),
        gin(2, ReadoutKind::Max),
        gin(1, ReadoutKind::Min),
        iterated(ReadoutKind::Mean, 3, 1e-7, 0.9),
        iterated(ReadoutKind::Sum, 6, 0.2, 0.95),
    ]
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// The numbers of a call.
#[derive(Clone)]
struct Case<T> {
    structure: GraphStructure,
    attributes: Vec<T>,
    states: Option<Vec<T>>,
    parameters: Vec<T>,
    factors: Vec<T>,
    /// What the scores are multiplied with in the end, so that there is one number to differentiate.
    weights: Vec<T>,
}

impl<T> Case<T> {
    fn inputs(&self) -> GinInputs<'_, T> {
        let Self { structure, attributes, parameters, factors, .. } = self;
        GinInputs { structure, attributes, states: self.states.as_deref(), parameters, factors }
    }
}

impl Case<f64> {
    fn of(config: &JumpingKnowledgeConfig) -> (Gin<f64>, Self) {
        let gin = Gin::new(config, Isa::Portable).unwrap();
        let factors = Numbers(6).take((config.blocks + 1) * GRAPHS * CLASSES);
        let case = Self {
            structure: graphs(),
            attributes: Numbers(5).take(NODES * WIDTH),
            states: config.iteration().map(|_| Numbers(7).take(NODES * HIDDEN)),
            parameters: parameters(gin.layout()),
            // Some scores are dropped, some doubled.
            factors: factors.into_iter().map(|value| if value < 0.0 { 0.0 } else { 2.0 }).collect(),
            weights: Numbers(2).take(GRAPHS * CLASSES),
        };
        (gin, case)
    }

    fn measure(&self, gin: &Gin<f64>) -> f64 {
        let (output, _) = gin.forward(&self.inputs(), &mut vec![0.0; gin.layout().statistics]).unwrap();
        output.scores.iter().zip(&self.weights).map(|(score, weight)| score * weight).sum()
    }

    fn single(&self) -> Case<f32> {
        Case {
            structure: self.structure.clone(),
            attributes: single(&self.attributes),
            states: self.states.as_deref().map(single),
            parameters: single(&self.parameters),
            factors: single(&self.factors),
            weights: single(&self.weights),
        }
    }
}

const ALL: GinWanted = GinWanted { attributes: true, states: true };

#[test]
fn gradients_are_finite_differences() {
    const STEP: f64 = 1e-6;
    for config in cases() {
        let (gin, case) = Case::of(&config);
        let (output, tape) = gin.forward(&case.inputs(), &mut vec![0.0; gin.layout().statistics]).unwrap();
        assert_eq!((output.scores.len(), output.stops.len()), (GRAPHS * CLASSES, config.blocks));
        if config.iteration().is_some_and(|iteration| iteration.epsilon > 0.1) {
            let steps = &output.stops[0].steps;
            assert!(steps.iter().any(|step| *step != steps[0]), "{steps:?}");
        }
        let found = gin.backward(&tape, &case.weights, ALL).unwrap();
        let check = |what: &str, found: &[f64], place: fn(&mut Case<f64>) -> &mut Vec<f64>| {
            for (at, found) in found.iter().enumerate() {
                let along = |by: f64| {
                    let mut moved = case.clone();
                    place(&mut moved)[at] += by;
                    moved.measure(&gin)
                };
                let difference = (along(STEP) - along(-STEP)) / (2.0 * STEP);
                assert!(
                    (difference - found).abs() < DIFFERENCE_TOLERANCE,
                    "{config:?} {what} {at}: {difference} {found}"
                );
            }
        };
        assert_eq!(found.parameters.len(), case.parameters.len());
        check("parameters", &found.parameters, |case| &mut case.parameters);
        assert_eq!(found.attributes.len(), case.attributes.len());
        check("attributes", &found.attributes, |case| &mut case.attributes);
        assert_eq!(found.states.len(), case.states.as_ref().map_or(0, Vec::len));
        check("states", &found.states, |case| case.states.as_mut().unwrap());
        let fewer = gin.backward(&tape, &case.weights, GinWanted::default()).unwrap();
        assert!(fewer.states.is_empty() && fewer.attributes.is_empty());
        assert_eq!(fewer.parameters, found.parameters);
    }
}

#[test]
fn instruction_sets_agree() {
    for config in cases() {
        let (gin, case) = Case::of(&config);
        let mut statistics = vec![0.5; gin.layout().statistics];
        let (expected, tape) = gin.forward(&case.inputs(), &mut statistics).unwrap();
        let gradients = gin.backward(&tape, &case.weights, ALL).unwrap();
        let inferred = gin.infer(&case.inputs(), &statistics).unwrap();
        let case = case.single();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let own = Gin::<f32>::new(&config, isa).unwrap();
            let mut own_statistics = vec![0.5; statistics.len()];
            let (output, tape) = own.forward(&case.inputs(), &mut own_statistics).unwrap();
            let close = |found: &[f32], expected: &[f64]| {
                let largest = expected.iter().fold(1.0_f32, |largest, value| largest.max(value.abs() as f32));
                let near = |(found, expected): (&f32, &f64)| (found - *expected as f32).abs() < ISA_TOLERANCE * largest;
                found.len() == expected.len() && found.iter().zip(expected).all(near)
            };
            assert!(close(&output.scores, &expected.scores), "{isa:?} {config:?}");
            assert!(close(&output.states.concat(), &expected.states.concat()), "{isa:?} {config:?}");
            assert!(output.stops.iter().zip(&expected.stops).all(|(own, other)| own.steps == other.steps));
            assert!(close(&own_statistics, &statistics), "{isa:?} {config:?}");
            let found = own.backward(&tape, &case.weights, ALL).unwrap();
            assert!(close(&found.parameters, &gradients.parameters), "{isa:?} {config:?}");
            assert!(close(&found.attributes, &gradients.attributes), "{isa:?} {config:?}");
            assert!(close(&found.states, &gradients.states), "{isa:?} {config:?}");
            assert!(close(&own.infer(&case.inputs(), &own_statistics).unwrap().scores, &inferred.scores), "{isa:?}");
        }
    }
}

#[test]
fn scores_of_inference_do_not_depend_on_the_batch() {
    for config in cases() {
        let (gin, mut case) = Case::of(&config);
        case.factors.clear();
        let statistics = vec![0.5; gin.layout().statistics];
        let together = gin.infer(&case.inputs(), &statistics).unwrap();
        case.structure = case.structure.select_graphs(&[0]);
        case.attributes.truncate(5 * WIDTH);
        case.states.iter_mut().for_each(|states| states.truncate(5 * HIDDEN));
        let alone = gin.infer(&case.inputs(), &statistics).unwrap();
        assert_eq!((alone.scores.len(), alone.states[0].len()), (CLASSES, 5 * HIDDEN));
        let close = |alone: &[f64], together: &[f64]| alone.iter().zip(together).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&alone.scores, &together.scores));
        assert!(alone.states.iter().zip(&together.states).all(|(alone, together)| close(alone, together)));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let config = cases()[0];
    let (gin, case) = Case::of(&config);
    let mut statistics = vec![0.0; gin.layout().statistics];
    let (_, tape) = gin.forward(&case.inputs(), &mut statistics).unwrap();
    assert!(gin.backward(&tape, &case.weights[1..], ALL).is_err());
    let inputs = case.inputs();
    assert!(gin.forward(&GinInputs { parameters: &case.parameters[1..], ..inputs }, &mut statistics).is_err());
    assert!(gin.forward(&inputs, &mut []).is_err());
    assert!(gin.infer(&GinInputs { attributes: &[0.0], ..inputs }, &statistics).is_err());
    assert!(gin.infer(&GinInputs { factors: &case.factors[1..], ..inputs }, &statistics).is_err());
    // Only iterated blocks read states of their own, and they do not go without.
    assert!(gin.infer(&GinInputs { states: Some(&[0.0; NODES * HIDDEN]), ..inputs }, &statistics).is_err());
    let (iterated, other) = Case::of(&cases()[4]);
    let statistics_of_iterated = vec![0.0; iterated.layout().statistics];
    assert!(iterated.infer(&GinInputs { states: None, ..other.inputs() }, &statistics_of_iterated).is_err());
    let sizes = Segments::from_lengths([0, NODES]);
    let empty = GraphStructure::new(inputs.structure.senders(), inputs.structure.incoming().clone(), sizes).unwrap();
    assert!(gin.infer(&GinInputs { structure: &empty, factors: &[], ..inputs }, &statistics).is_err());
    let refused = |config| Gin::<f32>::new(&config, Isa::Portable).is_err();
    assert!(refused(JumpingKnowledgeConfig { hidden_width: 0, ..config }));
    assert!(refused(JumpingKnowledgeConfig { train_eps: true, ..config }));
    assert!(refused(JumpingKnowledgeConfig { pooling: ReadoutKind::Node, ..config }));
}
