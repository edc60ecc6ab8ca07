//! The learning rate over the course of training.

use serde::{Deserialize, Serialize};

use crate::TrainError;

/// A factor on the learning rate for every step.
///
/// With `w` warm-up steps out of `n`, step `k` (counted from 0) has
/// ```text
/// (k + 1) / w                                              while k < w
/// 1                                                        constant
/// f + (1 - f) (1 + cos(pi (k - w) / (n - w))) / 2          cosine, f = final_factor
/// 2^-floor(k / e)                                          halving every e steps, which has no warm-up
/// ```
///
/// # Example
/// ```
/// use itergnn_train::Schedule;
/// let schedule = Schedule::Cosine { warm_up_steps: 10, final_factor: 0.0 };
/// assert_eq!(schedule.factor(4, 110), 0.5);
/// assert!((schedule.factor(60, 110) - 0.5).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// The same rate throughout, as in the paper.
    Constant {
        /// Steps over which the rate rises to its full value.
        #[serde(default)]
        warm_up_steps: u64,
    },
    /// Down to a fraction of the rate along half a cosine.
    Cosine {
        /// Steps over which the rate rises to its full value.
        #[serde(default)]
        warm_up_steps: u64,
        /// What is left of the rate at the end.
        #[serde(default)]
        final_factor: f64,
    },
    /// Half the rate after every so many steps, as in the GIN paper.
    Halving {
        /// Steps between two halvings.
        every_steps: u64,
    },
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Constant { warm_up_steps: 0 }
    }
}

impl Schedule {
    /// The factor of step `step`, counted from 0, out of `steps`.
    pub fn factor(&self, step: u64, steps: u64) -> f64 {
        let warm_up = |steps: u64| (step < steps).then(|| (step + 1) as f64 / steps as f64);
        match *self {
            Self::Constant { warm_up_steps } => warm_up(warm_up_steps).unwrap_or(1.0),
            Self::Halving { every_steps } => 0.5_f64.powi((step / every_steps.max(1)).min(1_000) as i32),
            Self::Cosine { warm_up_steps, final_factor } => {
                if let Some(factor) = warm_up(warm_up_steps) {
                    return factor;
                }
                let part = (step - warm_up_steps) as f64 / steps.saturating_sub(warm_up_steps).max(1) as f64;
                let wave = 0.5 * (1.0 + (std::f64::consts::PI * part.min(1.0)).cos());
                final_factor + (1.0 - final_factor) * wave
            }
        }
    }

    pub(crate) fn validate(&self) -> Result<(), TrainError> {
        match *self {
            Self::Cosine { final_factor, .. } if !(0.0..=1.0).contains(&final_factor) => {
                Err(TrainError::config("optimiser.schedule.final_factor", format!("{final_factor} is not in [0, 1]")))
            }
            Self::Halving { every_steps: 0 } => {
                Err(TrainError::config("optimiser.schedule.every_steps", "must be at least 1"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_then_falls_to_the_final_factor() {
        let schedule = Schedule::Cosine { warm_up_steps: 4, final_factor: 0.1 };
        let factors: Vec<f64> = (0..24).map(|step| schedule.factor(step, 24)).collect();
        assert_eq!(factors[..4], [0.25, 0.5, 0.75, 1.0]);
        assert_eq!(factors[4], 1.0);
        assert!(factors[4..].windows(2).all(|pair| pair[1] < pair[0]));
        assert!(factors[23] > 0.1 && factors[23] < 0.11);
        assert_eq!(schedule.factor(1_000, 24), 0.1);
    }

    #[test]
    fn a_constant_rate_only_warms_up() {
        assert_eq!(Schedule::default().factor(0, 10), 1.0);
        assert_eq!(Schedule::Constant { warm_up_steps: 2 }.factor(0, 10), 0.5);
        assert_eq!(Schedule::Constant { warm_up_steps: 2 }.factor(9, 10), 1.0);
    }

    #[test]
    fn the_rate_is_halved() {
        let schedule = Schedule::Halving { every_steps: 2_500 };
        let factors = [0, 2_499, 2_500, 5_000, 17_499].map(|step| schedule.factor(step, 17_500));
        assert_eq!(factors, [1.0, 1.0, 0.5, 0.25, 1.0 / 64.0]);
        assert!(Schedule::Halving { every_steps: 0 }.validate().is_err());
    }

    #[test]
    fn a_warm_up_longer_than_the_run_is_fine() {
        let schedule = Schedule::Cosine { warm_up_steps: 10, final_factor: 0.0 };
        assert_eq!(schedule.factor(3, 4), 0.4);
    }
}
