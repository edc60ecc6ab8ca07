//! PathConv is a graph network block, and the block updates its global attribute.

use burn::tensor::Tensor;
use itergnn_graph::GraphBatch;
use itergnn_nn::layers::{Aggregation, GnBlockConfig, GnState, LayerConfig, LayerKind, MessagePassing, NodeFunction};
use itergnn_nn::{GraphTensors, InitRng, Layer};

use crate::fixtures::{EDGE_WIDTH, NODE_WIDTH, assert_close, corner_graph, device, graph, random, tensors, values};
use crate::zoo::HIDDEN;

#[test]
fn path_and_mpnn_max_are_graph_network_blocks() {
    for (kind, aggregation) in [
        (LayerKind::Path, Aggregation::Attention),
        (LayerKind::Path, Aggregation::Sparsemax),
        (LayerKind::MpnnMax, Aggregation::Max),
    ] {
        for homogeneous in [false, true] {
            let config = LayerConfig::new(kind, NODE_WIDTH, HIDDEN, EDGE_WIDTH)
                .with_aggregation(aggregation)
                .with_homogeneous(homogeneous);
            let layer = Layer::new(&config, &device(), &mut InitRng::new(8)).unwrap();
            let block = GnBlockConfig {
                edge_to_node: aggregation,
                node_function: NodeFunction::KeepMax,
                homogeneous,
                ..GnBlockConfig::new([NODE_WIDTH + HIDDEN, EDGE_WIDTH, 0], [HIDDEN, HIDDEN, 0])
            };
            let mut block = block.init(&device(), &mut InitRng::new(9));
            match layer.clone() {
                Layer::Path(path) => (block.edge, block.edge_to_node) = (path.message, path.aggregator),
                _ => panic!("a path layer"),
            }
            let graph = tensors(&corner_graph());
            let hidden = random(graph.nodes(), HIDDEN, 10);
            let expected = values(layer.forward(&graph, graph.node_attributes(), hidden.clone()));
            assert_eq!(values(block.forward(&graph, graph.node_attributes(), hidden)), expected);
        }
    }
}

#[test]
fn the_global_attribute_is_read_and_updated_per_graph() {
    let graphs = [corner_graph(), graph(2, &[[0, 1]], 3), graph(1, &[], 4)];
    let batch = GraphTensors::from_batch(&GraphBatch::new(&graphs).unwrap(), &device());
    let config = GnBlockConfig {
        node_to_global: Aggregation::Max,
        edge_to_global: Aggregation::Attention,
        ..GnBlockConfig::new([NODE_WIDTH, EDGE_WIDTH, 2], [5, 4, 3])
    };
    let block = config.init(&device(), &mut InitRng::new(2));
    let globals = random(3, 2, 6);
    let state = |batch: &GraphTensors, globals: Tensor<2>| GnState {
        nodes: batch.node_attributes(),
        edges: batch.edge_attributes(),
        globals: Some(globals),
    };
    let together = block.step(&batch, state(&batch, globals.clone()));
    assert_eq!(together.nodes.dims(), [10, 5]);
    assert_eq!(together.edges.dims(), [12, 4]);
    let updated = values(together.globals.unwrap());
    assert_eq!(updated.len(), 3 * 3);
    for index in 0..3 {
        let alone = batch.select_graphs(&[index]);
        let own = globals.clone().narrow(0, index, 1);
        let found = values(block.step(&alone, state(&alone, own.clone())).globals.unwrap());
        assert_close(&found, &updated[3 * index..3 * index + 3], 1e-12, "globals of one graph");
        let moved = values(block.step(&alone, state(&alone, own + 1.0)).nodes);
        let before = values(block.step(&alone, state(&alone, globals.clone().narrow(0, index, 1))).nodes);
        assert!(
            moved.iter().zip(before).any(|(moved, before)| (moved - before).abs() > 1e-6),
            "nodes read the globals"
        );
    }
}
