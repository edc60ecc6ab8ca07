//! Self-loops that GCN and GAT add are those a user would write: one per node, with the right weight.

use burn::module::Module;
use itergnn_graph::{Attributes, Graph};
use itergnn_nn::layers::{GatConfig, GcnConfig};
use itergnn_nn::{GraphTensors, InitRng};

use crate::fixtures::{EDGE_WIDTH, NODE_WIDTH, assert_close, corner_graph, device, tensors, values};

/// Edge attributes of the graphs are `f32`, so a mean computed by hand is rounded once more.
const SINGLE_ROUNDING: f64 = 1e-6;

/// The graph with its loops replaced by one per node, whose attributes are `fill(old attributes of incoming loops, of other incoming edges)`.
fn looped(graph: &Graph, width: usize, fill: impl Fn(&[Vec<f32>], &[Vec<f32>]) -> Vec<f32>) -> GraphTensors {
    let (mut edges, mut attributes) = (Vec::new(), Vec::new());
    for node in 0..graph.nodes() as u32 {
        let (mut loops, mut others) = (Vec::new(), Vec::new());
        for position in graph.incoming_positions(node) {
            let row = graph.edge_attributes().row(position)[..width].to_vec();
            if graph.senders()[position] == node {
                loops.push(row);
            } else {
                edges.push([graph.senders()[position], node]);
                attributes.extend(row.clone());
                others.push(row);
            }
        }
        edges.push([node, node]);
        attributes.extend(fill(&loops, &others));
    }
    let looped = Graph::new(graph.nodes(), &edges)
        .and_then(|looped| looped.with_node_attributes(graph.node_attributes().clone()))
        .and_then(|looped| looped.with_edge_attributes(Attributes::new(width, attributes)));
    tensors(&looped.expect("the edges name existing nodes"))
}

/// The graph with the absolute value of its first edge attribute only: weights.
fn weighted(graph: &Graph) -> Graph {
    let weights = graph.edge_attributes_in_original_order().rows().map(|row| row[0].abs() + 0.1).collect();
    graph.clone().with_edge_attributes(Attributes::new(1, weights)).expect("one weight per edge")
}

#[test]
fn gat_loops_have_the_mean_of_the_other_incoming_attributes() {
    let mean = |_: &[Vec<f32>], others: &[Vec<f32>]| {
        let total = |column: usize| others.iter().map(|row| row[column]).sum::<f32>();
        (0..EDGE_WIDTH).map(|column| total(column) / others.len().max(1) as f32).collect()
    };
    let config = GatConfig { heads: 2, edge_dim: Some(EDGE_WIDTH), ..GatConfig::new(NODE_WIDTH, 3) };
    let layer = config.init(&device(), &mut InitRng::new(1));
    let without = GatConfig { add_self_loops: false, ..config }.init(&device(), &mut InitRng::new(1));
    let (graph, by_hand) = (tensors(&corner_graph()), looped(&corner_graph(), EDGE_WIDTH, mean));
    assert_eq!(layer.num_params(), without.num_params());
    let expected = values(without.convolve(&by_hand, by_hand.node_attributes()));
    assert_close(&values(layer.convolve(&graph, graph.node_attributes())), &expected, SINGLE_ROUNDING, "gat");
}

#[test]
fn gcn_loops_keep_an_old_weight_and_take_the_constant_otherwise() {
    for (improved, constant) in [(false, 1.0), (true, 2.0)] {
        let fill = |loops: &[Vec<f32>], _: &[Vec<f32>]| loops.last().cloned().unwrap_or_else(|| vec![constant]);
        let config = GcnConfig { edge_weight: true, improved, ..GcnConfig::new(NODE_WIDTH, 3) };
        let layer = config.init(&device(), &mut InitRng::new(1));
        let without = GcnConfig { add_self_loops: false, ..config }.init(&device(), &mut InitRng::new(1));
        let original = weighted(&corner_graph());
        let (graph, by_hand) = (tensors(&original), looped(&original, 1, fill));
        let expected = values(without.convolve(&by_hand, by_hand.node_attributes()));
        assert_close(&values(layer.convolve(&graph, graph.node_attributes())), &expected, 1e-12, "gcn");
    }
}
