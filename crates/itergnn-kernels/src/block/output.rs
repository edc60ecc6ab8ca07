//! What a block returns, forward and backward.

use super::batch::{BatchView, expect_length};
use super::config::BlockConfig;
use super::stops::Stops;
use crate::error::KernelError;

/// Result of a block on a batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockOutput<T> {
    /// `[nodes, hidden_width]`: the weighted sum of the states of an iterative block, the last state of the others.
    pub output: Vec<T>,
    /// When every graph (or node) stopped.
    pub stops: Stops,
    /// Per graph and iteration: the share of nodes that had changed in the iteration before and therefore had to send
    /// again; 1 at first. Nodes that are followed as one (the common background of a large graph) count as one. Empty
    /// for a run with a way back.
    pub active_shares: Vec<Vec<f32>>,
}

impl<T> BlockOutput<T> {
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
    /// With respect to [`Stops::unspent`], `[units]`; `None` where the loss does not use it.
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
