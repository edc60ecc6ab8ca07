//! What a run learns from.

use std::sync::Arc;

use burn::tensor::Device;
use itergnn_nn::Level;
use itergnn_tasks::Split;

use super::Validator;
use crate::TrainError;
use crate::config::{RunConfig, RunTask, splits};
use crate::data::{Dataset, OwnData, SampleSource};

/// Samples to learn from, what their targets belong to, and what judges the model.
pub(crate) struct Learned {
    pub(crate) source: Arc<dyn Dataset>,
    pub(crate) level: Level,
    pub(crate) validator: Validator,
}

impl Learned {
    /// The samples of a resolved run: drawn, or own ones where there are some.
    pub(crate) fn new(config: &RunConfig, own: Option<&OwnData>, device: &Device) -> Result<Self, TrainError> {
        let settings = config.supervised()?;
        let drawn = match &config.task {
            RunTask::Algorithm(spec) => Some(OwnData::drawn(spec, settings, &config.selection, config.seed)?),
            _ => None,
        };
        match (&config.task, config.task.labels(), drawn.as_ref().or(own)) {
            (_, Some(task), Some(own)) => Ok(Self {
                source: Arc::clone(&own.train),
                level: task.level,
                validator: Validator::own(config, &task, Arc::clone(&own.validation), device),
            }),
            (RunTask::BuiltIn(spec), ..) => {
                let (train, _) = splits(spec, &config.selection)?;
                let seed = Split::Train.seed(settings.data.seed.unwrap_or(config.seed));
                let source = SampleSource::new(&train, seed, settings.data.train)?;
                let validator = Validator::new(config, device)?;
                Ok(Self { level: source.level()?, source: Arc::new(source), validator })
            }
            _ => Err(TrainError::config("data", "there are no samples")),
        }
    }
}
