//! How long the kernels worked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The wall time that the kernels took for one run of a block; a clone reads the same clock.
///
/// What a training step spends beside it is tensor operations: the share that `cargo bench -p itergnn-train --bench
/// train_step` prints.
#[derive(Debug, Clone, Default)]
pub struct KernelClock {
    nanoseconds: Arc<[AtomicU64; 2]>,
}

impl KernelClock {
    /// Time from inputs to outputs.
    pub fn forward(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds[0].load(Ordering::Relaxed))
    }

    /// Time from the gradient of the outputs to all others; zero as long as nobody went back.
    pub fn backward(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds[1].load(Ordering::Relaxed))
    }

    pub(super) fn time_forward<R>(&self, work: impl FnOnce() -> R) -> R {
        self.time(0, work)
    }

    pub(super) fn time_backward<R>(&self, work: impl FnOnce() -> R) -> R {
        self.time(1, work)
    }

    fn time<R>(&self, direction: usize, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds[direction].fetch_add(nanoseconds, Ordering::Relaxed);
        result
    }
}
