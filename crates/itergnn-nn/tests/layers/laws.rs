//! Laws every layer keeps: renumbering nodes, batching, corners.

use burn::tensor::Tensor;
use itergnn_graph::{Attributes, Graph, GraphBatch};
use itergnn_nn::GraphTensors;
use itergnn_nn::layers::{Isolated, LayerKind, MessagePassing, Update};
use proptest::prelude::*;

use crate::fixtures::{EDGE_WIDTH, NODE_WIDTH, assert_close, corner_graph, device, graph, tensors, values};
use crate::zoo::{self, HIDDEN};

/// Messages are added in another order after renumbering.
const ROUNDING: f64 = 1e-12;

/// The rows of a matrix.
fn rows(matrix: Tensor<2>) -> Vec<Vec<f64>> {
    let width = matrix.dims()[1];
    values(matrix).chunks(width).map(<[f64]>::to_vec).collect()
}

fn shuffled(nodes: usize) -> impl Strategy<Value = Vec<u32>> {
    Just((0..nodes as u32).collect::<Vec<_>>()).prop_shuffle()
}

/// The same graph with node `v` called `names[v]`.
fn renumber(graph: &Graph, names: &[u32]) -> Graph {
    let edges: Vec<[u32; 2]> = graph.edge_list().iter().map(|&[s, r]| [names[s as usize], names[r as usize]]).collect();
    let mut attributes = vec![0.0; graph.nodes() * NODE_WIDTH];
    for (node, row) in graph.node_attributes().rows().enumerate() {
        let at = names[node] as usize * NODE_WIDTH;
        attributes[at..at + NODE_WIDTH].copy_from_slice(row);
    }
    let edge_attributes = graph.edge_attributes_in_original_order();
    Graph::new(graph.nodes(), &edges)
        .and_then(|renamed| renamed.with_node_attributes(Attributes::new(NODE_WIDTH, attributes)))
        .and_then(|renamed| renamed.with_edge_attributes(edge_attributes))
        .expect("a renumbered graph is a graph")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn renumbering_the_nodes_renumbers_the_output(names in shuffled(7), seed in 0..1000_u64) {
        let original = corner_graph();
        let (graph, hidden) = zoo::with_state(tensors(&original), seed);
        let other = tensors(&renumber(&original, &names)).with_globals(graph.globals().unwrap());
        let state = rows(hidden.clone());
        let mut moved = vec![0.0; 7 * HIDDEN];
        for (node, row) in state.iter().enumerate() {
            let at = names[node] as usize * HIDDEN;
            moved[at..at + HIDDEN].copy_from_slice(row);
        }
        let moved = crate::fixtures::matrix(&moved, 7);
        for config in zoo::configs() {
            for homogeneous in [false, true] {
                let config = config.with_homogeneous(homogeneous);
                let layer = zoo::layer(&config);
                let expected = rows(layer.forward(&graph, zoo::input(&config, &graph), hidden.clone()));
                let found = rows(layer.forward(&other, zoo::input(&config, &other), moved.clone()));
                for (node, row) in expected.iter().enumerate() {
                    assert_close(&found[names[node] as usize], row, ROUNDING, &format!("{config:?}"));
                }
            }
        }
    }
}

#[test]
fn a_batch_gives_what_its_graphs_give_alone() {
    let graphs = [graph(1, &[], 1), corner_graph(), graph(3, &[[0, 1], [1, 2], [2, 2]], 2)];
    let batch = GraphTensors::from_batch(&GraphBatch::new(&graphs).unwrap(), &device());
    let (batch, hidden) = zoo::with_state(batch, 4);
    for config in zoo::configs() {
        let layer = zoo::layer(&config);
        let together = rows(layer.forward(&batch, zoo::input(&config, &batch), hidden.clone()));
        let mut alone = Vec::new();
        for index in 0..graphs.len() {
            let part = batch.select_graphs(&[index]);
            let state = hidden.clone().select(0, batch.node_indices(&[index]));
            alone.extend(rows(layer.forward(&part, zoo::input(&config, &part), state)));
        }
        assert_close(&together.concat(), &alone.concat(), ROUNDING, &format!("{config:?}"));
    }
}

