//! One whole training step of Iter-Homo-Path, plain against fused: batching, embedding, block, readout, head, loss, backward, Adam.
//!
//! 32 graphs of sizes [4, 34), hidden 64, 30 iterations (nothing stops early). `growing` weights change every state at every iteration, so that nothing can
//! be skipped; `initial` weights are those of a new model, whose states soon settle. Prints the least wall time of each engine, their ratio, and the share of
//! the fused step that is spent outside the block. An argument selects cases by name; `RUNS` sets the number of runs.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::time::Instant;

use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use itergnn_graph::generators::{erdos_renyi, lobster};
use itergnn_graph::{Attributes, Graph, GraphBatch, GraphError, rng};
use itergnn_nn::controllers::Controller;
use itergnn_nn::layers::{Aggregation, LayerKind};
use itergnn_nn::{
    BlockConfig, ControllerConfig, Engine, GnnConfig, GnnModel, GraphModelConfig, GraphTensors, InitRng, Prior,
    RunOptions, TaskWidths, named_tensors, replace_tensors,
};
use rand::{Rng, RngExt};

const GRAPHS: usize = 32;
const NODE_WIDTH: usize = 3;
/// Small enough that no graph is done before the cap, large enough for single precision.
const EPSILON: f64 = 1e-30;
/// The sum of the weights that reach a channel, on average: states grow a little at every iteration.
const GROWTH: f64 = 1.1;
/// So small that every step is the same one.
const LEARNING_RATE: f64 = 1e-12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let runs = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20);
    println!("{:<46} {:>9} {:>9} {:>7} {:>9} {:>9}", "least ms a step", "plain", "fused", "ratio", "block", "outside");
    for (family, graphs) in [("lobster", lobsters(7)?), ("er", random_graphs(7)?)] {
        for (kind, aggregation) in [
            (LayerKind::PathSim, Aggregation::Max),
            (LayerKind::PathSim, Aggregation::Attention),
            (LayerKind::Path, Aggregation::Attention),
        ] {
            for growing in [true, false] {
                let weights = if growing { "growing" } else { "initial" };
                let name = format!("{family} {kind} {aggregation}, {weights}");
                if name.contains(&filter) {
                    let bench = Bench::new(&graphs, kind, aggregation, growing)?;
                    let [plain, fused] = [Engine::Plain, Engine::Fused].map(|engine| bench.step_time(engine, runs));
                    let block = bench.block_time(runs)?;
                    let outside = 100.0 * (1.0 - block / fused).max(0.0);
                    let ratio = plain / fused;
                    println!("{name:<46} {plain:>9.2} {fused:>9.2} {ratio:>6.1}x {block:>9.2} {outside:>8.0}%");
                }
            }
        }
    }
    Ok(())
}

fn lobsters(seed: u64) -> Result<Vec<Graph>, GraphError> {
    let mut rng = rng::seeded(seed);
    (0..GRAPHS)
        .map(|_| {
            let size = rng.random_range(4..34);
            lobster(size, 0.2, 0.2, &mut rng).and_then(|graph| shortest_path(graph, &mut rng))
        })
        .collect()
}

fn random_graphs(seed: u64) -> Result<Vec<Graph>, GraphError> {
    let mut rng = rng::seeded(seed);
    (0..GRAPHS)
        .map(|_| {
            let size = rng.random_range(4..34);
            erdos_renyi(size, 0.5, true, &mut rng).and_then(|graph| shortest_path(graph, &mut rng))
        })
        .collect()
}

/// The attributes of the shortest-path task: one-hot source, target or other; weights in [0.5, 1.5).
fn shortest_path(graph: Graph, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    let (nodes, edges) = (graph.nodes(), graph.edges());
    let (source, target) = (rng.random_range(0..nodes), rng.random_range(0..nodes));
    let kind = |node| if node == source { 0 } else { 2 - usize::from(node == target) };
    let one_hot = (0..nodes).flat_map(|node| (0..NODE_WIDTH).map(move |index| f32::from(index == kind(node))));
    let weights = (0..edges).map(|_| 0.5 + rng.random::<f32>()).collect();
    graph
        .with_node_attributes(Attributes::new(NODE_WIDTH, one_hot.collect()))?
        .with_edge_attributes(Attributes::new(1, weights))
}

