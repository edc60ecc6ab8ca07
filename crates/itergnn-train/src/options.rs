//! How a run is carried out, as opposed to what it computes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use burn::tensor::Device;

use crate::run::Start;

/// What a run needs besides its configuration; nothing here changes its result.
#[derive(Debug, Clone)]
pub struct TrainOptions {
    /// Where the model computes.
    pub device: Device,
    /// What to do with a directory that may already hold a run.
    pub start: Start,
    /// Once true, the run saves its state and ends after the step it is in; for Ctrl-C.
    pub stop: Arc<AtomicBool>,
    /// Ends the run in the same way once it has taken this many steps over all starts.
    pub stop_at_step: Option<u64>,
}

impl Default for TrainOptions {
    /// The CPU, a new run, to the end.
    fn default() -> Self {
        Self { device: Device::flex(), start: Start::New, stop: Arc::default(), stop_at_step: None }
    }
}

impl TrainOptions {
    pub(crate) fn wants_stop(&self, step: u64) -> bool {
        self.stop.load(Ordering::Relaxed) || self.stop_at_step.is_some_and(|last| step >= last)
    }
}
