//! One training with its evaluations, and what came of them.

use std::collections::BTreeMap;
use std::path::Path;

use itergnn_tasks::{TaskSpec, shortest_path::WalkRule};
use serde::{Deserialize, Serialize};

use crate::evaluation::EvalReport;
use crate::run::METRICS;
use crate::{Measure, Record, RunConfig};

/// A training, to be repeated for several seeds, and the evaluations of each model.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// What it is called in files: `task/model`.
    pub id: String,
    /// The training; its seed is replaced.
    pub config: RunConfig,
    /// What every trained model is asked, by name.
    pub evaluations: BTreeMap<String, Evaluation>,
}

/// Name of the evaluation by which a seed is chosen.
pub(super) const CHOICE: &str = "choice";

/// Test samples and how to judge a model on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The task at test size.
    pub spec: TaskSpec,
    /// Test graphs.
    pub count: u64,
    /// Seed of the test graphs.
    #[serde(default)]
    pub seed: u64,
    /// The rules by which paths are walked and counted; part of the key of a result.
    #[serde(default)]
    pub walks: Vec<WalkRule>,
    /// Whether distance and iterations of every graph are kept.
    pub records: bool,
    /// Most iterations. A model that has not stopped by then is counted in [`Measured::capped`]; `shared` runs exactly
    /// as often.
    pub cap: Option<usize>,
}

/// What an evaluation found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Mean of |y - p| / y; `None` if it does not apply or is no finite number.
    pub relative_loss: Option<f64>,
    /// Share of shortest paths by the released walk.
    pub success_rate: Option<f64>,
    /// Share of shortest paths by the walk as written.
    #[serde(default)]
    pub success_rate_as_written: Option<f64>,
    /// Share of shortest paths over free pixels by the released walk (navigation).
    #[serde(default)]
    pub walkable_success_rate: Option<f64>,
    /// Share of right answers.
    pub accuracy: Option<f64>,
    /// Mean squared error.
    pub mse: Option<f64>,
    /// Iterations per graph.
    pub iterations: f64,
    /// Test graphs.
    pub count: u64,
    /// Graphs whose loop a cap ended.
    pub capped: u64,
    /// Predictions that are no finite numbers.
    pub not_finite: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Label and iterations of every graph, if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<(f32, usize)>,
}

impl Measured {
    /// What matters of a report.
    pub fn of(report: &EvalReport) -> Self {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        Self {
            relative_loss: finite(report.relative_loss),
            success_rate: finite(report.success_rate),
            success_rate_as_written: finite(report.success_rate_as_written),
            walkable_success_rate: finite(report.walkable_success_rate),
            accuracy: finite(report.accuracy),
            mse: finite(report.mse),
            iterations: report.iterations.mean,
            count: report.count,
            capped: report.capped,
            not_finite: report.not_finite,
            seconds: report.seconds,
            records: report.samples.iter().map(|sample| (sample.target[0], sample.iterations)).collect(),
        }
    }
}

impl ExperimentResult {
    /// What the seed is chosen by: the measure of validation, on graphs of the largest sizes of training.
    /// Networks that do not stop by themselves there are not chosen.
    pub fn choice(&self) -> Option<f64> {
        let measured = self.measured.get(CHOICE)?;
        let value = match self.measure() {
            Measure::RelativeLoss => measured.relative_loss,
            Measure::Mse => measured.mse,
            Measure::Accuracy => measured.accuracy,
        };
        value.filter(|_| measured.capped == 0)
    }

    /// The measure of validation.
    pub fn measure(&self) -> Measure {
        self.config.selection.measure.unwrap_or(Measure::RelativeLoss)
    }
}

/// How a training ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingResult {
    /// Steps taken.
    pub steps: u64,
    /// The epoch that was chosen.
    pub best_epoch: Option<u64>,
    /// Its validation error.
    pub validation: Option<f64>,
    /// Seconds it took.
    pub seconds: f64,
    /// Epoch by epoch.
    #[serde(default, skip_serializing_if = "Curve::is_empty")]
    pub curve: Curve,
}

/// How a training went, one number per epoch, in four digits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curve {
    /// The loss, averaged over the samples as they were seen; `None` where it is not a finite number.
    pub train_loss: Vec<Option<f64>>,
    /// The measure that chooses the best epoch.
    pub validation: Vec<Option<f64>>,
}

impl Curve {
    fn is_empty(&self) -> bool {
        self.train_loss.is_empty()
    }

    /// The curve of the run in a folder, as far as its log can be read.
    pub(super) fn of_run(folder: &Path) -> Self {
        let log = std::fs::read_to_string(folder.join(METRICS)).unwrap_or_default();
        let digits = |value: f64| format!("{value:.3e}").parse().ok().filter(|value: &f64| value.is_finite());
        let mut curve = Self::default();
        for record in log.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok()) {
            if let Record::Epoch(epoch) = record {
                curve.train_loss.push(digits(epoch.train_loss));
                curve.validation.push(epoch.selected_by.and_then(digits));
            }
        }
        curve
    }
}

/// The result of an experiment for one seed, as it stands in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// The experiment.
    pub id: String,
    /// The training, with its seed and everything filled in.
    pub config: RunConfig,
    /// How the training ended; `None` if it failed.
    pub training: Option<TrainingResult>,
    /// What every evaluation asked.
    pub evaluations: BTreeMap<String, Evaluation>,
    /// What every evaluation found.
    pub measured: BTreeMap<String, Measured>,
    /// Why the training failed, or an evaluation, by its name. A failure is a result too, and reported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, String>,
    /// Version of this crate.
    pub version: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_a_point_per_epoch_and_null_where_there_is_no_number() {
        let folder = tempfile::tempdir().unwrap();
        let epoch = |loss: &str, validation: &str| {
            let none = r#"{"relative_loss":null,"mse":null,"accuracy":null,"iterations":1.0,"capped":0.0}"#;
            format!(
                r#"{{"kind":"epoch","epoch":1,"step":3,"train_loss":{loss},"auxiliary_loss":0.0,"iterations":1.0,"capped":0.0,"validation":{none},"validation_lifted":{none},"selected_by":{validation},"is_best":true,"seconds":1.0}}"#
            )
        };
        let lines = [epoch("0.123456", "0.5"), "cut off".to_owned(), epoch("2.0", "null")];
        std::fs::write(folder.path().join(METRICS), lines.join("\n")).unwrap();
        let curve = Curve::of_run(folder.path());
        assert_eq!(curve, Curve { train_loss: vec![Some(0.1235), Some(2.0)], validation: vec![Some(0.5), None] });
        assert!(Curve::of_run(&folder.path().join("none")).is_empty());
    }
}
