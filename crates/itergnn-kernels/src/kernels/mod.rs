//! The loops that take the time, written once over [`Simd`](crate::simd::Simd) and compiled once per instruction set.
//!
//! [`Kernels`] is a table of function pointers; the code that calls it is the same for every instruction set.

// Several register arrays are indexed in step by a constant number of vectors; iterators over one of them would hide
// that.
#![allow(clippy::needless_range_loop)]

mod active;
mod attention;
mod convolution;
mod fold;
mod gemm;
mod maximum;
mod maximum_backward;
mod message;
mod neighbours;
mod normalise;
mod peak;
mod rows;
mod table;

pub(crate) use active::ActiveEdges;
pub(crate) use attention::{MessageGradient, SharedMessageGradient, Signs, SplitGradient, WeightedForward};
pub(crate) use convolution::{Convolve, ConvolveBackward, RectifyBackward};
pub(crate) use fold::{FoldMax, LazyOutput, UNTOUCHED};
pub(crate) use gemm::{Gemm, Start};
pub(crate) use maximum::{MOST_BYTE_EDGES, MaxForward, WINNER_ALIGNMENT, Winners};
pub(crate) use maximum_backward::{BLOCK_NODES, MaxBackward, block_rows};
pub(crate) use message::{Activate, ActivateBackward, MessageRows};
pub(crate) use neighbours::NeighbourSum;
pub(crate) use normalise::{AffineRelu, ColumnMoments, NormaliseBackward, NormaliseSums};
pub(crate) use peak::Peak;
pub(crate) use rows::{AddAssign, ColumnSum, Flush, PoolMax, WeightedAdd};
pub(crate) use table::Kernels;
pub(crate) use table::{f32_kernels, f64_kernels};
