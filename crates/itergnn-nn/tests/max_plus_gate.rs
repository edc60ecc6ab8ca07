//! Max-plus models with a gate: training and inference agree, gradients, and where finishing puts the threshold.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod fixtures;

use std::collections::BTreeMap;
use std::slice::from_ref;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use fixtures::{assert_close, device, values};
use itergnn_graph::solvers::grid::{CellGrid, Connectivity};
use itergnn_graph::{Attributes, Graph, GraphBatch, generators, rng};
use itergnn_nn::aligned::max_plus::MaxPlusConfig;
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::{GnnConfig, GnnModel, GraphTensors, InitRng, NamedTensor, Prediction, named_tensors, replace_tensors};
use rand::RngExt;

/// Inference and training take sums in another order, in double precision.
const ROUNDING: f64 = 1e-9;

/// Cells higher than this cannot be entered, which no model is told.
const BLOCKED_ABOVE: f32 = 0.7;

const SIDE: usize = 6;

/// A map of random heights with a source and a target; all attributes times `scale`.
fn map(seed: u64, scale: f32) -> Graph {
    let mut generator = rng::seeded(seed);
    let heights: Vec<f32> = (0..SIDE * SIDE).map(|_| generator.random()).collect();
    let free: Vec<usize> = (0..SIDE * SIDE).filter(|&cell| heights[cell] <= BLOCKED_ABOVE).collect();
    let (source, target) = (free[generator.random_range(0..free.len())], free[generator.random_range(0..free.len())]);
    marked(&heights, source, target, scale)
}

fn marked(heights: &[f32], source: usize, target: usize, scale: f32) -> Graph {
    let mark = |on: bool| scale * f32::from(u8::from(on));
    let rows = (0..heights.len()).flat_map(|cell| {
        [scale * heights[cell], mark(cell == source), mark(cell == target), mark(cell != source && cell != target)]
    });
    let graph = generators::grid(SIDE, SIDE).unwrap();
    let weights = vec![scale; graph.edges()];
    graph
        .with_node_attributes(Attributes::new(4, rows.collect()))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, weights)))
        .unwrap()
}

/// The length of the shortest way over free cells; `None` without one, or if source and target are one cell.
fn label(graph: &Graph) -> Option<f64> {
    let rows: Vec<&[f32]> = graph.node_attributes().rows().collect();
    let cell = |column: usize| rows.iter().position(|row| row[column] > 0.0).map(|cell| cell as u32);
    let (source, target) = (cell(1)?, cell(2)?);
    let cells = CellGrid::new(SIDE, SIDE, rows.iter().map(|row| row[0] <= BLOCKED_ABOVE).collect()).unwrap();
    let path = cells.shortest_path(source, target, Connectivity::Four).unwrap()?;
    (path.length > 0.0).then_some(path.length)
}

fn tensors(graphs: &[Graph]) -> GraphTensors {
    GraphTensors::from_batch(&GraphBatch::new(graphs).unwrap(), &device())
}

fn predict(model: &GnnModel, graphs: &[Graph]) -> Prediction {
    model.predict(&tensors(graphs)).unwrap()
}

/// A model with a gate that looks at heights.
fn model(config: MaxPlusConfig, seed: u64) -> GnnModel {
    let config = MaxPlusConfig { attributes: 1, ..config };
    let model = GnnConfig::MaxPlus(config).init(&device(), &mut InitRng::new(seed)).unwrap();
    let mut changed = named_tensors(&model);
    let mut set = |name: &str, value: f64| changed.get_mut(&format!("network.{name}")).unwrap().values[0] = value;
    set("confidence_bias", 0.05);
    set("confidence_changed", 0.2);
    set("gate.weight", 0.9);
    set("gate.bias", -0.6);
    replace_tensors(model, &changed)
}

fn models(seed: u64) -> Vec<(String, GnnModel)> {
    let mut models = Vec::new();
    for (residual, both_ways) in [(false, false), (true, true)] {
        for progress in [0.0, 0.5, 1.0] {
            let config = MaxPlusConfig { channels: 8, residual, both_ways, ..MaxPlusConfig::new(3, 1) };
            let name = format!("residual {residual}, both ways {both_ways}, progress {progress}");
            models.push((name, model(config, seed).at_progress(progress)));
        }
    }
    models
}

#[test]
fn training_and_inference_agree() {
    let graphs = [map(1, 1.0), map(2, 1.0), map(3, 2.0)];
    for (name, model) in models(9) {
        let graph = tensors(&graphs);
        let cap = 40;
        let taught = model.forward(&graph, &RunOptions::training().with_cap(cap)).unwrap();
        let predicted = model.predict_with(&graph, &RunOptions::inference().with_cap(cap)).unwrap();
        assert_eq!(taught.iterations(&graph), predicted.loops.iterations, "{name}");
        let rows = values(taught.values);
        for (index, prediction) in
            predicted.values.iter().enumerate().filter(|(index, _)| !predicted.loops.capped[*index])
        {
            // At most 1e-7 of the probability is not spent at inference.
            assert_close(&rows[index..=index], prediction, 1e-4, &name);
        }
    }
}

