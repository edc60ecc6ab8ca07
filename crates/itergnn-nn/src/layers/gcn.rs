//! GCN: graph convolution with symmetric normalisation.

use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor};
use itergnn_kernels::settings::LayerConfig;

use super::edge_inputs::node_vectors;
use super::message_passing::MessagePassing;
use crate::activation::activate;
use crate::batch::GraphTensors;
use crate::error::Error;
use crate::init::InitRng;
use crate::ops::{Segments, segment_sum};

/// `h'_j = sum over k of w_k / sqrt(d_s d_j) v_s W + b`, where `d` is the sum of incoming weights, self-loop included.
///
/// Without bias it is linear in the node vectors, so positively homogeneous of degree 1
/// (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Kipf and Welling 2017; agrees with PyG's `GCNConv` (`reference/nn`).
#[derive(Module, Debug)]
pub struct GcnConv {
    /// `W`, `[node width, hidden width]`.
    pub weight: Param<Tensor<2>>,
    /// `b`, `[hidden width]`.
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    config: LayerConfig,
}

impl GcnConv {
    /// The layer: weight by Glorot's rule, bias 0; defaults are those of PyG's `GCNConv`.
    pub(super) fn new(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        if config.use_edge_attributes && config.edge_width != 1 {
            let found = config.edge_width;
            return Err(Error::config("gcn", format!("edge weights need one edge attribute, found {found}")));
        }
        if config.homogeneous && config.use_edge_attributes && config.add_self_loops {
            let problem = "self-loops of constant weight beside edge weights that scale are not homogeneous";
            return Err(Error::config("gcn", problem));
        }
        let (inputs, outputs) = (config.node_width(), config.hidden_width);
        Ok(Self {
            weight: rng.glorot([inputs, outputs], inputs, outputs, device),
            bias: (!config.homogeneous).then(|| Param::from_tensor(Tensor::zeros([outputs], device))),
            config: *config,
        })
    }

    /// The convolution of node vectors: what PyG's `GCNConv.forward` computes.
    ///
    /// # Shapes
    ///
    /// - nodes: `[nodes, node width]`
    /// - output: `[nodes, hidden width]`
    pub fn convolve(&self, graph: &GraphTensors, nodes: Tensor<2>) -> Tensor<2> {
        let transformed = nodes.matmul(self.weight.val());
        let given = self.config.use_edge_attributes.then(|| graph.edge_attributes());
        let output = if self.config.add_self_loops {
            let loops = graph.self_loops();
            let weights = looped_weights(graph, given);
            propagate(transformed, loops.senders.clone(), loops.receivers.clone(), weights, &loops.incoming)
        } else {
            let weights = given.unwrap_or_else(|| Tensor::ones([graph.edges(), 1], &graph.device()));
            propagate(transformed, graph.senders(), graph.receivers(), weights, graph.incoming())
        };
        match &self.bias {
            Some(bias) => output + bias.val().unsqueeze(),
            None => output,
        }
    }
}

/// The weights of the edges with self-loops, `[looped edges, 1]`: an old loop keeps its weight, a new one weighs 1.
fn looped_weights(graph: &GraphTensors, given: Option<Tensor<2>>) -> Tensor<2> {
    let device = graph.device();
    let given = given.unwrap_or_else(|| Tensor::ones([graph.edges(), 1], &device));
    let table = Tensor::cat(vec![given, Tensor::ones([1, 1], &device)], 0);
    table.select(0, graph.self_loops().weight_rows.clone())
}

fn propagate(
    nodes: Tensor<2>,
    senders: Tensor<1, Int>,
    receivers: Tensor<1, Int>,
    weights: Tensor<2>,
    incoming: &Segments,
) -> Tensor<2> {
    let degree = segment_sum(weights.clone(), incoming);
    // A node that hears nobody sends with weight 0; dividing by 1 there keeps its gradient finite.
    let silent = degree.clone().equal_elem(0.0);
    let scale = degree.mask_fill(silent.clone(), 1.0).sqrt().recip().mask_fill(silent, 0.0);
    let weights = scale.clone().select(0, senders.clone()) * weights * scale.select(0, receivers);
    segment_sum(nodes.select(0, senders) * weights, incoming)
}

impl MessagePassing for GcnConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        activate(self.config.output_activation, self.convolve(graph, node_vectors(input, hidden)))
    }
}
