//! MPNN-Max: the first PathGNN variant.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use itergnn_kernels::settings::{EdgeOrder, Isolated, LayerConfig, Update};

use super::edge_inputs::{both_ends, node_vectors};
use super::layer::layer_mlp;
use super::message_passing::MessagePassing;
use super::update::update;
use crate::batch::GraphTensors;
use crate::init::InitRng;
use crate::mlp::Mlp;
use crate::ops::segment_max;

/// `e'_k = MLP(v_s, v_r, e_k)`, `agg_j = max over incoming e'_k`, `h'_j = max(h_j, agg_j)`.
///
/// Positively homogeneous of degree 1 without biases (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Appendix 'Path Graph Neural Networks', MPNN-Max. The authors' code puts the receiver first and does not take the maximum with
/// the old state; [`EdgeOrder::ReceiverFirst`] and [`Update::Replace`] give that.
#[derive(Module, Debug)]
pub struct MpnnMaxConv {
    /// The message function.
    pub message: Mlp,
    #[module(skip)]
    edge_order: EdgeOrder,
    #[module(skip)]
    update: Update,
    #[module(skip)]
    isolated: Isolated,
}

impl MpnnMaxConv {
    pub(super) fn init(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Self {
        let width = 2 * config.node_width() + config.edge_width;
        Self {
            message: layer_mlp(config, width).init(device, rng),
            edge_order: config.edge_order,
            update: config.update,
            isolated: config.isolated,
        }
    }

    /// The message of every edge, `[edges, hidden width]`.
    pub fn message(&self, graph: &GraphTensors, nodes: &Tensor<2>) -> Tensor<2> {
        self.message.forward(both_ends(graph, nodes, self.edge_order))
    }
}

impl MessagePassing for MpnnMaxConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let nodes = node_vectors(input, hidden.clone());
        let aggregated = segment_max(self.message(graph, &nodes), graph.incoming());
        update(self.update, graph, hidden, aggregated, self.isolated)
    }
}
