//! Task 3: the length of the optimal tour through points in the plane.
//!
//! Input: a complete graph; node attributes are the coordinates, the edge attribute is the Euclidean distance. Target:
//! `[length]` of a tour that is proven optimal. Metric: relative loss.

mod sampler;
mod spec;

pub use sampler::TspSampler;
pub use spec::TspSpec;
