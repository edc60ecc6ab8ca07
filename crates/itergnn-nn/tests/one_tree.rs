//! One-tree models: the laws of a model, gradients, stops, and what is refused.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod fixtures;

use std::slice::from_ref;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use fixtures::{assert_close, device, values};
use itergnn_graph::{Attributes, Graph, GraphBatch, generators, rng};
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::store::{self, ModelCard};
use itergnn_nn::{GnnModel, GraphTensors, InitRng, Prediction, TaskWidths, named_tensors, preset, replace_tensors};
use rand::RngExt;

/// Sums in another order, in double precision, over some fifty steps.
const ROUNDING: f64 = 1e-9;

/// A complete graph of points in a square whose side is `scale`.
fn points(count: usize, seed: u64, scale: f32) -> Vec<(f32, f32)> {
    let mut generator = rng::seeded(seed);
    (0..count).map(|_| (scale * generator.random::<f32>(), scale * generator.random::<f32>())).collect()
}

fn complete(points: &[(f32, f32)]) -> Graph {
    let graph = generators::complete(points.len()).unwrap();
    let length = |[from, to]: [u32; 2]| {
        let ((ax, ay), (bx, by)) = (points[from as usize], points[to as usize]);
        (ax - bx).hypot(ay - by)
    };
    let lengths = graph.edge_list().into_iter().map(length).collect();
    let coordinates = points.iter().flat_map(|&(x, y)| [x, y]).collect();
    graph
        .with_node_attributes(Attributes::new(2, coordinates))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, lengths)))
        .unwrap()
}

fn tensors(graphs: &[Graph]) -> GraphTensors {
    GraphTensors::from_batch(&GraphBatch::new(graphs).unwrap(), &device())
}

fn model(seed: u64) -> GnnModel {
    preset("one-tree", &TaskWidths::graph(2, 1, 1)).unwrap().init(&device(), &mut InitRng::new(seed)).unwrap()
}

fn predict(model: &GnnModel, graphs: &[Graph]) -> Prediction {
    model.predict(&tensors(graphs)).unwrap()
}

#[test]
fn a_batch_is_its_graphs_one_by_one() {
    let graphs = [12, 1, 2, 3, 30].map(|count| complete(&points(count, count as u64, 1.0)));
    let model = model(4);
    let together = predict(&model, &graphs);
    for (index, graph) in graphs.iter().enumerate() {
        let alone = predict(&model, from_ref(graph));
        assert_eq!(
            (&alone.values[0], alone.loops.iterations[0]),
            (&together.values[index], together.loops.iterations[index])
        );
        assert!(!together.loops.capped[index]);
    }
}

#[test]
fn renumbering_nodes_changes_nothing() {
    let points = points(25, 5, 1.0);
    let mut renumbered = points.clone();
    renumbered.rotate_left(7);
    renumbered.swap(3, 19);
    let model = model(6);
    let (left, right) = (predict(&model, &[complete(&points)]), predict(&model, &[complete(&renumbered)]));
    assert_close(&left.values[0], &right.values[0], ROUNDING, "renumbered");
    assert_eq!(left.loops.iterations, right.loops.iterations);
}

#[test]
fn predictions_scale_and_iterations_do_not() {
    // Powers of two scale every length exactly, so the trees are the same.
    for factor in [0.25_f32, 8.0] {
        let (small, large) = (complete(&points(40, 7, 1.0)), complete(&points(40, 7, factor)));
        let model = model(8);
        let (small, large) = (predict(&model, &[small]), predict(&model, &[large]));
        assert_eq!(small.loops.iterations, large.loops.iterations);
        assert_close(&large.values[0], &[f64::from(factor) * small.values[0][0]], ROUNDING, "scaled");
    }
}

