//! Every layer in every form, for tests that must hold for all.

use burn::tensor::Tensor;
use itergnn_nn::layers::{Aggregation, EdgeOrder, Isolated, LayerConfig, LayerKind, Update};
use itergnn_nn::{Activation, GraphTensors, InitRng, Layer};

use crate::fixtures::{EDGE_WIDTH, NODE_WIDTH, device, random};

/// Width of the hidden states in these tests.
pub(crate) const HIDDEN: usize = 4;
/// Width of the global attribute, which the GN block reads.
pub(crate) const GLOBAL: usize = 2;

fn base(kind: LayerKind) -> LayerConfig {
    LayerConfig::new(kind, NODE_WIDTH, HIDDEN, EDGE_WIDTH)
}

/// The settings of every layer that exists in a homogeneous form, not homogeneous yet.
pub(crate) fn configs() -> Vec<LayerConfig> {
    let mut configs = vec![
        base(LayerKind::MpnnMax),
        LayerConfig { edge_order: EdgeOrder::ReceiverFirst, update: Update::Replace, ..base(LayerKind::MpnnMax) },
        LayerConfig { isolated: Isolated::Zero, update: Update::Replace, ..base(LayerKind::MpnnMax) },
        LayerConfig { isolated: Isolated::Zero, ..base(LayerKind::PathSim) },
        base(LayerKind::Gcn),
        LayerConfig { add_self_loops: false, output_activation: Activation::LeakyRelu, ..base(LayerKind::Gcn) },
        base(LayerKind::Gat),
        LayerConfig { heads: 2, use_edge_attributes: true, ..base(LayerKind::Gat) },
        LayerConfig { heads: 3, concat: false, add_self_loops: false, ..base(LayerKind::Gat) },
        base(LayerKind::Gin),
        LayerConfig { eps: 0.3, train_eps: true, mlp_layers: 3, ..base(LayerKind::Gin) },
        base(LayerKind::PointNet),
        LayerConfig { input_width: 0, ..base(LayerKind::PathSim) },
    ];
    for aggregation in [Aggregation::Attention, Aggregation::Max, Aggregation::Sparsemax] {
        configs.push(base(LayerKind::Path).with_aggregation(aggregation));
        configs.push(base(LayerKind::PathSim).with_aggregation(aggregation));
    }
    for aggregation in [Aggregation::Sum, Aggregation::Mean, Aggregation::Min, Aggregation::Attention] {
        configs.push(LayerConfig { global_width: GLOBAL, aggregation, ..base(LayerKind::GnBlock) });
    }
    configs
}

/// A layer with weights from a fixed seed.
pub(crate) fn layer(config: &LayerConfig) -> Layer {
    Layer::new(config, &device(), &mut InitRng::new(3)).expect("the settings are consistent")
}

/// The input a layer of these settings reads.
pub(crate) fn input(config: &LayerConfig, graph: &GraphTensors) -> Tensor<2> {
    if config.input_width == 0 { Tensor::zeros([graph.nodes(), 0], &device()) } else { graph.node_attributes() }
}

/// A random state and random globals for a graph.
pub(crate) fn with_state(graph: GraphTensors, seed: u64) -> (GraphTensors, Tensor<2>) {
    let (nodes, graphs) = (graph.nodes(), graph.graphs());
    (graph.with_globals(random(graphs, GLOBAL, seed)), random(nodes, HIDDEN, seed + 1))
}
