//! Task 2: how many connected components a graph has.
//!
//! n nodes are cut into up to six parts, each part is a connected random graph. Node attributes are random numbers, so
//! that a model can tell nodes apart; edge attributes are 1. Target: `[components]`, by union-find. Metric: accuracy
//! after rounding.

mod sampler;
mod spec;

pub use sampler::ComponentCountSampler;
pub use spec::ComponentCountSpec;
