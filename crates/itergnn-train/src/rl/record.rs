//! What a run that learns by playing says about itself.

use serde::{Deserialize, Serialize};

/// The state of a run after some moves, as a line of `metrics.jsonl` and for an observer.
///
/// Numbers that are not finite are `null` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlayRecord {
    /// Moves made in all games together.
    pub step: u64,
    /// Updates of the network.
    pub updates: u64,
    /// Games begun.
    pub games: u64,
    /// Mean loss since the last record.
    pub loss: Option<f64>,
    /// What the controllers added to it.
    pub auxiliary_loss: Option<f64>,
    /// Mean norm of the gradient since the last record.
    pub gradient_norm: Option<f64>,
    /// Mean output that was learned since the last record.
    pub output: Option<f64>,
    /// Success in the games that ended since the last record, random moves included.
    pub training_success: Option<f64>,
    /// Success in the games of validation, if this record ends one.
    pub validation_success: Option<f64>,
    /// Games of validation in which the player walked in a circle.
    pub validation_stuck: Option<u64>,
    /// Whether this is the best state so far.
    pub is_best: bool,
    /// The learning rate.
    pub learning_rate: f64,
    /// Moves per second since this start.
    pub steps_per_second: f64,
    /// Seconds of training so far.
    pub seconds: f64,
}

impl PlayRecord {
    pub(crate) fn scalars(&self) -> Vec<(&'static str, f64)> {
        let measures = [
            ("train/loss", self.loss),
            ("train/auxiliary_loss", self.auxiliary_loss),
            ("train/gradient_norm", self.gradient_norm),
            ("train/output", self.output),
            ("train/success", self.training_success),
            ("validation/success", self.validation_success),
            ("train/learning_rate", Some(self.learning_rate)),
        ];
        measures.into_iter().filter_map(|(tag, value)| Some((tag, value?))).collect()
    }
}
