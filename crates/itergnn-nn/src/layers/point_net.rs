//! PointNet: no messages at all.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use itergnn_kernels::settings::LayerConfig;

use super::edge_inputs::node_vectors;
use super::layer::layer_mlp;
use super::message_passing::MessagePassing;
use crate::batch::GraphTensors;
use crate::init::InitRng;
use crate::mlp::Mlp;

/// `h'_j = MLP(v_j)`: every node for itself, the graph is read by the readout only.
///
/// Positively homogeneous of degree 1 without biases (`tests/layers/homogeneity.rs`).
#[derive(Module, Debug)]
pub struct PointNet {
    /// The node function.
    pub node: Mlp,
}

impl PointNet {
    pub(super) fn init(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Self {
        Self { node: layer_mlp(config, config.node_width()).init(device, rng) }
    }
}

impl MessagePassing for PointNet {
    fn forward(&self, _graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        self.node.forward(node_vectors(input, hidden))
    }
}
