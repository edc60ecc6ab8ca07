//! The loop of playing and learning.

use std::path::Path;
use std::time::Instant;

use itergnn_graph::rng;
use itergnn_nn::store::{self, ModelCard};
use itergnn_nn::{GnnConfig, GnnModel, named_tensors, replace_tensors};
use itergnn_tasks::pacman::{Action, Symmetry};
use itergnn_tasks::{Split, Task};
use rand::RngExt;

use super::checkpoint::{PlayCheckpoint, PlayProgress, Totals};
use super::evaluation::play_split;
use super::{Collector, DqnConfig, PlayOptions, PlayRecord, PlayReport, Replay, ValueLearner};
use super::{ValuePlayer, ViewKind};
use crate::TrainError;
use crate::records::{Observer, Plan};
use crate::run::{LogLengths, RunDirectory, RunLog};
use crate::supervised::{Status, TrainOptions};

/// The result of a run.
#[derive(Debug, Clone)]
pub struct DqnOutcome {
    /// Why it ended.
    pub status: Status,
    /// Moves made over all starts.
    pub steps: u64,
    /// Updates of the network over all starts.
    pub updates: u64,
    /// Validation success of the best state, if there was a validation.
    pub best: Option<f64>,
    /// The move at which the best state was found.
    pub best_step: Option<u64>,
    /// The network of the best state; before the first validation, as it is.
    pub model: GnnModel,
    /// Seconds of training over all starts.
    pub seconds: f64,
}

/// Learns to play as configured, in a run directory if one is given.
///
/// The result depends on the configuration alone: not on the number of threads, not on how often the run was stopped and resumed.
///
/// # Errors
/// [`TrainError::Config`] and its like before anything is written; [`TrainError::Io`] when files cannot be written; [`TrainError::NotFinite`] when training diverges.
pub fn train_dqn(
    config: &DqnConfig,
    directory: Option<&Path>,
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> Result<DqnOutcome, TrainError> {
    config.validate()?;
    Session::begin(config.clone(), directory, options, observer)?.run(observer)
}

/// Streams of the run's seed that neither games nor weights use.
const MOVES: u64 = 0x6d6f_7665_7321;
const BATCHES: u64 = 0x6261_7463_6865;

struct Files {
    directory: RunDirectory,
    log: RunLog,
    saved_at: Instant,
    saved_step: u64,
}

struct Session<'a> {
    config: DqnConfig,
    model: GnnConfig,
    options: &'a TrainOptions,
    files: Option<Files>,
    learner: ValueLearner,
    collector: Collector,
    replay: Replay,
    best: Option<GnnModel>,
    progress: PlayProgress,
    rate: f64,
    start: Instant,
    steps_before: u64,
}

impl<'a> Session<'a> {
    fn begin(
        config: DqnConfig,
        directory: Option<&Path>,
        options: &'a TrainOptions,
        observer: &mut dyn Observer,
    ) -> Result<Self, TrainError> {
        let model = config.model_config()?;
        let agent = &config.agent;
        let (files, checkpoint) = open(directory, &config, &model, options, observer)?;
        let learner = ValueLearner::new(&model, agent, &config.optimiser, config.seed, &options.device)?;
        let kind = ViewKind::of(&model);
        let collector = Collector::new(config.game, kind, config.seed, config.environments, agent)?;
        let replay = Replay::new(agent.replay);
        let mut session = Self {
            config,
            model,
            options,
            files,
            learner,
            collector,
            replay,
            best: None,
            progress: PlayProgress::default(),
            rate: 0.0,
            start: Instant::now(),
            steps_before: 0,
        };
        if let Some(checkpoint) = checkpoint {
            let path = directory.unwrap_or(Path::new("")).join("checkpoints");
            session.restore(checkpoint).map_err(|why| TrainError::Checkpoint { path, why })?;
        }
        let parameters = named_tensors(&session.learner.model()).values().map(|tensor| tensor.values.len()).sum();
        let (seed, steps) = (session.config.seed, session.config.steps);
        observer.started(&Plan { seed, epochs: 1, steps, steps_done: session.progress.step, parameters });
        Ok(session)
    }

    fn restore(&mut self, checkpoint: PlayCheckpoint) -> Result<(), String> {
        // Through JSON like the one in the file, so that both have lost the same digits.
        let text = serde_json::to_string(&self.model).map_err(|error| error.to_string())?;
        let expected: GnnConfig = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        if checkpoint.model != expected {
            return Err("it holds another model than this version makes of the configuration".to_owned());
        }
        self.learner.restore(&checkpoint.learner, &checkpoint.target)?;
        self.collector.restore(checkpoint.progress.games_started, &checkpoint.progress.players)?;
        if checkpoint.progress.best.is_some() {
            self.best = Some(replace_tensors(self.learner.model(), &checkpoint.best));
        }
        self.replay = checkpoint.replay;
        self.progress = checkpoint.progress;
        self.steps_before = self.progress.step;
        Ok(())
    }

