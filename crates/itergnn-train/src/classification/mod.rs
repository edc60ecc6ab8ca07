//! Graph classification by cross-validation.
//!
//! The protocol of the GIN paper (Xu et al. 2019): ten stratified folds; on each a model is trained on nine tenths and
//! judged on the last after every epoch; the epoch whose mean accuracy over the folds is best is reported for all
//! folds, with the spread over them. [`cross_validate`] does all of it in a run directory:
//!
//! | file | what |
//! |---|---|
//! | `config.toml` | the [`RunConfig`](crate::RunConfig) of all folds |
//! | `fold-K/` | a [run directory](crate::run): its model is the one after the last epoch, which no test sample chose |
//! | `result.json` | a [`ClassificationResult`], written when all folds are done |

mod config;
mod cross_validation;
mod data;
mod evaluation;
mod fold;
mod folder;
mod old_fold;
mod result;

pub use config::{CrossValidationConfig, FoldChoice};
pub use cross_validation::cross_validate;
pub use data::ClassificationData;
pub use evaluation::{evaluate_classifier, evaluate_run};
pub use folder::{fold_directory, is_classification_run};
pub use result::{ClassificationResult, EpochOfFold, FoldCurve};
