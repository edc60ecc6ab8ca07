//! Validation, with the cap of training and without.

use std::sync::Arc;

use burn::tensor::Device;
use itergnn_nn::GnnModel;
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::fused::Engine;
use itergnn_tasks::{Score, Scores, Split};

use crate::TrainError;
use crate::config::{Cap, Measure, OwnTask, RunConfig, splits};
use crate::data::{Dataset, SampleSource};
use crate::evaluation::{EvalOptions, ModelPredictor, Predicted, judge, judge_own, predict_all};
use crate::records::Validation;

/// Samples that are judged together; they are held in memory or drawn for the purpose.
const PART: usize = 1_024;

/// Judges a model on the validation samples of a run.
///
/// Twice: with the cap of training, under which a model can be good that never learned to stop, and with the cap
/// lifted, where that shows. A graph that stops by itself before the cap gives the same answer both times, so only the
/// others are predicted again.
pub struct Validator {
    samples: Samples,
    device: Device,
    lifted_cap: usize,
    measure: Measure,
    cap: Cap,
    engine: Engine,
}

/// What is judged by.
enum Samples {
    Task(SampleSource),
    Own(OwnTask, Arc<dyn Dataset>),
}

/// Both validations of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validations {
    /// With the cap of training.
    pub training: Validation,
    /// With the cap lifted.
    pub lifted: Validation,
    /// The measure that chooses the best epoch.
    pub selected_by: f64,
}

impl Validator {
    /// A validator for a run; draws the samples.
    ///
    /// # Errors
    /// What the task reports; [`TrainError::NotSupervised`] for a run that does not learn from samples.
    pub fn new(config: &RunConfig, device: &Device) -> Result<Self, TrainError> {
        let task = config.task.built_in().ok_or_else(|| TrainError::config("task", "own graphs are not drawn"))?;
        let (_, spec) = splits(task, &config.selection)?;
        let data = &config.supervised()?.data;
        let seed = Split::Validation.seed(data.seed.unwrap_or(config.seed));
        Ok(Self::with(config, Samples::Task(SampleSource::new(&spec, seed, data.validation)?), device))
    }

    /// A validator for own graphs.
    pub(crate) fn own(config: &RunConfig, task: &OwnTask, data: Arc<dyn Dataset>, device: &Device) -> Self {
        Self::with(config, Samples::Own(task.clone(), data), device)
    }

    fn with(config: &RunConfig, samples: Samples, device: &Device) -> Self {
        Self {
            samples,
            device: device.clone(),
            lifted_cap: config.selection.lifted_cap,
            measure: super::measure_of(config),
            cap: config.selection.cap,
            engine: config.engine,
        }
    }

    /// Validates a model.
    ///
    /// # Errors
    /// [`TrainError::Model`] if the model does not have the widths of the samples.
    pub fn validate(&self, model: &GnnModel) -> Result<Validations, TrainError> {
        let predictor = ModelPredictor::new(model, &self.device);
        // Training mode is what training sees at its cap; classifiers would drop scores at random in it.
        let is_capped = model.config().settings().is_capped_in_training();
        let as_in_training = if is_capped { RunOptions::training() } else { RunOptions::inference() };
        let as_in_training = as_in_training.with_engine(self.engine);
        let lifted_options = RunOptions::inference().with_cap(self.lifted_cap).with_engine(self.engine);
        let memory = EvalOptions::default().memory;
        self.validate_by(|indices, in_training| {
            let data = self.samples();
            let samples = indices.iter().map(|&index| data.sample(index.into())).collect::<Result<Vec<_>, _>>()?;
            let sizes: Vec<_> = samples.iter().map(|sample| (sample.graph.nodes(), sample.graph.edges())).collect();
            let options = if in_training { &as_in_training } else { &lifted_options };
            predict_all(&predictor, &sizes, |index| Ok(&samples[index].graph), options, memory)
        })
    }

    /// The samples that models are judged by.
    pub(crate) fn samples(&self) -> &dyn Dataset {
        match &self.samples {
            Samples::Task(source) => source,
            Samples::Own(_, data) => &**data,
        }
    }

    /// Validates whoever `predict` asks: it gives the predictions for the samples of a list, with the cap of training
    /// if the second argument says so, else with the cap lifted.
    pub(crate) fn validate_by(
        &self,
        mut predict: impl FnMut(&[u32], bool) -> Result<Predicted, TrainError>,
    ) -> Result<Validations, TrainError> {
        let (mut training, mut lifted) = (Tally::default(), Tally::default());
        let count = self.samples().len() as u32;
        for start in (0..count).step_by(PART) {
            let part: Vec<u32> = (start..count.min(start + PART as u32)).collect();
            let records = self.judge(&part, &predict(&part, true)?)?;
            let again: Vec<u32> =
                part.iter().zip(&records).filter(|(_, record)| record.capped).map(|(&index, _)| index).collect();
            let repeated = if again.is_empty() { Vec::new() } else { self.judge(&again, &predict(&again, false)?)? };
            records.iter().for_each(|record| training.add(record));
            records.iter().filter(|record| !record.capped).chain(&repeated).for_each(|record| lifted.add(record));
        }
        let deciding = match self.cap {
            Cap::Training => &training,
            Cap::Lifted => &lifted,
        };
        let selected_by = self.measure.of(&Scores::of(&deciding.scores)).unwrap_or(f64::NAN);
        Ok(Validations { training: training.validation(), lifted: lifted.validation(), selected_by })
    }

    fn judge(&self, indices: &[u32], predicted: &Predicted) -> Result<Vec<Judged>, TrainError> {
        let judged = |(position, &index): (usize, &u32)| {
            let values = &predicted.values[position];
            let score = match &self.samples {
                Samples::Task(source) => judge(&*source.sample(index)?, values)?,
                Samples::Own(task, data) => judge_own(task, &*data.sample(index.into())?, values)?.score,
            };
            Ok(Judged {
                score,
                iterations: predicted.loops.iterations[position],
                capped: predicted.loops.capped[position],
            })
        };
        indices.iter().enumerate().map(judged).collect()
    }
}

/// What counts of one prediction.
struct Judged {
    score: Score,
    iterations: usize,
    capped: bool,
}

#[derive(Default)]
struct Tally {
    scores: Vec<Score>,
    iterations: usize,
    capped: usize,
}

impl Tally {
    fn add(&mut self, record: &Judged) {
        self.scores.push(record.score);
        self.iterations += record.iterations;
        self.capped += usize::from(record.capped);
    }

    fn validation(&self) -> Validation {
        let count = self.scores.len().max(1) as f64;
        Validation::new(&Scores::of(&self.scores), self.iterations as f64 / count, self.capped as f64 / count)
    }
}
