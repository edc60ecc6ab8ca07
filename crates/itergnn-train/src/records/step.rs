//! The record of a step.

use serde::{Deserialize, Serialize};

use crate::learning::StepReport;
use crate::session::Clock;

/// What a step saw, as a line of `metrics.jsonl` and for an observer.
///
/// Numbers that are not finite are `null` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The step, counted from 1.
    pub step: u64,
    /// The epoch, counted from 1.
    pub epoch: u64,
    /// The loss of the predictions.
    pub loss: f64,
    /// What the controllers add to it.
    pub auxiliary_loss: f64,
    /// The norm of the gradient, before clipping.
    pub gradient_norm: f64,
    /// The learning rate.
    pub learning_rate: f64,
    /// Iterations per graph, on average.
    pub iterations: f64,
    /// Share of the graphs whose loop was ended by the cap.
    pub capped: f64,
    /// Samples per second since this start.
    pub samples_per_second: f64,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Seconds until the last epoch ends, at this speed.
    pub seconds_left: f64,
}

impl StepRecord {
    /// The record of step `step`, after which `left` samples are still to come.
    pub(crate) fn new(report: &StepReport, rate: f64, step: u64, epoch: u64, left: u64, clock: &Clock) -> Self {
        let speed = clock.speed();
        Self {
            step,
            epoch,
            loss: report.loss,
            auxiliary_loss: report.auxiliary_loss,
            gradient_norm: report.gradient_norm,
            learning_rate: rate,
            iterations: report.iterations,
            capped: report.capped,
            samples_per_second: speed,
            seconds: clock.seconds(),
            seconds_left: left as f64 / speed,
        }
    }

    pub(crate) fn scalars(&self) -> [(&'static str, f64); 6] {
        [
            ("train/loss", self.loss),
            ("train/auxiliary_loss", self.auxiliary_loss),
            ("train/gradient_norm", self.gradient_norm),
            ("train/learning_rate", self.learning_rate),
            ("train/iterations", self.iterations),
            ("train/capped", self.capped),
        ]
    }
}
