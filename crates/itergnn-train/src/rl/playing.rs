//! Playing and learning in turn.

use burn::tensor::Device;
use itergnn_graph::rng;
use itergnn_nn::GnnModel;
use itergnn_tasks::Split;
use itergnn_tasks::pacman::{Action, PacmanConfig, Symmetry};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::evaluation::play_split;
use super::{
    Collector, DqnConfig, PlayOptions, PlayRecord, PlayReport, PlayerState, Replay, ValueLearner, ValuePlayer, ViewKind,
};
use crate::TrainError;
use crate::config::{OptimiserConfig, ResolvedRun};
use crate::records::Record;
use crate::run::{Best, MethodState, Progress, float_bits};
use crate::session::{Advance, Clock, Facts, Method};

/// Streams of the run's seed that neither games nor weights use.
const MOVES: u64 = 0x6d6f_7665_7321;
const BATCHES: u64 = 0x6261_7463_6865;

/// Learning by playing.
pub(crate) struct Playing {
    seed: u64,
    log_every: u64,
    game: PacmanConfig,
    settings: DqnConfig,
    optimiser: OptimiserConfig,
    learner: ValueLearner,
    collector: Collector,
    replay: Replay,
    place: Place,
    rate: f64,
}

/// Where a run is in its games.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Place {
    /// Turns of all games.
    turn: u64,
    updates: u64,
    games_started: u64,
    players: Vec<PlayerState>,
    totals: Totals,
}

/// Sums since the last record.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Totals {
    updates: u64,
    #[serde(with = "float_bits")]
    loss: f64,
    #[serde(with = "float_bits")]
    auxiliary_loss: f64,
    #[serde(with = "float_bits")]
    gradient_norm: f64,
    #[serde(with = "float_bits")]
    output: f64,
    games: u64,
    #[serde(with = "float_bits")]
    success: f64,
}

impl Playing {
    pub(crate) fn new(run: &ResolvedRun, device: &Device) -> Result<Self, TrainError> {
        let (config, settings, game) = (&run.config, run.config.dqn()?.clone(), *run.config.game()?);
        let agent = &settings.agent;
        Ok(Self {
            seed: config.seed,
            log_every: config.log_every,
            learner: ValueLearner::new(&run.model, agent, &config.optimiser, config.seed, device)?,
            collector: Collector::new(game, ViewKind::of(&run.model), config.seed, settings.environments, agent)?,
            replay: Replay::new(agent.replay),
            optimiser: config.optimiser.clone(),
            game,
            settings,
            place: Place::default(),
            rate: 0.0,
        })
    }

    /// One move in every game.
    fn turn(&mut self, step: u64) -> Result<u64, TrainError> {
        let agent = &self.settings.agent;
        let learning = step >= agent.warm_up_steps;
        let mut actions = if learning {
            self.learner.best_moves(&self.collector.views().collect::<Vec<_>>())?
        } else {
            vec![Action::Left; self.settings.environments]
        };
        let mut stream = rng::sample(self.seed ^ MOVES, self.place.turn);
        for action in &mut actions {
            let (explores, other) = (stream.random::<f64>() < agent.exploration, stream.random_range(0..4_u32));
            if explores || !learning {
                *action = Action::ALL[other as usize];
            }
        }
        let turn = self.collector.turn(&actions)?;
        turn.transitions.into_iter().for_each(|transition| self.replay.push(transition));
        self.place.totals.games += turn.ended.len() as u64;
        self.place.totals.success += turn.ended.iter().sum::<f64>();
        self.place.turn += 1;
        Ok(actions.len() as u64)
    }

