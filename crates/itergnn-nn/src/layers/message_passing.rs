//! What every layer does.

use burn::tensor::Tensor;

use crate::batch::GraphTensors;

/// One message-passing step: `hidden' = update(hidden, aggregate(message(..)))`.
///
/// # Shapes
///
/// - input: `[nodes, input width]`, the same at every step
/// - hidden and output: `[nodes, hidden width]`
///
/// Every implementation is permutation equivariant: renumbering the nodes renumbers the output
/// (`tests/layers/laws.rs`).
pub trait MessagePassing {
    /// The next hidden state of every node.
    ///
    /// # Panics
    ///
    /// When a width differs from the one the layer was made for.
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2>;

    /// As [`forward`](Self::forward), at step `step` (counted from 1) of an iteration. Only layers with batch
    /// normalisation tell steps apart.
    fn forward_at(&self, step: usize, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let _ = step;
        self.forward(graph, input, hidden)
    }
}
