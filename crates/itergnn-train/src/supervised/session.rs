//! The training loop.

use std::path::Path;
use std::time::Instant;

use itergnn_graph::rng;
use itergnn_nn::store::ModelCard;
use itergnn_nn::{GnnConfig, GnnModel, named_tensors, replace_tensors};
use itergnn_tasks::Split;
use rand::Rng;

use super::run_files::RunFiles;
use super::{Outcome, Status, TrainOptions, Validator};
use crate::TrainError;
use crate::config::TrainConfig;
use crate::data::{HostBatch, SampleSource, epoch_order, with_batches};
use crate::learning::{Learner, StepReport};
use crate::records::{EpochRecord, Observer, Plan, StepRecord};
use crate::run::{Best, Checkpoint, EpochTotals, LogLengths, Progress};

/// Trains a model as configured, in a run directory if one is given.
///
/// The result depends on the configuration alone: not on the number of threads, not on how often the run was stopped and resumed, not on how often it was saved.
///
/// # Errors
/// [`TrainError::Config`] and its like before anything is written; [`TrainError::Io`] when files cannot be written, which leaves the last checkpoint usable;
/// [`TrainError::NotFinite`] when training diverges.
///
/// # Example
/// ```
/// use itergnn_tasks::{Task, TaskSpec};
/// use itergnn_train::{ModelConfig, Silent, Status, TrainConfig, TrainOptions, train};
///
/// let mut config = TrainConfig::new(TaskSpec::paper(Task::ShortestPath), ModelConfig::preset("iter-homo-path"));
/// config.model.hidden_width = Some(4);
/// (config.epochs, config.data.train, config.data.validation) = (1, 8, 4);
/// let outcome = train(&config, None, &TrainOptions::default(), &mut Silent)?;
/// assert_eq!((outcome.status, outcome.steps), (Status::Finished, 1));
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
pub fn train(
    config: &TrainConfig,
    directory: Option<&Path>,
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrainError> {
    Session::begin(config.resolved()?, directory, options, observer)?.run(observer)
}

/// Training samples that a model is finished with, where it needs that.
const FINISHING_SAMPLES: u64 = 1_000;

struct Session<'a> {
    config: TrainConfig,
    model: GnnConfig,
    options: &'a TrainOptions,
    files: RunFiles,
    learner: Learner,
    best: Option<GnnModel>,
    progress: Progress,
    last_epoch: Option<EpochRecord>,
    clock: Clock,
}

/// Time and work of this start.
struct Clock {
    start: Instant,
    seconds_before: f64,
    samples: u64,
}

impl Clock {
    fn seconds(&self) -> f64 {
        self.seconds_before + self.start.elapsed().as_secs_f64()
    }

    fn samples_per_second(&self) -> f64 {
        self.samples as f64 / self.start.elapsed().as_secs_f64().max(1e-9)
    }
}

impl<'a> Session<'a> {
    fn begin(
        config: TrainConfig,
        directory: Option<&Path>,
        options: &'a TrainOptions,
        observer: &mut dyn Observer,
    ) -> Result<Self, TrainError> {
        let (files, checkpoint) = RunFiles::open(directory, &config, options.start, observer)?;
        // What the run began with, whatever this version makes of its configuration.
        let model = match &checkpoint {
            Some(checkpoint) => checkpoint.model.clone(),
            None => config.model_config()?,
        };
        if let Some(note) = config.model.note() {
            observer.note(&note);
        }
        files.note_start(&model, &options.device)?;
        let learner = Learner::new(&model, config.loss_kind(), &config.optimiser, config.seed, &options.device)?
            .with_engine(config.engine);
        let clock = Clock { start: Instant::now(), seconds_before: 0.0, samples: 0 };
        let mut session = Self {
            config,
            model,
            options,
            files,
            learner,
            best: None,
            progress: Progress::default(),
            last_epoch: None,
            clock,
        };
        if let Some(checkpoint) = checkpoint {
            session.restore(checkpoint, directory.unwrap_or(Path::new("")))?;
        }
        observer.started(&session.plan());
        Ok(session)
    }

