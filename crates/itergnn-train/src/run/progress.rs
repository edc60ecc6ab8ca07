//! How far a run has come.

use itergnn_nn::aligned::Refit;
use serde::{Deserialize, Serialize};

use crate::learning::StepReport;

/// The place of a run, complete enough to go on from there.
///
/// There is no state of a random generator in it: the order of an epoch and what a step draws follow from the seed and these numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Steps taken.
    pub step: u64,
    /// The epoch in progress, counted from 1.
    pub epoch: u64,
    /// Batches of it that are done.
    pub batch: u64,
    /// Sums over those batches.
    pub totals: EpochTotals,
    /// The best epoch so far.
    pub best: Option<Best>,
    /// Epochs since the best one.
    pub stale_epochs: u64,
    /// Seconds of training so far, over all starts.
    pub seconds: f64,
    /// Whether the run has come to its end.
    pub finished: bool,
    /// What finishing the model did, for models whose training ends with that.
    #[serde(default)]
    pub refit: Option<Refit>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            step: 0,
            epoch: 1,
            batch: 0,
            totals: EpochTotals::default(),
            best: None,
            stale_epochs: 0,
            seconds: 0.0,
            finished: false,
            refit: None,
        }
    }
}

/// The best epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The epoch.
    pub epoch: u64,
    /// Steps taken at its end.
    pub step: u64,
    /// The measure it was chosen by.
    #[serde(with = "float_bits")]
    pub value: f64,
}

/// Sums over the steps of an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct EpochTotals {
    /// Graphs seen.
    pub graphs: u64,
    /// Steps taken.
    pub steps: u64,
    #[serde(with = "float_bits")]
    loss: f64,
    #[serde(with = "float_bits")]
    auxiliary_loss: f64,
    #[serde(with = "float_bits")]
    gradient_norm: f64,
    #[serde(with = "float_bits")]
    iterations: f64,
    #[serde(with = "float_bits")]
    capped: f64,
}

/// Numbers by their bits: JSON has no NaN, and a reader may miss the last digit.
pub(crate) mod float_bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(value.to_bits())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}

impl EpochTotals {
    /// Adds a step.
    pub fn add(&mut self, report: &StepReport) {
        let graphs = report.graphs as f64;
        self.graphs += report.graphs as u64;
        self.steps += 1;
        self.loss += graphs * report.loss;
        self.auxiliary_loss += graphs * report.auxiliary_loss;
        self.gradient_norm += report.gradient_norm;
        self.iterations += graphs * report.iterations;
        self.capped += graphs * report.capped;
    }

    /// The averages: over graphs, and over steps for the norm of the gradient.
    pub fn mean(&self) -> StepReport {
        let (graphs, steps) = (self.graphs.max(1) as f64, self.steps.max(1) as f64);
        StepReport {
            loss: self.loss / graphs,
            auxiliary_loss: self.auxiliary_loss / graphs,
            gradient_norm: self.gradient_norm / steps,
            iterations: self.iterations / graphs,
            capped: self.capped / graphs,
            graphs: self.graphs as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_to_the_bit() {
        let mut progress = Progress { best: Some(Best { epoch: 1, step: 2, value: f64::NAN }), ..Progress::default() };
        progress.totals.loss = 0.1 + 0.2;
        let text = serde_json::to_string(&progress).unwrap();
        let read: Progress = serde_json::from_str(&text).unwrap();
        assert_eq!(read.totals, progress.totals);
        assert!(read.best.unwrap().value.is_nan());
    }

    #[test]
    fn graphs_weigh_equally_whatever_their_batch() {
        let report = |loss, graphs| StepReport {
            loss,
            auxiliary_loss: 0.0,
            gradient_norm: loss,
            iterations: loss,
            capped: 0.0,
            graphs,
        };
        let mut totals = EpochTotals::default();
        totals.add(&report(1.0, 3));
        totals.add(&report(5.0, 1));
        let mean = totals.mean();
        assert_eq!((mean.loss, mean.gradient_norm, mean.iterations, mean.graphs), (2.0, 3.0, 2.0, 4));
    }
}
