//! Whoever watches a run.

use std::path::Path;

use super::{EpochRecord, StepRecord};
use crate::classification::EpochOfFold;
use crate::rl::PlayRecord;

/// What a run is going to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The run's seed.
    pub seed: u64,
    /// Epochs, if it does not stop early.
    pub epochs: u64,
    /// Steps of all epochs together.
    pub steps: u64,
    /// Steps that an earlier start has already taken.
    pub steps_done: u64,
    /// Trainable numbers of the model.
    pub parameters: usize,
}

/// Is told what happens in a run: a terminal view, a test, a search.
///
/// Calls come from the thread that trains, which waits for them. Nothing an observer does can change the result.
pub trait Observer {
    /// The run begins, or goes on.
    fn started(&mut self, plan: &Plan) {
        let _ = plan;
    }

    /// A step was taken.
    fn step(&mut self, record: &StepRecord) {
        let _ = record;
    }

    /// An epoch ended and was validated.
    fn epoch(&mut self, record: &EpochRecord) {
        let _ = record;
    }

    /// An epoch of a fold ended and was tested.
    fn fold(&mut self, record: &EpochOfFold) {
        let _ = record;
    }

    /// A run that learns by playing has made some more moves.
    fn play(&mut self, record: &PlayRecord) {
        let _ = record;
    }

    /// A checkpoint was written.
    fn checkpoint(&mut self, path: &Path, step: u64) {
        let _ = (path, step);
    }

    /// Something the user should know, such as that a damaged checkpoint was passed over.
    fn note(&mut self, message: &str) {
        let _ = message;
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
