//! Operations over contiguous segments of rows, forward and backward: sums, extremes, softmax, sparsemax.
//!
//! Every function takes row-major `[rows, width]` slices. They run on one thread: a graph step is a few hundred
//! thousand numbers, and the fused [`block`](crate::block) takes over where speed matters.

mod cross_entropy;
mod elementwise;
mod extreme;
mod offsets;
mod range;
mod softmax;
mod sparsemax;
mod sum;

pub use cross_entropy::{cross_entropy, cross_entropy_backward};
pub use elementwise::{keep_max, keep_max_backward, leaky_relu, leaky_relu_backward};
pub use extreme::{Extreme, extreme, extreme_backward};
pub use offsets::Segments;
pub use range::{range_normalise, range_normalise_backward};
pub use softmax::{softmax, softmax_backward};
pub use sparsemax::{sparsemax, sparsemax_backward};
pub use sum::{broadcast, mean, sum};
