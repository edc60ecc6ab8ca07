//! How the best epoch is chosen.

use itergnn_tasks::{Scores, Task};
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr};

use super::run_config::at_least_one;
use crate::TrainError;

/// A measure of validation data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Display, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Measure {
    /// Mean of |y - p| / y; less is better.
    RelativeLoss,
    /// Mean squared error; less is better.
    Mse,
    /// Share of right answers; more is better.
    Accuracy,
}

impl Measure {
    /// The measure's name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The measure that the paper reports for a task.
    pub fn of_task(task: Task) -> Self {
        match task {
            Task::ComponentCount | Task::GraphClassification | Task::RegularGraphs => Self::Accuracy,
            Task::NewtonBalls => Self::Mse,
            _ => Self::RelativeLoss,
        }
    }

    /// The mean of the measure, if the task has it.
    pub fn of(self, scores: &Scores) -> Option<f64> {
        let summary = match self {
            Self::RelativeLoss => scores.relative_loss,
            Self::Mse => scores.mse,
            Self::Accuracy => scores.accuracy,
        };
        summary.map(|summary| summary.mean)
    }

    /// Whether `new` is better than `old`; NaN is never better.
    pub fn improves(self, new: f64, old: f64) -> bool {
        match self {
            Self::RelativeLoss | Self::Mse => new < old || (old.is_nan() && !new.is_nan()),
            Self::Accuracy => new > old || (old.is_nan() && !new.is_nan()),
        }
    }
}

/// How many iterations validation allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cap {
    /// As many as training.
    Training,
    /// Many more, so that a model that never stops is seen.
    #[default]
    Lifted,
}

/// How the best epoch is chosen and when training stops early.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelectionConfig {
    /// The measure; the task's own by default.
    pub measure: Option<Measure>,
    /// Which of the two validations decides.
    pub cap: Cap,
    /// Most iterations when the cap is lifted. At training sizes distances stay below 40, so a model that needs more
    /// than this has not learned to stop; validating it still takes finite time.
    pub lifted_cap: usize,
    /// Train only on sizes below this one and validate on this size and larger ones, still of the training range.
    pub held_out_from: Option<u32>,
    /// Stop after this many epochs without a better one.
    pub patience: Option<u64>,
}

impl Default for SelectionConfig {
    fn default() -> Self {
        Self { measure: None, cap: Cap::default(), lifted_cap: 100, held_out_from: None, patience: None }
    }
}

impl SelectionConfig {
    pub(super) fn validate(&self) -> Result<(), TrainError> {
        at_least_one("selection.lifted_cap", self.lifted_cap as u64)?;
        at_least_one("selection.patience", self.patience.unwrap_or(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_loss_and_more_accuracy_are_better_and_nan_is_worst() {
        assert!(Measure::Mse.improves(1.0, 2.0) && !Measure::Mse.improves(2.0, 2.0));
        assert!(Measure::Accuracy.improves(0.9, 0.8) && !Measure::Accuracy.improves(0.8, 0.9));
        for measure in [Measure::RelativeLoss, Measure::Mse, Measure::Accuracy] {
            assert!(!measure.improves(f64::NAN, 0.5) && measure.improves(0.5, f64::NAN));
            assert!(!measure.improves(f64::NAN, f64::NAN));
        }
    }
}
