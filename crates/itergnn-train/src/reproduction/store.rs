//! Results on disk.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Experiment, ExperimentResult};
use crate::run::write_atomically;
use crate::{RunConfig, TrainError};

/// A folder of results, one file per experiment and seed.
#[derive(Debug, Clone)]
pub struct ResultStore {
    folder: PathBuf,
}

impl ResultStore {
    /// The store in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// [`TrainError::Io`] if it cannot be made.
    pub fn open(folder: &Path) -> Result<Self, TrainError> {
        fs::create_dir_all(folder).map_err(|source| TrainError::Io {
            action: "create",
            path: folder.to_owned(),
            source,
        })?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Where the result of an experiment for a seed stands.
    pub fn path(&self, id: &str, seed: u64) -> PathBuf {
        self.folder.join(format!("{}--seed-{seed}.json", id.replace('/', "--")))
    }

    /// The result of a training with exactly these settings, if there is one. Files that cannot be read count as not
    /// there: they are made again.
    pub fn find(&self, id: &str, config: &RunConfig) -> Option<ExperimentResult> {
        let result = read(&self.path(id, config.seed))?;
        (result.id == id && result.config == *config).then_some(result)
    }

    /// The results of an experiment for all seeds that have one, whatever their settings; for reports.
    pub fn all(&self, id: &str) -> Vec<ExperimentResult> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let prefix = format!("{}--seed-", id.replace('/', "--"));
        let of_id = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        let mut found: Vec<ExperimentResult> = entries.filter(of_id).filter_map(|path| read(&path)).collect();
        found.retain(|result| result.id == id);
        found.sort_by_key(|result| result.config.seed);
        found
    }

    /// Writes a result in place of an older one.
    ///
    /// # Errors
    /// [`TrainError::Io`] if it cannot be written.
    pub fn write(&self, result: &ExperimentResult) -> Result<(), TrainError> {
        let path = self.path(&result.id, result.config.seed);
        let mut text = serde_json::to_vec_pretty(result).map_err(|error| TrainError::Worker(error.to_string()))?;
        text.push(b'\n');
        write_atomically(&path, &text)
    }

    /// Evaluations of an experiment that a result does not answer, or answers for other settings.
    pub(super) fn missing(experiment: &Experiment, result: Option<&ExperimentResult>) -> Vec<String> {
        let answered = |name: &String| {
            result.is_some_and(|result| {
                let done = result.measured.contains_key(name) || result.failures.contains_key(name);
                done && result.evaluations.get(name) == experiment.evaluations.get(name)
            })
        };
        experiment.evaluations.keys().filter(|name| !answered(name)).cloned().collect()
    }
}

/// A result, if the file is one, and of a version whose names mean what they mean now.
fn read(path: &Path) -> Option<ExperimentResult> {
    let value: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    value["config"]["model"].get("names")?;
    serde_json::from_value(value).ok()
}
