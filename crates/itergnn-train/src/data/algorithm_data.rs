//! Graphs labelled by an algorithm.

use std::borrow::Cow;

use itergnn_tasks::algorithms::AlgorithmSpec;
use rayon::prelude::*;

use super::{Dataset, Example};
use crate::TrainError;

/// The first samples of a split of an algorithm, drawn whenever they are asked for.
///
/// # Example
/// ```
/// use itergnn_tasks::{Split, algorithms::{Algorithm, AlgorithmSpec}};
/// use itergnn_train::data::{AlgorithmData, Dataset};
/// let data = AlgorithmData::new(AlgorithmSpec::training(Algorithm::Bfs), Split::Test.seed(0), 100);
/// assert_eq!((data.len(), data.sample(99)?.outputs(itergnn_nn::Level::Pointer)), (100, Ok(1)));
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AlgorithmData {
    spec: AlgorithmSpec,
    split_seed: u64,
    count: u64,
}

impl AlgorithmData {
    /// The first `count` samples of the split whose seed is given.
    pub fn new(spec: AlgorithmSpec, split_seed: u64, count: u64) -> Self {
        Self { spec, split_seed, count }
    }

    /// All samples, in memory.
    ///
    /// # Errors
    /// What the generator refuses.
    pub fn held(&self) -> Result<Vec<Example>, TrainError> {
        (0..self.count).into_par_iter().map(|index| self.draw(index)).collect()
    }

    fn draw(&self, index: u64) -> Result<Example, TrainError> {
        let record = self.spec.sample(self.split_seed, index)?;
        Ok(Example::new(record.graph()?, record.target))
    }
}

impl Dataset for AlgorithmData {
    fn len(&self) -> u64 {
        self.count
    }

    fn sample(&self, index: u64) -> Result<Cow<'_, Example>, TrainError> {
        self.draw(index).map(Cow::Owned)
    }
}
