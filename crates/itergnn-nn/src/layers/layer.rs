//! Any layer.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use itergnn_kernels::settings::{LayerConfig, LayerKind};

use super::gat::GatConv;
use super::gcn::GcnConv;
use super::gin::GinConv;
use super::gn_block::{GnBlock, GnBlockConfig};
use super::message_passing::MessagePassing;
use super::path::PathConv;
use super::point_net::PointNet;
use crate::batch::GraphTensors;
use crate::error::Error;
use crate::init::InitRng;
use crate::mlp::MlpConfig;

/// Any of the layers, chosen by a [`LayerConfig`].
#[derive(Module, Debug)]
pub enum Layer {
    /// Mpnn-max, path and path-sim; see [`PathConv`].
    Path(PathConv),
    /// See [`GcnConv`].
    Gcn(GcnConv),
    /// See [`GatConv`].
    Gat(GatConv),
    /// See [`GinConv`].
    Gin(GinConv),
    /// See [`PointNet`].
    PointNet(PointNet),
    /// See [`GnBlock`].
    GnBlock(GnBlock),
}

impl Layer {
    /// The layer that the settings describe, with weights drawn from `rng`.
    ///
    /// # Errors
    ///
    /// When settings contradict each other; the message names them.
    pub fn new(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        if config.hidden_width == 0 {
            return Err(Error::config("layer", "the hidden state needs at least one feature"));
        }
        if config.mlp_layers == 0 {
            return Err(Error::config("layer", "an MLP needs at least one affine map"));
        }
        Ok(match config.kind {
            LayerKind::MpnnMax | LayerKind::Path | LayerKind::PathSim => Self::Path(PathConv::new(config, device, rng)),
            LayerKind::PointNet => Self::PointNet(PointNet::init(config, device, rng)),
            LayerKind::Gcn => Self::Gcn(GcnConv::new(config, device, rng)?),
            LayerKind::Gat => Self::Gat(GatConv::new(config, device, rng)?),
            LayerKind::Gin => Self::Gin(GinConv::new(config, device, rng)?),
            LayerKind::GnBlock => Self::GnBlock(GnBlockConfig::from_layer(config).init(device, rng)),
        })
    }
}

/// The MLP from `width` features to the hidden state that the settings of a layer ask for.
pub(super) fn layer_mlp(config: &LayerConfig, width: usize) -> MlpConfig {
    MlpConfig {
        input_width: width,
        output_width: config.hidden_width,
        layers: config.mlp_layers,
        bias: !config.homogeneous,
        activation: config.activation,
        final_activation: config.final_activation,
    }
}

impl MessagePassing for Layer {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Path(layer) => layer.forward(graph, input, hidden),
            Self::Gcn(layer) => layer.forward(graph, input, hidden),
            Self::Gat(layer) => layer.forward(graph, input, hidden),
            Self::Gin(layer) => layer.forward(graph, input, hidden),
            Self::PointNet(layer) => layer.forward(graph, input, hidden),
            Self::GnBlock(layer) => layer.forward(graph, input, hidden),
        }
    }

    fn forward_at(&self, step: usize, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Gin(layer) => layer.forward_at(step, graph, input, hidden),
            other => other.forward(graph, input, hidden),
        }
    }
}
