//! What training minimises.

use std::{fmt, str::FromStr};

use itergnn_tasks::Task;
use serde::{Deserialize, Serialize};

use crate::TrainError;

/// The loss of a batch, averaged over all numbers of its targets.
///
/// | kind | formula |
/// |---|---|
/// | `mse` | (p - y)^2 |
/// | `relative` | ((p - y) / y)^2 |
/// | `cross-entropy` | -log softmax(p)_y, with y a class |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// Mean squared error.
    Mse,
    /// Mean squared relative error; targets must not be 0.
    Relative,
    /// Cross-entropy of class scores.
    CrossEntropy,
}

impl LossKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Mse, Self::Relative, Self::CrossEntropy];

    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mse => "mse",
            Self::Relative => "relative",
            Self::CrossEntropy => "cross-entropy",
        }
    }

    /// What the paper minimises: cross-entropy for classes, the squared error for numbers.
    pub fn of_task(task: Task) -> Self {
        match task {
            Task::GraphClassification | Task::RegularGraphs => Self::CrossEntropy,
            _ => Self::Mse,
        }
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for LossKind {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| TrainError::config("loss", format!("`{text}`, expected mse, relative or cross-entropy")))
    }
}
