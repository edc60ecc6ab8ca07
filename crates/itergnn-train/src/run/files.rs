//! A run's files, if it has any.

use std::path::Path;
use std::time::Instant;

use itergnn_nn::store::{self, ModelCard};
use itergnn_nn::{GnnConfig, GnnModel};

use super::{Checkpoint, LogLengths, RESULT, RunDirectory, RunLog, Start, write_json};
use crate::TrainError;
use crate::config::RunConfig;
use crate::records::{Observer, Record};

/// The directory and logs of a run; a run without a directory writes nothing.
pub(crate) struct RunFiles {
    open: Option<Open>,
}

struct Open {
    directory: RunDirectory,
    log: RunLog,
    settings: String,
    config: RunConfig,
    saved_at: Instant,
    saved_step: u64,
}

impl RunFiles {
    /// Opens the directory and finds the state to go on from.
    pub(crate) fn open(
        path: Option<&Path>,
        config: &RunConfig,
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
        if let Some(held) = checkpoint.as_ref().and_then(|checkpoint| checkpoint.settings.as_deref()) {
            config.check_same(held, path)?;
        }
        // Without a checkpoint the run begins again, and so do its logs.
        let lengths = checkpoint.as_ref().map_or(LogLengths::default(), |checkpoint| checkpoint.logs);
        let log = RunLog::open(&directory.metrics_path(), &directory.events_path(), lengths)?;
        let open = Open {
            directory,
            log,
            settings: config.deciding()?,
            config: config.clone(),
            saved_at: Instant::now(),
            saved_step: checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.progress.step),
        };
        Ok((Self { open: Some(open) }, checkpoint))
    }

    pub(crate) fn note_start(&self, model: &GnnConfig, device: &str) -> Result<(), TrainError> {
        match &self.open {
            Some(open) => open.directory.note_start(&open.config, model, device),
            None => Ok(()),
        }
    }

    /// Writes a record to the logs; a step only when one is due.
    pub(crate) fn log(&mut self, record: &Record) -> Result<(), TrainError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let every = open.config.log_every;
        let is_due = !matches!(record, Record::Step(_)) || (every > 0 && record.step().is_multiple_of(every));
        if is_due { open.log.record(record) } else { Ok(()) }
    }

    /// Whether the state should be saved after a step.
    pub(crate) fn save_is_due(&self, step: u64) -> bool {
        self.open.as_ref().is_some_and(|open| {
            let when = &open.config.checkpoint;
            when.every_steps.is_some_and(|steps| step >= open.saved_step + steps)
                || open.saved_at.elapsed().as_secs_f64() >= when.every_seconds
        })
    }

    /// Saves a state, which `make` gives for the settings and the present lengths of the logs.
    pub(crate) fn save(
        &mut self,
        make: impl FnOnce(String, LogLengths) -> Checkpoint,
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let checkpoint = make(open.settings.clone(), open.log.lengths()?);
        open.directory.save(&checkpoint)?;
        observer.checkpoint(&open.directory.checkpoint_path(), checkpoint.progress.step);
        (open.saved_at, open.saved_step) = (Instant::now(), checkpoint.progress.step);
        Ok(())
    }

    /// Writes the model of the best epoch.
    pub(crate) fn save_best(&self, model: &GnnModel, card: &ModelCard) -> Result<(), TrainError> {
        match &self.open {
            Some(open) => Ok(store::save(model, card, open.directory.best_model_path())?),
            None => Ok(()),
        }
    }

    /// Whether the model of the best epoch should be there and is not.
    pub(crate) fn lacks_best(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.directory.best_model_path().exists())
    }

    pub(crate) fn write_result(&self, result: &serde_json::Value) -> Result<(), TrainError> {
        self.open.as_ref().map_or(Ok(()), |open| write_json(&open.directory.path().join(RESULT), result))
    }
}
