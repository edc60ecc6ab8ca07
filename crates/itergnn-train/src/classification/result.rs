//! What a cross-validation comes to.

use itergnn_tasks::{Summary, graph_classification::CrossValidation};
use serde::{Deserialize, Serialize};

use super::ClassificationData;
use crate::{RunConfig, TrainError};

/// An epoch of a fold: a line of `fold-K/metrics.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochOfFold {
    /// The fold, counted from 0.
    pub fold: usize,
    /// The epoch, counted from 1.
    pub epoch: u64,
    /// Mean cross-entropy of the batches, as they were seen.
    pub train_loss: f64,
    /// Share of the fold's test graphs that are classified rightly.
    pub test_accuracy: f64,
    /// Iterations of all blocks together, a training graph; the number of blocks for GIN.
    pub iterations: f64,
    /// The learning rate.
    pub learning_rate: f64,
    /// Seconds of training so far, over all starts.
    pub seconds: f64,
}

impl EpochOfFold {
    pub(crate) fn scalars(&self) -> [(&'static str, f64); 3] {
        [
            ("epoch/train_loss", self.train_loss),
            ("test/accuracy", self.test_accuracy),
            ("train/learning_rate", self.learning_rate),
        ]
    }
}

/// The test accuracy of a fold after every epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoldCurve {
    /// The fold, counted from 0.
    pub fold: usize,
    /// Graphs trained on.
    pub train_graphs: usize,
    /// Graphs tested.
    pub test_graphs: usize,
    /// The accuracies.
    pub accuracy: Vec<f64>,
    /// Mean loss of every epoch.
    pub train_loss: Vec<f64>,
    /// Iterations of a training graph in every epoch.
    pub iterations: Vec<f64>,
    /// Seconds of training.
    pub seconds: f64,
}

/// The result of a cross-validation: `result.json` of its run directory.
///
/// Accuracies are shares of 1; epochs are counted from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassificationResult {
    /// The set.
    pub dataset: String,
    /// The model's name.
    pub model: String,
    /// Graphs of the set.
    pub graphs: usize,
    /// Graphs that no fold tests; 0 for stratified folds.
    pub never_tested: usize,
    /// Trainable numbers of the model.
    pub parameters: usize,
    /// The epoch with the best mean test accuracy over the folds: the GIN paper's choice, which looks at test data.
    pub selected_epoch: u64,
    /// Mean and spread over the folds at that epoch.
    pub selected: Summary,
    /// Mean and spread at the last epoch, which nothing chose.
    pub last: Summary,
    /// The folds.
    pub folds: Vec<FoldCurve>,
    /// Seconds of training of all folds together, one thread each.
    pub seconds: f64,
    /// The configuration.
    pub config: RunConfig,
    /// The version that made it.
    pub itergnn: String,
}

impl ClassificationResult {
    /// Chooses the epoch.
    ///
    /// # Errors
    /// [`TrainError::Task`] if there is no fold or their numbers of epochs differ.
    pub fn new(
        config: &RunConfig,
        data: &ClassificationData,
        parameters: usize,
        folds: Vec<FoldCurve>,
    ) -> Result<Self, TrainError> {
        let curves: Vec<Vec<f64>> = folds.iter().map(|fold| fold.accuracy.clone()).collect();
        let chosen = CrossValidation::of(&curves)?;
        let last: Vec<Vec<f64>> = curves.iter().map(|curve| curve.last().copied().into_iter().collect()).collect();
        Ok(Self {
            dataset: config.set()?.dataset.to_string(),
            model: config.model.name.clone(),
            graphs: data.samples().len(),
            never_tested: data.never_tested(),
            parameters,
            selected_epoch: chosen.epoch as u64 + 1,
            selected: chosen.accuracy,
            last: CrossValidation::of(&last)?.accuracy,
            seconds: folds.iter().map(|fold| fold.seconds).sum(),
            folds,
            config: config.clone(),
            itergnn: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}
