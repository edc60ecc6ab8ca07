//! The directory of a cross-validation: a folder for every fold, and what they come to together.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::TrainError;
use crate::config::{MethodConfig, RunConfig};
use crate::run::{RunDirectory, Start, lock_directory, write_atomically};

/// The directory of a fold (counted from 0) in a run directory.
pub fn fold_directory(run: &Path, fold: usize) -> PathBuf {
    run.join(format!("fold-{fold}"))
}

/// Whether a directory holds a cross-validation.
pub fn is_classification_run(path: &Path) -> bool {
    let method = RunDirectory::config_of(path).map(|config| config.method);
    matches!(method, Ok(MethodConfig::CrossValidation(method)) if method.fold.is_none())
}

/// A directory, held by this process as long as the value lives.
pub(super) struct RunFolder {
    pub(super) path: PathBuf,
    _lock: File,
}

impl RunFolder {
    /// Opens the directory for a run of `config`. What is in it must be a run of the same settings; the folds look at
    /// that each for itself.
    pub(super) fn open(path: &Path, config: &RunConfig, start: Start) -> Result<Self, TrainError> {
        let file = path.join("config.toml");
        match (start, file.exists()) {
            (Start::New, true) => return Err(TrainError::RunExists { path: path.to_owned() }),
            (Start::Resume, false) => return Err(TrainError::NoRun { path: path.to_owned() }),
            _ => {}
        }
        fs::create_dir_all(path).map_err(TrainError::io("create", path))?;
        let folder = Self { path: path.to_owned(), _lock: lock_directory(path)? };
        if file.exists() {
            config.check_same(&RunDirectory::config_of(path)?.deciding()?, path)?;
        }
        write_atomically(&file, config.to_toml()?.as_bytes())?;
        Ok(folder)
    }
}
