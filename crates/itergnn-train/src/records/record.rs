//! A line of a run's log.

use serde::{Deserialize, Serialize};

use super::{EpochRecord, Observer, StepRecord};
use crate::classification::EpochOfFold;
use crate::rl::PlayRecord;

/// What a run says about itself: a line of `metrics.jsonl`, a call of an [`Observer`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Record {
    /// A step of supervised learning.
    Step(StepRecord),
    /// An epoch of supervised learning.
    Epoch(EpochRecord),
    /// An epoch of a fold.
    Fold(EpochOfFold),
    /// Some moves of a player.
    Play(PlayRecord),
}

impl Record {
    /// Steps taken so far.
    pub fn step(&self) -> u64 {
        match self {
            Self::Step(record) => record.step,
            Self::Epoch(record) => record.step,
            Self::Fold(record) => record.epoch,
            Self::Play(record) => record.step,
        }
    }

    pub(crate) fn tell(&self, observer: &mut dyn Observer) {
        match self {
            Self::Step(record) => observer.step(record),
            Self::Epoch(record) => observer.epoch(record),
            Self::Fold(record) => observer.fold(record),
            Self::Play(record) => observer.play(record),
        }
    }

    /// The numbers by their names in TensorBoard.
    pub(crate) fn scalars(&self) -> Vec<(&'static str, f64)> {
        match self {
            Self::Step(record) => record.scalars().to_vec(),
            Self::Epoch(record) => record.scalars(),
            Self::Fold(record) => record.scalars().to_vec(),
            Self::Play(record) => record.scalars(),
        }
    }
}
