//! GAT: graph attention.

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
use crate::ops::{Segments, leaky_relu, segment_mean, segment_scale_invariant_softmax, segment_softmax, segment_sum};

/// The settings of a [`GatConv`]; names and defaults are those of PyG's `GATConv`, whose dropout on attention weights is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatConfig {
    /// Width of the node vectors.
    pub in_channels: usize,
    /// Width of the output of each head.
    pub out_channels: usize,
    /// Number of attention heads.
    pub heads: usize,
    /// Whether heads are concatenated (output width `heads * out_channels`) or averaged (`out_channels`).
    pub concat: bool,
    /// Slope of the LeakyReLU on scores.
    pub negative_slope: f64,
    /// Whether every node hears itself; its loop has the mean of the other incoming edge attributes.
    pub add_self_loops: bool,
    /// Width of the edge attributes the scores read; `None` ignores them.
    pub edge_dim: Option<usize>,
    /// Whether a bias is added.
    pub bias: bool,
    /// Whether attention must not depend on the scale of the scores.
    pub scale_invariant: bool,
    /// The activation after the layer when used as [`MessagePassing`] step; PyG's layer has none.
    pub output_activation: Activation,
}

impl GatConfig {
    /// PyG's defaults.
    pub fn new(in_channels: usize, out_channels: usize) -> Self {
        Self {
            in_channels,
            out_channels,
            heads: 1,
            concat: true,
            negative_slope: 0.2,
            add_self_loops: true,
            edge_dim: None,
            bias: true,
            scale_invariant: false,
            output_activation: Activation::Identity,
        }
    }

    pub(super) fn from_layer(config: &LayerConfig) -> Result<Self, Error> {
        let (heads, hidden) = (config.heads, config.hidden_width);
        if heads == 0 || (config.concat && !hidden.is_multiple_of(heads)) {
            let problem = format!("{heads} concatenated heads do not divide the hidden width {hidden}");
            return Err(Error::config("gat", problem));
        }
        if config.use_edge_attributes && config.edge_width == 0 {
            return Err(Error::config("gat", "attention on edge attributes needs at least one of them"));
        }
        Ok(Self {
            heads,
            concat: config.concat,
            negative_slope: config.negative_slope,
            add_self_loops: config.add_self_loops,
            edge_dim: config.use_edge_attributes.then_some(config.edge_width),
            bias: !config.homogeneous,
            scale_invariant: config.homogeneous,
            output_activation: config.output_activation,
            ..Self::new(config.node_width(), if config.concat { hidden / heads } else { hidden })
        })
    }

    /// The layer: weights by Glorot's rule, bias 0.
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> GatConv {
        let (inputs, heads, channels) = (self.in_channels, self.heads, self.out_channels);
        let width = heads * channels;
        let outputs = if self.concat { width } else { channels };
        let weight = rng.glorot([inputs, width], inputs, width, device);
        let mut attention = || rng.glorot([heads, channels], heads, channels, device);
        let (sender_attention, receiver_attention) = (attention(), attention());
        let edge = self.edge_dim.map(|edge_dim| EdgeAttention {
            weight: rng.glorot([edge_dim, width], edge_dim, width, device),
            attention: rng.glorot([heads, channels], heads, channels, device),
        });
        GatConv {
            weight,
            sender_attention,
            receiver_attention,
            edge,
            bias: self.bias.then(|| Param::from_tensor(Tensor::zeros([outputs], device))),
            config: self.clone(),
        }
    }
}

/// How edge attributes enter the attention of a [`GatConv`]: PyG's `lin_edge` and `att_edge`.
#[derive(Module, Debug)]
pub struct EdgeAttention {
    /// `[edge_dim, heads * out_channels]`.
    pub weight: Param<Tensor<2>>,
    /// `[heads, out_channels]`.
    pub attention: Param<Tensor<2>>,
}

