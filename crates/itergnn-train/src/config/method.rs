//! The ways to learn.

use itergnn_tasks::Task;
use serde::{Deserialize, Serialize};

use super::{CrossValidationConfig, DqnConfig, OptimiserConfig, RunTask, Schedule, SupervisedConfig};
use crate::TrainError;

/// How a run learns, with the settings of that method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MethodConfig {
    /// From labelled samples.
    Supervised(SupervisedConfig),
    /// From labelled graphs in ten folds: graph classification.
    CrossValidation(CrossValidationConfig),
    /// By playing: Pacman.
    DoubleDqn(DqnConfig),
}

/// Adam's epsilon in PyTorch, which the GIN paper's code leaves alone.
const PYTORCH_EPSILON: f64 = 1e-8;

/// Steps after which the GIN paper halves the rate: 50 epochs of 50.
const HALVING_STEPS: u64 = 2_500;

impl Default for MethodConfig {
    /// From samples.
    fn default() -> Self {
        Self::Supervised(SupervisedConfig::default())
    }
}

impl MethodConfig {
    /// How the paper learns a task.
    pub fn of_task(task: Task) -> Self {
        match task {
            Task::Pacman => Self::DoubleDqn(DqnConfig::default()),
            Task::GraphClassification => Self::CrossValidation(CrossValidationConfig::default()),
            _ => Self::Supervised(SupervisedConfig::default()),
        }
    }

    /// The method's name in configuration files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Supervised(_) => "supervised",
            Self::CrossValidation(_) => "cross-validation",
            Self::DoubleDqn(_) => "double-dqn",
        }
    }

    /// Adam as the paper uses it with the method: rate 0.001 from samples, 0.0002 in games; the GIN paper's 0.01 in
    /// cross-validation.
    pub fn default_optimiser(&self) -> OptimiserConfig {
        let default = OptimiserConfig::default();
        match self {
            Self::Supervised(_) => default,
            Self::CrossValidation(_) => OptimiserConfig {
                learning_rate: 0.01,
                epsilon: PYTORCH_EPSILON,
                schedule: Schedule::Halving { every_steps: HALVING_STEPS },
                ..default
            },
            Self::DoubleDqn(_) => OptimiserConfig { learning_rate: 2e-4, ..default },
        }
    }

    pub(super) fn validate(&self, task: &RunTask) -> Result<(), TrainError> {
        match self {
            Self::Supervised(method) => method.validate(),
            Self::CrossValidation(method) => method.validate(),
            Self::DoubleDqn(method) => method.validate(task),
        }
    }

    pub(super) fn not_supervised(&self, task: &RunTask) -> TrainError {
        let why = match self {
            Self::DoubleDqn(_) => "is learned by playing, not from labelled samples",
            _ => "is learned in cross-validation, not from one split",
        };
        TrainError::NotSupervised { task: task.name().to_owned(), why }
    }
}
