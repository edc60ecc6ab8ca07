//! The rule that turns confidences into weights.

use burn::tensor::Tensor;

/// How a loop weighs its steps and when it stops.
///
/// One rule serves every graph (or node) of a batch at once: all tensors are `[elements, 1]`, where an element is a graph or a node.
pub trait Halting {
    /// What the accumulated output is multiplied by before a step is added to it.
    fn decay(&self) -> f64 {
        1.0
    }

    /// An element is done once its remaining probability is not greater than this.
    fn epsilon(&self) -> f64;

    /// Whether the output is divided by the weight that was spent.
    fn normalised(&self) -> bool {
        false
    }

    /// Weighs one step.
    ///
    /// `step` counts from 1. `capped` says that no step will follow because the cap is reached, whatever the confidence; `training` that
    /// gradients are wanted.
    fn step(
        &self,
        remaining: Tensor<2>,
        confidence: Tensor<2>,
        step: usize,
        capped: bool,
        training: bool,
    ) -> HaltingStep;
}

/// What a [`Halting`] rule says about one step.
#[derive(Debug, Clone)]
pub struct HaltingStep {
    /// Weight of this step's hidden state, `[elements, 1]`.
    pub weight: Tensor<2>,
    /// Probability that the criterion itself leaves after the step, `[elements, 1]`; at a cap it tells who would have gone on.
    pub remaining: Tensor<2>,
    /// What the step adds to the loss, `[elements, 1]`; averaged over all elements of the batch.
    pub charge: Option<Tensor<2>>,
}
