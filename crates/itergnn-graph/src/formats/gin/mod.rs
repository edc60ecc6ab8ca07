//! The text format of the graph classification sets, as the GIN paper's code reads it.

mod dataset;
mod folds;
mod reader;

pub use dataset::{GinDataset, GinGraph, NodeFeature};
pub use folds::{Fold, parse_fold_indices, read_folds};
pub use reader::{parse_gin, read_gin};
