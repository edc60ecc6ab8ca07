//! How far a run has come.

use serde::{Deserialize, Deserializer, Serialize};

use crate::learning::StepReport;

/// How far a run has come; where its method is in the data or the games is the method's to keep.
///
/// There is no state of a random generator in either: what a step draws follows from the seed and these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Steps taken; moves, where games are played.
    pub step: u64,
    /// The best state so far.
    #[serde(deserialize_with = "best")]
    pub best: Option<Best>,
    /// Seconds of training so far, over all starts.
    pub seconds: f64,
    /// Whether the run has come to its end.
    pub finished: bool,
}

/// The best state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The epoch; 1 in games.
    pub epoch: u64,
    /// Steps taken at its end.
    pub step: u64,
    /// The measure it was chosen by.
    #[serde(with = "float_bits")]
    pub value: f64,
}

/// Games of version 1 kept the bits of the value and the step.
fn best<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Best>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Now(Best),
        Before(u64, u64),
    }
    let found = Option::<Either>::deserialize(deserializer)?;
    Ok(found.map(|found| match found {
        Either::Now(best) => best,
        Either::Before(bits, step) => Best { epoch: 1, step, value: f64::from_bits(bits) },
    }))
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
        let best = Some(Best { epoch: 1, step: 2, value: f64::NAN });
        let totals = EpochTotals { loss: 0.1 + 0.2, ..EpochTotals::default() };
        let text = serde_json::to_string(&(Progress { best, ..Progress::default() }, totals)).unwrap();
        let read: (Progress, EpochTotals) = serde_json::from_str(&text).unwrap();
        assert_eq!(read.1, totals);
        assert!(read.0.best.unwrap().value.is_nan());
    }

    #[test]
    fn the_best_state_of_an_old_game_is_read() {
        let text = format!(r#"{{"step":9,"best":[{},7],"seconds":1.0,"finished":false}}"#, 0.5_f64.to_bits());
        let read: Progress = serde_json::from_str(&text).unwrap();
        assert_eq!(read.best, Some(Best { epoch: 1, step: 7, value: 0.5 }));
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
