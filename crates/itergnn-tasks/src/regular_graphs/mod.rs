//! Task 8: telling two regular graphs apart that colour refinement cannot.
//!
//! Every sample is one of two graphs of equal degree, with random node attributes. Target: `[class]`, 0 or 1. Metric:
//! accuracy.

mod sampler;
mod spec;

pub use sampler::RegularGraphsSampler;
pub use spec::{GraphPair, RegularGraphsSpec};
