//! The directory of a run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use itergnn_nn::GnnConfig;
use serde::Serialize;

use super::{Checkpoint, write_atomically, write_keeping_previous};
use crate::config::in_todays_names;
use crate::{RunConfig, TrainError};

/// The log of a run in its folder.
pub(crate) const METRICS: &str = "metrics.jsonl";

/// How a run ended.
pub(crate) const RESULT: &str = "result.json";

/// What to do with a directory that may already hold a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// Begin; a run that is there is an error.
    #[default]
    New,
    /// Go on; a run that is not there is an error.
    Resume,
    /// Go on if there is a run, else begin.
    ResumeOrNew,
}

/// A run directory, held by this process as long as the value lives.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    _lock: File,
}

impl RunDirectory {
    /// Opens the directory for a run of `config`, which must be resolved, and says whether there is a run to go on
    /// with.
    ///
    /// # Errors
    /// [`TrainError::RunExists`], [`TrainError::NoRun`], [`TrainError::OtherConfig`], [`TrainError::RunInUse`] or
    /// [`TrainError::Io`].
    pub fn open(path: &Path, config: &RunConfig, start: Start) -> Result<(Self, bool), TrainError> {
        let exists = path.join("config.toml").exists();
        match start {
            Start::New if exists => return Err(TrainError::RunExists { path: path.to_owned() }),
            Start::Resume if !exists => return Err(TrainError::NoRun { path: path.to_owned() }),
            _ => {}
        }
        let checkpoints = path.join("checkpoints");
        fs::create_dir_all(&checkpoints).map_err(TrainError::io("create", &checkpoints))?;
        let directory = Self { path: path.to_owned(), _lock: lock_directory(path)? };
        if exists {
            config.check_same(&Self::config_of(path)?.deciding()?, path)?;
        } else {
            write_atomically(&directory.config_path(), config.to_toml()?.as_bytes())?;
        }
        Ok((directory, exists))
    }

    /// The configuration of the run in a directory.
    ///
    /// # Errors
    /// [`TrainError::NoRun`] if there is none; [`TrainError::ConfigText`] if it cannot be read.
    pub fn config_of(path: &Path) -> Result<RunConfig, TrainError> {
        let file = path.join("config.toml");
        match fs::read_to_string(&file) {
            Ok(text) => RunConfig::from_toml(&in_todays_names(text, || Self::model_of(path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(TrainError::NoRun { path: path.to_owned() }),
            Err(source) => Err(TrainError::Io { action: "read", path: file, source }),
        }
    }

    /// The whole configuration of the model of the run in a directory, if it has begun: names may come to mean
    /// something else, a run goes on with what it began with.
    pub fn model_of(path: &Path) -> Option<GnnConfig> {
        serde_json::from_slice(&fs::read(path.join("model.json")).ok()?).ok()
    }

    /// Where the model of the best state of a run is; runs of older versions have it among their checkpoints.
    pub fn best_model_in(path: &Path) -> PathBuf {
        let (now, before) = (path.join("model.safetensors"), path.join("checkpoints").join("best.safetensors"));
        if !now.exists() && before.exists() { before } else { now }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the model of the best state is.
    pub fn best_model_path(&self) -> PathBuf {
        self.path.join("model.safetensors")
    }

    /// Where the state to resume from is.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.path.join("checkpoints").join("last.ckpt")
    }

    /// Where the state before that is.
    pub fn previous_checkpoint_path(&self) -> PathBuf {
        self.path.join("checkpoints").join("previous.ckpt")
    }

    pub(crate) fn metrics_path(&self) -> PathBuf {
        self.path.join(METRICS)
    }

    pub(crate) fn events_path(&self) -> PathBuf {
        self.path.join("events.out.tfevents.itergnn")
    }

    fn config_path(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// Writes the configurations of run and model and notes the start of the run: versions, device, machine.
    ///
    /// # Errors
    /// [`TrainError::Io`].
    pub fn note_start(&self, config: &RunConfig, model: &GnnConfig, device: &str) -> Result<(), TrainError> {
        // A run may go on with another length than it began with.
        write_atomically(&self.config_path(), config.to_toml()?.as_bytes())?;
        write_json(&self.path.join("model.json"), model)?;
        let path = self.path.join("run.json");
        let mut starts: Vec<serde_json::Value> =
            fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        starts.push(serde_json::json!({
            "itergnn": env!("CARGO_PKG_VERSION"),
            "burn": "0.22.1",
            "device": device,
            "threads": rayon::current_num_threads(),
            "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            "started_unix_seconds": SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        }));
        write_json(&path, &starts)
    }

    /// Saves the state of the run; the one before it is kept.
    ///
    /// # Errors
    /// [`TrainError::Io`]; the states saved before stay as they are.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), TrainError> {
        let path = self.checkpoint_path();
        let bytes = checkpoint.to_bytes().map_err(|why| TrainError::Checkpoint { path: path.clone(), why })?;
        write_keeping_previous(&path, &self.previous_checkpoint_path(), &bytes)
    }

    /// The newest state that can be read, and what was wrong with those that cannot; `None` if none was ever saved.
    ///
    /// # Errors
    /// [`TrainError::Checkpoint`] if there are states and none can be read; [`TrainError::NoCheckpoint`] if the run has
    /// a result and no state, since beginning again would replace it.
    pub fn load(&self) -> Result<Option<(Checkpoint, Vec<String>)>, TrainError> {
        let mut faults: Vec<(PathBuf, String)> = Vec::new();
        for path in [self.checkpoint_path(), self.previous_checkpoint_path()] {
            let read = match fs::read(&path) {
                Ok(bytes) => Checkpoint::from_bytes(&bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => Err(error.to_string()),
            };
            match read {
                Ok(checkpoint) => {
                    let notes =
                        faults.iter().map(|(path, why)| format!("passed over checkpoint {}: {why}", path.display()));
                    return Ok(Some((checkpoint, notes.collect())));
                }
                Err(why) => faults.push((path, why)),
            }
        }
        match faults.into_iter().next() {
            Some((path, why)) => Err(TrainError::Checkpoint { path, why }),
            None if self.path.join(RESULT).exists() => Err(TrainError::NoCheckpoint { path: self.path.clone() }),
            None => Ok(None),
        }
    }
}

/// Writes a value as a JSON file.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), TrainError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(io::Error::other).map_err(TrainError::io("write", path))?;
    text.push(b'\n');
    write_atomically(path, &text)
}

/// Keeps other processes out; the lock goes when the process does, however it ends.
pub(crate) fn lock_directory(path: &Path) -> Result<File, TrainError> {
    let file = path.join("run.lock");
    let lock = File::create(&file).map_err(TrainError::io("create", &file))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(TrainError::RunInUse { path: path.to_owned() }),
        // File systems without locks exist; a run on one is not worth refusing.
        Err(TryLockError::Error(_)) => Ok(lock),
    }
}
