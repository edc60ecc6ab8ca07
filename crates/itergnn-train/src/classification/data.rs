//! A set with its folds, ready to be batched.

use itergnn_graph::formats::NodeFeature;
use itergnn_tasks::graph_classification::{Folds, GraphClassificationSampler};
use itergnn_tasks::{Sample, Sampler};

use super::FoldChoice;
use crate::TrainError;
use crate::config::RunConfig;
use crate::data::HostBatch;

/// Number of stratified folds.
const FOLDS: usize = 10;

/// The graphs of a set as samples, and the folds they are dealt to.
#[derive(Debug, Clone)]
pub struct ClassificationData {
    samples: Vec<Sample>,
    folds: Folds,
    classes: usize,
    tagged: bool,
}

impl ClassificationData {
    /// Reads the set and makes or reads its folds.
    ///
    /// # Errors
    /// [`TrainError::Task`] if the set or its fold files are missing or wrong, or cannot be dealt to ten folds;
    /// [`TrainError::Config`] if a training part is smaller than a batch.
    pub fn read(config: &RunConfig) -> Result<Self, TrainError> {
        let sampler: GraphClassificationSampler = config.set()?.clone().sampler()?;
        let settings = config.cross_validation()?;
        let folds = match settings.folds {
            FoldChoice::Stratified => sampler.folds(FOLDS, settings.fold_seed)?,
            FoldChoice::Published => sampler.published_folds()?,
        };
        let count = sampler.count().unwrap_or(0);
        let samples = (0..count).map(|index| sampler.sample(0, index)).collect::<Result<Vec<_>, _>>()?;
        let smallest = (0..folds.len()).map(|fold| folds.train(fold).len()).min().unwrap_or(0);
        if smallest < settings.batch_size {
            let why = format!("{} graphs, but a fold trains on {smallest}", settings.batch_size);
            return Err(TrainError::config("batch_size", why));
        }
        let tagged = sampler.feature() == NodeFeature::Tag;
        Ok(Self { samples, folds, classes: sampler.classes(), tagged })
    }

    /// The folds.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// All graphs, in the order of the file.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Width of the node attributes.
    pub fn node_width(&self) -> usize {
        self.samples.first().map_or(0, |sample| sample.graph.node_attributes().width())
    }

    /// Whether node attributes are tags; else they are degrees.
    pub fn tagged(&self) -> bool {
        self.tagged
    }

    /// Graphs that no fold tests.
    pub fn never_tested(&self) -> usize {
        let tested: usize = (0..self.folds.len()).map(|fold| self.folds.test(fold).len()).sum();
        self.samples.len() - tested
    }

    /// The test samples of a fold.
    pub fn test_samples(&self, fold: usize) -> Vec<Sample> {
        self.folds.test(fold).iter().map(|&index| self.samples[index as usize].clone()).collect()
    }

    /// Samples as one batch.
    ///
    /// # Errors
    /// As [`HostBatch::new`].
    pub fn batch(&self, indices: &[u32]) -> Result<HostBatch, TrainError> {
        let samples: Vec<&Sample> = indices.iter().map(|&index| &self.samples[index as usize]).collect();
        HostBatch::new(&samples)
    }
}
