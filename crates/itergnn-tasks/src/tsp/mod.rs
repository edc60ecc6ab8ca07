//! Task 3: the length of the optimal tour through points in the plane.
//!
//! Input: a complete graph; node attributes are the coordinates, the edge attribute is the Euclidean distance. Target:
//! `[length]` of a tour that is proven optimal. Metric: relative loss.
//! [`yardsticks`] says what two numbers and a local search achieve on the same samples.

mod memory;
mod sampler;
mod spec;
mod yardsticks;

pub use sampler::TspSampler;
pub use spec::TspSpec;
pub use yardsticks::{LengthFormula, Yardsticks, yardsticks};
