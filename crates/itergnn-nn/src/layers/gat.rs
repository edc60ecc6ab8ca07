//! GAT: graph attention.

use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor};
use itergnn_kernels::settings::LayerConfig;

use super::edge_inputs::node_vectors;
use super::message_passing::MessagePassing;
use crate::activation::activate;
use crate::batch::GraphTensors;
use crate::error::Error;
use crate::init::InitRng;
use crate::ops::{Segments, leaky_relu, segment_mean, segment_scale_invariant_softmax, segment_softmax, segment_sum};

/// How edge attributes enter the attention of a [`GatConv`]: PyG's `lin_edge` and `att_edge`.
#[derive(Module, Debug)]
pub struct EdgeAttention {
    /// `[edge width, heads * channels]`.
    pub weight: Param<Tensor<2>>,
    /// `[heads, channels]`.
    pub attention: Param<Tensor<2>>,
}

/// `h'_j = sum over k of softmax(score)_k v_s W + b`, `score_k = LeakyReLU(a_s . v_s W + a_r . v_j W + a_e . e_k W_e)`,
/// per head.
///
/// Without bias and with scale-invariant softmax it is positively homogeneous of degree 1
/// (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Velickovic et al. 2018; agrees with PyG's `GATConv` (`reference/nn`).
#[derive(Module, Debug)]
pub struct GatConv {
    /// `W`, `[node width, heads * channels]`: PyG's `lin`.
    pub weight: Param<Tensor<2>>,
    /// `a_s`, `[heads, channels]`: PyG's `att_src`.
    pub sender_attention: Param<Tensor<2>>,
    /// `a_r`, `[heads, channels]`: PyG's `att_dst`.
    pub receiver_attention: Param<Tensor<2>>,
    /// `W_e` and `a_e`.
    pub edge: Option<EdgeAttention>,
    /// `b`, `[heads * channels]`, or `[channels]` for averaged heads.
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    config: LayerConfig,
}

impl GatConv {
    /// The layer: weights by Glorot's rule, bias 0; defaults are those of PyG's `GATConv`, whose dropout on attention
    /// weights is left out.
    pub(super) fn new(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        let (heads, outputs) = (config.heads, config.hidden_width);
        if heads == 0 || (config.concat && !outputs.is_multiple_of(heads)) {
            let problem = format!("{heads} concatenated heads do not divide the hidden width {outputs}");
            return Err(Error::config("gat", problem));
        }
        if config.use_edge_attributes && config.edge_width == 0 {
            return Err(Error::config("gat", "attention on edge attributes needs at least one of them"));
        }
        let (inputs, edges, channels) = (config.node_width(), config.edge_width, channels(config));
        let width = heads * channels;
        let weight = rng.glorot([inputs, width], inputs, width, device);
        let mut attention = || rng.glorot([heads, channels], heads, channels, device);
        let (sender_attention, receiver_attention) = (attention(), attention());
        let edge = config.use_edge_attributes.then(|| EdgeAttention {
            weight: rng.glorot([edges, width], edges, width, device),
            attention: rng.glorot([heads, channels], heads, channels, device),
        });
        let bias = (!config.homogeneous).then(|| Param::from_tensor(Tensor::zeros([outputs], device)));
        Ok(Self { weight, sender_attention, receiver_attention, edge, bias, config: *config })
    }

    /// The attention layer on node vectors: what PyG's `GATConv.forward` computes.
    ///
    /// # Shapes
    ///
    /// - nodes: `[nodes, node width]`
    /// - output: `[nodes, heads * channels]`, or `[nodes, channels]` for averaged heads
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
        let (heads, channels, edges) = (self.config.heads, channels(&self.config), incoming.rows());
        let from_senders = self.project(nodes.clone(), &self.sender_attention).select(0, senders.clone());
        let from_receivers = self.project(nodes.clone(), &self.receiver_attention).select(0, receivers);
        let mut scores = from_senders + from_receivers;
        if let (Some(edge), Some(attributes)) = (&self.edge, attributes) {
            scores = scores + self.project(attributes.matmul(edge.weight.val()), &edge.attention);
        }
        let scores = leaky_relu(scores, self.config.negative_slope);
        let weights = if self.config.homogeneous {
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
        let values = values.reshape([rows, self.config.heads, channels(&self.config)]);
        (values * attention.val().unsqueeze()).sum_dim(2).squeeze_dim(2)
    }
}

/// Width of the output of each head.
fn channels(config: &LayerConfig) -> usize {
    if config.concat { config.hidden_width / config.heads } else { config.hidden_width }
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
        activate(self.config.output_activation, self.convolve(graph, node_vectors(input, hidden)))
    }
}
