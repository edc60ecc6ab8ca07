//! Own labelled graphs, ready to be trained on.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use itergnn_graph::formats::{open, read_tu_dataset};
use itergnn_tasks::Split;
use itergnn_tasks::algorithms::AlgorithmSpec;

use super::{AlgorithmData, Dataset, Example, json_lines::example_of, read_examples};
use crate::TrainError;
use crate::config::{Holdout, OwnTask, SelectionConfig, SupervisedConfig};

/// Own labelled graphs: what is learned from, and what the best epoch is chosen on.
#[derive(Clone)]
pub struct OwnData {
    /// Samples to learn from.
    pub train: Arc<dyn Dataset>,
    /// Samples that the best epoch is chosen on.
    pub validation: Arc<dyn Dataset>,
}

impl fmt::Debug for OwnData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} samples to learn from, {} to choose by", self.train.len(), self.validation.len())
    }
}

impl OwnData {
    /// The files that a task names, read into at most `memory` bytes; see [`read_file`]. `seed` decides which share of
    /// the samples is held out.
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

    /// The samples of an algorithm for a run with these settings and this seed.
    pub(crate) fn drawn(
        spec: &AlgorithmSpec,
        settings: &SupervisedConfig,
        selection: &SelectionConfig,
        seed: u64,
    ) -> Result<Self, TrainError> {
        let (train, validation) = match selection.held_out_from {
            Some(from) => spec.divided(from)?,
            None => (spec.clone(), spec.clone()),
        };
        let seed = settings.data.seed.unwrap_or(seed);
        let held = |spec, split: Split, count| AlgorithmData::new(spec, split.seed(seed), count).held();
        Ok(Self {
            train: Arc::new(held(train, Split::Train, settings.data.train)?),
            validation: Arc::new(held(validation, Split::Validation, settings.data.validation)?),
        })
    }
}

/// The labelled graphs of a file of JSON lines, plain or packed by gzip, xz or zstd; of standard input for `-`; or of a
/// folder of the TUDataset collection.
///
/// # Errors
/// As [`read_examples`]; [`TrainError::Format`] if there is no such file, or a folder has no TUDataset.
pub fn read_file(file: &Path, task: &OwnTask, memory: u64) -> Result<Vec<Example>, TrainError> {
    if file.is_dir() {
        let numbered = |(index, record)| {
            let refused = |why| TrainError::config("data", format!("{}, graph {}: {why}", file.display(), index + 1));
            example_of(record, task.level).map_err(refused)
        };
        return read_tu_dataset(file)?.into_iter().enumerate().map(numbered).collect();
    }
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    read_examples(open(file)?, &name, task.level, memory)
}
