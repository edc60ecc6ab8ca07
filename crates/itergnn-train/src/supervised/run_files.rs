//! A run's files, if it has any.

use std::path::Path;
use std::time::Instant;

use burn::tensor::Device;
use itergnn_nn::store::{self, ModelCard};
use itergnn_nn::{GnnConfig, GnnModel};

use crate::TrainError;
use crate::config::{CheckpointConfig, TrainConfig};
use crate::records::{EpochRecord, Observer, StepRecord};
use crate::run::{Checkpoint, LogLengths, RunDirectory, RunLog, Start};

/// The directory and logs of a run; a run without a directory writes nothing.
pub(super) struct RunFiles {
    open: Option<Open>,
}

struct Open {
    directory: RunDirectory,
    log: RunLog,
    habits: CheckpointConfig,
    saved_at: Instant,
    steps_since: u64,
}

impl RunFiles {
    /// Opens the directory and finds the state to go on from.
    pub(super) fn open(
        path: Option<&Path>,
        config: &TrainConfig,
        start: Start,
        observer: &mut dyn Observer,
    ) -> Result<(Self, Option<Checkpoint>), TrainError> {
        let Some(path) = path else {
            return Ok((Self { open: None }, None));
        };
        let (directory, exists) = RunDirectory::open(path, config, start)?;
        let found = if exists { directory.load()? } else { None };
        let checkpoint = found.map(|(checkpoint, notes)| {
            notes.iter().for_each(|note| observer.note(note));
            checkpoint
        });
        // Without a checkpoint the run begins again, and so do its logs.
        let lengths = checkpoint.as_ref().map_or(LogLengths::default(), |checkpoint| checkpoint.logs);
        let log = RunLog::open(&directory.metrics_path(), &directory.events_path(), lengths)?;
        let habits = config.checkpoint.clone();
        let open = Open { directory, log, habits, saved_at: Instant::now(), steps_since: 0 };
        Ok((Self { open: Some(open) }, checkpoint))
    }

    pub(super) fn note_start(&self, model: &GnnConfig, device: &Device) -> Result<(), TrainError> {
        match &self.open {
            Some(open) => open.directory.note_start(model, &format!("{device:?}")),
            None => Ok(()),
        }
    }

    pub(super) fn log_step(&mut self, record: &StepRecord) -> Result<(), TrainError> {
        self.open.as_mut().map_or(Ok(()), |open| open.log.step(record))
    }

    pub(super) fn log_epoch(&mut self, record: &EpochRecord) -> Result<(), TrainError> {
        self.open.as_mut().map_or(Ok(()), |open| open.log.epoch(record))
    }

    /// Counts a step and says whether the state should be saved after it.
    pub(super) fn save_is_due(&mut self) -> bool {
        let Some(open) = &mut self.open else { return false };
        open.steps_since += 1;
        open.habits.every_steps.is_some_and(|steps| open.steps_since >= steps)
            || open.saved_at.elapsed().as_secs_f64() >= open.habits.every_seconds
    }

    /// Saves a state, which `make` gives for the present lengths of the logs.
    pub(super) fn save(
        &mut self,
        make: impl FnOnce(LogLengths) -> Checkpoint,
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let checkpoint = make(open.log.lengths()?);
        open.directory.save(&checkpoint)?;
        observer.checkpoint(&open.directory.checkpoint_path(), checkpoint.progress.step);
        (open.saved_at, open.steps_since) = (Instant::now(), 0);
        Ok(())
    }

    /// Writes the model of the best epoch.
    pub(super) fn save_best(&self, model: &GnnModel, card: &ModelCard) -> Result<(), TrainError> {
        match &self.open {
            Some(open) => Ok(store::save(model, card, open.directory.best_model_path())?),
            None => Ok(()),
        }
    }

    /// Whether the model of the best epoch should be there and is not.
    pub(super) fn lacks_best(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.directory.best_model_path().exists())
    }

    pub(super) fn write_result(&self, result: &serde_json::Value) -> Result<(), TrainError> {
        self.open.as_ref().map_or(Ok(()), |open| open.directory.write_json("result.json", result))
    }
}