    fn run(mut self, observer: &mut dyn Observer) -> Result<DqnOutcome, TrainError> {
        while !self.progress.finished {
            if self.options.wants_stop(self.progress.step) {
                return self.end(Status::Stopped, observer);
            }
            let before = self.progress.step;
            self.turn()?;
            self.learn()?;
            let after = self.progress.step;
            let passes = |every: u64| every > 0 && after / every > before / every;
            if passes(self.config.agent.target_every) {
                self.learner.update_target();
            }
            self.progress.finished = after >= self.config.steps;
            if passes(self.config.validation.every_steps) || self.progress.finished {
                let report = self.validate()?;
                self.record(Some(&report), observer)?;
            } else if passes(self.config.log_every) {
                self.record(None, observer)?;
            }
            if self.save_is_due() {
                self.save(observer)?;
            }
        }
        self.end(Status::Finished, observer)
    }

    /// One move in every game.
    fn turn(&mut self) -> Result<(), TrainError> {
        let agent = &self.config.agent;
        let learning = self.progress.step >= agent.warm_up_steps;
        let mut actions = if learning {
            self.learner.best_moves(&self.collector.views().collect::<Vec<_>>())?
        } else {
            vec![Action::Left; self.config.environments]
        };
        let mut stream = rng::sample(self.config.seed ^ MOVES, self.progress.turn);
        for action in &mut actions {
            let (explores, other) = (stream.random::<f64>() < agent.exploration, stream.random_range(0..4_u32));
            if explores || !learning {
                *action = Action::ALL[other as usize];
            }
        }
        let turn = self.collector.turn(&actions)?;
        turn.transitions.into_iter().for_each(|transition| self.replay.push(transition));
        self.progress.totals.games += turn.ended.len() as u64;
        self.progress.totals.success += turn.ended.iter().sum::<f64>();
        self.progress.turn += 1;
        self.progress.step += actions.len() as u64;
        Ok(())
    }

    /// The updates that are due.
    fn learn(&mut self) -> Result<(), TrainError> {
        let due = self.config.updates_at(self.progress.step.min(self.config.steps));
        while self.progress.updates < due && self.replay.len() >= self.config.agent.batch_size {
            let optimiser = &self.config.optimiser;
            self.rate =
                optimiser.learning_rate * optimiser.schedule.factor(self.progress.updates, self.config.updates());
            let mut stream = rng::sample(self.config.seed ^ BATCHES, self.progress.updates);
            let agent = &self.config.agent;
            let (mut places, mut batch) = (Vec::new(), Vec::new());
            for _ in 0..agent.batch_size {
                let Some(place) = self.replay.draw(agent.candidates, &mut stream) else { break };
                let turned = stream.random_range(0..8_u32) as usize;
                let symmetry = if agent.symmetries { Symmetry::ALL[turned] } else { Symmetry::IDENTITY };
                batch.extend(self.replay.get(place).map(|transition| (transition, symmetry)));
                places.push(place);
            }
            let (report, surprises) = self.learner.step(&batch, self.rate)?;
            for (place, surprise) in places.into_iter().zip(surprises) {
                self.replay.note_surprise(place, surprise);
            }
            if let Some((what, value)) = report.fault() {
                return Err(TrainError::NotFinite { what, value, step: self.progress.updates + 1, epoch: 1 });
            }
            self.progress.updates += 1;
            let totals = &mut self.progress.totals;
            totals.updates += 1;
            totals.loss += report.loss;
            totals.auxiliary_loss += report.auxiliary_loss;
            totals.gradient_norm += report.gradient_norm;
            totals.output += report.output;
        }
        Ok(())
    }

    /// Judges the network on games of the training setting that it does not learn from.
    fn validate(&mut self) -> Result<PlayReport, TrainError> {
        let model = self.learner.model();
        let (player, games) =
            (ValuePlayer::new(&model).with_symmetries(self.config.validation.symmetries), self.config.validation.games);
        let split = (Split::Validation, self.config.seed);
        play_split(&player, &self.config.game, games, split, &PlayOptions::default(), &mut |_| {})
    }

