//! The record of an epoch.

use itergnn_tasks::Scores;
use serde::{Deserialize, Serialize};

/// How the model of an epoch fared on validation data under one cap.
///
/// Numbers that are not finite are `null` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Validation {
    /// Mean of |y - p| / y, if the task has it.
    pub relative_loss: Option<f64>,
    /// Mean squared error, if the task has it.
    pub mse: Option<f64>,
    /// Share of right answers, if the task has it.
    pub accuracy: Option<f64>,
    /// Iterations per graph, on average.
    pub iterations: f64,
    /// Share of the graphs whose loop was ended by the cap.
    pub capped: f64,
}

impl Validation {
    pub(crate) fn new(scores: &Scores, iterations: f64, capped: f64) -> Self {
        let mean = |summary: Option<itergnn_tasks::Summary>| summary.map(|summary| summary.mean);
        Self {
            relative_loss: mean(scores.relative_loss),
            mse: mean(scores.mse),
            accuracy: mean(scores.accuracy),
            iterations,
            capped,
        }
    }
}

/// What an epoch came to, as a line of `metrics.jsonl` and for an observer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// The epoch, counted from 1.
    pub epoch: u64,
    /// Steps taken at its end.
    pub step: u64,
    /// The loss, averaged over the samples as they were seen.
    pub train_loss: f64,
    /// What the controllers added to it.
    pub auxiliary_loss: f64,
    /// Iterations a training graph, on average.
    pub iterations: f64,
    /// Share of the training graphs whose loop was ended by the cap.
    pub capped: f64,
    /// Validation with as many iterations as training.
    pub validation: Validation,
    /// Validation with the cap lifted.
    pub validation_lifted: Validation,
    /// The measure that chooses the best epoch; `None` if it is not a finite number.
    pub selected_by: Option<f64>,
    /// Whether this is the best epoch so far.
    pub is_best: bool,
    /// Whether the model was finished before this validation: fitted to training samples by least squares and snapped
    /// to whole numbers, so that the values do not come from gradient steps alone.
    #[serde(default)]
    pub finished: bool,
    /// Seconds of training so far.
    pub seconds: f64,
}

impl EpochRecord {
    pub(crate) fn scalars(&self) -> Vec<(&'static str, f64)> {
        let mut scalars = vec![
            ("epoch/train_loss", self.train_loss),
            ("validation/iterations", self.validation.iterations),
            ("validation/capped", self.validation.capped),
            ("validation_lifted/iterations", self.validation_lifted.iterations),
            ("validation_lifted/capped", self.validation_lifted.capped),
        ];
        let measures = [
            ("validation/relative_loss", self.validation.relative_loss),
            ("validation/mse", self.validation.mse),
            ("validation/accuracy", self.validation.accuracy),
            ("validation_lifted/relative_loss", self.validation_lifted.relative_loss),
            ("validation_lifted/mse", self.validation_lifted.mse),
            ("validation_lifted/accuracy", self.validation_lifted.accuracy),
        ];
        scalars.extend(measures.into_iter().filter_map(|(tag, value)| Some((tag, value?))));
        scalars
    }
}
