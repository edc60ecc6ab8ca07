//! Operations over contiguous segments of rows, with their gradients.
//!
//! Burn has no segment softmax, and its scatter with maximum is silently wrong backward, so the operations here are custom
//! operations of a backend extension with kernels of their own (Flex; `f32` and `f64`). Beside each stands a [`reference`](mod@reference) made of
//! basic operations, which the tests compare with.

mod backend;
mod functions;
mod kernels;
pub mod reference;
mod segments;

pub use backend::{GraphBackend, GraphGradient, UnaryOperation};
pub use functions::{
    keep_max, leaky_relu, segment_max, segment_mean, segment_min, segment_range_normalise,
    segment_scale_invariant_softmax, segment_scale_invariant_sparsemax, segment_softmax, segment_sparsemax,
    segment_sum,
};
pub use kernels::{Extreme, RELATIVE_RANGE};
pub use segments::Segments;