    fn record(&mut self, validation: Option<&PlayReport>, observer: &mut dyn Observer) -> Result<(), TrainError> {
        // Of equals the later one: it has learned more.
        let held = self.progress.best.map(|(bits, _)| f64::from_bits(bits));
        let is_best = validation.is_some_and(|report| held.is_none_or(|held| report.success_rate >= held));
        if let (Some(report), true) = (validation, is_best) {
            self.progress.best = Some((report.success_rate.to_bits(), self.progress.step));
            self.best = Some(self.learner.model());
        }
        let totals = std::mem::take(&mut self.progress.totals);
        let Totals { updates, games, .. } = totals;
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        let steps = self.progress.step - self.steps_before;
        let record = PlayRecord {
            step: self.progress.step,
            updates: self.progress.updates,
            games: self.collector.state().0,
            loss: mean(totals.loss, updates),
            auxiliary_loss: mean(totals.auxiliary_loss, updates),
            gradient_norm: mean(totals.gradient_norm, updates),
            output: mean(totals.output, updates),
            training_success: mean(totals.success, games),
            validation_success: validation.map(|report| report.success_rate),
            validation_stuck: validation.map(|report| report.stuck),
            is_best,
            learning_rate: self.rate,
            steps_per_second: steps as f64 / self.start.elapsed().as_secs_f64().max(1e-9),
            seconds: self.seconds(),
        };
        observer.play(&record);
        let card = self.card();
        if let Some(files) = &mut self.files {
            files.log.record(record.step, &record, &record.scalars())?;
            if let (true, Some(model)) = (is_best, &self.best) {
                store::save(model, &card, files.directory.best_model_path())?;
            }
        }
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.progress.seconds + self.start.elapsed().as_secs_f64()
    }

    fn card(&self) -> ModelCard {
        let best = self.progress.best.map(|(bits, step)| {
            serde_json::json!({ "step": step, "measure": "success_rate", "value": f64::from_bits(bits) })
        });
        let updates = self.progress.updates;
        ModelCard {
            name: self.config.model.name.clone(),
            task: Task::Pacman.name().to_owned(),
            seed: self.config.seed,
            training: serde_json::json!({
                "play": self.config, "best": best, "updates": updates, "itergnn": env!("CARGO_PKG_VERSION")
            }),
        }
    }

    fn save_is_due(&self) -> bool {
        let habits = &self.config.checkpoint;
        self.files.as_ref().is_some_and(|files| {
            let steps = self.progress.step - files.saved_step;
            habits.every_steps.is_some_and(|every| steps >= every)
                || files.saved_at.elapsed().as_secs_f64() >= habits.every_seconds
        })
    }

    fn save(&mut self, observer: &mut dyn Observer) -> Result<(), TrainError> {
        let seconds = self.seconds();
        let Some(files) = &mut self.files else { return Ok(()) };
        let (games_started, players) = self.collector.state();
        let progress = PlayProgress { games_started, players, seconds, ..self.progress.clone() };
        let (learner, target) = self.learner.state();
        let checkpoint = PlayCheckpoint {
            model: self.model.clone(),
            learner,
            target,
            best: self.best.as_ref().map(named_tensors).unwrap_or_default(),
            replay: self.replay.clone(),
            progress,
            logs: files.log.lengths()?,
        };
        files.directory.save_bytes(checkpoint.to_bytes())?;
        (files.saved_at, files.saved_step) = (Instant::now(), self.progress.step);
        observer.checkpoint(&files.directory.checkpoint_path(), self.progress.step);
        Ok(())
    }

    fn end(mut self, status: Status, observer: &mut dyn Observer) -> Result<DqnOutcome, TrainError> {
        self.save(observer)?;
        let best = self.progress.best;
        let outcome = DqnOutcome {
            status,
            steps: self.progress.step,
            updates: self.progress.updates,
            best: best.map(|(bits, _)| f64::from_bits(bits)),
            best_step: best.map(|(_, step)| step),
            model: self.best.clone().unwrap_or_else(|| self.learner.model()),
            seconds: self.seconds(),
        };
        if let Some(files) = &self.files {
            files.directory.write_json(
                "result.json",
                &serde_json::json!({
                    "status": status,
                    "steps": outcome.steps,
                    "updates": outcome.updates,
                    "best_step": outcome.best_step,
                    "measure": "success_rate",
                    "value": outcome.best,
                    "seconds": outcome.seconds,
                }),
            )?;
        }
        Ok(outcome)
    }
}

/// Opens the directory of a run and finds the state to go on from.
fn open(
    directory: Option<&Path>,
    config: &DqnConfig,
    model: &GnnConfig,
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> Result<(Option<Files>, Option<PlayCheckpoint>), TrainError> {
    let Some(path) = directory else { return Ok((None, None)) };
    let (directory, exists) = RunDirectory::open(path, config, options.start)?;
    let capacity = config.agent.replay;
    let found = if exists { directory.load_with(|bytes| PlayCheckpoint::from_bytes(bytes, capacity))? } else { None };
    let checkpoint = found.map(|(checkpoint, notes)| {
        notes.iter().for_each(|note| observer.note(note));
        checkpoint
    });
    // Without a checkpoint the run begins again, and so do its logs.
    let lengths = checkpoint.as_ref().map_or(LogLengths::default(), |checkpoint| checkpoint.logs);
    let log = RunLog::open(&directory.metrics_path(), &directory.events_path(), lengths)?;
    directory.note_start(model, &format!("{:?}", options.device))?;
    let saved_step = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.progress.step);
    Ok((Some(Files { directory, log, saved_at: Instant::now(), saved_step }), checkpoint))
}
