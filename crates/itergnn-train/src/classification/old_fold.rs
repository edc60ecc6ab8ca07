//! Folds of older versions.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::EpochOfFold;
use crate::TrainError;
use crate::config::RunConfig;
use crate::run::{Best, Checkpoint, EpochTotals, RunDirectory, Start};

/// Makes a run directory of a fold that an older version left: its checkpoint lay beside its log, whose lines were the
/// only place of its epochs.
///
/// # Errors
/// [`TrainError::Checkpoint`] if they do not go together.
pub(super) fn adopt(directory: &Path, config: &RunConfig) -> Result<(), TrainError> {
    let (old, log) = (directory.join("last.ckpt"), directory.join("metrics.jsonl"));
    if directory.join("config.toml").exists() || !old.exists() {
        return Ok(());
    }
    let why = |why: String| format!("{why}; delete it to train the fold again");
    let damaged = |message: String| TrainError::Checkpoint { path: old.clone(), why: why(message) };
    let bytes = fs::read(&old).map_err(TrainError::io("read", &old))?;
    let mut checkpoint = Checkpoint::from_bytes(&bytes).map_err(damaged)?;
    let done = checkpoint.method.place.get("epoch").and_then(|epoch| epoch.as_u64()).unwrap_or(0);
    let text = fs::read_to_string(&log).map_err(TrainError::io("read", &log))?;
    let lines: Vec<&str> = text.split_inclusive('\n').take(done as usize).collect();
    let epochs = lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<Vec<EpochOfFold>, _>>();
    let epochs = epochs.map_err(|error| damaged(error.to_string()))?;
    if epochs.len() as u64 != done {
        return Err(damaged(format!("{done} epochs, but the log beside it has {}", epochs.len())));
    }
    checkpoint.logs.metrics = lines.iter().map(|line| line.len() as u64).sum();
    if let (true, Some(last)) = (checkpoint.progress.finished, epochs.last()) {
        let (epoch, step) = (last.epoch, checkpoint.progress.step);
        checkpoint.progress.best = Some(Best { epoch, step, value: last.test_accuracy });
        checkpoint.best_weights = checkpoint.method.learner.weights.clone();
    }
    let place = json!({ "epochs": epochs, "totals": EpochTotals::default() });
    checkpoint.method.place = place.as_object().cloned().unwrap_or_default();
    let (run, _) = RunDirectory::open(directory, config, Start::New)?;
    run.save(&checkpoint)
}
