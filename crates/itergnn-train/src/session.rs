//! The one loop of every training: a method learns, the session watches, saves and resumes.

use std::path::Path;
use std::time::Instant;

use itergnn_nn::aligned::Refit;
use itergnn_nn::store::ModelCard;
use itergnn_nn::{GnnConfig, GnnModel, named_tensors, replace_tensors};
use serde_json::{Value, json};

use crate::config::ResolvedRun;
use crate::records::{EpochRecord, Observer, Plan, Record};
use crate::run::{Checkpoint, MethodState, Progress, RunFiles};
use crate::{Outcome, RunConfig, Status, TrainError, TrainOptions};

/// A way to learn, as far as a [`Session`] needs to know it.
pub(crate) trait Method {
    /// Epochs and steps of the whole run.
    fn plan(&self) -> (u64, u64);

    /// Gets what is learned from; only called if something is left to learn.
    fn prepare(&mut self) -> Result<(), TrainError> {
        Ok(())
    }

    /// Learns a little: one step, or one turn of all games, and what follows from it. Notes in `progress` how far the
    /// run is, whether it is at its end, and the best state.
    fn advance(&mut self, progress: &mut Progress, clock: &mut Clock) -> Result<Advance, TrainError>;

    /// The model as it is now; later steps do not change it.
    fn model(&self) -> GnnModel;

    /// What a checkpoint keeps.
    fn state(&self) -> MethodState;

    /// Goes on from what a checkpoint kept. The run may have become longer since: `progress` says afterwards whether it
    /// is at its end. The message of a failure is one line.
    fn restore(&mut self, state: MethodState, progress: &mut Progress) -> Result<(), String>;

    /// What computes the steps, where it is not the device of the options.
    fn card(&self) -> Option<&str> {
        None
    }

    /// What the best state is chosen by.
    fn measure(&self) -> &'static str;

    /// What else result and card say of the run.
    fn facts(&self) -> Facts {
        Facts::default()
    }
}

/// What a method did.
#[derive(Default)]
pub(crate) struct Advance {
    pub(crate) records: Vec<Record>,
    /// Whether the model is the best so far.
    pub(crate) is_best: bool,
}

/// What a method says of its run besides how far it is.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) ended_early: bool,
    pub(crate) updates: Option<u64>,
    pub(crate) refit: Option<Refit>,
    pub(crate) last_epoch: Option<EpochRecord>,
    /// More for the card.
    pub(crate) card: serde_json::Map<String, Value>,
}

/// Time and work of this start.
pub(crate) struct Clock {
    start: Instant,
    seconds_before: f64,
    /// Samples or moves.
    pub(crate) done: u64,
}

impl Clock {
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds_before + self.start.elapsed().as_secs_f64()
    }

    /// Samples or moves per second.
    pub(crate) fn speed(&self) -> f64 {
        self.done as f64 / self.start.elapsed().as_secs_f64().max(1e-9)
    }
}

/// A run in progress.
pub(crate) struct Session<'a, M> {
    config: RunConfig,
    model: GnnConfig,
    method: M,
    options: &'a TrainOptions,
    files: RunFiles,
    best: Option<GnnModel>,
    progress: Progress,
    clock: Clock,
}

impl<'a, M: Method> Session<'a, M> {
    /// Begins a run, or finds its place again, in a directory if one is given.
    pub(crate) fn begin(
        run: ResolvedRun,
        method: impl FnOnce(&ResolvedRun) -> Result<M, TrainError>,
        directory: Option<&Path>,
        options: &'a TrainOptions,
        observer: &mut dyn Observer,
    ) -> Result<Self, TrainError> {
        // The directory first: what is wrong with it is known before anything is computed.
        let (files, checkpoint) = RunFiles::open(directory, &run.config, options.start, observer)?;
        // A run goes on with the model it began with, whatever this version makes of its configuration.
        let run = match &checkpoint {
            Some(checkpoint) => ResolvedRun { model: checkpoint.model.clone(), ..run },
            None => run,
        };
        if let Some(note) = run.config.model.note() {
            observer.note(&note);
        }
        let method = method(&run)?;
        let clock = Clock { start: Instant::now(), seconds_before: 0.0, done: 0 };
        let (config, model, progress) = (run.config, run.model, Progress::default());
        let mut session = Self { config, model, method, options, files, best: None, progress, clock };
        if let Some(checkpoint) = checkpoint {
            let path = directory.unwrap_or(Path::new("")).join("checkpoints");
            session.restore(checkpoint).map_err(|why| TrainError::Checkpoint { path, why })?;
            if let (Some(model), true) = (&session.best, session.files.lacks_best()) {
                session.files.save_best(model, &session.card())?;
            }
        }
        let device = session.method.card().map_or_else(|| format!("{:?}", options.device), str::to_owned);
        session.files.note_start(&session.model, &device)?;
        observer.started(&session.plan());
        Ok(session)
    }

