//! Any layer.

use burn::module::Module;
use burn::tensor::Tensor;

use super::gat::GatConv;
use super::gcn::GcnConv;
use super::gin::GinConv;
use super::gn_block::GnBlock;
use super::message_passing::MessagePassing;
use super::mpnn_max::MpnnMaxConv;
use super::path::PathConv;
use super::path_sim::PathSimConv;
use super::point_net::PointNet;
use crate::batch::GraphTensors;

/// Any of the layers, chosen by a [`LayerConfig`](super::LayerConfig).
#[derive(Module, Debug)]
pub enum Layer {
    /// See [`MpnnMaxConv`].
    MpnnMax(MpnnMaxConv),
    /// See [`PathConv`].
    Path(PathConv),
    /// See [`PathSimConv`].
    PathSim(PathSimConv),
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

impl MessagePassing for Layer {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        match self {
            Self::MpnnMax(layer) => layer.forward(graph, input, hidden),
            Self::Path(layer) => layer.forward(graph, input, hidden),
            Self::PathSim(layer) => layer.forward(graph, input, hidden),
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
