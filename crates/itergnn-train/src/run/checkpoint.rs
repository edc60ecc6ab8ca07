//! The state of a run in one file.
//!
//! ```text
//! 8 bytes   ITERGNN and a zero byte
//! 4 bytes   CRC-32C of all that follows, little-endian
//! ...       a safetensors file: weights, both moments, the weights of the best state, those of a target network and the
//!           memory of a player where there is one; the rest as JSON in its metadata
//! ```
//! The checksum is what tells a damaged file from a good one: flipped bits in a weight would otherwise go unnoticed.
//!
//! Version 1 came in two kinds, one for samples and one for games, which knew nothing of the configuration; both are
//! still read.

use std::collections::{BTreeMap, HashMap};

use itergnn_nn::{GnnConfig, NamedTensor, store::StoredTensor};
use safetensors::{SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};

use super::Progress;
use super::crc32c::crc32c;
use crate::learning::{LearnerState, Moments};

const MAGIC: &[u8; 8] = b"ITERGNN\0";

/// The version this build writes; it reads those before it too.
const FORMAT_VERSION: u32 = 2;

/// The key of the metadata that holds everything but tensors.
const HEADER: &str = "itergnn";

/// Everything needed to go on as if nothing had happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Every setting that decides the result, as text; `None` in files of version 1.
    pub settings: Option<String>,
    /// The model's configuration.
    pub model: GnnConfig,
    /// What the method has learned and where it is.
    pub method: MethodState,
    /// The weights of the best state; empty before the first.
    pub best_weights: BTreeMap<String, NamedTensor>,
    /// How far the run has come.
    pub progress: Progress,
    /// How long the logs were.
    pub logs: LogLengths,
}

/// What a method of learning keeps.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MethodState {
    /// Weights and optimiser.
    pub learner: LearnerState,
    /// The weights of a target network; empty without one.
    pub target: BTreeMap<String, NamedTensor>,
    /// The memory of a player, in its own form; empty without one.
    pub memory: Vec<u8>,
    /// Its place in the data or the games.
    pub place: serde_json::Map<String, serde_json::Value>,
}

/// Lengths of the log files in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LogLengths {
    /// Of `metrics.jsonl`.
    pub metrics: u64,
    /// Of the TensorBoard file.
    pub events: u64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(alias = "play_format_version")]
    format_version: u32,
    #[serde(default)]
    settings: Option<String>,
    model: GnnConfig,
    progress: WholeProgress,
    logs: LogLengths,
    times: BTreeMap<String, usize>,
}

/// Progress of the run and place of the method are one object, as they were in version 1.
#[derive(Serialize, Deserialize)]
struct WholeProgress {
    #[serde(flatten)]
    run: Progress,
    #[serde(flatten)]
    place: serde_json::Map<String, serde_json::Value>,
}

impl Checkpoint {
    /// The bytes of the file.
    ///
    /// # Errors
    /// A line that says what cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let learner = &self.method.learner;
        let header = Header {
            format_version: FORMAT_VERSION,
            settings: self.settings.clone(),
            model: self.model.clone(),
            progress: WholeProgress { run: self.progress, place: self.method.place.clone() },
            logs: self.logs,
            times: learner.moments.iter().map(|(name, moments)| (name.clone(), moments.time)).collect(),
        };
        let header = serde_json::to_string(&header).map_err(|error| error.to_string())?;
        let mut tensors = Vec::new();
        let groups = [("weight", &learner.weights), ("best", &self.best_weights), ("target", &self.method.target)];
        for (prefix, weights) in groups {
            for (name, tensor) in weights {
                tensors.push((format!("{prefix}/{name}"), StoredTensor::new(&tensor.shape, &tensor.values)));
            }
        }
        for (name, moments) in &learner.moments {
            tensors.push((format!("first/{name}"), StoredTensor::new(&[moments.first.len()], &moments.first)));
            tensors.push((format!("second/{name}"), StoredTensor::new(&[moments.second.len()], &moments.second)));
        }
        if !self.method.memory.is_empty() {
            tensors.push(("replay/bytes".to_owned(), StoredTensor::bytes(self.method.memory.clone())));
        }
        let metadata = HashMap::from([(HEADER.to_owned(), header)]);
        let body = safetensors::serialize(tensors, Some(metadata)).map_err(|error| error.to_string())?;
        Ok([&MAGIC[..], &crc32c(&body).to_le_bytes(), &body].concat())
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// A line that says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("not a checkpoint")?;
        let (sum, body) = rest.split_first_chunk::<4>().ok_or("cut short")?;
        if crc32c(body) != u32::from_le_bytes(*sum) {
            return Err("damaged or cut short: the checksum does not match".to_owned());
        }
        let (_, metadata) = SafeTensors::read_metadata(body).map_err(|error| error.to_string())?;
        let header = metadata.metadata().as_ref().and_then(|map| map.get(HEADER)).ok_or("it has no header")?;
        check_version(header)?;
        let header: Header = serde_json::from_str(header).map_err(|error| format!("header: {error}"))?;
        let file = SafeTensors::deserialize(body).map_err(|error| error.to_string())?;
        let mut groups: BTreeMap<&str, BTreeMap<String, NamedTensor>> = BTreeMap::new();
        let mut memory = Vec::new();
        for (path, view) in file.iter() {
            let (prefix, name) = path.split_once('/').ok_or_else(|| format!("unexpected tensor `{path}`"))?;
            if prefix == "replay" {
                memory = view.data().to_vec();
            } else {
                groups.entry(prefix).or_default().insert(name.to_owned(), named_tensor(path, &view)?);
            }
        }
        let mut group = |name: &str| groups.remove(name).unwrap_or_default();
        let (mut first, mut second) = (group("first"), group("second"));
        let moments = header.times.iter().map(|(name, &time)| {
            let missing = || format!("optimiser state `{name}` is missing");
            let first = first.remove(name).ok_or_else(missing)?.values;
            let second = second.remove(name).ok_or_else(missing)?.values;
            Ok((name.clone(), Moments { time, first, second }))
        });
        let moments = moments.collect::<Result<_, String>>()?;
        Ok(Self {
            settings: header.settings,
            model: header.model,
            method: MethodState {
                learner: LearnerState { weights: group("weight"), moments },
                target: group("target"),
                memory,
                place: header.progress.place,
            },
            best_weights: group("best"),
            progress: header.progress.run,
            logs: header.logs,
        })
    }
}

