//! What training minimises.

use itergnn_tasks::Task;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString};

use crate::TrainError;

/// The loss of a batch, averaged over all numbers of its targets.
///
/// | kind | formula |
/// |---|---|
/// | `mse` | (p - y)^2 |
/// | `relative` | ((p - y) / y)^2 |
/// | `cross-entropy` | -log softmax(p)_y, with y a class |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Display, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", parse_err_ty = TrainError, parse_err_fn = unknown)]
pub enum LossKind {
    /// Mean squared error.
    Mse,
    /// Mean squared relative error; targets must not be 0.
    Relative,
    /// Cross-entropy of class scores.
    CrossEntropy,
}

impl LossKind {
    /// What the paper minimises: cross-entropy for classes, the squared error for numbers.
    pub fn of_task(task: Task) -> Self {
        match task {
            Task::GraphClassification | Task::RegularGraphs => Self::CrossEntropy,
            _ => Self::Mse,
        }
    }
}

/// What is said about a name that no loss has.
fn unknown(text: &str) -> TrainError {
    TrainError::config("loss", format!("`{text}`, expected mse, relative or cross-entropy"))
}
