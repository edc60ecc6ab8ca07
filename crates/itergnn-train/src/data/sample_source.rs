//! Where the samples of a split come from.

use std::borrow::Cow;

use itergnn_nn::Level;
use itergnn_tasks::{Sample, Sampler, Samples, TaskError, TaskSpec};

use super::{Dataset, Example, HostBatch};
use crate::TrainError;

/// Most memory that the samples of a split may take; beyond it they are drawn anew whenever they are needed.
const HELD_BYTES: u64 = 1 << 30;

/// Bytes for each node or edge of a sample: three indices and a few attributes.
const BYTES_AN_ELEMENT: u64 = 32;

/// The samples of a split, held in memory when they fit.
pub struct SampleSource {
    sampler: Box<dyn Sampler>,
    split_seed: u64,
    count: u64,
    held: Option<Vec<Sample>>,
}

impl SampleSource {
    /// The first `count` samples of a split, drawn in parallel now or one by one later.
    ///
    /// # Errors
    /// What the task reports.
    pub fn new(spec: &TaskSpec, split_seed: u64, count: u64) -> Result<Self, TrainError> {
        Self::with_memory(spec, split_seed, count, HELD_BYTES)
    }

    /// As [`SampleSource::new`] with another limit on what is held.
    ///
    /// # Errors
    /// What the task reports.
    pub fn with_memory(spec: &TaskSpec, split_seed: u64, count: u64, bytes: u64) -> Result<Self, TrainError> {
        let sampler = spec.sampler()?;
        let needed = count.saturating_mul(sampler.largest() as u64).saturating_mul(BYTES_AN_ELEMENT);
        let held = if needed <= bytes {
            Some(Samples::new(&*sampler, split_seed, 0..count).collect::<Result<_, TaskError>>()?)
        } else {
            None
        };
        Ok(Self { sampler, split_seed, count, held })
    }

    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sample `index`.
    ///
    /// # Errors
    /// What the task reports.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn sample(&self, index: u32) -> Result<Cow<'_, Sample>, TrainError> {
        assert!(u64::from(index) < self.count, "sample {index} of {}", self.count);
        match &self.held {
            Some(held) => Ok(Cow::Borrowed(&held[index as usize])),
            None => Ok(Cow::Owned(self.sampler.sample(self.split_seed, u64::from(index))?)),
        }
    }

    /// The samples `indices` as one batch.
    ///
    /// # Errors
    /// As [`SampleSource::sample`] and [`HostBatch::new`].
    pub fn batch(&self, indices: &[u32]) -> Result<HostBatch, TrainError> {
        let samples = indices.iter().map(|&index| self.sample(index)).collect::<Result<Vec<_>, _>>()?;
        let samples: Vec<&Sample> = samples.iter().map(|sample| &**sample).collect();
        HostBatch::new(&samples)
    }
}

impl SampleSource {
    /// What the targets belong to.
    pub(crate) fn level(&self) -> Result<Level, TrainError> {
        let by_graph = self.count == 0 || self.sample(0)?.target_nodes.is_empty();
        Ok(if by_graph { Level::Graph } else { Level::Node })
    }
}

impl Dataset for SampleSource {
    fn len(&self) -> u64 {
        self.count
    }

    fn sample(&self, index: u64) -> Result<Cow<'_, Example>, TrainError> {
        let index =
            u32::try_from(index).map_err(|_| TrainError::config("data", format!("there is no sample {index}")))?;
        Ok(Cow::Owned(Self::sample(self, index)?.into_owned().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_tasks::{Split, Task};

    #[test]
    fn samples_held_and_drawn_again_are_the_same() {
        let spec = TaskSpec::paper(Task::ShortestPath);
        let held = SampleSource::new(&spec, Split::Train.seed(1), 20).unwrap();
        let drawn = SampleSource::with_memory(&spec, Split::Train.seed(1), 20, 0).unwrap();
        assert!(held.held.is_some() && drawn.held.is_none());
        assert_eq!(held.batch(&[3, 19, 0]).unwrap(), drawn.batch(&[3, 19, 0]).unwrap());
    }
}
