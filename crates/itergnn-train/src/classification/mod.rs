//! Graph classification by cross-validation.
//!
//! The protocol of the GIN paper (Xu et al. 2019): ten stratified folds; on each a model is trained on nine tenths and judged on the last after every epoch; the epoch
//! whose mean accuracy over the folds is best is reported for all folds, with the spread over them. [`cross_validate`] does all of it in a run directory:
//!
//! | file | what |
//! |---|---|
//! | `config.toml` | the resolved [`ClassificationConfig`] |
//! | `fold-K/metrics.jsonl` | an [`EpochOfFold`] a line |
//! | `fold-K/last.ckpt` | the state to resume from |
//! | `fold-K/model.safetensors` | the model after the last epoch, which no test sample chose |
//! | `result.json` | a [`ClassificationResult`], written when all folds are done |
//!
//! Every file but the logs is written atomically.

mod config;
mod cross_validation;
mod data;
mod evaluation;
mod fold;
mod fold_files;
mod learner;
mod result;

pub use config::{ClassificationConfig, ClassificationTask, ClassifierConfig, FoldChoice};
pub use cross_validation::{ClassificationOptions, cross_validate};
pub use data::ClassificationData;
pub use evaluation::{evaluate_classifier, evaluate_run};
pub use fold_files::{fold_directory, is_classification_run};
pub use result::{ClassificationResult, EpochOfFold, FoldCurve};