    fn restore(&mut self, checkpoint: Checkpoint, directory: &Path) -> Result<(), TrainError> {
        let damaged = |why: String| TrainError::Checkpoint { path: directory.join("checkpoints"), why };
        self.learner.restore(&checkpoint.learner).map_err(damaged)?;
        if checkpoint.progress.best.is_some() {
            let best = replace_tensors(self.learner.model(), &checkpoint.best_weights);
            self.best = Some(best);
        }
        self.clock.seconds_before = checkpoint.progress.seconds;
        self.progress = checkpoint.progress;
        if let (Some(model), true) = (&self.best, self.files.lacks_best()) {
            self.files.save_best(model, &self.card())?;
        }
        Ok(())
    }

    fn plan(&self) -> Plan {
        let parameters = named_tensors(&self.learner.model()).values().map(|tensor| tensor.values.len()).sum();
        Plan {
            seed: self.config.seed,
            epochs: self.config.epochs,
            steps: self.config.steps(),
            steps_done: self.progress.step,
            parameters,
        }
    }

    fn run(mut self, observer: &mut dyn Observer) -> Result<Outcome, TrainError> {
        if self.progress.finished {
            let status = self.final_status();
            return self.end(status, observer);
        }
        let (train_spec, _) = self.config.splits()?;
        let seed = Split::Train.seed(self.config.data_seed());
        let source = SampleSource::new(&train_spec, seed, self.config.data.train)?;
        let validator = Validator::new(&self.config, &self.options.device)?;
        while !self.progress.finished {
            if !self.epoch(&source, observer)? {
                return self.end(Status::Stopped, observer);
            }
            if self.learner.needs_finish() && self.progress.epoch >= self.config.epochs {
                self.finish_model(&source)?;
            }
            self.close_epoch(&validator, observer)?;
        }
        let status = self.final_status();
        self.end(status, observer)
    }

    /// What follows the last step of a model whose training does not end with it.
    fn finish_model(&mut self, source: &SampleSource) -> Result<(), TrainError> {
        let count = source.count().min(FINISHING_SAMPLES) as u32;
        let samples = source.batch(&(0..count).collect::<Vec<_>>())?;
        self.progress.refit = self.learner.finish(&samples)?;
        Ok(())
    }

    /// Takes the steps that are left of the epoch; false if the run was asked to stop before its end.
    fn epoch(&mut self, source: &SampleSource, observer: &mut dyn Observer) -> Result<bool, TrainError> {
        let order = epoch_order(self.config.seed, self.progress.epoch, source.count());
        let (size, start) = (self.config.batch_size, self.progress.batch as usize);
        with_batches(source, &order, size, start, |batches| {
            for batch in batches {
                if self.options.wants_stop(self.progress.step) {
                    return Ok(false);
                }
                self.step(&batch?, observer)?;
                if self.files.save_is_due() {
                    self.save(observer)?;
                }
            }
            Ok(true)
        })
    }

    fn step(&mut self, batch: &HostBatch, observer: &mut dyn Observer) -> Result<(), TrainError> {
        let optimiser = &self.config.optimiser;
        let rate = optimiser.learning_rate * optimiser.schedule.factor(self.progress.step, self.config.steps());
        self.learner.at_progress(self.progress.step as f64 / self.config.steps() as f64);
        let report = self.learner.step(batch, rate, step_seed(self.config.seed, self.progress.step))?;
        if let Some((what, value)) = report.fault() {
            let (step, epoch) = (self.progress.step + 1, self.progress.epoch);
            return Err(TrainError::NotFinite { what, value, step, epoch });
        }
        self.progress.step += 1;
        self.progress.batch += 1;
        self.progress.totals.add(&report);
        self.clock.samples += report.graphs as u64;
        let record = self.step_record(&report, rate);
        observer.step(&record);
        let every = self.config.log_every;
        if every > 0 && self.progress.step.is_multiple_of(every) {
            self.files.log_step(&record)?;
        }
        Ok(())
    }

    fn step_record(&self, report: &StepReport, rate: f64) -> StepRecord {
        let speed = self.clock.samples_per_second();
        let steps_left = self.config.steps().saturating_sub(self.progress.step);
        StepRecord {
            step: self.progress.step,
            epoch: self.progress.epoch,
            loss: report.loss,
            auxiliary_loss: report.auxiliary_loss,
            gradient_norm: report.gradient_norm,
            learning_rate: rate,
            iterations: report.iterations,
            capped: report.capped,
            samples_per_second: speed,
            seconds: self.clock.seconds(),
            seconds_left: (steps_left * self.config.batch_size as u64) as f64 / speed,
        }
    }