    fn restore(&mut self, checkpoint: Checkpoint) -> Result<(), String> {
        self.progress = checkpoint.progress;
        self.clock.seconds_before = self.progress.seconds;
        self.method.restore(checkpoint.method, &mut self.progress)?;
        if self.progress.best.is_some() {
            self.best = Some(replace_tensors(self.method.model(), &checkpoint.best_weights));
        }
        Ok(())
    }

    fn plan(&self) -> Plan {
        let parameters = named_tensors(&self.method.model()).values().map(|tensor| tensor.values.len()).sum();
        let (epochs, steps) = self.method.plan();
        Plan { seed: self.config.seed, epochs, steps, steps_done: self.progress.step, parameters }
    }

    /// Learns to the end, or until it is asked to stop.
    pub(crate) fn run(mut self, observer: &mut dyn Observer) -> Result<(Outcome, M), TrainError> {
        if !self.progress.finished {
            self.method.prepare()?;
        }
        while !self.progress.finished {
            if self.options.wants_stop(self.progress.step) {
                return self.end(Status::Stopped, observer);
            }
            let advance = self.method.advance(&mut self.progress, &mut self.clock)?;
            for record in &advance.records {
                record.tell(observer);
                self.files.log(record)?;
            }
            if advance.is_best {
                let best = self.method.model();
                self.files.save_best(&best, &self.card())?;
                self.best = Some(best);
            }
            if self.files.save_is_due(self.progress.step) {
                self.save(observer)?;
            }
        }
        let status = if self.method.facts().ended_early { Status::EarlyStopped } else { Status::Finished };
        self.end(status, observer)
    }

    fn best_value(&self) -> Option<f64> {
        self.progress.best.map(|best| best.value).filter(|value| value.is_finite())
    }

    /// What a file of the best model says about its origin.
    fn card(&self) -> ModelCard {
        let facts = self.method.facts();
        let best = self.progress.best.map(|best| {
            json!({
                "epoch": best.epoch, "step": best.step, "measure": self.method.measure(), "value": self.best_value(),
            })
        });
        let mut training = facts.card;
        training.insert("config".to_owned(), json!(self.config));
        training.insert("best".to_owned(), json!(best));
        training.insert("refit".to_owned(), json!(facts.refit));
        training.insert("itergnn".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        ModelCard {
            name: self.config.model.name.clone(),
            task: self.config.task.name().to_owned(),
            seed: self.config.seed,
            training: Value::Object(training),
        }
    }

    fn save(&mut self, observer: &mut dyn Observer) -> Result<(), TrainError> {
        self.progress.seconds = self.clock.seconds();
        let (model, method, progress) = (&self.model, &self.method, self.progress);
        let best_weights = || self.best.as_ref().map(named_tensors).unwrap_or_default();
        self.files.save(
            |settings, logs| Checkpoint {
                settings: Some(settings),
                model: model.clone(),
                method: method.state(),
                best_weights: best_weights(),
                progress,
                logs,
            },
            observer,
        )
    }

    fn end(mut self, status: Status, observer: &mut dyn Observer) -> Result<(Outcome, M), TrainError> {
        self.save(observer)?;
        let facts = self.method.facts();
        let best = self.progress.best;
        self.files.write_result(&json!({
            "status": status,
            "steps": self.progress.step,
            "updates": facts.updates,
            "best_epoch": best.map(|best| best.epoch),
            "best_step": best.map(|best| best.step),
            "measure": self.method.measure(),
            "value": self.best_value(),
            "seconds": self.progress.seconds,
            "finished": facts.refit.is_some(),
            "refit": facts.refit,
        }))?;
        let outcome = Outcome {
            status,
            steps: self.progress.step,
            updates: facts.updates.unwrap_or(self.progress.step),
            best,
            model: self.best.take().unwrap_or_else(|| self.method.model()),
            last_epoch: facts.last_epoch,
            seconds: self.progress.seconds,
            refit: facts.refit,
        };
        Ok((outcome, self.method))
    }
}
