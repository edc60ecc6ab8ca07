//! Self-loops that GCN and GAT add are those a user would write: one per node, with the right weight.

use burn::tensor::Tensor;
use itergnn_graph::{Attributes, Graph};
use itergnn_nn::layers::{LayerConfig, LayerKind, MessagePassing};
use itergnn_nn::{GraphTensors, InitRng, Layer};

use crate::fixtures::{EDGE_WIDTH, NODE_WIDTH, assert_close, corner_graph, device, tensors, values};

/// Edge attributes of the graphs are `f32`, so a mean computed by hand is rounded once more.
const SINGLE_ROUNDING: f64 = 1e-6;

/// The graph with its loops replaced by one per node, whose attributes are `fill(old attributes of incoming loops, of
/// other incoming edges)`.
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

/// What a layer of the graph model gives for node attributes that are its whole input.
fn output(config: &LayerConfig, graph: &GraphTensors) -> Vec<f64> {
    let layer = Layer::new(config, &device(), &mut InitRng::new(1)).expect("the settings are consistent");
    let hidden = Tensor::zeros([graph.nodes(), config.hidden_width], &device());
    values(layer.forward(graph, graph.node_attributes(), hidden))
}

#[test]
fn gat_loops_have_the_mean_of_the_other_incoming_attributes() {
    let mean = |_: &[Vec<f32>], others: &[Vec<f32>]| {
        let total = |column: usize| others.iter().map(|row| row[column]).sum::<f32>();
        (0..EDGE_WIDTH).map(|column| total(column) / others.len().max(1) as f32).collect()
    };
    let layer = LayerConfig::new(LayerKind::Gat, NODE_WIDTH, 6, EDGE_WIDTH);
    let config = LayerConfig { heads: 2, use_edge_attributes: true, ..layer };
    let (graph, by_hand) = (tensors(&corner_graph()), looped(&corner_graph(), EDGE_WIDTH, mean));
    let expected = output(&LayerConfig { add_self_loops: false, ..config }, &by_hand);
    assert_close(&output(&config, &graph), &expected, SINGLE_ROUNDING, "gat");
}

#[test]
fn gcn_loops_keep_an_old_weight_and_weigh_one_otherwise() {
    let fill = |loops: &[Vec<f32>], _: &[Vec<f32>]| loops.last().cloned().unwrap_or_else(|| vec![1.0]);
    let config = LayerConfig { use_edge_attributes: true, ..LayerConfig::new(LayerKind::Gcn, NODE_WIDTH, 3, 1) };
    let original = weighted(&corner_graph());
    let (graph, by_hand) = (tensors(&original), looped(&original, 1, fill));
    let expected = output(&LayerConfig { add_self_loops: false, ..config }, &by_hand);
    assert_close(&output(&config, &graph), &expected, 1e-12, "gcn");
}
