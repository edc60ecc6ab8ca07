//! One model run by both engines, and everything it gives compared.

// Every test binary includes this file and uses a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use itergnn_graph::{Attributes, Graph, GraphBatch};
use itergnn_nn::controllers::{ControllerOutput, IterConfig};
use itergnn_nn::fused::{Engine, EngineChoice};
use itergnn_nn::layers::{Aggregation, LayerKind};
use itergnn_nn::{
    ControllerConfig, GnnConfig, GnnModel, GraphModelConfig, GraphTensors, InitRng, Prior, ReadoutKind, RunOptions,
    TaskWidths,
};

pub(crate) const NODE_WIDTH: usize = 3;
pub(crate) const EDGE_WIDTH: usize = 2;

/// Few enough steps that some graphs are stopped by the cap, with [`EPSILON`] some are not.
pub(crate) const CAP: usize = 5;
const EPSILON: f64 = 0.05;

/// A graph with random attributes in [-1, 1).
pub(crate) fn graph(nodes: usize, edges: &[[u32; 2]], seed: u64) -> Graph {
    let mut rng = InitRng::new(seed);
    let mut draw = |count: usize| (0..count).map(|_| rng.symmetric(1.0)).collect::<Vec<f32>>();
    Graph::new(nodes, edges)
        .and_then(|graph| graph.with_node_attributes(Attributes::new(NODE_WIDTH, draw(nodes * NODE_WIDTH))))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(EDGE_WIDTH, draw(edges.len() * EDGE_WIDTH))))
        .expect("the edges name existing nodes")
}

/// A batch whose graphs have every corner: a hub that hears everyone, a self-loop, parallel edges, a node that only
/// sends, an isolated node, several components; one node with and without a loop; no node at all; no edges at all; a
/// longer line.
pub(crate) fn corners() -> Vec<Graph> {
    let mixed = [[1, 0], [2, 0], [3, 0], [0, 0], [1, 1], [0, 1], [1, 2], [1, 2], [3, 2], [5, 6], [6, 5]];
    let line: Vec<[u32; 2]> = (0..9).flat_map(|node| [[node, node + 1], [node + 1, node]]).collect();
    vec![
        graph(7, &mixed, 11),
        graph(1, &[], 12),
        graph(1, &[[0, 0]], 13),
        graph(0, &[], 14),
        graph(3, &[], 15),
        graph(10, &line, 16),
    ]
}

/// Every layer and aggregation that the fused engine covers.
pub(crate) const LAYERS: [(LayerKind, Aggregation); 7] = [
    (LayerKind::MpnnMax, Aggregation::Max),
    (LayerKind::Path, Aggregation::Max),
    (LayerKind::Path, Aggregation::Attention),
    (LayerKind::PathSim, Aggregation::Max),
    (LayerKind::PathSim, Aggregation::Attention),
    // These have one aggregation each, whatever the setting says.
    (LayerKind::Gcn, Aggregation::Max),
    (LayerKind::Gat, Aggregation::Attention),
];

/// With biases, without, and with a bias in the confidence alone.
pub(crate) const PRIORS: [Prior; 3] = [Prior::None, Prior::Full, Prior::Core];

