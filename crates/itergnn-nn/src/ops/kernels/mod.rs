//! The loops behind the operations, on plain slices.
//!
//! Every function takes row-major `[rows, width]` slices. They run on one thread: a graph step is a few hundred thousand
//! numbers, and the fused kernels take over where speed matters.

mod elementwise;
mod extreme;
mod range;
mod real;
mod softmax;
mod sparsemax;
mod sum;

pub(crate) use elementwise::{keep_max, keep_max_backward, leaky_relu, leaky_relu_backward};
pub use extreme::Extreme;
pub(crate) use extreme::{extreme, extreme_backward};
pub use range::RELATIVE_RANGE;
pub(crate) use range::{range_normalise, range_normalise_backward};
pub(crate) use real::Real;
pub(crate) use softmax::{softmax, softmax_backward};
pub(crate) use sparsemax::{sparsemax, sparsemax_backward};
pub(crate) use sum::{broadcast, mean, sum};