#[test]
fn selected_graphs_are_those_of_a_smaller_batch() {
    let graphs = [graph(2, &[[0, 1]], 1), corner_graph(), graph(3, &[[0, 1], [1, 2], [2, 2]], 2)];
    let batch = GraphTensors::from_batch(&GraphBatch::new(&graphs).unwrap(), &device());
    let selected = batch.select_graphs(&[2, 0]);
    let direct = GraphBatch::new(&[graphs[2].clone(), graphs[0].clone()]).unwrap();
    let direct = GraphTensors::from_batch(&direct, &device());
    assert_eq!(selected.structure().senders(), direct.structure().senders());
    assert_eq!(selected.incoming(), direct.incoming());
    assert_eq!(selected.node_segments(), direct.node_segments());
    assert_eq!(selected.edge_segments(), direct.edge_segments());
    assert_eq!(values(selected.node_attributes()), values(direct.node_attributes()));
    assert_eq!(values(selected.edge_attributes()), values(direct.edge_attributes()));
    assert_eq!(selected.receivers().into_data(), direct.receivers().into_data());
    assert_eq!(selected.node_graph().into_data(), direct.node_graph().into_data());
}

#[test]
fn graphs_without_edges_pass_through_every_layer_and_back() {
    for nodes in [1, 3] {
        let (graph, hidden) = zoo::with_state(tensors(&graph(nodes, &[], 5)), 6);
        let hidden = hidden.require_grad();
        for config in zoo::configs() {
            let output = zoo::layer(&config).forward(&graph, zoo::input(&config, &graph), hidden.clone());
            assert_eq!(output.dims(), [nodes, HIDDEN]);
            let gradients = output.clone().sum().backward();
            assert!(values(output).iter().all(|value| value.is_finite()), "{config:?}");
            if let Some(gradient) = hidden.grad(&gradients) {
                assert!(values(gradient).iter().all(|value| value.is_finite()), "{config:?}");
            }
        }
    }
}

#[test]
fn gradients_reach_the_graphs_that_were_selected() {
    let graphs = [graph(2, &[[0, 1]], 1), graph(3, &[[0, 1], [1, 2], [2, 2]], 2)];
    let batch = GraphTensors::from_batch(&GraphBatch::new(&graphs).unwrap(), &device());
    let attributes = batch.node_attributes().require_grad();
    let part = batch.with_node_attributes(attributes.clone()).select_graphs(&[1]);
    let gradient = values(attributes.grad(&part.node_attributes().sum().backward()).unwrap());
    assert_eq!(gradient, [[0.0; 2 * NODE_WIDTH].as_slice(), &[1.0; 3 * NODE_WIDTH]].concat());
}

#[test]
fn a_node_without_incoming_edges_keeps_its_state() {
    let (graph, hidden) = zoo::with_state(tensors(&corner_graph()), 7);
    let hidden = hidden - 3.0;
    let before = rows(hidden.clone());
    for config in zoo::configs() {
        let path_like = matches!(config.kind, LayerKind::MpnnMax | LayerKind::Path | LayerKind::PathSim);
        if path_like {
            let after = rows(zoo::layer(&config).forward(&graph, zoo::input(&config, &graph), hidden.clone()));
            let expected = match (config.isolated, config.update) {
                (Isolated::Keep, _) => before[4].clone(),
                (Isolated::Zero, Update::KeepMax) => before[4].iter().map(|value| value.max(0.0)).collect(),
                (Isolated::Zero, Update::Replace) => vec![0.0; HIDDEN],
            };
            assert_eq!(after[4], expected, "{config:?}");
            assert_eq!(after[3], if config.isolated == Isolated::Keep { before[3].clone() } else { after[3].clone() });
        }
    }
}

#[test]
fn wrong_arrays_are_refused() {
    use itergnn_nn::GraphStructure;
    use itergnn_nn::ops::Segments;
    let structure = |senders: Vec<u32>, incoming: [usize; 3], graphs: Vec<usize>| {
        GraphStructure::new(senders, Segments::from_lengths(incoming), Segments::from_lengths(graphs))
    };
    assert!(
        structure(vec![0], [1, 1, 0], vec![3]).unwrap_err().to_string().contains("senders holds 1 values, expected 2")
    );
    assert!(structure(vec![0, 1], [1, 1, 0], vec![2]).unwrap_err().to_string().contains("expected 3"));
    assert!(structure(vec![0, 2], [1, 1, 0], vec![2, 1]).unwrap_err().to_string().contains("senders at position 1"));
    let good = structure(vec![0, 1], [1, 1, 0], vec![2, 1]).unwrap();
    let short =
        GraphTensors::from_parts(good, Tensor::zeros([2, 1], &device()), Tensor::zeros([2, EDGE_WIDTH], &device()));
    assert!(short.unwrap_err().to_string().contains("2 rows of node attributes for 3 nodes"));
}