struct Bench<'a> {
    graphs: &'a [Graph],
    device: Device,
    model: GnnModel,
    block: BlockConfig,
}

impl<'a> Bench<'a> {
    fn new(
        graphs: &'a [Graph],
        kind: LayerKind,
        aggregation: Aggregation,
        growing: bool,
    ) -> Result<Self, itergnn_nn::Error> {
        let device = Device::flex().autodiff();
        let controller = ControllerConfig::iter_decay().with_iter(|iter| iter.epsilon = EPSILON);
        let task = TaskWidths::graph(NODE_WIDTH, 1, 1);
        let config = GraphModelConfig::new(&task, Prior::Full, kind, aggregation, controller);
        let block = config.blocks[0].clone();
        let model = GnnConfig::Graph(config).init(&device, &mut InitRng::new(3))?;
        Ok(Self { graphs, device, model: prepared(model, growing), block })
    }

    /// The least time of a whole step, in milliseconds.
    fn step_time(&self, engine: Engine, runs: usize) -> f64 {
        let options = RunOptions::training().with_engine(engine);
        let targets = TensorData::new((0..GRAPHS).map(|graph| graph as f32).collect::<Vec<_>>(), [GRAPHS, 1]);
        let mut model = self.model.clone();
        let mut adam = AdamConfig::new().with_epsilon(1e-5).init();
        least(runs, || {
            let graph = self.batch();
            let output = model.forward(&graph, &options).expect("the engine runs the model");
            assert!(output.blocks[0].steps.iter().all(|&steps| steps == 30), "a graph stopped early");
            let targets = Tensor::from_data(targets.clone(), &self.device);
            let loss = (output.values - targets).square().mean();
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = adam.step(LEARNING_RATE, model.clone(), gradients);
        })
    }

    /// The least time of the block alone with the fused engine, forward and backward, in milliseconds.
    fn block_time(&self, runs: usize) -> Result<f64, itergnn_nn::Error> {
        let rng = &mut InitRng::new(3);
        let mut controller = Controller::new(&self.block.controller, &self.block.layer, false, &self.device, rng)?;
        // The block of the model, so that the same states settle.
        let tensors = named_tensors(&self.model).into_iter();
        let own = tensors.filter_map(|(name, tensor)| Some((name.split_once("blocks.0.")?.1.to_owned(), tensor)));
        let own: BTreeMap<_, _> = own.collect();
        assert!(own.keys().eq(named_tensors(&controller).keys()), "the block has other parameters: {:?}", own.keys());
        controller = replace_tensors(controller, &own);
        let graph = self.batch();
        let shape = [graph.nodes(), self.block.layer.hidden_width];
        let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| rng.symmetric(1.0)).collect();
        let hidden = Tensor::<2>::from_data(TensorData::new(values, shape), &self.device).require_grad();
        let options = RunOptions::training().with_engine(Engine::Fused);
        Ok(least(runs, || {
            let output = controller.forward(&graph, graph.node_attributes(), hidden.clone(), &options);
            output.expect("the engine runs the block").hidden.sum().backward();
        }))
    }

    fn batch(&self) -> GraphTensors {
        GraphTensors::from_batch(&GraphBatch::new(self.graphs).expect("one kind of attributes"), &self.device)
    }
}

/// The model with a confidence of one half everywhere and, if `growing`, positive message weights that add up to [`GROWTH`] a channel.
fn prepared(model: GnnModel, growing: bool) -> GnnModel {
    let mut tensors = named_tensors(&model);
    for (_, tensor) in tensors.iter_mut().filter(|(name, _)| name.contains("confidence")) {
        tensor.values.fill(0.0);
    }
    for (_, tensor) in tensors.iter_mut().filter(|(name, _)| growing && name.contains("message")) {
        let (rows, total) = (tensor.shape[0] as f64, tensor.values.iter().map(|value| value.abs()).sum::<f64>());
        let mean = total / tensor.values.len() as f64;
        tensor.values.iter_mut().for_each(|value| *value = value.abs() * GROWTH / (mean * rows));
    }
    replace_tensors(model, &tensors)
}

/// The least time of some runs after one that is not counted, in milliseconds.
fn least(runs: usize, mut work: impl FnMut()) -> f64 {
    work();
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}
