//! Numbers that stopped being numbers, and where.

use std::sync::{Arc, Mutex, MutexGuard};

use itergnn_kernels::KernelError;

use super::call::lock;

/// A value that overflowed or became undefined while the fused engine ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A state, message or confidence.
    #[error("graph {graph}: a value is not finite at iteration {iteration} (0 means the initial state)")]
    Value {
        /// Position of the graph in the batch.
        graph: usize,
        /// The first iteration with such a value.
        iteration: usize,
    },
    /// A gradient on its way back.
    #[error("graph {graph}: the gradient of the state after iteration {iteration} is not finite")]
    Gradient {
        /// Position of the graph in the batch.
        graph: usize,
        /// The last iteration whose state has such a gradient.
        iteration: usize,
    },
}

impl Fault {
    /// The fault that an error of the kernels reports; other errors are given back.
    pub(super) fn from_kernel(error: KernelError) -> Result<Self, KernelError> {
        match error {
            KernelError::NonFinite { graph, iteration } => Ok(Self::Value { graph, iteration }),
            KernelError::NonFiniteGradient { graph, iteration } => Ok(Self::Gradient { graph, iteration }),
            other => Err(other),
        }
    }
}

/// The faults of one run; a clone shares them.
///
/// The backward pass comes after the output was handed out and has no other way to speak, so look again after it: a
/// faulty graph has NaN in its outputs, and a faulty backward pass NaN in all its gradients.
#[derive(Debug, Clone, Default)]
pub struct FaultLog {
    faults: Arc<Mutex<Vec<Fault>>>,
}

impl FaultLog {
    /// What went wrong so far, in the order in which it was met.
    pub fn list(&self) -> Vec<Fault> {
        self.lock().clone()
    }

    /// Whether nothing went wrong so far.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    pub(super) fn push(&self, fault: Fault) {
        self.lock().push(fault);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Fault>> {
        lock(&self.faults)
    }
}