    /// The updates that are due.
    fn learn(&mut self, step: u64) -> Result<(), TrainError> {
        let due = self.settings.updates_at(step.min(self.settings.steps));
        while self.place.updates < due && self.replay.len() >= self.settings.agent.batch_size {
            let factor = self.optimiser.schedule.factor(self.place.updates, self.settings.updates());
            self.rate = self.optimiser.learning_rate * factor;
            let mut stream = rng::sample(self.seed ^ BATCHES, self.place.updates);
            let agent = &self.settings.agent;
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
                return Err(TrainError::NotFinite { what, value, step: self.place.updates + 1, epoch: 1 });
            }
            self.place.updates += 1;
            let totals = &mut self.place.totals;
            totals.updates += 1;
            totals.loss += report.loss;
            totals.auxiliary_loss += report.auxiliary_loss;
            totals.gradient_norm += report.gradient_norm;
            totals.output += report.output;
        }
        Ok(())
    }

    /// Judges the network on games of the training setting that it does not learn from.
    fn validate(&self) -> Result<PlayReport, TrainError> {
        let (model, validation) = (self.learner.model(), &self.settings.validation);
        let player = ValuePlayer::new(&model).with_symmetries(validation.symmetries);
        let split = (Split::Validation, self.seed);
        play_split(&player, &self.game, validation.games, split, &PlayOptions::default(), &mut |_| {})
    }

    fn record(&mut self, validation: Option<&PlayReport>, progress: &mut Progress, clock: &Clock) -> PlayRecord {
        // Of equals the later one: it has learned more.
        let held = progress.best.map(|best| best.value);
        let is_best = validation.is_some_and(|report| held.is_none_or(|held| report.success_rate >= held));
        if let (Some(report), true) = (validation, is_best) {
            progress.best = Some(Best { epoch: 1, step: progress.step, value: report.success_rate });
        }
        let totals = std::mem::take(&mut self.place.totals);
        let Totals { updates, games, .. } = totals;
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        PlayRecord {
            step: progress.step,
            updates: self.place.updates,
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
            steps_per_second: clock.speed(),
            seconds: clock.seconds(),
        }
    }
}

impl Method for Playing {
    fn plan(&self) -> (u64, u64) {
        (1, self.settings.steps)
    }

    fn advance(&mut self, progress: &mut Progress, clock: &mut Clock) -> Result<Advance, TrainError> {
        let before = progress.step;
        let moves = self.turn(before)?;
        progress.step += moves;
        clock.done += moves;
        let after = progress.step;
        self.learn(after)?;
        let passes = |every: u64| every > 0 && after / every > before / every;
        if passes(self.settings.agent.target_every) {
            self.learner.update_target();
        }
        progress.finished = after >= self.settings.steps;
        let record = if passes(self.settings.validation.every_steps) || progress.finished {
            let report = self.validate()?;
            self.record(Some(&report), progress, clock)
        } else if passes(self.log_every) {
            self.record(None, progress, clock)
        } else {
            return Ok(Advance::default());
        };
        Ok(Advance { is_best: record.is_best, records: vec![Record::Play(record)] })
    }

    fn model(&self) -> GnnModel {
        self.learner.model()
    }

    fn state(&self) -> MethodState {
        let (games_started, players) = self.collector.state();
        let (learner, target) = self.learner.state();
        let place = match serde_json::to_value(Place { games_started, players, ..self.place.clone() }) {
            Ok(Value::Object(place)) => place,
            _ => Default::default(),
        };
        MethodState { learner, target, memory: self.replay.to_bytes(), place }
    }

    fn restore(&mut self, state: MethodState, progress: &mut Progress) -> Result<(), String> {
        if state.memory.is_empty() {
            return Err("it is of a run that does not play".to_owned());
        }
        self.place = serde_json::from_value(Value::Object(state.place)).map_err(|error| error.to_string())?;
        self.learner.restore(&state.learner, &state.target)?;
        self.collector.restore(self.place.games_started, &self.place.players)?;
        self.replay = Replay::from_bytes(self.settings.agent.replay, &state.memory)?;
        if progress.step > self.settings.steps && !progress.finished {
            return Err(format!("{} moves are made, more than the {} asked for", progress.step, self.settings.steps));
        }
        progress.finished = progress.step >= self.settings.steps;
        Ok(())
    }

    fn measure(&self) -> &'static str {
        "success_rate"
    }

    fn facts(&self) -> Facts {
        let updates = self.place.updates;
        let card = json!({ "updates": updates }).as_object().cloned().unwrap_or_default();
        Facts { updates: Some(updates), card, ..Facts::default() }
    }
}
