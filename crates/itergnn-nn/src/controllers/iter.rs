//! The iterative module of the paper, with and without decay.

use burn::tensor::Tensor;

use super::{Halting, HaltingStep, IterConfig};

/// Stops with probability c^k at step k and returns the expectation of the hidden state.
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
/// - `settle`: in training, all probability that reaches the last allowed step is spent there, and `settle` times that probability (before the
///   last step's own confidence counts) is charged to the loss. Without it a network may lean on the cap instead of learning to stop.
///
/// # Paper
/// Algorithm 1 and the algorithms "IterGNN with decay" and "IterGNN's efficient inference".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterRule {
    /// Remaining probability at which an element is done.
    pub epsilon: f64,
    /// lambda; 1 for the form without decay.
    pub decay: f64,
    /// Whether to divide the output by the weight spent.
    pub normalised: bool,
    /// Price of probability that is left at the cap in training; `None` leaves that probability unspent and free, as in the paper.
    pub settle: Option<f64>,
}

impl From<&IterConfig> for IterRule {
    fn from(config: &IterConfig) -> Self {
        Self { epsilon: config.epsilon, decay: config.decay, normalised: config.normalised, settle: config.settle }
    }
}

impl Halting for IterRule {
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
