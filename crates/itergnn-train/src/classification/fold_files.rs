//! The files of a cross-validation.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use itergnn_nn::GnnModel;
use itergnn_nn::store::{self, ModelCard};

use super::{ClassificationConfig, EpochOfFold};
use crate::TrainError;
use crate::run::{Checkpoint, Start, lock_directory, write_atomically};

/// The directory of a fold (counted from 0) in a run directory.
pub fn fold_directory(run: &Path, fold: usize) -> PathBuf {
    run.join(format!("fold-{fold}"))
}

/// Whether a directory holds a cross-validation.
pub fn is_classification_run(path: &Path) -> bool {
    fs::read_to_string(path.join("config.toml")).is_ok_and(|text| ClassificationConfig::describes(&text))
}

/// A run directory, held by this process as long as the value lives.
pub(super) struct RunFolder {
    pub(super) path: PathBuf,
    _lock: File,
}

impl RunFolder {
    /// Opens the directory for a run of `config`. What is in it must be a run of the same configuration; the data may have moved.
    pub(super) fn open(path: &Path, config: &ClassificationConfig, start: Start) -> Result<Self, TrainError> {
        let file = path.join("config.toml");
        let exists = file.exists();
        match start {
            Start::New if exists => return Err(TrainError::RunExists { path: path.to_owned() }),
            Start::Resume if !exists => return Err(TrainError::NoRun { path: path.to_owned() }),
            _ => {}
        }
        fs::create_dir_all(path).map_err(TrainError::io("create", path))?;
        let folder = Self { path: path.to_owned(), _lock: lock_directory(path)? };
        if exists {
            let mut found = read_config(path)?;
            found.spec_mut().data.clone_from(&config.spec().data);
            if found != *config {
                return Err(TrainError::OtherConfig { path: path.to_owned(), what: difference(&found, config)? });
            }
        } else {
            write_atomically(&file, config.to_toml()?.as_bytes())?;
        }
        Ok(folder)
    }

    pub(super) fn write_json(&self, name: &str, value: &impl serde::Serialize) -> Result<(), TrainError> {
        let path = self.path.join(name);
        let text = serde_json::to_vec(value).map_err(io::Error::other).map_err(TrainError::io("write", &path))?;
        write_atomically(&path, &[&text[..], b"\n"].concat())
    }
}

/// The configuration of the run in a directory.
pub(super) fn read_config(run: &Path) -> Result<ClassificationConfig, TrainError> {
    let file = run.join("config.toml");
    let text = fs::read_to_string(&file).map_err(TrainError::io("read", &file))?;
    ClassificationConfig::from_toml(&text)
}

/// The first line that differs.
fn difference(found: &ClassificationConfig, wanted: &ClassificationConfig) -> Result<String, TrainError> {
    let (found, wanted) = (found.to_toml()?, wanted.to_toml()?);
    let lines = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    Ok(lines.map_or_else(|| "its length".to_owned(), |(found, wanted)| format!("`{found}` against `{wanted}`")))
}

/// A state to go on from, with the epochs that led to it.
type Resumed = Option<(Checkpoint, Vec<EpochOfFold>)>;

/// Log, checkpoint and model of one fold.
pub(super) struct FoldFiles {
    directory: PathBuf,
    log: File,
}

impl FoldFiles {
    /// Opens the files of a fold and finds the state to go on from, with the epochs that led to it.
    pub(super) fn open(run: &Path, fold: usize) -> Result<(Self, Resumed), TrainError> {
        let directory = fold_directory(run, fold);
        fs::create_dir_all(&directory).map_err(TrainError::io("create", &directory))?;
        let checkpoint = read_checkpoint(&directory.join("last.ckpt"))?;
        let path = directory.join("metrics.jsonl");
        let epochs = match &checkpoint {
            Some(checkpoint) => read_epochs(&path, checkpoint.progress.epoch)?,
            None => Vec::new(),
        };
        // Epochs after the checkpoint are trained again, so their lines go; written anew rather than cut, so that no state of the file is half of one.
        let mut text = Vec::new();
        for epoch in &epochs {
            serde_json::to_writer(&mut text, epoch)
                .map_err(io::Error::other)
                .map_err(TrainError::io("write", &path))?;
            text.push(b'\n');
        }
        write_atomically(&path, &text)?;
        let log = OpenOptions::new().append(true).open(&path).map_err(TrainError::io("open", &path))?;
        Ok((Self { directory, log }, checkpoint.map(|checkpoint| (checkpoint, epochs))))
    }

    pub(super) fn log(&mut self, epoch: &EpochOfFold) -> Result<(), TrainError> {
        let path = self.directory.join("metrics.jsonl");
        let mut line = serde_json::to_vec(epoch).map_err(io::Error::other).map_err(TrainError::io("write", &path))?;
        line.push(b'\n');
        self.log.write_all(&line).map_err(TrainError::io("write", &path))
    }

    pub(super) fn save(&self, checkpoint: &Checkpoint) -> Result<(), TrainError> {
        let path = self.directory.join("last.ckpt");
        // The checkpoint speaks of the lines of the log: they must be on disk before it.
        self.log.sync_data().map_err(TrainError::io("write", self.directory.join("metrics.jsonl")))?;
        let bytes = checkpoint.to_bytes().map_err(|why| TrainError::Checkpoint { path: path.clone(), why })?;
        write_atomically(&path, &bytes)
    }

    pub(super) fn save_model(&self, model: &GnnModel, card: &ModelCard) -> Result<(), TrainError> {
        Ok(store::save(model, card, model_path(&self.directory))?)
    }

    pub(super) fn has_model(&self) -> bool {
        model_path(&self.directory).exists()
    }
}

/// Where the model of a fold is.
pub(super) fn model_path(fold_directory: &Path) -> PathBuf {
    fold_directory.join("model.safetensors")
}

fn read_checkpoint(path: &Path) -> Result<Option<Checkpoint>, TrainError> {
    match fs::read(path) {
        Ok(bytes) => Checkpoint::from_bytes(&bytes).map(Some).map_err(|why| TrainError::Checkpoint {
            path: path.to_owned(),
            why: format!("{why}; delete it to train the fold again"),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(TrainError::Io { action: "read", path: path.to_owned(), source }),
    }
}

/// The first `count` epochs of a log.
fn read_epochs(path: &Path, count: u64) -> Result<Vec<EpochOfFold>, TrainError> {
    let damaged = |why: String| TrainError::Checkpoint { path: path.to_owned(), why };
    let text = fs::read_to_string(path).map_err(TrainError::io("read", path))?;
    let epochs = text.lines().take(count as usize).map(serde_json::from_str);
    let epochs: Vec<EpochOfFold> = epochs.collect::<Result<_, _>>().map_err(|error| damaged(error.to_string()))?;
    if epochs.len() as u64 != count {
        return Err(damaged(format!("{} epochs, but the checkpoint beside it has {count}", epochs.len())));
    }
    Ok(epochs)
}
