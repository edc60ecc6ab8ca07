//! CUDA kernels of itergnn: whole training steps of an ensemble of networks, and inference, on one card.
//!
//! An [`Ensemble`] holds models of one shape that may differ in weights, data and every number of their recipes. One
//! launch runs all of them: a thread block takes a few graphs through embedding, blocks, readout, head and loss and
//! back; a second launch adds up the gradients in a fixed order, a third is Adam. What a block computes is the contract
//! of [`itergnn_kernels::block`], and its parameters lie in the same order.
//!
//! A [`Predictor`] asks models about many graphs in one launch, a [`LargeGraph`] is one graph that the whole card works
//! on.
//!
//! Driver and NVRTC are loaded when they are needed: the crate builds and its tests pass without them. Kernels are
//! compiled at first use for the card found and the shape of the network, and kept on disk.
//!
//! ```
//! use itergnn_cuda::{CudaError, Gpu};
//! match Gpu::open() {
//!     Ok(gpu) => assert!(gpu.multiprocessors() > 0),
//!     Err(error) => assert!(matches!(error, CudaError::NoDriver | CudaError::NoCompiler | CudaError::NoCard { .. } | CudaError::TooOld { .. })),
//! }
//! ```
#![allow(unsafe_code)]

// The helpers of the tests name the crate as others do.
#[cfg(test)]
extern crate self as itergnn_cuda;

mod buffers;
mod cache;
mod convolution;
#[cfg(all(test, target_os = "linux"))]
mod emulation;
mod ensemble;
mod error;
mod gpu;
mod large;
mod launch;
mod layout;
mod network;
mod packing;
mod plan;
mod predict;
mod program;
mod report;
mod samples;
mod sizes;
mod tuning;

pub use ensemble::{Ensemble, EnsembleOptions};
pub use error::CudaError;
pub use gpu::Gpu;
pub use itergnn_kernels::block;
pub use large::{LargeAnswer, LargeGraph};
pub use network::{Loss, ModelSpec, Network, Perceptron, Readout, Recipe};
pub use predict::{Answers, Mode, Predictor, Question};
pub use report::{Moments, StepReport};
pub use samples::{SampleView, Samples};
pub use tuning::Tuning;
