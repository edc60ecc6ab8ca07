//! How a run ended.

use itergnn_nn::GnnModel;
use itergnn_nn::aligned::Refit;
use serde::{Deserialize, Serialize};

use crate::records::EpochRecord;
use crate::run::Best;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All epochs are done.
    Finished,
    /// There was no better epoch for as long as the configuration allows.
    EarlyStopped,
    /// It was asked to stop and can be resumed.
    Stopped,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Why it ended.
    pub status: Status,
    /// Steps taken over all starts; moves, where games are played.
    pub steps: u64,
    /// Updates of the weights over all starts: as many as steps, but where games are played.
    pub updates: u64,
    /// The best state, if one was judged.
    pub best: Option<Best>,
    /// The model of the best state; before the first one, the model as it is.
    pub model: GnnModel,
    /// The epoch that this start completed last.
    pub last_epoch: Option<EpochRecord>,
    /// Seconds of training over all starts.
    pub seconds: f64,
    /// What finishing the model did, for models whose training ends with that.
    pub refit: Option<Refit>,
}
