//! Why a computation on the card could not run.

use cudarc::driver::DriverError;
use thiserror::Error;

/// What is missing, refused or failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CudaError {
    /// No driver library.
    #[error("no CUDA driver (libcuda) was found; install NVIDIA's driver or use device cpu")]
    NoDriver,
    /// No run-time compiler.
    #[error("no CUDA compiler library (libnvrtc) was found; install CUDA 12 or 13's NVRTC or use device cpu")]
    NoCompiler,
    /// A driver without a card.
    #[error("the CUDA driver offers no card ({why}); use device cpu")]
    NoCard {
        /// What the driver says.
        why: String,
    },
    /// A card without the instructions that the kernels need.
    #[error("{name} has compute capability {major}.{minor}, the kernels need 8.0 or later; use device cpu")]
    TooOld {
        /// The card.
        name: String,
        /// Its compute capability.
        major: i32,
        /// Its compute capability.
        minor: i32,
    },
    /// Not enough memory on the card.
    #[error("the card has {free} MiB free, {needed} MiB are needed; train fewer models at once or smaller graphs")]
    Memory {
        /// What the run takes.
        needed: u64,
        /// What there is.
        free: u64,
    },
    /// A network without kernels.
    #[error("not covered on a GPU: {0}; use device cpu")]
    Unsupported(String),
    /// Samples or weights that do not fit the network.
    #[error("{0}")]
    Input(String),
    /// The compiler refused a kernel; a bug of this crate.
    #[error("the CUDA compiler refused a kernel: {0}")]
    Compile(String),
    /// The driver reports a failure.
    #[error("CUDA: {0}")]
    Driver(String),
}

impl From<DriverError> for CudaError {
    fn from(error: DriverError) -> Self {
        Self::Driver(error.to_string())
    }
}
