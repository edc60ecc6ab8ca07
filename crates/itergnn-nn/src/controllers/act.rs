//! Adaptive computation time.

use burn::tensor::Tensor;

use super::{ActConfig, Halting, HaltingStep};

/// Graves' adaptive computation time: steps are weighed by their confidences until these sum to (nearly) one.
///
/// With N the first step at which sum_{i<=N} c^i >= 1 - epsilon (or the cap), and remainder R = 1 - sum_{i<N} c^i:
/// ```text
/// h = sum_{i<N} c^i h^i + R h^N        ponder cost = tau (N + R)
/// ```
/// The weights sum to 1 always, also at the cap. N is piecewise constant, so the cost has a gradient through R only.
///
/// # Paper
/// Graves, "Adaptive Computation Time for Recurrent Neural Networks", section 2; tau is the paper's baseline parameter in {0, 0.1, 0.01, 0.001}.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActRule {
    /// Price of a step.
    pub ponder_cost: f64,
    /// How far the sum of confidences may stay below one; lets a loop end after a single step.
    pub epsilon: f64,
}

impl From<&ActConfig> for ActRule {
    fn from(config: &ActConfig) -> Self {
        Self { ponder_cost: config.ponder_cost, epsilon: config.epsilon }
    }
}

impl Halting for ActRule {
    fn epsilon(&self) -> f64 {
        self.epsilon
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
        let ponder = remaining.add_scalar(step as f64).mul_scalar(self.ponder_cost);
        let charge = ponder.zeros_like().mask_where(halts, ponder);
        HaltingStep { weight, remaining: left, charge: Some(charge) }
    }
}
