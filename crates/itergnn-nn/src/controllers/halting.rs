//! The rules that turn confidences into weights.

use burn::tensor::Tensor;

use super::{ActConfig, IterConfig};

/// How a loop weighs its steps and when it stops.
///
/// One rule serves every graph (or node) of a batch at once: all tensors are `[elements, 1]`, where an element is a
/// graph or a node.
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

    /// Whether a step goes on from the weighted sum of the steps before, which begins as the embedding, in place of the
    /// state that the step before gave.
    fn feeds_back(&self) -> bool {
        false
    }

    /// Weighs one step.
    ///
    /// `step` counts from 1. `capped` says that no step will follow because the cap is reached, whatever the
    /// confidence; `training` that gradients are wanted.
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
    /// Probability that the criterion itself leaves after the step, `[elements, 1]`; at a cap it tells who would have
    /// gone on.
    pub remaining: Tensor<2>,
    /// What the step adds to the loss, `[elements, 1]`; averaged over all elements of the batch.
    pub charge: Option<Tensor<2>>,
}

/// The iterative module of the paper: stops with probability c^k at step k and returns the expectation of the hidden
/// state.
///
/// With remaining probability r^0 = 1 and decay lambda (1 for the plain form):
/// ```text
/// h~  <- lambda h~ + r c^k h^k
/// r   <- lambda (1 - c^k) r        until r <= epsilon
/// ```
/// so that after K steps h~ = lambda^(K-1) sum_j p_j h^j with p_j = c^j prod_{i<j} (1 - c^i), and the weights sum to
/// lambda^(K-1) (1 - prod_i (1 - c^i)).
///
/// # Options beyond the paper
/// - `normalised` divides h~ by that sum, so that the output does not shrink with the number of steps.
/// - `settle`: in training, all probability that reaches the last allowed step is spent there, and `settle` times that
///   probability (before the last step's own confidence counts) is charged to the loss. Without it a network may lean
///   on the cap instead of learning to stop.
///
/// # Paper
/// Algorithm 1 and the algorithms "IterGNN with decay" and "IterGNN's efficient inference".
impl Halting for IterConfig {
    fn decay(&self) -> f64 {
        self.decay
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn normalised(&self) -> bool {
        self.normalised
    }

    fn step(
        &self,
        remaining: Tensor<2>,
        confidence: Tensor<2>,
        _step: usize,
        capped: bool,
        training: bool,
    ) -> HaltingStep {
        let continued = (remaining.clone() * confidence.clone().neg().add_scalar(1.0)).mul_scalar(self.decay);
        match self.settle {
            Some(cost) if capped && training => {
                let charge = remaining.clone().mul_scalar(cost);
                HaltingStep { weight: remaining, remaining: continued, charge: Some(charge) }
            }
            _ => HaltingStep { weight: remaining * confidence, remaining: continued, charge: None },
        }
    }
}

/// Graves' adaptive computation time: steps are weighed by their confidences until these sum to (nearly) one.
///
/// With N the first step at which sum_{i<=N} c^i >= 1 - epsilon (or the cap), and remainder R = 1 - sum_{i<N} c^i:
/// ```text
/// h = sum_{i<N} c^i h^i + R h^N        ponder cost = tau (N + R)
/// ```
/// The weights sum to 1 always, also at the cap. N is piecewise constant, so the cost has a gradient through R only.
///
/// With `feeds_back`, the form of the authors' code, a step is not applied to the state before it but to the sum so
/// far, and the sum begins as the embedding x:
/// ```text
/// s^0 = x    h^k = step(s^(k-1))    s^k = s^(k-1) + c^k h^k    h = s^(N-1) + R h^N    ponder cost = tau R
/// ```
///
/// # Paper
/// Graves, "Adaptive Computation Time for Recurrent Neural Networks", section 2; tau is the paper's baseline parameter
/// in {0, 0.1, 0.01, 0.001}.
impl Halting for ActConfig {
    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn feeds_back(&self) -> bool {
        self.feeds_back
    }

    fn step(
        &self,
        remaining: Tensor<2>,
        confidence: Tensor<2>,
        step: usize,
        capped: bool,
        _training: bool,
    ) -> HaltingStep {
        let left = remaining.clone() - confidence.clone();
        let stops = left.clone().lower_equal_elem(self.epsilon);
        // At the cap the last step takes the remainder, whether or not the confidences sum to one.
        let halts = if capped { stops.clone().bool_or(stops.clone().bool_not()) } else { stops.clone() };
        let weight = confidence.mask_where(halts.clone(), remaining.clone());
        let left = left.mask_fill(stops, 0.0);
        let steps = if self.feeds_back { 0.0 } else { step as f64 };
        let ponder = remaining.add_scalar(steps).mul_scalar(self.ponder_cost);
        let charge = ponder.zeros_like().mask_where(halts, ponder);
        HaltingStep { weight, remaining: left, charge: Some(charge) }
    }
}
