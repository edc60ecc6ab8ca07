//! What a kernel refuses, and why.

use thiserror::Error;

use crate::simd::Isa;

/// Why a fused operation could not run.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A slice does not have the length that the configuration and the batch ask for.
    #[error("{what} holds {found} values, expected {expected}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// The length the shapes ask for.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// The description of the batch contradicts itself.
    #[error("{what} at position {position}: {problem}")]
    Batch {
        /// Which index array.
        what: &'static str,
        /// Where in it.
        position: usize,
        /// What is wrong there.
        problem: &'static str,
    },
    /// Settings that the kernels do not cover.
    #[error("unsupported configuration: {0}")]
    Config(String),
    /// The processor lacks the instruction set that was asked for.
    #[error("this processor does not offer the instruction set {0:?}")]
    IsaUnavailable(Isa),
    /// The environment variable that forces an instruction set holds an unknown name.
    #[error("ITERGNN_ISA is {found:?}, expected portable, avx2 or avx512")]
    IsaUnknown {
        /// What the variable holds.
        found: String,
    },
    /// A hidden state, message or confidence overflowed or became undefined.
    #[error("graph {graph}: a value is not finite at iteration {iteration} (0 means the initial state)")]
    NonFinite {
        /// Position of the graph in the batch.
        graph: usize,
        /// The first iteration that produced such a value.
        iteration: usize,
    },
    /// A gradient overflowed or became undefined on its way back.
    #[error("graph {graph}: the gradient of the state after iteration {iteration} is not finite")]
    NonFiniteGradient {
        /// Position of the graph in the batch.
        graph: usize,
        /// The last iteration (the first one met going backwards) whose state has such a gradient.
        iteration: usize,
    },
}
