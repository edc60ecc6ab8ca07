//! GIN: the graph isomorphism layer.

use burn::module::{Module, Param};
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::batch_norm::batch_normalise;
use super::config::LayerConfig;
use super::edge_inputs::node_vectors;
use super::message_passing::MessagePassing;
use crate::batch::GraphTensors;
use crate::error::Error;
use crate::init::InitRng;
use crate::mlp::{Mlp, MlpConfig};
use crate::ops::segment_sum;

/// The settings of a [`GinConv`]; `eps` and `train_eps` are those of PyG's `GINConv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GinConfig {
    /// The node function.
    pub mlp: MlpConfig,
    /// The (initial) value of eps.
    pub eps: f64,
    /// Whether eps is learned.
    pub train_eps: bool,
    /// Batch normalisation after every affine map, as in the GIN paper's classifiers.
    pub batch_norm: bool,
}

impl GinConfig {
    /// PyG's defaults around `mlp`.
    pub fn new(mlp: MlpConfig) -> Self {
        Self { mlp, eps: 0.0, train_eps: false, batch_norm: false }
    }

    pub(super) fn from_layer(config: &LayerConfig) -> Result<Self, Error> {
        if config.homogeneous && config.batch_norm {
            return Err(Error::config("gin", "batch normalisation is not homogeneous"));
        }
        Ok(Self {
            mlp: config.mlp(config.node_width()),
            eps: config.eps,
            train_eps: config.train_eps,
            batch_norm: config.batch_norm,
        })
    }

    /// The layer with weights drawn from `rng`.
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> GinConv {
        let norm = |&width: &usize| BatchNormConfig::new(width).init(device);
        GinConv {
            mlp: self.mlp.init(device, rng),
            norms: if self.batch_norm { self.mlp.widths()[1..].iter().map(norm).collect() } else { Vec::new() },
            learned_eps: self.train_eps.then(|| Param::from_tensor(Tensor::full([1], self.eps, device))),
            eps: self.eps,
        }
    }
}

/// `h'_j = MLP((1 + eps) v_j + sum over incoming v_s)`.
///
/// Positively homogeneous of degree 1 without biases and batch normalisation (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Xu et al. 2019; agrees with PyG's `GINConv` (`reference/nn`).
#[derive(Module, Debug)]
pub struct GinConv {
    /// The node function.
    pub mlp: Mlp,
    /// One batch normalisation per affine map of the node function, between map and activation; empty without.
    pub norms: Vec<BatchNorm>,
    /// eps where it is learned, `[1]`.
    pub learned_eps: Option<Param<Tensor<1>>>,
    /// eps where it is constant.
    pub eps: f64,
}

impl GinConv {
    /// The layer on node vectors: what PyG's `GINConv.forward` computes.
    ///
    /// # Shapes
    ///
    /// - nodes: `[nodes, input width]`
    /// - output: `[nodes, output width]`
    pub fn convolve(&self, graph: &GraphTensors, nodes: Tensor<2>) -> Tensor<2> {
        let aggregated = segment_sum(graph.at_senders(nodes.clone()), graph.incoming());
        let own = match &self.learned_eps {
            Some(eps) => nodes * (eps.val() + 1.0).unsqueeze(),
            None => nodes * (1.0 + self.eps),
        };
        self.transform(own + aggregated)
    }

    fn transform(&self, state: Tensor<2>) -> Tensor<2> {
        if self.norms.is_empty() {
            return self.mlp.forward(state);
        }
        let last = self.mlp.layers.len() - 1;
        self.mlp.layers.iter().zip(&self.norms).enumerate().fold(state, |state, (index, (map, norm))| {
            let state = batch_normalise(norm, map.forward(state));
            if index < last || self.mlp.final_activation { self.mlp.activation.forward(state) } else { state }
        })
    }
}

impl MessagePassing for GinConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        self.convolve(graph, node_vectors(input, hidden))
    }
}
