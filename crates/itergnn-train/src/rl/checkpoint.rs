//! The state of a run that learns by playing, in one file.
//!
//! The container is that of [`crate::run::Checkpoint`]: a checksum over a safetensors file with the weights, both moments, the weights of the target network and of the best state, and the
//! replay memory as bytes; the rest as JSON in its metadata. Games in progress are kept as the moves that led to them.

use std::collections::BTreeMap;

use itergnn_nn::{GnnConfig, NamedTensor};
use serde::{Deserialize, Serialize};

use super::{PlayerState, Replay};
use crate::learning::{LearnerState, Moments};
use crate::run::{LogLengths, Written, float_bits, named_tensor, seal, unseal};

/// The version this build writes, and the only one it reads.
const FORMAT_VERSION: u32 = 1;

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct PlayProgress {
    /// Moves made.
    pub(super) step: u64,
    /// Turns of all games.
    pub(super) turn: u64,
    pub(super) updates: u64,
    pub(super) games_started: u64,
    pub(super) players: Vec<PlayerState>,
    /// Success and move of the best state, the success by its bits: JSON readers may miss the last digit.
    pub(super) best: Option<(u64, u64)>,
    pub(super) totals: Totals,
    pub(super) seconds: f64,
    pub(super) finished: bool,
}

/// Sums since the last record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Totals {
    pub(super) updates: u64,
    #[serde(with = "float_bits")]
    pub(super) loss: f64,
    #[serde(with = "float_bits")]
    pub(super) auxiliary_loss: f64,
    #[serde(with = "float_bits")]
    pub(super) gradient_norm: f64,
    #[serde(with = "float_bits")]
    pub(super) output: f64,
    pub(super) games: u64,
    #[serde(with = "float_bits")]
    pub(super) success: f64,
}

/// Everything needed to go on as if nothing had happened.
#[derive(Debug, PartialEq)]
pub(super) struct PlayCheckpoint {
    pub(super) model: GnnConfig,
    pub(super) learner: LearnerState,
    pub(super) target: BTreeMap<String, NamedTensor>,
    pub(super) best: BTreeMap<String, NamedTensor>,
    pub(super) replay: Replay,
    pub(super) progress: PlayProgress,
    pub(super) logs: LogLengths,
}

#[derive(Serialize, Deserialize)]
struct Header {
    play_format_version: u32,
    model: GnnConfig,
    progress: PlayProgress,
    logs: LogLengths,
    times: BTreeMap<String, usize>,
}

impl PlayCheckpoint {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let times = self.learner.moments.iter().map(|(name, moments)| (name.clone(), moments.time)).collect();
        let header = Header {
            play_format_version: FORMAT_VERSION,
            model: self.model.clone(),
            progress: self.progress.clone(),
            logs: self.logs,
            times,
        };
        let header = serde_json::to_string(&header).map_err(|error| error.to_string())?;
        let mut tensors = vec![("replay/bytes".to_owned(), Written::bytes(self.replay.to_bytes()))];
        for (prefix, weights) in [("weight", &self.learner.weights), ("target", &self.target), ("best", &self.best)] {
            for (name, tensor) in weights {
                tensors.push((format!("{prefix}/{name}"), Written::new(&tensor.shape, &tensor.values)));
            }
        }
        for (name, moments) in &self.learner.moments {
            tensors.push((format!("first/{name}"), Written::new(&[moments.first.len()], &moments.first)));
            tensors.push((format!("second/{name}"), Written::new(&[moments.second.len()], &moments.second)));
        }
        seal(header, tensors)
    }

    /// Reads the bytes of a file of a run that remembers `capacity` transitions.
    pub(super) fn from_bytes(bytes: &[u8], capacity: usize) -> Result<Self, String> {
        let (header, file) = unseal(bytes)?;
        check_version(&header)?;
        let header: Header = serde_json::from_str(&header).map_err(|error| format!("header: {error}"))?;
        let mut groups: BTreeMap<String, BTreeMap<String, NamedTensor>> = BTreeMap::new();
        let mut replay = None;
        for (path, view) in file.iter() {
            let (prefix, name) = path.split_once('/').ok_or_else(|| format!("unexpected tensor `{path}`"))?;
            if prefix == "replay" {
                replay = Some(Replay::from_bytes(capacity, view.data())?);
            } else {
                let tensor = named_tensor(path, &view)?;
                groups.entry(prefix.to_owned()).or_default().insert(name.to_owned(), tensor);
            }
        }
        let mut group = |name: &str| groups.remove(name).unwrap_or_default();
        let (weights, target, best) = (group("weight"), group("target"), group("best"));
        let (mut first, mut second) = (group("first"), group("second"));
        let moments = header.times.iter().map(|(name, &time)| {
            let missing = || format!("optimiser state `{name}` is missing");
            let first = first.remove(name).ok_or_else(missing)?.values;
            let second = second.remove(name).ok_or_else(missing)?.values;
            Ok((name.clone(), Moments { time, first, second }))
        });
        let moments = moments.collect::<Result<_, String>>()?;
        Ok(Self {
            model: header.model,
            learner: LearnerState { weights, moments },
            target,
            best,
            replay: replay.ok_or("the replay memory is missing")?,
            progress: header.progress,
            logs: header.logs,
        })
    }
}

/// A newer header may have other fields, and one of supervised learning has, so the version is read before the rest.
fn check_version(header: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Version {
        play_format_version: Option<u32>,
    }
    let version: Version = serde_json::from_str(header).map_err(|error| format!("header: {error}"))?;
    match version.play_format_version {
        Some(FORMAT_VERSION) => Ok(()),
        Some(found) => Err(format!("format version {found}, but this build reads version {FORMAT_VERSION}")),
        None => Err("it is of a run that learns from samples".to_owned()),
    }
}
