//! The classifier's gradient against finite differences, its instruction sets against each other, and its laws.

use itergnn_kernels::classifier::{Classifier, ClassifierBatch, ClassifierLayout};
use itergnn_kernels::segments::Segments;
use itergnn_kernels::settings::{ControllerConfig, IterConfig, JumpingKnowledgeConfig, ReadoutKind};
use itergnn_kernels::{GraphStructure, Isa};

/// Central differences with steps of 1e-6 of functions of size 1 have errors of about 1e-9; kinks of ReLU that a step
/// crosses are what is left.
const DIFFERENCE_TOLERANCE: f64 = 1e-6;

/// Sums of a few hundred f32 numbers in another order, relative to the largest gradient.
const ISA_TOLERANCE: f32 = 2e-4;

/// Repeatable numbers in [-1, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

struct Graphs {
    structure: GraphStructure,
    features: Vec<f64>,
    classes: Vec<u32>,
}

/// A directed ring with a chord, a lone node, a line both ways, and a ring again.
fn graphs(width: usize) -> Graphs {
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
    let mut numbers = Numbers(5);
    let features = (0..incoming.len() * width).map(|_| numbers.next()).collect();
    let sizes = Segments::from_lengths(into.map(<[&[u32]]>::len));
    let structure = GraphStructure::new(senders, Segments::from_lengths(incoming), sizes);
    Graphs { structure: structure.expect("edges stay inside their graphs"), features, classes: vec![1, 0, 1, 0] }
}

impl Graphs {
    fn batch<'a>(&'a self, dropout: &'a [f64]) -> ClassifierBatch<'a, f64> {
        ClassifierBatch { structure: &self.structure, features: &self.features, classes: &self.classes, dropout }
    }
}

fn config(controller: Option<ControllerConfig>, pooling: ReadoutKind) -> JumpingKnowledgeConfig {
    JumpingKnowledgeConfig { hidden_width: 5, blocks: 2, pooling, controller, ..JumpingKnowledgeConfig::new(3, 2) }
}

fn parameters(layout: &ClassifierLayout) -> Vec<f64> {
    let mut numbers = Numbers(9);
    let mut parameters: Vec<f64> = (0..layout.parameters).map(|_| 0.7 * numbers.next()).collect();
    for map in layout.blocks.iter().flat_map(|block| &block.maps) {
        parameters[map.scale.clone()].iter_mut().for_each(|scale| *scale += 1.0);
    }
    parameters
}

fn cases() -> Vec<JumpingKnowledgeConfig> {
    let iterated = |training_cap, epsilon, decay| {
        let inference_cap = Some(training_cap);
        Some(ControllerConfig::Iter(IterConfig {
            training_cap,
            inference_cap,
            epsilon,
            decay,
            ..IterConfig::default()
        }))
    };
    // The second epsilon is so large that graphs leave at different steps.
    let controllers = [None, iterated(3, 1e-7, 0.9), iterated(6, 0.2, 0.95)];
    let both = |controller| [ReadoutKind::Sum, ReadoutKind::Mean].map(|pooling| config(controller, pooling));
    controllers.into_iter().flat_map(both).collect()
}

#[test]
fn gradients_are_finite_differences() {
    let graphs = graphs(3);
    let mut numbers = Numbers(2);
    for config in cases() {
        let classifier = Classifier::<f64>::new(config, Isa::Portable).unwrap();
        let parameters = parameters(classifier.layout());
        let dropout: Vec<f64> = (0..3 * 4 * 2).map(|_| if numbers.next() > 0.3 { 0.0 } else { 1.5 }).collect();
        let loss = |parameters: &[f64]| {
            let mut statistics = vec![0.0; classifier.layout().statistics];
            classifier.step(parameters, &mut statistics, &graphs.batch(&dropout)).unwrap()
        };
        let outcome = loss(&parameters);
        if config.iteration().is_some_and(|iteration| iteration.epsilon > 0.1) {
            assert!(outcome.steps.iter().any(|steps| *steps != outcome.steps[0]), "{:?}", outcome.steps);
        }
        for at in 0..parameters.len() {
            const STEP: f64 = 1e-6;
            let moved = |by: f64| {
                let mut parameters = parameters.clone();
                parameters[at] += by;
                loss(&parameters).loss
            };
            let difference = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            let found = outcome.gradient[at];
            assert!(
                (difference - found).abs() < DIFFERENCE_TOLERANCE,
                "{config:?} parameter {at}: {difference} {found}"
            );
        }
    }
}

