//! Task 7: the graph classification sets of the GIN paper.
//!
//! Input: node attributes are the one-hot tag of the file, or the one-hot degree where all tags are the same (IMDB);
//! the edge attribute is 1. Target: `[class]`, counted from 0. Metric: accuracy over ten stratified folds ([`Folds`])
//! at the epoch with the best mean ([`CrossValidation`]).
//!
//! The sets are not part of this crate: [`GraphClassificationSpec`] says where to put them.

mod folds;
mod legacy_shuffle;
mod metric;
mod sampler;
mod spec;

pub use folds::Folds;
pub use metric::CrossValidation;
pub use sampler::GraphClassificationSampler;
pub use spec::{DataSetName, GraphClassificationSpec};
