//! The settings of Adam.

use serde::{Deserialize, Serialize};

use super::Schedule;
use crate::TrainError;

/// Adam with the defaults of the paper's code: rate 0.001, epsilon 0.00001.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptimiserConfig {
    /// The learning rate before the schedule.
    pub learning_rate: f64,
    /// Decay of the first moment.
    pub beta_1: f64,
    /// Decay of the second moment.
    pub beta_2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Decay of the weights, added to the gradient; 0 for none.
    pub weight_decay: f64,
    /// The gradient of all parameters together is scaled down to this norm when it is longer; `None` leaves it.
    pub clip_norm: Option<f64>,
    /// How the rate changes.
    pub schedule: Schedule,
}

impl Default for OptimiserConfig {
    fn default() -> Self {
        Self {
            learning_rate: 1e-3,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-5,
            weight_decay: 0.0,
            clip_norm: None,
            schedule: Schedule::default(),
        }
    }
}

impl OptimiserConfig {
    /// What max-plus models are trained with: rate 0.01 that falls to 0 along a cosine after 20 steps of warm-up, a
    /// short memory, short steps.
    pub fn max_plus() -> Self {
        Self {
            learning_rate: 1e-2,
            beta_2: 0.99,
            clip_norm: Some(1.0),
            schedule: Schedule::Cosine { warm_up_steps: 20, final_factor: 0.0 },
            ..Self::default()
        }
    }

    /// What one-tree models are trained with: as [`OptimiserConfig::max_plus`], with an epsilon below the gradients of
    /// squared relative errors, which are near 1e-6.
    pub fn one_tree() -> Self {
        Self { epsilon: 1e-10, clip_norm: None, ..Self::max_plus() }
    }

    pub(crate) fn validate(&self) -> Result<(), TrainError> {
        let positive = |field, value: f64| {
            let fine = value.is_finite() && value > 0.0;
            if fine { Ok(()) } else { Err(TrainError::config(field, format!("{value} is not a positive number"))) }
        };
        positive("optimiser.learning_rate", self.learning_rate)?;
        positive("optimiser.epsilon", self.epsilon)?;
        positive("optimiser.clip_norm", self.clip_norm.unwrap_or(1.0))?;
        for (field, beta) in [("optimiser.beta_1", self.beta_1), ("optimiser.beta_2", self.beta_2)] {
            if !(0.0..1.0).contains(&beta) {
                return Err(TrainError::config(field, format!("{beta} is not in [0, 1)")));
            }
        }
        if !(self.weight_decay.is_finite() && self.weight_decay >= 0.0) {
            let why = format!("{} is not 0 or a positive number", self.weight_decay);
            return Err(TrainError::config("optimiser.weight_decay", why));
        }
        self.schedule.validate()
    }
}
