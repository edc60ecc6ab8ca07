//! The steps and epochs of supervised learning.

use std::sync::Arc;

use burn::tensor::Device;
use itergnn_graph::rng;
use itergnn_nn::GnnModel;
use rand::Rng;

use super::{Learned, Place};
use crate::TrainError;
use crate::config::{Finishing, Measure, ResolvedRun, RunConfig, SupervisedConfig};
use crate::data::{Batches, HostBatch, OwnData, epoch_order};
use crate::learning::Learner;
use crate::records::{EpochRecord, Record, StepRecord};
use crate::run::{MethodState, Progress};
use crate::session::{Advance, Clock, Facts, Method};

/// Training samples that a model is finished with, where it needs that.
const FINISHING_SAMPLES: u64 = 1_000;

/// Learning from labelled samples.
pub(crate) struct Supervised {
    config: RunConfig,
    settings: SupervisedConfig,
    device: Device,
    learner: Learner,
    measure: Measure,
    place: Place,
    own: Option<OwnData>,
    data: Option<Data>,
    last_epoch: Option<EpochRecord>,
}

struct Data {
    learned: Learned,
    /// What is left of the epoch.
    batches: Option<Batches>,
}

impl Supervised {
    /// A method for a built-in task, or for own graphs where there are some.
    pub(crate) fn new(run: &ResolvedRun, own: Option<&OwnData>, device: &Device) -> Result<Self, TrainError> {
        let config = run.config.clone();
        let settings = config.supervised()?.clone();
        let (loss, measure) = (super::loss_of(&config), super::measure_of(&config));
        let mut learner = Learner::new(&run.model, loss, &config.optimiser, config.seed, device)?;
        if let Some(path) = &config.model.start_from {
            learner = learner.started_from(path)?;
        }
        Ok(Self {
            learner: learner.with_engine(config.engine),
            settings,
            device: device.clone(),
            measure,
            place: Place::default(),
            own: own.cloned(),
            data: None,
            last_epoch: None,
            config,
        })
    }

    /// The next batch of the epoch, made ahead by another thread; `None` after its last.
    fn next_batch(&mut self) -> Result<Option<HostBatch>, TrainError> {
        let Some(data) = &mut self.data else { return Ok(None) };
        if self.place.batch >= self.settings.steps_per_epoch() {
            return Ok(None);
        }
        let batches = data.batches.get_or_insert_with(|| {
            let order = epoch_order(self.config.seed, self.place.epoch, data.learned.source.len());
            let (source, level) = (Arc::clone(&data.learned.source), data.learned.level);
            let make = move |indices: &[u32]| HostBatch::of(&*source, indices, level);
            Batches::new(make, order, self.settings.batch_size, self.place.batch as usize)
        });
        let batch = batches.next().ok_or_else(|| TrainError::Worker("no batches come any more".to_owned()))?;
        batch.map(Some)
    }

    fn step(
        &mut self,
        batch: &HostBatch,
        progress: &mut Progress,
        clock: &mut Clock,
    ) -> Result<StepRecord, TrainError> {
        let (optimiser, steps) = (&self.config.optimiser, self.settings.steps());
        let rate = optimiser.learning_rate * optimiser.schedule.factor(progress.step, steps);
        self.learner.at_progress(progress.step as f64 / steps as f64);
        let report = self.learner.step(batch, rate, step_seed(self.config.seed, progress.step))?;
        if let Some((what, value)) = report.fault() {
            let (step, epoch) = (progress.step + 1, self.place.epoch);
            return Err(TrainError::NotFinite { what, value, step, epoch });
        }
        progress.step += 1;
        self.place.batch += 1;
        self.place.totals.add(&report);
        clock.done += report.graphs as u64;
        let left = self.settings.steps().saturating_sub(progress.step) * self.settings.batch_size as u64;
        Ok(StepRecord::new(&report, rate, progress.step, self.place.epoch, left, clock))
    }

    /// What follows the last step of a model whose training does not end with it.
    fn finish_model(&mut self) -> Result<(), TrainError> {
        let Some(Data { learned, .. }) = &self.data else { return Ok(()) };
        let count = learned.source.len().min(FINISHING_SAMPLES) as u32;
        let samples = HostBatch::of(&*learned.source, &(0..count).collect::<Vec<_>>(), learned.level)?;
        self.place.refit = self.learner.finish(&samples)?;
        Ok(())
    }

    /// Validates, notes whether this is the best epoch, and moves on to the next or to the end.
    fn close_epoch(&mut self, progress: &mut Progress, clock: &Clock) -> Result<EpochRecord, TrainError> {
        let Some(data) = &mut self.data else { return Err(TrainError::Worker("there are no samples".to_owned())) };
        data.batches = None;
        let validations = data.learned.validator.validate(&self.learner.model())?;
        // A model that is finished at the end is not yet itself before: the last epoch counts.
        let (finishes, measure) = (self.learner.needs_finish(), self.measure);
        let record = self.place.close(&validations, |new, old| finishes || measure.improves(new, old), progress, clock);
        self.last_epoch = Some(record.clone());
        progress.finished = self.place.is_over(&self.config, &self.settings);
        Ok(record)
    }
}

impl Method for Supervised {
    fn plan(&self) -> (u64, u64) {
        (self.settings.epochs, self.settings.steps())
    }

    fn prepare(&mut self) -> Result<(), TrainError> {
        let learned = Learned::new(&self.config, self.own.as_ref(), &self.device)?;
        self.data = Some(Data { learned, batches: None });
        Ok(())
    }

    fn advance(&mut self, progress: &mut Progress, clock: &mut Clock) -> Result<Advance, TrainError> {
        let mut advance = Advance::default();
        if let Some(batch) = self.next_batch()? {
            advance.records.push(Record::Step(self.step(&batch, progress, clock)?));
        }
        if self.place.batch >= self.settings.steps_per_epoch() {
            let is_last = self.place.epoch >= self.settings.epochs;
            if self.learner.needs_finish() && is_last && self.settings.finishing != Finishing::Never {
                self.finish_model()?;
            }
            let record = self.close_epoch(progress, clock)?;
            advance.is_best = record.is_best;
            advance.records.push(Record::Epoch(record));
        }
        Ok(advance)
    }

    fn model(&self) -> GnnModel {
        self.learner.model()
    }

    fn state(&self) -> MethodState {
        MethodState { learner: self.learner.state(), place: self.place.to_json(), ..MethodState::default() }
    }

    fn restore(&mut self, state: MethodState, progress: &mut Progress) -> Result<(), String> {
        self.learner.restore(&state.learner)?;
        self.place = Place::from_json(state.place, &self.settings)?;
        progress.finished = self.place.is_over(&self.config, &self.settings);
        Ok(())
    }

    fn measure(&self) -> &'static str {
        self.measure.name()
    }

    fn facts(&self) -> Facts {
        Facts {
            ended_early: self.place.epoch <= self.settings.epochs,
            refit: self.place.refit.clone(),
            last_epoch: self.last_epoch.clone(),
            ..Facts::default()
        }
    }
}

/// The seed of what a step draws: a stream of the run's seed that no epoch's order uses.
fn step_seed(seed: u64, step: u64) -> u64 {
    rng::sample(seed, u64::MAX - step).next_u64()
}
