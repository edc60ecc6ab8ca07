//! The directory of a run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use itergnn_nn::GnnConfig;
use serde::Serialize;

use super::{Checkpoint, write_atomically, write_keeping_previous};
use crate::config::in_todays_names;
use crate::{TrainConfig, TrainError};

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

/// The configuration of a run, kept in its directory as `config.toml`.
pub trait RunConfig: Sized + PartialEq {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] if it cannot be read.
    fn from_toml(text: &str) -> Result<Self, TrainError>;

    /// The text of the file.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] if it cannot be written.
    fn to_toml(&self) -> Result<String, TrainError>;

    /// This configuration with the other's settings wherever they do not change the result of a run, such as how often it is saved.
    #[must_use]
    fn with_habits_of(&self, other: &Self) -> Self;
}

impl RunConfig for TrainConfig {
    fn from_toml(text: &str) -> Result<Self, TrainError> {
        Self::from_toml(text)
    }

    fn to_toml(&self) -> Result<String, TrainError> {
        self.to_toml()
    }

    fn with_habits_of(&self, other: &Self) -> Self {
        Self { checkpoint: other.checkpoint.clone(), log_every: other.log_every, ..self.clone() }
    }
}

/// A run directory, held by this process as long as the value lives.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    _lock: File,
}

impl RunDirectory {
    /// Opens the directory for a run of `config`, which must be resolved, and says whether there is a run to go on with.
    ///
    /// # Errors
    /// [`TrainError::RunExists`], [`TrainError::NoRun`], [`TrainError::OtherConfig`], [`TrainError::RunInUse`] or [`TrainError::Io`].
    pub fn open(path: &Path, config: &impl RunConfig, start: Start) -> Result<(Self, bool), TrainError> {
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
            directory.check_config(config)?;
        } else {
            write_atomically(&directory.config_path(), config.to_toml()?.as_bytes())?;
        }
        Ok((directory, exists))
    }

    /// The configuration of the run in a directory.
    ///
    /// # Errors
    /// [`TrainError::NoRun`] if there is none; [`TrainError::ConfigText`] if it cannot be read.
    pub fn config_of<C: RunConfig>(path: &Path) -> Result<C, TrainError> {
        let file = path.join("config.toml");
        match fs::read_to_string(&file) {
            Ok(text) => C::from_toml(&in_todays_names(text, || Self::model_of(path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(TrainError::NoRun { path: path.to_owned() }),
            Err(source) => Err(TrainError::Io { action: "read", path: file, source }),
        }
    }

    /// The whole configuration of the model of the run in a directory, if it has begun: names may come to mean something else, a run goes on with what it began with.
    pub fn model_of(path: &Path) -> Option<GnnConfig> {
        serde_json::from_slice(&fs::read(path.join("model.json")).ok()?).ok()
    }

    /// Where the model of the best epoch of a run is.
    pub fn best_model_in(path: &Path) -> PathBuf {
        path.join("checkpoints").join("best.safetensors")
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the model of the best epoch is.
    pub fn best_model_path(&self) -> PathBuf {
        Self::best_model_in(&self.path)
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
        self.path.join("metrics.jsonl")
    }

    pub(crate) fn events_path(&self) -> PathBuf {
        self.path.join("events.out.tfevents.itergnn")
    }

    fn config_path(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// How often a run is saved and logged may change between starts; anything else would change its result.
    fn check_config<C: RunConfig>(&self, config: &C) -> Result<(), TrainError> {
        let found: C = Self::config_of(&self.path)?;
        let same_habits = config.with_habits_of(&found);
        if found == same_habits {
            return Ok(());
        }
        Err(TrainError::OtherConfig { path: self.path.clone(), what: first_difference(&found, &same_habits)? })
    }

    /// Writes the configuration of the model and notes the start of the run: versions, device, machine.
    ///
    /// # Errors
    /// [`TrainError::Io`].
    pub fn note_start(&self, model: &GnnConfig, device: &str) -> Result<(), TrainError> {
        self.write_json("model.json", model)?;
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
        self.write_json("run.json", &starts)
    }

    /// Writes a value as a JSON file of the directory.
    ///
    /// # Errors
    /// [`TrainError::Io`].
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), TrainError> {
        let path = self.path.join(name);
        let mut text =
            serde_json::to_vec_pretty(value).map_err(io::Error::other).map_err(TrainError::io("write", &path))?;
        text.push(b'\n');
        write_atomically(&path, &text)
    }

    /// Saves the state of the run; the one before it is kept.
    ///
    /// # Errors
    /// [`TrainError::Io`]; the states saved before stay as they are.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), TrainError> {
        self.save_bytes(checkpoint.to_bytes())
    }

    /// As [`RunDirectory::save`], for a state of another kind of run.
    pub(crate) fn save_bytes(&self, bytes: Result<Vec<u8>, String>) -> Result<(), TrainError> {
        let path = self.checkpoint_path();
        let bytes = bytes.map_err(|why| TrainError::Checkpoint { path: path.clone(), why })?;
        write_keeping_previous(&path, &self.previous_checkpoint_path(), &bytes)
    }

    /// The newest state that can be read, and what was wrong with those that cannot; `None` if none was ever saved.
    ///
    /// # Errors
    /// [`TrainError::Checkpoint`] if there are states and none can be read.
    pub fn load(&self) -> Result<Option<(Checkpoint, Vec<String>)>, TrainError> {
        self.load_with(Checkpoint::from_bytes)
    }

    /// As [`RunDirectory::load`], for a state of another kind of run, which `read_state` makes of the bytes of a file.
    pub(crate) fn load_with<T>(
        &self,
        read_state: impl Fn(&[u8]) -> Result<T, String>,
    ) -> Result<Option<(T, Vec<String>)>, TrainError> {
        let mut faults: Vec<(PathBuf, String)> = Vec::new();
        for path in [self.checkpoint_path(), self.previous_checkpoint_path()] {
            let read = match fs::read(&path) {
                Ok(bytes) => read_state(&bytes),
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
            None => Ok(None),
        }
    }
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

/// The first line of the configuration file that differs.
fn first_difference(found: &impl RunConfig, wanted: &impl RunConfig) -> Result<String, TrainError> {
    let (found, wanted) = (found.to_toml()?, wanted.to_toml()?);
    let lines = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    Ok(lines.map_or_else(|| "its length".to_owned(), |(found, wanted)| format!("`{found}` against `{wanted}`")))
}
