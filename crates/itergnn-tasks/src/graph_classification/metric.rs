//! Accuracy over folds.

use serde::{Deserialize, Serialize};

use crate::{Summary, Task, TaskError};

/// The result of cross-validation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CrossValidation {
    /// The epoch with the best mean accuracy, counted from 0; the first among equals.
    pub epoch: usize,
    /// The accuracies of the folds at that epoch.
    pub accuracy: Summary,
}

impl CrossValidation {
    /// Chooses one epoch for all folds, the one whose mean test accuracy over the folds is best, and reports mean and
    /// spread at it.
    ///
    /// This is the protocol of the GIN paper (Xu et al. 2019, section 7), which the IterGNN paper follows. It looks at
    /// test data to choose the epoch, so its numbers are optimistic and compare only with numbers made the same way.
    ///
    /// # Shapes
    /// `curves`: `[folds, epochs]`, the test accuracy of each fold after each epoch.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if there is no fold or no epoch, or the folds have different numbers of epochs.
    ///
    /// # Example
    /// ```
    /// use itergnn_tasks::graph_classification::CrossValidation;
    /// let result = CrossValidation::of(&[vec![0.5, 0.9, 0.7], vec![0.6, 0.7, 0.8]])?;
    /// assert_eq!((result.epoch, result.accuracy.mean), (1, 0.8));
    /// # Ok::<(), itergnn_tasks::TaskError>(())
    /// ```
    pub fn of(curves: &[Vec<f64>]) -> Result<Self, TaskError> {
        let epochs = curves.first().map_or(0, Vec::len);
        let mut best: Option<Self> = None;
        if curves.iter().all(|curve| curve.len() == epochs) {
            for epoch in 0..epochs {
                let Some(accuracy) = Summary::of(curves.iter().map(|curve| curve[epoch])) else { break };
                if best.is_none_or(|best| accuracy.mean > best.accuracy.mean) {
                    best = Some(Self { epoch, accuracy });
                }
            }
        }
        best.ok_or_else(|| TaskError::Setting {
            task: Task::GraphClassification,
            what: "accuracy curves".to_owned(),
            why: "need at least one fold, and as many epochs in each, at least one".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_epoch_is_chosen_for_all_folds() {
        // Each fold alone is best elsewhere; the mean is best at epoch 1.
        let result = CrossValidation::of(&[vec![1.0, 0.8, 0.0], vec![0.0, 0.7, 1.0]]).unwrap();
        assert_eq!(result.epoch, 1);
        assert!((result.accuracy.mean - 0.75).abs() < 1e-12);
        assert!((result.accuracy.standard_deviation - 0.005_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn ragged_or_empty_curves_are_refused() {
        assert!(CrossValidation::of(&[]).is_err());
        assert!(CrossValidation::of(&[vec![]]).is_err());
        assert!(CrossValidation::of(&[vec![0.5], vec![0.5, 0.6]]).is_err());
    }
}
