//! What a block returns, forward and backward.

use super::batch::{BatchView, expect_length};
use super::config::BlockConfig;
use crate::error::KernelError;
use crate::real::Real;

/// Result of a block on a batch.
///
/// A *unit* is what has its own confidence: a graph, or a node in node-wise iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockOutput<T> {
    /// `[nodes, hidden_width]`: the weighted sum of the states of an iterative block, the last state of the others.
    pub output: Vec<T>,
    /// `[nodes, hidden_width]`: the state after the last iteration of each graph.
    pub last_hidden: Vec<T>,
    /// `[units]`: iterations done.
    pub iterations: Vec<u32>,
    /// `[units]`: mass left after the last iteration; 0 for `shared` and `stack`.
    pub remaining: Vec<T>,
    /// `[units]`: mass in front of the last allowed iteration, which [`settle`](super::IterConfig::settle) gives to it; 0 for units that were done before,
    /// and for `shared` and `stack`. The loss may charge for it.
    pub unspent: Vec<T>,
    /// `[units]`: whether the cap on iterations ended the iteration, with more than epsilon left. Never true for `shared` and `stack`.
    pub capped: Vec<bool>,
    /// Per graph `[iterations of the graph]`, or `[iterations, nodes]` node-wise (0 for nodes that were done): the confidences; empty for `shared` and
    /// `stack`.
    pub confidences: Vec<Vec<T>>,
}

/// Result of a block that was run for its results only.
///
/// A *unit* is what has its own confidence: a graph, or a node in node-wise iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference<T> {
    /// `[nodes, hidden_width]`: the weighted sum of the states of an iterative block, the last state of the others.
    pub output: Vec<T>,
    /// `[nodes, hidden_width]`: the state after the last iteration of each graph; empty unless [asked for](super::InferOptions::last_hidden).
    pub last_hidden: Vec<T>,
    /// `[units]`: as [`BlockOutput::iterations`].
    pub iterations: Vec<u32>,
    /// `[units]`: as [`BlockOutput::remaining`].
    pub remaining: Vec<T>,
    /// `[units]`: as [`BlockOutput::unspent`].
    pub unspent: Vec<T>,
    /// `[units]`: as [`BlockOutput::capped`].
    pub capped: Vec<bool>,
    /// `[units]`: the confidence of the last iteration; 1 for `shared` and `stack`, 0 for a unit without iterations.
    pub last_confidences: Vec<T>,
    /// Per graph and iteration: the share of nodes that had changed in the iteration before and therefore had to send again; 1 at first. Nodes that are
    /// followed as one (the common background of a large graph) count as one.
    pub active_shares: Vec<Vec<f32>>,
}

impl<T> Inference<T> {
    /// The mean of the active shares of a graph's iterations; 1 where there was none.
    pub fn mean_active_share(&self, graph: usize) -> f32 {
        let shares = &self.active_shares[graph];
        if shares.is_empty() { 1.0 } else { shares.iter().sum::<f32>() / shares.len() as f32 }
    }
}

/// Gradients of the loss with respect to what a block returned.
#[derive(Debug, Clone, Copy)]
pub struct OutputGradients<'a, T> {
    /// With respect to [`BlockOutput::output`], `[nodes, hidden_width]`.
    pub output: &'a [T],
    /// With respect to [`BlockOutput::unspent`], `[units]`; `None` where the loss does not use it.
    pub unspent: Option<&'a [T]>,
}

impl<T> OutputGradients<'_, T> {
    pub(crate) fn validate(&self, config: &BlockConfig, batch: &BatchView<'_>) -> Result<(), KernelError> {
        expect_length("gradient of output", self.output, batch.nodes() * config.hidden_width())?;
        self.unspent.map_or(Ok(()), |unspent| expect_length("gradient of unspent", unspent, units(config, batch)))
    }
}

/// Which gradients besides those of the parameters and the initial state are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Gradient of the node inputs.
    pub node_inputs: bool,
    /// Gradient of the edge features; messages can then not be shared between edges with equal features.
    pub edge_features: bool,
}

/// Gradients of the loss with respect to what a block read.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockGradients<T> {
    /// Laid out like the parameters.
    pub parameters: Vec<T>,
    /// `[nodes, hidden_width]`.
    pub hidden: Vec<T>,
    /// `[nodes, input_width]`; empty where not wanted.
    pub node_inputs: Vec<T>,
    /// `[edges, edge_width]`; empty where not wanted.
    pub edge_features: Vec<T>,
}

/// Number of confidences per iteration over the whole batch.
pub(crate) fn units(config: &BlockConfig, batch: &BatchView<'_>) -> usize {
    if config.node_wise() { batch.nodes() } else { batch.graphs() }
}

/// What is known of the units of one graph when it is done.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnitResults<T> {
    pub(crate) iterations: Vec<u32>,
    pub(crate) remaining: Vec<T>,
    pub(crate) unspent: Vec<T>,
    pub(crate) capped: Vec<bool>,
    pub(crate) confidences: Vec<T>,
    pub(crate) last_confidences: Vec<T>,
}

impl<T: Real> UnitResults<T> {
    /// The results of an iterative controller on a graph without nodes, which has nothing to be confident of.
    pub(crate) fn without_nodes() -> Self {
        Self { remaining: vec![T::ONE], last_confidences: vec![T::ZERO], ..Self::fixed(0) }
    }

    /// The results of a controller that always does the same number of iterations.
    pub(crate) fn fixed(iterations: usize) -> Self {
        Self {
            iterations: vec![iterations as u32],
            remaining: vec![T::ZERO],
            unspent: vec![T::ZERO],
            capped: vec![false],
            confidences: Vec::new(),
            last_confidences: vec![T::ONE],
        }
    }
}
