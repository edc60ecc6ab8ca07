//! A model whose weights are set by hand to an exact algorithm, run on graphs of a thousand nodes and more.
//!
//! Channels 0 and 1 hold `CEILING - distance` from source and target, channel 2 `CEILING - length` of a way over a node
//! that both waves have reached, and channel 3 the ceiling itself. Nobody has heard of channel 2 until the waves meet;
//! then it ends the iteration. On a line, which has one way only, the answer is exact, with weights too.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use burn::tensor::Device;
use itergnn_graph::{Attributes, Graph, GraphBatch};
use itergnn_nn::fused::Engine;
use itergnn_nn::layers::{Aggregation, LayerKind};
use itergnn_nn::{
    ControllerConfig, GnnConfig, GnnModel, GraphModelConfig, GraphTensors, InitRng, NamedTensor, Prior, RunOptions,
    TaskWidths, named_tensors, replace_tensors,
};

/// Above every distance here, and a power of two, so that single precision holds all sums of multiples of 1/32 below
/// it.
const CEILING: f32 = 8192.0;
const HIDDEN: usize = 8;

fn set(tensor: &mut NamedTensor, row: usize, column: usize, value: f32) {
    let columns = tensor.shape[1];
    tensor.values[row * columns + column] = value.into();
}

/// The model with every weight zero except those of the algorithm.
fn two_waves() -> GnnModel {
    let task = TaskWidths::graph(3, 1, 1);
    let controller = ControllerConfig::iter();
    let config = GraphModelConfig::new(&task, Prior::Core, LayerKind::PathSim, Aggregation::Max, controller)
        .with_hidden_width(HIDDEN);
    let model = GnnConfig::Graph(config).init(&Device::flex(), &mut InitRng::new(0)).unwrap();
    let mut tensors = named_tensors(&model);
    tensors.values_mut().for_each(|tensor| tensor.values.fill(0.0));
    let names = tensors.keys().cloned().collect::<Vec<_>>();
    let mut weight = |parts: &[&str], entries: &[(usize, usize, f32)]| {
        let mut fitting = names.iter().filter(|name| parts.iter().all(|part| name.contains(part)));
        let (Some(name), None) = (fitting.next(), fitting.next()) else { panic!("{parts:?} in {names:?}") };
        let tensor = tensors.get_mut(name).unwrap();
        entries.iter().for_each(|&(row, column, value)| set(tensor, row, column, value));
    };
    weight(&["embedding", "layers.0.weight"], &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]);
    let ceilings = [(0, 0, CEILING), (1, 1, CEILING), (0, 3, CEILING), (1, 3, CEILING), (2, 3, CEILING)];
    weight(&["embedding", "layers.1.weight"], &ceilings);
    let (hidden, edge) = (3, 3 + HIDDEN);
    let mut first = vec![(edge, 0, -1.0), (edge, 1, -1.0)];
    first.extend((0..2).flat_map(|channel| [(hidden + channel, channel, 1.0), (hidden + channel, 2, 1.0)]));
    first.extend((0..3).map(|input| (input, 2, -CEILING)));
    weight(&["message", "layers.0.weight"], &first);
    weight(&["message", "layers.1.weight"], &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]);
    weight(&["confidence", "weight"], &[(2, 0, 1.0)]);
    weight(&["head", "weight"], &[(2, 0, -1.0), (3, 0, 1.0)]);
    // Sure of nothing until channel 2 speaks, then of everything.
    let bias = names.iter().find(|name| name.contains("confidence") && name.contains("bias")).unwrap();
    tensors.get_mut(bias).unwrap().values[0] = -40.0;
    replace_tensors(model, &tensors)
}

/// A line of `nodes` with source and target; link `i` has weight `weight(i)`.
fn line(nodes: usize, ends: [usize; 2], weight: impl Fn(usize) -> f32) -> Graph {
    let links: Vec<[u32; 2]> = (1..nodes as u32).map(|node| [node - 1, node]).collect();
    let graph = Graph::undirected(nodes, &links).unwrap();
    let mut attributes = [0.0, 0.0, 1.0].repeat(nodes);
    for (kind, &end) in ends.iter().enumerate() {
        attributes[end * 3..][..3].fill(0.0);
        attributes[end * 3 + kind] = 1.0;
    }
    // Attributes are given in the order of the links, two directions each.
    let mut weights = vec![0.0; graph.edges()];
    for (edge, (&sender, &receiver)) in graph.senders().iter().zip(graph.receivers()).enumerate() {
        weights[graph.original_edges()[edge] as usize] = weight(sender.min(receiver) as usize);
    }
    graph
        .with_node_attributes(Attributes::new(3, attributes))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, weights)))
        .unwrap()
}

fn tensors(graphs: &[Graph]) -> GraphTensors {
    GraphTensors::from_batch(&GraphBatch::new(graphs).unwrap(), &Device::flex())
}

#[test]
fn hand_set_weights_answer_exactly_and_only_the_fronts_are_active() {
    let model = two_waves();
    let weight = |link: usize| 0.5 + (link * 7 % 32) as f32 / 32.0;
    let graphs = [
        line(3000, [700, 2100], |_| 1.0),
        line(3000, [2200, 901], weight),
        line(40, [3, 30], |_| 1.0),
        line(2, [0, 1], |_| 1.0),
    ];
    let options = RunOptions::inference().with_engine(Engine::Fused);
    let prediction = model.predict_with(&tensors(&graphs), &options).unwrap();
    let exact: f32 = (901..2200).map(weight).sum();
    assert_eq!(prediction.values, [vec![1400.0], vec![f64::from(exact)], vec![27.0], vec![1.0]]);
    // The waves take half the way each, and one more step tells of it.
    assert_eq!(prediction.loops.iterations, [701, 651, 15, 2]);
    assert_eq!(prediction.loops.capped, [false; 4]);
    // Two fronts from either end; without a common background, all nodes of the first step.
    assert!(prediction.active_shares[0] < 5.0 / 3000.0, "{:?}", prediction.active_shares);
    assert!(prediction.active_shares[1] < 5.0 / 3000.0 + 1.0 / 651.0, "{:?}", prediction.active_shares);
}

#[test]
fn the_plain_engine_answers_the_same() {
    let model = two_waves();
    let graphs = tensors(&[line(60, [7, 49], |link| 0.5 + (link % 4) as f32 / 4.0), line(9, [1, 8], |_| 1.0)]);
    let answer = |engine| model.predict_with(&graphs, &RunOptions::inference().with_engine(engine)).unwrap();
    let (fused, plain) = (answer(Engine::Fused), answer(Engine::Plain));
    assert_eq!(fused.values, plain.values);
    assert_eq!(fused.loops.iterations, plain.loops.iterations);
}

#[test]
fn a_trace_tells_how_many_nodes_changed() {
    let graphs = tensors(&[line(60, [7, 49], |_| 1.0)]);
    let prediction = two_waves().predict_with(&graphs, &RunOptions::inference().with_trace()).unwrap();
    let steps = &prediction.traces[0].steps;
    assert_eq!(steps.len(), prediction.loops.iterations[0]);
    // A front each side of either end.
    assert_eq!(steps[0].changed, [4.0 / 60.0]);
    // One of the fronts has left the line.
    assert_eq!(steps[10].changed, [2.0 / 60.0]);
}
