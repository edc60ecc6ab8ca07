//! GIN: the graph isomorphism layer.

use burn::module::{Module, Param};
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::tensor::{Device, Tensor};
use itergnn_kernels::settings::LayerConfig;

use super::batch_norm::{RunningStatistics, batch_normalise};
use super::edge_inputs::node_vectors;
use super::layer::layer_mlp;
use super::message_passing::MessagePassing;
use crate::activation::activate;
use crate::batch::GraphTensors;
use crate::error::Error;
use crate::init::InitRng;
use crate::mlp::Mlp;
use crate::ops::segment_sum;

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
    /// The statistics of both normalisations at the second step, at the third, and so on; the first step has those of
    /// `norms`. States of different steps are distributed differently, so one mean and variance for all would fit none
    /// of them.
    pub later_statistics: Vec<RunningStatistics>,
    /// eps where it is learned, `[1]`.
    pub learned_eps: Option<Param<Tensor<1>>>,
    /// eps where it is constant.
    pub eps: f64,
}

impl GinConv {
    /// The layer with weights drawn from `rng`; `eps` and `train_eps` are those of PyG's `GINConv`.
    pub(super) fn new(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        if config.homogeneous && config.batch_norm {
            return Err(Error::config("gin", "batch normalisation is not homogeneous"));
        }
        let mlp = layer_mlp(config, config.node_width());
        let widths = if config.batch_norm { mlp.widths()[1..].to_vec() } else { Vec::new() };
        let later = (1..config.norm_steps).flat_map(|_| &widths);
        Ok(Self {
            mlp: mlp.init(device, rng),
            later_statistics: later.map(|&width| RunningStatistics::new(width, device)).collect(),
            norms: widths.iter().map(|&width| BatchNormConfig::new(width).init(device)).collect(),
            learned_eps: config.train_eps.then(|| Param::from_tensor(Tensor::full([1], config.eps, device))),
            eps: config.eps,
        })
    }

    /// The layer on node vectors: what PyG's `GINConv.forward` computes.
    ///
    /// # Shapes
    ///
    /// - nodes: `[nodes, input width]`
    /// - output: `[nodes, output width]`
    pub fn convolve(&self, graph: &GraphTensors, nodes: Tensor<2>) -> Tensor<2> {
        self.convolve_at(1, graph, nodes)
    }

    /// The layer as step number `step`, counted from 1, of an iteration: only the running statistics differ.
    fn convolve_at(&self, step: usize, graph: &GraphTensors, nodes: Tensor<2>) -> Tensor<2> {
        let aggregated = segment_sum(graph.at_senders(nodes.clone()), graph.incoming());
        let own = match &self.learned_eps {
            Some(eps) => nodes * (eps.val() + 1.0).unsqueeze(),
            None => nodes * (1.0 + self.eps),
        };
        self.transform(step, own + aggregated)
    }

    fn transform(&self, step: usize, state: Tensor<2>) -> Tensor<2> {
        if self.norms.is_empty() {
            return self.mlp.forward(state);
        }
        let last = self.mlp.layers.len() - 1;
        self.mlp.layers.iter().zip(&self.norms).enumerate().fold(state, |state, (index, (map, norm))| {
            let norm = match self.statistics_at(step, index) {
                Some(statistics) => &statistics.of(norm),
                None => norm,
            };
            let state = batch_normalise(norm, map.forward(state));
            if index < last || self.mlp.final_activation { activate(self.mlp.activation, state) } else { state }
        })
    }

    /// The running statistics of a map at a step after the first; the last ones at steps beyond those.
    fn statistics_at(&self, step: usize, map: usize) -> Option<&RunningStatistics> {
        let last = (self.later_statistics.len() / self.norms.len().max(1)).checked_sub(1)?;
        let later = step.checked_sub(2)?.min(last);
        self.later_statistics.get(later * self.norms.len() + map)
    }
}

impl MessagePassing for GinConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        self.convolve(graph, node_vectors(input, hidden))
    }

    fn forward_at(&self, step: usize, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        self.convolve_at(step, graph, node_vectors(input, hidden))
    }
}
