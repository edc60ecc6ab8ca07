//! PathConv: the PathGNN layer of the paper's text.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use itergnn_kernels::settings::{EdgeOrder, Isolated, LayerConfig, Update};

use super::aggregator::Aggregator;
use super::edge_inputs::{both_ends, node_vectors};
use super::layer::layer_mlp;
use super::message_passing::MessagePassing;
use super::update::update;
use crate::batch::GraphTensors;
use crate::init::InitRng;
use crate::mlp::Mlp;

/// `e~_k = MLP(v_s, v_r, e_k)`, `score_k = linear(v_s, v_r, e_k)`, `agg_j = sum softmax(score)_k e~_k`, `h'_j = max(h_j, agg_j)`.
///
/// The aggregation may also be the maximum or sparsemax. Positively homogeneous of degree 1 without biases, the softmax then
/// being the scale-invariant one (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Algorithm 'One step of PathGNN'.
#[derive(Module, Debug)]
pub struct PathConv {
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

impl PathConv {
    pub(super) fn init(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Self {
        let width = 2 * config.node_width() + config.edge_width;
        Self {
            message: layer_mlp(config, width).init(device, rng),
            aggregator: Aggregator::init(config.aggregation, width, config.homogeneous, device, rng),
            edge_order: config.edge_order,
            update: config.update,
            isolated: config.isolated,
        }
    }
}

impl MessagePassing for PathConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let nodes = node_vectors(input, hidden.clone());
        let edges = both_ends(graph, &nodes, self.edge_order);
        let messages = self.message.forward(edges.clone());
        let aggregated = self.aggregator.forward(messages, || edges, graph.incoming());
        update(self.update, graph, hidden, aggregated, self.isolated)
    }
}