    /// Validates, notes whether this is the best epoch, and moves on to the next or to the end.
    fn close_epoch(&mut self, validator: &Validator, observer: &mut dyn Observer) -> Result<(), TrainError> {
        let validations = validator.validate(&self.learner.model())?;
        let value = validations.selected_by;
        let measure = self.config.measure();
        // A model that is finished at the end is not yet itself before: the last epoch counts.
        let is_best =
            self.learner.needs_finish() || self.progress.best.is_none_or(|best| measure.improves(value, best.value));
        if is_best {
            self.progress.best = Some(Best { epoch: self.progress.epoch, step: self.progress.step, value });
            self.progress.stale_epochs = 0;
            self.best = Some(self.learner.model());
        } else {
            self.progress.stale_epochs += 1;
        }
        let mean = self.progress.totals.mean();
        let record = EpochRecord {
            epoch: self.progress.epoch,
            step: self.progress.step,
            train_loss: mean.loss,
            auxiliary_loss: mean.auxiliary_loss,
            iterations: mean.iterations,
            capped: mean.capped,
            validation: validations.training,
            validation_lifted: validations.lifted,
            selected_by: Some(value).filter(|value| value.is_finite()),
            is_best,
            seconds: self.clock.seconds(),
        };
        observer.epoch(&record);
        self.files.log_epoch(&record)?;
        self.last_epoch = Some(record);
        if let (true, Some(model)) = (is_best, &self.best) {
            self.files.save_best(model, &self.card())?;
        }
        let patience_is_over = self.config.selection.patience.is_some_and(|limit| self.progress.stale_epochs >= limit);
        self.progress.finished = patience_is_over || self.progress.epoch >= self.config.epochs;
        self.progress.epoch += 1;
        self.progress.batch = 0;
        self.progress.totals = EpochTotals::default();
        Ok(())
    }

    /// What a file of the best model says about its origin.
    fn card(&self) -> ModelCard {
        let best = self.progress.best.map(|best| {
            let value = Some(best.value).filter(|value| value.is_finite());
            serde_json::json!({ "epoch": best.epoch, "step": best.step, "measure": self.config.measure(), "value": value })
        });
        ModelCard {
            name: self.config.model.name.clone(),
            task: self.config.task.task().name().to_owned(),
            seed: self.config.seed,
            training: serde_json::json!({ "config": self.config, "best": best, "refit": self.progress.refit, "itergnn": env!("CARGO_PKG_VERSION") }),
        }
    }

    fn save(&mut self, observer: &mut dyn Observer) -> Result<(), TrainError> {
        self.progress.seconds = self.clock.seconds();
        let (model, learner, progress) = (&self.model, &self.learner, &self.progress);
        let best_weights = self.best.as_ref().map(named_tensors).unwrap_or_default();
        let make = |logs: LogLengths| Checkpoint {
            model: model.clone(),
            learner: learner.state(),
            best_weights,
            progress: progress.clone(),
            logs,
        };
        self.files.save(make, observer)
    }

    fn final_status(&self) -> Status {
        // `epoch` is the one that would come next.
        if self.progress.epoch > self.config.epochs { Status::Finished } else { Status::EarlyStopped }
    }

    fn end(mut self, status: Status, observer: &mut dyn Observer) -> Result<Outcome, TrainError> {
        self.save(observer)?;
        let best = self.progress.best;
        let outcome = Outcome {
            status,
            steps: self.progress.step,
            best,
            model: self.best.clone().unwrap_or_else(|| self.learner.model()),
            last_epoch: self.last_epoch.clone(),
            seconds: self.progress.seconds,
            refit: self.progress.refit.clone(),
        };
        let value = best.map(|best| best.value).filter(|value| value.is_finite());
        self.files.write_result(&serde_json::json!({
            "status": status,
            "steps": outcome.steps,
            "best_epoch": best.map(|best| best.epoch),
            "measure": self.config.measure(),
            "value": value,
            "seconds": outcome.seconds,
            "refit": outcome.refit,
        }))?;
        Ok(outcome)
    }
}

/// The seed of what a step draws: a stream of the run's seed that no epoch's order uses.
fn step_seed(seed: u64, step: u64) -> u64 {
    rng::sample(seed, u64::MAX - step).next_u64()
}