/// `h'_j = sum over k of softmax(score)_k v_s W + b`, `score_k = LeakyReLU(a_s . v_s W + a_r . v_j W + a_e . e_k W_e)`, per head.
///
/// Without bias and with scale-invariant softmax it is positively homogeneous of degree 1 (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Velickovic et al. 2018; agrees with PyG's `GATConv` (`reference/nn`).
#[derive(Module, Debug)]
pub struct GatConv {
    /// `W`, `[in_channels, heads * out_channels]`: PyG's `lin`.
    pub weight: Param<Tensor<2>>,
    /// `a_s`, `[heads, out_channels]`: PyG's `att_src`.
    pub sender_attention: Param<Tensor<2>>,
    /// `a_r`, `[heads, out_channels]`: PyG's `att_dst`.
    pub receiver_attention: Param<Tensor<2>>,
    /// `W_e` and `a_e`.
    pub edge: Option<EdgeAttention>,
    /// `b`, `[heads * out_channels]`, or `[out_channels]` for averaged heads.
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    config: GatConfig,
}

impl GatConv {
    /// The attention layer on node vectors: what PyG's `GATConv.forward` computes.
    ///
    /// # Shapes
    ///
    /// - nodes: `[nodes, in_channels]`
    /// - output: `[nodes, heads * out_channels]`, or `[nodes, out_channels]` for averaged heads
    pub fn convolve(&self, graph: &GraphTensors, nodes: Tensor<2>) -> Tensor<2> {
        let transformed = nodes.matmul(self.weight.val());
        let output = if self.config.add_self_loops {
            let loops = graph.self_loops();
            let attributes = self.edge.as_ref().map(|_| looped_attributes(graph));
            self.attend(transformed, loops.senders.clone(), loops.receivers.clone(), attributes, &loops.incoming)
        } else {
            let attributes = self.edge.as_ref().map(|_| graph.edge_attributes());
            self.attend(transformed, graph.senders(), graph.receivers(), attributes, graph.incoming())
        };
        match &self.bias {
            Some(bias) => output + bias.val().unsqueeze(),
            None => output,
        }
    }

    fn attend(
        &self,
        nodes: Tensor<2>,
        senders: Tensor<1, Int>,
        receivers: Tensor<1, Int>,
        attributes: Option<Tensor<2>>,
        incoming: &Segments,
    ) -> Tensor<2> {
        let (heads, channels, edges) = (self.config.heads, self.config.out_channels, incoming.rows());
        let from_senders = self.project(nodes.clone(), &self.sender_attention).select(0, senders.clone());
        let from_receivers = self.project(nodes.clone(), &self.receiver_attention).select(0, receivers);
        let mut scores = from_senders + from_receivers;
        if let (Some(edge), Some(attributes)) = (&self.edge, attributes) {
            scores = scores + self.project(attributes.matmul(edge.weight.val()), &edge.attention);
        }
        let scores = leaky_relu(scores, self.config.negative_slope);
        let weights = if self.config.scale_invariant {
            segment_scale_invariant_softmax(scores, incoming)
        } else {
            segment_softmax(scores, incoming)
        };
        let messages = nodes.select(0, senders).reshape([edges, heads, channels]) * weights.unsqueeze_dim(2);
        let output = segment_sum(messages.reshape([edges, heads * channels]), incoming);
        if self.config.concat {
            output
        } else {
            output.reshape([incoming.len(), heads, channels]).mean_dim(1).squeeze_dim(1)
        }
    }

    /// The product of every head's channels with its attention vector: `[rows, heads * channels] -> [rows, heads]`.
    fn project(&self, values: Tensor<2>, attention: &Param<Tensor<2>>) -> Tensor<2> {
        let rows = values.dims()[0];
        let values = values.reshape([rows, self.config.heads, self.config.out_channels]);
        (values * attention.val().unsqueeze()).sum_dim(2).squeeze_dim(2)
    }
}

/// Edge attributes with the mean of the other incoming ones for every self-loop, `[looped edges, edge width]`.
fn looped_attributes(graph: &GraphTensors) -> Tensor<2> {
    let loops = graph.self_loops();
    let attributes = graph.edge_attributes();
    let means = segment_mean(attributes.clone().select(0, loops.kept.clone()), &loops.kept_incoming);
    Tensor::cat(vec![attributes, means], 0).select(0, loops.attribute_rows.clone())
}

impl MessagePassing for GatConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        self.config.output_activation.forward(self.convolve(graph, node_vectors(input, hidden)))
    }
}