#[test]
fn predictions_scale_and_iterations_do_not() {
    for (name, model) in models(8) {
        let (small, large) = (predict(&model, from_ref(&map(7, 1.0))), predict(&model, from_ref(&map(7, 4.0))));
        assert_eq!(small.loops.iterations, large.loops.iterations, "{name}");
        assert_close(&large.values[0], &[4.0 * small.values[0][0]], ROUNDING, &name);
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
fn the_gate_has_the_gradients_of_finite_differences() {
    const STEP: f64 = 1e-6;
    const TOLERANCE: f64 = 1e-5;
    let graph = tensors(&[map(10, 1.0), map(11, 1.0)]);
    for both_ways in [false, true] {
        let settings = MaxPlusConfig { channels: 6, training_cap: 12, both_ways, ..MaxPlusConfig::new(3, 1) };
        let model = model(settings, 12);
        let tensors = named_tensors(&model);
        let total = |model: &GnnModel| {
            let output = model.forward(&graph, &RunOptions::training()).unwrap();
            output.values.sum() + output.auxiliary_loss.unwrap()
        };
        let mut found =
            Found { gradients: GradientsParams::from_grads(total(&model).backward(), &model), values: Vec::new() };
        model.visit(&mut found);
        // Weight and bias of the gate follow the seven learned parts that a model without one has.
        assert_eq!(found.values.len(), 9);
        for (name, gradient) in ["gate.weight", "gate.bias"].iter().zip(&found.values[7..]) {
            let at = |shift: f64| {
                let mut moved: BTreeMap<String, NamedTensor> = tensors.clone();
                moved.get_mut(&format!("network.{name}")).unwrap().values[0] += shift;
                values(total(&replace_tensors(model.clone(), &moved)))[0]
            };
            let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!(difference.abs() > 1e-3, "{name} matters");
            assert_close(gradient, &[difference], TOLERANCE, name);
        }
    }
}

/// Waves from source and target as training leaves them, and a gate a little off.
#[test]
fn finishing_puts_the_threshold_where_the_labels_want_it() {
    let graphs: Vec<Graph> = (0..300).map(|seed| map(seed, 1.0)).filter(|graph| label(graph).is_some()).collect();
    let targets: Vec<f64> = graphs.iter().filter_map(label).collect();
    let settings =
        MaxPlusConfig { channels: 4, heads: 1, confidence_heads: 1, attributes: 1, ..MaxPlusConfig::new(3, 1) };
    let model = GnnConfig::MaxPlus(settings).init(&device(), &mut InitRng::new(16)).unwrap();
    let mut tensors = named_tensors(&model);
    let mut set =
        |name: &str, values: &[f64]| tensors.get_mut(&format!("network.{name}")).unwrap().values = values.to_vec();
    let class = |class: usize| (0..3).map(|place| if place == class { 0.0 } else { -100.0 }).collect::<Vec<_>>();
    set("embedding", &[class(0), class(1), class(0), class(1)].concat());
    set("rate", &[-0.5, -0.5, 0.0, 0.0]);
    set("drifting", &[1.0, 1.0, 0.0, 0.0]);
    set("read", &[1.0, 1.0, 0.1, 0.1]);
    set("head", &[-2.05]);
    set("confidence_read", &[0.0, 0.0, 1.0, 1.0]);
    set("confidence_weight", &[1.0]);
    set("confidence_bias", &[0.5]);
    set("gate.weight", &[3.0]);
    set("gate.bias", &[-2.0]);
    // Finishing follows the last step, when stops and tolls are hard.
    let trained = replace_tensors(model, &tensors).at_progress(1.0);
    let (finished, refit) = trained.finish(&self::tensors(&graphs), &targets).unwrap();
    let found = named_tensors(&finished);
    assert_eq!((found["network.gate.weight"].values[0], found["network.gate.bias"].values[0]), (1.0, -0.7));
    assert!(refit.as_ref().is_some_and(|refit| refit.snapped), "{refit:?}");
    let fresh: Vec<Graph> = (1_000..1_200).map(|seed| map(seed, 1.0)).filter(|graph| label(graph).is_some()).collect();
    let prediction = predict(&finished, &fresh);
    for (graph, values) in fresh.iter().zip(&prediction.values) {
        assert_eq!(Some(values[0]), label(graph));
    }
    // The forward pass of training has the same step.
    let taught = finished.forward(&self::tensors(&fresh), &RunOptions::training()).unwrap();
    assert_close(&values(taught.values), &fresh.iter().filter_map(label).collect::<Vec<_>>(), ROUNDING, "taught");
    // A cell that cannot be entered cannot be left either: there is no way from it.
    let heights: Vec<f32> = (0..SIDE * SIDE).map(|cell| if cell == 0 { 0.9 } else { 0.1 }).collect();
    let prediction = predict(&finished, &[marked(&heights, 0, 3, 1.0)]);
    assert!(prediction.values[0][0] > 1e20 && prediction.loops.capped[0]);
}
