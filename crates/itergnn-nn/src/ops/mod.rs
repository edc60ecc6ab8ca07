//! Operations over contiguous segments of rows, with their gradients.
//!
//! Burn has no segment softmax, and its scatter with maximum is silently wrong backward, so the operations here are
//! custom operations of a backend extension over [`itergnn_kernels::segments`] (Flex; `f32` and `f64`). `tests/ops`
//! compare each with basic operations.

mod backend;
mod functions;

pub use itergnn_kernels::segments::{Extreme, Segments};

pub(crate) use backend::{FlexElement, with_float};
pub use backend::{GraphBackend, GraphGradient, UnaryOperation};
pub use functions::{
    cross_entropy, keep_max, leaky_relu, segment_max, segment_mean, segment_min, segment_range_normalise,
    segment_scale_invariant_softmax, segment_scale_invariant_sparsemax, segment_softmax, segment_sparsemax,
    segment_sum,
};
