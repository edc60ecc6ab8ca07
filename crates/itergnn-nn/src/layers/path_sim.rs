//! PathSimConv: PathConv whose messages do not read the receiver.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use itergnn_kernels::settings::{EdgeOrder, Isolated, LayerConfig, Update};

use super::aggregator::Aggregator;
use super::edge_inputs::{both_ends, node_vectors, sender_end};
use super::layer::layer_mlp;
use super::message_passing::MessagePassing;
use super::update::update;
use crate::batch::GraphTensors;
use crate::init::InitRng;
use crate::mlp::Mlp;

/// As [`PathConv`](super::PathConv), with `e~_k = MLP(v_s, e_k)`; the score still reads `(v_s, v_r, e_k)`.
///
/// Positively homogeneous of degree 1 without biases (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Appendix 'Path Graph Neural Networks', PathGNN-sim.
#[derive(Module, Debug)]
pub struct PathSimConv {
    /// The message function.
    pub message: Mlp,
    /// The aggregation with its score.
    pub aggregator: Aggregator,
    #[module(skip)]
    edge_order: EdgeOrder,
    #[module(skip)]
    update: Update,
    #[module(skip)]
    isolated: Isolated,
}

impl PathSimConv {
    pub(super) fn init(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Self {
        let (node_width, edge_width) = (config.node_width(), config.edge_width);
        let key_width = 2 * node_width + edge_width;
        Self {
            message: layer_mlp(config, node_width + edge_width).init(device, rng),
            aggregator: Aggregator::init(config.aggregation, key_width, config.homogeneous, device, rng),
            edge_order: config.edge_order,
            update: config.update,
            isolated: config.isolated,
        }
    }
}

impl MessagePassing for PathSimConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let nodes = node_vectors(input, hidden.clone());
        let messages = self.message.forward(sender_end(graph, &nodes));
        let keys = || both_ends(graph, &nodes, self.edge_order);
        let aggregated = self.aggregator.forward(messages, keys, graph.incoming());
        update(self.update, graph, hidden, aggregated, self.isolated)
    }
}
