//! Own labelled graphs, ready to be trained on.

use std::fs::File;
use std::io::{BufReader, stdin};
use std::path::Path;
use std::sync::Arc;

use super::{Dataset, Example, read_examples};
use crate::TrainError;
use crate::config::{Holdout, OwnTask};

/// Own labelled graphs: what is learned from, and what the best epoch is chosen on.
#[derive(Clone)]
pub struct OwnData {
    /// Samples to learn from.
    pub train: Arc<dyn Dataset>,
    /// Samples that the best epoch is chosen on.
    pub validation: Arc<dyn Dataset>,
}

impl OwnData {
    /// The files that a task names, read into at most `memory` bytes; `-` is standard input. `seed` decides which share
    /// of the samples is held out.
    ///
    /// # Errors
    /// [`TrainError::Io`] and [`TrainError::Data`] say what is wrong with a file; [`TrainError::Config`] if there is no
    /// file, or nothing is left to learn from or to choose by.
    pub fn read(task: &OwnTask, seed: u64, memory: u64) -> Result<Self, TrainError> {
        let file = task.data.as_deref().ok_or_else(|| TrainError::config("task.data", "there is no file"))?;
        let (train, held_out) = task.divide(read_file(file, task, memory)?, seed)?;
        let validation = match &task.validation {
            Holdout::File(file) => read_file(file, task, memory)?,
            _ => held_out,
        };
        Ok(Self { train: Arc::new(train), validation: Arc::new(validation) })
    }
}

/// The labelled graphs of a file, or of standard input for `-`.
///
/// # Errors
/// As [`read_examples`]; [`TrainError::Io`] if there is no such file.
pub fn read_file(file: &Path, task: &OwnTask, memory: u64) -> Result<Vec<Example>, TrainError> {
    let name = file.display().to_string();
    if name == "-" {
        return read_examples(stdin().lock(), "standard input", task.level, memory);
    }
    let reader = BufReader::new(File::open(file).map_err(TrainError::io("read", file))?);
    read_examples(reader, &name, task.level, memory)
}