/// Every controller that the fused engine covers, with each of its options.
pub(crate) fn controllers() -> Vec<ControllerConfig> {
    let short = |change: fn(&mut IterConfig)| {
        move |iter: &mut IterConfig| {
            iter.epsilon = EPSILON;
            iter.training_cap = CAP;
            iter.inference_cap = Some(CAP);
            change(iter);
        }
    };
    let improved = short(|iter| (iter.normalised, iter.settle, iter.decay) = (true, Some(0.3), 0.9));
    let pooled = short(|iter| iter.pooling = ReadoutKind::Mean);
    let summed = short(|iter| (iter.pooling, iter.normalised) = (ReadoutKind::Sum, true));
    let scale_free = short(|iter| (iter.scale_free, iter.settle) = (true, Some(0.5)));
    vec![
        ControllerConfig::stack(3),
        ControllerConfig::shared(4),
        ControllerConfig::iter().with_iter(short(|_| {})),
        ControllerConfig::iter_decay().with_iter(short(|iter| iter.decay = 0.8)),
        ControllerConfig::iter_decay().with_iter(improved),
        ControllerConfig::iter().with_iter(pooled),
        ControllerConfig::iter_decay().with_iter(summed),
        ControllerConfig::iter_decay().with_iter(scale_free),
        ControllerConfig::iter().with_iter(short(|_| {})).node_wise(),
        ControllerConfig::iter_decay().with_iter(improved).node_wise(),
        ControllerConfig::iter_decay().with_iter(scale_free).node_wise(),
    ]
}

/// A model of one block.
pub(crate) fn config(
    layer: (LayerKind, Aggregation),
    prior: Prior,
    controller: &ControllerConfig,
    hidden_width: usize,
) -> GraphModelConfig {
    let task = TaskWidths::graph(NODE_WIDTH, EDGE_WIDTH, 2);
    GraphModelConfig::new(&task, prior, layer.0, layer.1, *controller)
        .with_controller(controller)
        .with_hidden_width(hidden_width)
}

pub(crate) fn batch(graphs: &[Graph], device: &Device) -> GraphTensors {
    GraphTensors::from_batch(&GraphBatch::new(graphs).expect("one kind of attributes"), device)
}

/// What a run gives, on the host.
#[derive(Debug, Clone)]
pub(crate) struct Result {
    pub(crate) numbers: BTreeMap<String, Vec<f64>>,
    pub(crate) steps: Vec<Vec<usize>>,
    pub(crate) capped: Vec<Vec<bool>>,
}

/// Outputs and all gradients of a training pass.
pub(crate) fn train(model: &GnnModel, graph: &GraphTensors, options: &RunOptions) -> Result {
    let nodes = graph.node_attributes().detach().require_grad();
    let edges = graph.edge_attributes().detach().require_grad();
    let graph = graph.clone().with_node_attributes(nodes.clone()).with_edge_attributes(edges.clone());
    let output = model.forward(&graph, options).expect("the engine runs the model");
    check_engine(&output.blocks, options);
    let hidden = output.hidden.clone().expect("a model with nodes");
    // Linear and quadratic, so that the gradient differs from place to place.
    let mut loss = weighted(output.values.clone()) + weighted(hidden.clone().square()) + hidden.clone().sum();
    let mut result = outputs(&output.blocks);
    result.numbers.insert("values".to_owned(), host(output.values));
    result.numbers.insert("hidden".to_owned(), host(hidden));
    if let Some(extra) = output.auxiliary_loss {
        result.numbers.insert("auxiliary loss".to_owned(), host(extra.clone()));
        loss = loss + extra;
    }
    let gradients = loss.backward();
    let mut visitor = Visitor { path: Vec::new(), gradients: &gradients, found: &mut result.numbers };
    model.visit(&mut visitor);
    for (name, tensor) in [("gradient of the nodes", nodes), ("gradient of the edges", edges)] {
        let gradient = tensor.grad(&gradients).map_or_else(|| vec![0.0; tensor.shape().num_elements()], host);
        result.numbers.insert(name.to_owned(), gradient);
    }
    result
}

/// Outputs of a run without gradients.
pub(crate) fn infer(model: &GnnModel, graph: &GraphTensors, options: &RunOptions) -> Result {
    let output = model.valid().forward(&without_autodiff(graph), options).expect("the engine runs the model");
    check_engine(&output.blocks, options);
    let mut result = outputs(&output.blocks);
    result.numbers.insert("values".to_owned(), host(output.values));
    result.numbers.insert("hidden".to_owned(), host(output.hidden.expect("a model with nodes")));
    result
}

