//! GCN: graph convolution with symmetric normalisation.

use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::config::LayerConfig;
use super::edge_inputs::node_vectors;
use super::message_passing::MessagePassing;
use crate::activation::Activation;
use crate::batch::GraphTensors;
use crate::error::Error;
use crate::init::InitRng;
use crate::ops::{Segments, segment_sum};

/// The settings of a [`GcnConv`]; names and defaults are those of PyG's `GCNConv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GcnConfig {
    /// Width of the node vectors.
    pub in_channels: usize,
    /// Width of the output.
    pub out_channels: usize,
    /// Whether new self-loops weigh 2 instead of 1.
    pub improved: bool,
    /// Whether every node hears itself.
    pub add_self_loops: bool,
    /// Whether messages are divided by `sqrt(d_s d_r)`.
    pub normalize: bool,
    /// Whether a bias is added.
    pub bias: bool,
    /// Whether the (one) edge attribute is the weight of the edge.
    pub edge_weight: bool,
    /// The activation after the layer when used as [`MessagePassing`] step; PyG's layer has none.
    pub output_activation: Activation,
}

impl GcnConfig {
    /// PyG's defaults.
    pub fn new(in_channels: usize, out_channels: usize) -> Self {
        Self {
            in_channels,
            out_channels,
            improved: false,
            add_self_loops: true,
            normalize: true,
            bias: true,
            edge_weight: false,
            output_activation: Activation::Identity,
        }
    }

    pub(super) fn from_layer(config: &LayerConfig) -> Result<Self, Error> {
        if config.use_edge_attributes && config.edge_width != 1 {
            let found = config.edge_width;
            return Err(Error::config("gcn", format!("edge weights need one edge attribute, found {found}")));
        }
        if config.homogeneous && config.use_edge_attributes && config.add_self_loops {
            let problem = "self-loops of constant weight beside edge weights that scale are not homogeneous";
            return Err(Error::config("gcn", problem));
        }
        Ok(Self {
            add_self_loops: config.add_self_loops,
            bias: !config.homogeneous,
            edge_weight: config.use_edge_attributes,
            output_activation: config.output_activation,
            ..Self::new(config.node_width(), config.hidden_width)
        })
    }

    /// The layer: weight by Glorot's rule, bias 0.
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> GcnConv {
        let (inputs, outputs) = (self.in_channels, self.out_channels);
        GcnConv {
            weight: rng.glorot([inputs, outputs], inputs, outputs, device),
            bias: self.bias.then(|| Param::from_tensor(Tensor::zeros([outputs], device))),
            config: self.clone(),
        }
    }
}

/// `h'_j = sum over k of w_k / sqrt(d_s d_j) v_s W + b`, where `d` is the sum of incoming weights, self-loop included.
///
/// Without bias it is linear in the node vectors, so positively homogeneous of degree 1 (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Kipf and Welling 2017; agrees with PyG's `GCNConv` (`reference/nn`).
#[derive(Module, Debug)]
pub struct GcnConv {
    /// `W`, `[in_channels, out_channels]`.
    pub weight: Param<Tensor<2>>,
    /// `b`, `[out_channels]`.
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    config: GcnConfig,
}

impl GcnConv {
    /// The convolution of node vectors: what PyG's `GCNConv.forward` computes.
    ///
    /// # Shapes
    ///
    /// - nodes: `[nodes, in_channels]`
    /// - output: `[nodes, out_channels]`
    pub fn convolve(&self, graph: &GraphTensors, nodes: Tensor<2>) -> Tensor<2> {
        let transformed = nodes.matmul(self.weight.val());
        let given = self.config.edge_weight.then(|| graph.edge_attributes());
        let output = if self.config.add_self_loops {
            let loops = graph.self_loops();
            let weights = self.looped_weights(graph, given);
            self.propagate(transformed, loops.senders.clone(), loops.receivers.clone(), weights, &loops.incoming)
        } else {
            let weights = given.unwrap_or_else(|| Tensor::ones([graph.edges(), 1], &graph.device()));
            self.propagate(transformed, graph.senders(), graph.receivers(), weights, graph.incoming())
        };
        match &self.bias {
            Some(bias) => output + bias.val().unsqueeze(),
            None => output,
        }
    }

    /// The weights of the edges with self-loops, `[looped edges, 1]`: an old loop keeps its weight, a new one takes the constant.
    fn looped_weights(&self, graph: &GraphTensors, given: Option<Tensor<2>>) -> Tensor<2> {
        let device = graph.device();
        let fill = if self.config.improved { 2.0 } else { 1.0 };
        let given = given.unwrap_or_else(|| Tensor::ones([graph.edges(), 1], &device));
        let table = Tensor::cat(vec![given, Tensor::full([1, 1], fill, &device)], 0);
        table.select(0, graph.self_loops().weight_rows.clone())
    }

    fn propagate(
        &self,
        nodes: Tensor<2>,
        senders: Tensor<1, Int>,
        receivers: Tensor<1, Int>,
        weights: Tensor<2>,
        incoming: &Segments,
    ) -> Tensor<2> {
        let weights = if self.config.normalize {
            let degree = segment_sum(weights.clone(), incoming);
            // A node that hears nobody sends with weight 0; dividing by 1 there keeps its gradient finite.
            let silent = degree.clone().equal_elem(0.0);
            let scale = degree.mask_fill(silent.clone(), 1.0).sqrt().recip().mask_fill(silent, 0.0);
            scale.clone().select(0, senders.clone()) * weights * scale.select(0, receivers)
        } else {
            weights
        };
        segment_sum(nodes.select(0, senders) * weights, incoming)
    }
}

impl MessagePassing for GcnConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        self.config.output_activation.forward(self.convolve(graph, node_vectors(input, hidden)))
    }
}
