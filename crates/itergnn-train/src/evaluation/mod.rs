//! How good a model is, at any size.
//!
//! [`evaluate`] draws test samples, predicts them in batches that fit in memory and judges them; with
//! [`EvalOptions::success`] it also walks from source to target by predicted lengths, by both rules and all walks in
//! step, so that every round of questions is a few large batches.

mod batching;
mod evaluate;
mod judge;
mod marks;
mod options;
mod own;
mod path_finder;
mod predictor;
mod questions;
mod report;
mod walks;

pub(crate) use batching::predict_all;
pub use batching::predict_graphs;
pub use evaluate::evaluate;
pub(crate) use evaluate::{DIAMETER_BUDGET, predict_and_judge};
pub use judge::judge;
pub use marks::Marks;
pub use options::{EvalOptions, EvalProgress};
pub(crate) use own::judge_own;
pub use own::{OwnReport, evaluate_own};
pub use path_finder::{Found, PathFinder, Searched, is_path_length};
pub use predictor::{ModelPredictor, Predicted, Predictor};
pub use questions::Kept;
pub use report::{DiameterSummary, EvalReport, IterationSummary, NodeSummary, Overflow, SampleRecord};
pub use walks::score_walks;