/// A newer header may have other fields, so its version is read before the rest.
fn check_version(header: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Version {
        #[serde(alias = "play_format_version")]
        format_version: u32,
    }
    let version: Version = serde_json::from_str(header).map_err(|error| format!("header: {error}"))?;
    let found = version.format_version;
    if found <= FORMAT_VERSION {
        return Ok(());
    }
    Err(format!("format version {found}, but this build reads versions up to {FORMAT_VERSION}"))
}

/// The numbers of a tensor in a file.
fn named_tensor(path: &str, view: &TensorView<'_>) -> Result<NamedTensor, String> {
    let wrong_type = || format!("tensor `{path}` has type {:?}", view.dtype());
    let values = StoredTensor::values(view).ok_or_else(wrong_type)?;
    Ok(NamedTensor { shape: view.shape().to_vec(), values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_nn::{TaskWidths, preset};

    fn checkpoint() -> Checkpoint {
        let tensor = |values: &[f64]| NamedTensor { shape: vec![1, values.len()], values: values.to_vec() };
        let weights =
            BTreeMap::from([("a.weight".to_owned(), tensor(&[0.5, -0.0, 1e-40])), ("b".to_owned(), tensor(&[0.1]))]);
        let moments = Moments { time: 3, first: vec![0.25; 3], second: vec![1e-30; 3] };
        let learner =
            LearnerState { weights: weights.clone(), moments: BTreeMap::from([("a.weight".to_owned(), moments)]) };
        let place = serde_json::json!({ "epoch": 3, "batch": 1 });
        Checkpoint {
            settings: Some("seed = 3".to_owned()),
            model: preset("path", &TaskWidths::graph(3, 1, 1)).unwrap(),
            method: MethodState {
                learner,
                target: weights.clone(),
                memory: vec![1, 2, 3],
                place: place.as_object().unwrap().clone(),
            },
            best_weights: weights,
            progress: Progress { step: 7, ..Progress::default() },
            logs: LogLengths { metrics: 10, events: 20 },
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = checkpoint().to_bytes().unwrap();
        assert_eq!(Checkpoint::from_bytes(&bytes).unwrap(), checkpoint());
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_noticed() {
        let bytes = checkpoint().to_bytes().unwrap();
        for position in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << (position % 8);
            assert!(Checkpoint::from_bytes(&damaged).is_err(), "byte {position}");
            assert!(Checkpoint::from_bytes(&bytes[..position]).is_err(), "cut at {position}");
        }
    }

    #[test]
    fn a_newer_version_is_named() {
        let bytes = checkpoint().to_bytes().unwrap();
        let text = String::from_utf8_lossy(&bytes[12..]).into_owned();
        assert!(text.contains("format_version\\\":2,"), "{text}");
        let body: Vec<u8> = {
            let at = bytes.windows(4).position(|window| window == b"\":2,").unwrap();
            let mut body = bytes[12..].to_vec();
            body[at - 12 + 2] = b'9';
            body
        };
        let newer = [&MAGIC[..], &crc32c(&body).to_le_bytes(), &body].concat();
        let message = Checkpoint::from_bytes(&newer).unwrap_err();
        assert_eq!(message, "format version 9, but this build reads versions up to 2");
    }
}