fn without_autodiff(graph: &GraphTensors) -> GraphTensors {
    let nodes = graph.node_attributes().without_autodiff();
    let edges = graph.edge_attributes().without_autodiff();
    graph.clone().with_node_attributes(nodes).with_edge_attributes(edges)
}

/// A comparison of plain with plain would pass for anything.
fn check_engine(blocks: &[ControllerOutput], options: &RunOptions) {
    for block in blocks {
        assert_eq!(options.engine == Engine::Plain, matches!(block.engine.choice, EngineChoice::Plain(_)));
        assert!(block.engine.faults.is_empty(), "{:?}", block.engine.faults);
    }
}

fn outputs(blocks: &[ControllerOutput]) -> Result {
    let mut result = Result { numbers: BTreeMap::new(), steps: Vec::new(), capped: Vec::new() };
    for (index, block) in blocks.iter().enumerate() {
        result.numbers.insert(format!("confidences {index}"), block.stops.confidences.clone());
        result.numbers.insert(format!("remaining {index}"), block.stops.remaining.clone());
        result.numbers.insert(format!("unspent {index}"), block.stops.unspent.clone());
        result.steps.push(block.stops.steps.clone());
        result.capped.push(block.stops.capped.clone());
    }
    result
}

pub(crate) fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().expect("the device gives its tensors back")
}

/// The sum with fixed weights that differ everywhere.
fn weighted<const D: usize>(values: Tensor<D>) -> Tensor<1> {
    let shape = values.shape();
    let mut rng = InitRng::new(99);
    let weights: Vec<f32> = (0..shape.num_elements()).map(|_| rng.symmetric(1.0)).collect();
    (values.clone() * Tensor::from_data(TensorData::new(weights, shape), (&values.device(), values.dtype()))).sum()
}

struct Visitor<'a> {
    path: Vec<String>,
    gradients: &'a Gradients,
    found: &'a mut BTreeMap<String, Vec<f64>>,
}

impl ModuleVisitor for Visitor<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        // A parameter that nothing depends on has no gradient in one engine and zeros in the other.
        let gradient = tensor.grad(self.gradients).map_or_else(|| vec![0.0; tensor.shape().num_elements()], host);
        self.found.insert(format!("gradient of {}", self.path.join(".")), gradient);
    }
}

/// Panics unless all numbers of `found` are those of `expected`, up to `tolerance` of the largest of each kind.
pub(crate) fn assert_same(found: &Result, expected: &Result, tolerance: f64, what: &str) {
    assert_eq!(found.steps, expected.steps, "{what}: steps");
    assert_eq!(found.capped, expected.capped, "{what}: capped");
    assert!(found.numbers.keys().eq(expected.numbers.keys()), "{what}: kinds of numbers");
    for (name, expected) in &expected.numbers {
        let found = &found.numbers[name];
        assert_eq!(found.len(), expected.len(), "{what}: count of {name}");
        let scale = expected.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            let close = (found - expected).abs() <= tolerance * scale;
            assert!(close, "{what}: {name} {index} is {found}, expected {expected}");
        }
    }
}

/// Runs a model with both engines, training and inference, and compares everything.
pub(crate) fn compare(config: GraphModelConfig, graph: &GraphTensors, seed: u64, tolerance: f64) {
    let what = format!("{config:?}");
    let model = GnnConfig::Graph(config).init(&graph.device(), &mut InitRng::new(seed)).expect("a sound config");
    let (fused, plain) =
        (RunOptions::training().with_engine(Engine::Fused), RunOptions::training().with_engine(Engine::Plain));
    assert_same(&train(&model, graph, &fused), &train(&model, graph, &plain), tolerance, &what);
    let (fused, plain) =
        (RunOptions::inference().with_engine(Engine::Fused), RunOptions::inference().with_engine(Engine::Plain));
    assert_same(&infer(&model, graph, &fused), &infer(&model, graph, &plain), tolerance, &what);
}