#[test]
fn training_and_inference_agree() {
    let graphs = [10, 20].map(|count| complete(&points(count, 1, 1.0)));
    let (model, graph) = (model(9), tensors(&graphs));
    let taught = model.forward(&graph, &RunOptions::training().with_cap(300)).unwrap();
    let predicted = model.predict_with(&graph, &RunOptions::inference().with_cap(300)).unwrap();
    assert_eq!(taught.iterations(&graph), predicted.loops.iterations);
    assert!(taught.auxiliary_loss.is_some() && predicted.loops.capped == [false, false]);
    assert_close(&values(taught.values), &predicted.values.concat(), ROUNDING, "training");
}

#[test]
fn every_parameter_gets_the_gradient_of_finite_differences() {
    // Small enough that no tree changes, large enough for double precision.
    const STEP: f64 = 1e-8;
    // Second derivatives times the step, and rounding (1e-16 of the length, over the step).
    const TOLERANCE: f64 = 1e-5;
    let (graph, model) = (tensors(&[complete(&points(18, 11, 1.0))]), model(3));
    let total = |model: &GnnModel| {
        let output = model.forward(&graph, &RunOptions::training()).unwrap();
        output.values.sum() + output.auxiliary_loss.unwrap()
    };
    let gradients = GradientsParams::from_grads(total(&model).backward(), &model);
    let mut found = Found { gradients, values: Vec::new() };
    model.visit(&mut found);
    assert_eq!(found.values.iter().map(Vec::len).collect::<Vec<_>>(), [5, 3]);
    for (name, gradient) in ["network.steering", "network.correction"].into_iter().zip(&found.values) {
        for (index, &gradient) in gradient.iter().enumerate() {
            let at = |shift: f64| {
                let mut moved = named_tensors(&model);
                moved.get_mut(name).unwrap().values[index] += shift;
                values(total(&replace_tensors(model.clone(), &moved)))[0]
            };
            let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert_close(&[gradient], &[difference], TOLERANCE, &format!("{name}[{index}]"));
        }
    }
}

struct Found {
    gradients: GradientsParams,
    values: Vec<Vec<f64>>,
}

impl burn::module::ModuleVisitor for Found {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        self.values.extend(self.gradients.get::<D>(param.id).map(values));
    }
}

#[test]
fn a_tour_is_seen_at_once_and_a_cap_is_reported() {
    let ring: Vec<(f32, f32)> = (0..12).map(|k| (k as f32 * std::f32::consts::FRAC_PI_6).sin_cos()).collect();
    let prediction = predict(&model(1), &[complete(&ring)]);
    // Twelve chords of a twelfth of a circle.
    assert_close(&prediction.values[0], &[24.0 * (std::f64::consts::PI / 12.0).sin()], 1e-4, "ring");
    assert!(prediction.loops.iterations[0] <= 2, "{:?}", prediction.loops.iterations);
    let graph = tensors(&[complete(&points(30, 2, 1.0))]);
    let capped = model(1).predict_with(&graph, &RunOptions::inference().with_cap(3).with_trace()).unwrap();
    assert_eq!((capped.loops.iterations[0], capped.loops.capped[0], capped.traces[0].steps.len()), (3, true, 3));
}

#[test]
fn graphs_without_a_tour_are_refused() {
    let apart = Graph::undirected(3, &[[0, 1]])
        .and_then(|graph| graph.with_node_attributes(Attributes::new(2, vec![0.0; 6])))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, vec![1.0; 2])))
        .unwrap();
    let message = model(1).predict(&tensors(&[apart])).unwrap_err().to_string();
    assert!(message.contains("node 2 is not connected"), "{message}");
}

#[test]
fn a_file_gives_the_same_predictions() {
    let (model, graph) = (model(12), complete(&points(15, 3, 1.0)));
    let bytes = store::to_bytes(&model, &ModelCard::default()).unwrap();
    let (read, _) = store::load_bytes(&bytes, &device()).unwrap();
    assert_eq!(predict(&read, from_ref(&graph)), predict(&model, from_ref(&graph)));
}
