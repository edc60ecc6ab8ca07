//! A record of every step of a loop.

use burn::tensor::Tensor;
use serde::Serialize;

/// The steps of one controller, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// One entry a step.
    pub steps: Vec<TraceStep>,
}

/// One step: who was still running, how sure they were, how much the state moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceStep {
    /// Counts from 1.
    pub step: usize,
    /// The graphs still in the batch, by their position in it.
    pub graphs: Vec<usize>,
    /// For each of these graphs the largest |h^k - h^(k-1)| of any node and channel.
    pub change: Vec<f64>,
    /// What has a confidence: these graphs, or their nodes; empty for a stack.
    pub elements: Vec<usize>,
    /// c^k of each element.
    pub confidence: Vec<f64>,
    /// Probability that each element has not stopped after this step.
    pub remaining: Vec<f64>,
}

/// The largest absolute difference between two states, for each graph of `node_offsets`.
pub(crate) fn largest_change(before: &Tensor<2>, after: &Tensor<2>, node_offsets: &[u32]) -> Vec<f64> {
    let width = after.dims()[1];
    let difference = host_values(after.clone() - before.clone());
    let rows = |range: &[u32]| &difference[range[0] as usize * width..range[1] as usize * width];
    node_offsets
        .windows(2)
        .map(|range| rows(range).iter().fold(0.0, |largest: f64, value| largest.max(value.abs())))
        .collect()
}

/// The numbers of a tensor, on the host.
pub(crate) fn host_values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().expect("the device gives its tensors back")
}