#[test]
fn instruction_sets_agree() {
    let graphs = graphs(3);
    let features: Vec<f32> = graphs.features.iter().map(|&value| value as f32).collect();
    let single =
        ClassifierBatch { structure: &graphs.structure, features: &features, classes: &graphs.classes, dropout: &[] };
    for config in cases() {
        let double = Classifier::<f64>::new(config, Isa::Portable).unwrap();
        let parameters = parameters(double.layout());
        let mut statistics = vec![0.5; double.layout().statistics];
        let expected = double.step(&parameters, &mut statistics, &graphs.batch(&[])).unwrap();
        let scores = double.scores(&parameters, &statistics, &graphs.batch(&[])).unwrap();
        let single_parameters: Vec<f32> = parameters.iter().map(|&value| value as f32).collect();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let classifier = Classifier::<f32>::new(config, isa).unwrap();
            let mut own = vec![0.5; statistics.len()];
            let outcome = classifier.step(&single_parameters, &mut own, &single).unwrap();
            let close = |found: &[f32], expected: &[f64]| {
                let largest = expected.iter().fold(1.0_f32, |largest, value| largest.max(value.abs() as f32));
                found
                    .iter()
                    .zip(expected)
                    .all(|(found, &expected)| (found - expected as f32).abs() < ISA_TOLERANCE * largest)
            };
            assert!(close(&outcome.gradient, &expected.gradient), "{isa:?} {config:?}");
            assert!(close(&own, &statistics), "{isa:?} {config:?}");
            let found = classifier.scores(&single_parameters, &own, &single).unwrap();
            assert!(close(&found, &scores), "{isa:?} {config:?}: {found:?} {scores:?}");
            assert_eq!(outcome.steps, expected.steps);
        }
    }
}

#[test]
fn a_score_does_not_depend_on_the_batch() {
    let graphs = graphs(3);
    for config in cases() {
        let classifier = Classifier::<f64>::new(config, Isa::Portable).unwrap();
        let parameters = parameters(classifier.layout());
        let statistics = vec![0.5; classifier.layout().statistics];
        let together = classifier.scores(&parameters, &statistics, &graphs.batch(&[])).unwrap();
        let structure = graphs.structure.select_graphs(&[0]);
        let first =
            ClassifierBatch { structure: &structure, features: &graphs.features[..15], classes: &[0], dropout: &[] };
        let alone = classifier.scores(&parameters, &statistics, &first).unwrap();
        assert!(alone.iter().zip(&together).all(|(alone, together)| (alone - together).abs() < 1e-12));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let graphs = graphs(3);
    let classifier = Classifier::<f64>::new(config(None, ReadoutKind::Sum), Isa::Portable).unwrap();
    let parameters = parameters(classifier.layout());
    let mut statistics = vec![0.0; classifier.layout().statistics];
    let batch = graphs.batch(&[]);
    assert!(classifier.step(&parameters[1..], &mut statistics, &batch).is_err());
    assert!(classifier.step(&parameters, &mut [], &batch).is_err());
    assert!(classifier.step(&parameters, &mut statistics, &ClassifierBatch { dropout: &[1.0], ..batch }).is_err());
    assert!(
        classifier.step(&parameters, &mut statistics, &ClassifierBatch { classes: &[0, 1, 2, 0], ..batch }).is_err()
    );
    assert!(classifier.step(&parameters, &mut statistics, &ClassifierBatch { classes: &[0], ..batch }).is_err());
    assert!(classifier.scores(&parameters, &statistics, &ClassifierBatch { features: &[0.0], ..batch }).is_err());
    let sizes = Segments::from_lengths([0, 13]);
    let empty = GraphStructure::new(graphs.structure.senders(), graphs.structure.incoming().clone(), sizes).unwrap();
    assert!(classifier.scores(&parameters, &statistics, &ClassifierBatch { structure: &empty, ..batch }).is_err());
    let empty = JumpingKnowledgeConfig { blocks: 0, ..config(None, ReadoutKind::Sum) };
    assert!(Classifier::<f32>::new(empty, Isa::Portable).is_err());
}
