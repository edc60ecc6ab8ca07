//! How well someone plays.

use std::time::Instant;

use burn::module::Module;
use itergnn_graph::rng;
use itergnn_nn::GnnModel;
use itergnn_nn::controllers::RunOptions;
use itergnn_tasks::Split;
use itergnn_tasks::pacman::{Action, Episode, NearestDot, Pacman, PacmanConfig, Policy, RandomMoves, Symmetry};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::view::{ViewBatch, best_of};
use super::{GameView, Recall, Recollection, ViewKind};
use crate::TrainError;
use crate::evaluation::{IterationSummary, NodeSummary};

/// A move, and what it took to find it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The move.
    pub action: Action,
    /// What every move is worth to the player, in the order of [`Action::ALL`], if it goes by values.
    pub outputs: Option<[f32; 4]>,
    /// Iterations of the network.
    pub iterations: usize,
    /// Nodes it saw.
    pub nodes: usize,
}

/// Someone who plays several games side by side.
pub trait Chooser: Sync {
    /// The next move in each of the games, given with their numbers.
    ///
    /// # Errors
    /// [`TrainError::Model`] if a model does not take these games.
    fn choose(&self, games: &[(u64, &Pacman)]) -> Result<Vec<Choice>, TrainError>;

    /// Whether the same situation always leads to the same move.
    fn is_deterministic(&self) -> bool {
        true
    }
}

/// Plays by a value network: the move with the largest output, no random moves.
#[derive(Debug, Clone)]
pub struct ValuePlayer {
    model: GnnModel,
    symmetries: bool,
    cap: Option<usize>,
}

impl ValuePlayer {
    /// A player with a copy of the model.
    pub fn new(model: &GnnModel) -> Self {
        Self { model: model.valid(), symmetries: false, cap: None }
    }

    /// Whether the outputs are averaged over the eight rotations and reflections of a game; eight times the work.
    #[must_use]
    pub fn with_symmetries(self, symmetries: bool) -> Self {
        Self { symmetries, ..self }
    }

    /// Ends every loop of the network after this many iterations.
    #[must_use]
    pub fn with_cap(self, cap: Option<usize>) -> Self {
        Self { cap, ..self }
    }

    /// The outputs for every move in the order of [`Action::ALL`], with iterations and nodes.
    ///
    /// # Errors
    /// [`TrainError::Model`] if the model does not take this game.
    pub fn outputs(&self, games: &[(u64, &Pacman)]) -> Result<Vec<([f32; 4], usize, usize)>, TrainError> {
        let symmetries = if self.symmetries { &Symmetry::ALL[..] } else { &Symmetry::ALL[..1] };
        let kind = ViewKind::of(self.model.config());
        let options = RunOptions::inference();
        let options = self.cap.map_or(options, |cap| options.with_cap(cap));
        let share = 1.0 / symmetries.len() as f32;
        let mut found = vec![([0.0_f32; 4], 0, 0); games.len()];
        let views: Vec<GameView> = games.iter().map(|(_, game)| GameView::of(game, kind)).collect();
        for &symmetry in symmetries {
            let turned: Vec<GameView> = views.iter().map(|view| view.transformed(symmetry)).collect();
            let batch = ViewBatch::new(&turned.iter().collect::<Vec<_>>(), self.model.config())?;
            let (rows, iterations) = batch.outputs_and_iterations(&self.model, &options)?;
            for (index, (mean, most, nodes)) in found.iter_mut().enumerate() {
                for action in Action::ALL {
                    mean[action.index()] += share * rows[index][symmetry.action(action).index()];
                }
                *most = iterations[index].max(*most);
                *nodes = match &views[index] {
                    GameView::Graph(observation) => observation.nodes().len(),
                    GameView::Picture(picture) => picture.cells().len(),
                };
            }
        }
        Ok(found)
    }
}

impl Chooser for ValuePlayer {
    fn choose(&self, games: &[(u64, &Pacman)]) -> Result<Vec<Choice>, TrainError> {
        let choice = |(row, iterations, nodes): ([f32; 4], usize, usize)| Choice {
            action: Action::ALL[best_of(&row)],
            outputs: Some(row),
            iterations,
            nodes,
        };
        Ok(self.outputs(games)?.into_iter().map(choice).collect())
    }
}

/// Walks to the nearest dot: the yardstick that eats everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct OraclePlayer;

impl Chooser for OraclePlayer {
    fn choose(&self, games: &[(u64, &Pacman)]) -> Result<Vec<Choice>, TrainError> {
        let choice = |(_, game): &(u64, &Pacman)| Choice {
            action: NearestDot.act(game),
            outputs: None,
            iterations: 0,
            nodes: 0,
        };
        Ok(games.iter().map(choice).collect())
    }
}

/// Moves at random: the floor.
#[derive(Debug, Clone, Copy)]
pub struct RandomPlayer {
    /// Seed of the moves.
    pub seed: u64,
}

impl Chooser for RandomPlayer {
    fn choose(&self, games: &[(u64, &Pacman)]) -> Result<Vec<Choice>, TrainError> {
        let choice = |(number, game): &(u64, &Pacman)| Choice {
            action: RandomMoves(move_stream(self.seed, *number, game)).act(game),
            outputs: None,
            iterations: 0,
            nodes: 0,
        };
        Ok(games.iter().map(choice).collect())
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}

/// Random numbers for one move of one game.
fn move_stream(seed: u64, number: u64, game: &Pacman) -> rng::ChaCha8Rng {
    rng::sample(seed ^ number.rotate_left(32), u64::from(game.steps()))
}

/// How games are played for judgement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlayOptions {
    /// Share of the moves that are made at random instead; none unless told.
    pub exploration: f64,
    /// Correct the values of a player that goes by values by what its moves led to; not unless told.
    pub recall: Option<Recall>,
}

/// How games went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayReport {
    /// `pacman`.
    pub task: String,
    /// Side of the map.
    pub size: String,
    /// Dots of a game.
    pub dots: u16,
    /// Walls of a game.
    pub walls: u16,
    /// Games that count: those with a dot in reach.
    pub count: u64,
    /// Games without a dot in reach, which say nothing about the player.
    pub without_dots: u64,
    /// Seed of the games.
    pub seed: u64,
    /// Mean of eaten / reachable dots.
    pub success_rate: f64,
    /// Its standard error over the games.
    pub standard_error: f64,
    /// Share of the games in which everything was eaten.
    pub complete: f64,
    /// Games that ended in a circle.
    pub stuck: u64,
    /// Moves per game, up to the last dot eaten; a circle counts as nothing.
    pub moves: f64,
    /// The same of the player who walks to the nearest dot.
    pub oracle_moves: f64,
    /// Share of random moves.
    pub exploration: f64,
    /// Whether the player corrected its values in the course of a game.
    #[serde(default)]
    pub recall: bool,
    /// Iterations of the network.
    pub iterations: IterationSummary,
    /// Nodes the network saw.
    pub nodes: NodeSummary,
    /// Wall time.
    pub seconds: f64,
}

/// Plays games of the test split of a seed, all side by side, and says how they went.
///
/// A player who always does the same in the same situation and comes back to a cell without having eaten in between
/// will walk in that circle until the time is up. Such a game is ended there: its result is known.
///
/// # Errors
/// [`TrainError::Task`] for settings that no map satisfies; what the player reports.
pub fn play_games(
    player: &dyn Chooser,
    config: &PacmanConfig,
    count: u64,
    seed: u64,
    options: &PlayOptions,
    tell: &mut dyn FnMut(u64),
) -> Result<PlayReport, TrainError> {
    play_split(player, config, count, (Split::Test, seed), options, tell)
}

/// A game that is judged.
struct Judged {
    number: u64,
    game: Pacman,
    visited: Vec<bool>,
    moves: u32,
    recollection: Recollection,
}

impl Judged {
    fn place(&self) -> usize {
        let (side, at) = (usize::from(self.game.config().size), self.game.agent());
        usize::from(at.y) * side + usize::from(at.x)
    }
}

pub(super) fn play_split(
    player: &dyn Chooser,
    config: &PacmanConfig,
    count: u64,
    (split, seed): (Split, u64),
    options: &PlayOptions,
    tell: &mut dyn FnMut(u64),
) -> Result<PlayReport, TrainError> {
    let start = Instant::now();
    let split_seed = split.seed(seed);
    let cells = usize::from(config.size) * usize::from(config.size);
    let mut open = Vec::new();
    let mut tally = Tally::default();
    for number in 0..count {
        let game = Pacman::draw(*config, &mut rng::sample(split_seed, number))?;
        if game.is_over() {
            tally.without_dots += 1;
            continue;
        }
        tally.oracle_moves += u64::from(itergnn_tasks::pacman::play(&mut game.clone(), &mut NearestDot).steps);
        let mut judged =
            Judged { number, game, visited: vec![false; cells], moves: 0, recollection: Recollection::default() };
        let place = judged.place();
        judged.visited[place] = true;
        open.push(judged);
    }
    let circles_are_final = player.is_deterministic() && *options == PlayOptions::default();
    while !open.is_empty() {
        let games: Vec<(u64, &Pacman)> = open.iter().map(|judged| (judged.number, &judged.game)).collect();
        let choices = player.choose(&games)?;
        let mut still_open = Vec::with_capacity(open.len());
        for (mut judged, choice) in open.into_iter().zip(choices) {
            tally.add_choice(&choice);
            let mut action = choice.action;
            let before = judged.place();
            if let (Some(recall), Some(outputs)) = (&options.recall, &choice.outputs) {
                action = judged.recollection.choose(recall, before, outputs);
            }
            if options.exploration > 0.0 {
                // Not the stream of a player who moves at random by the same seed.
                let mut stream = move_stream(split_seed, judged.number, &judged.game);
                if stream.random::<f64>() < options.exploration {
                    action = Action::ALL[stream.random_range(0..4_u32) as usize];
                }
            }
            let result = judged.game.step(action);
            judged.recollection.moved(before, action, result.reward > 0.0);
            if result.reward > 0.0 {
                judged.visited.fill(false);
                judged.moves = judged.game.steps();
            }
            let place = judged.place();
            let circle = circles_are_final && judged.visited[place];
            judged.visited[place] = true;
            if result.done || circle {
                tally.add_episode(&judged.game.episode(), judged.moves, circle && !result.done);
                tell(tally.episodes.len() as u64 + tally.without_dots);
            } else {
                still_open.push(judged);
            }
        }
        open = still_open;
    }
    Ok(tally.report(config, seed, options, start.elapsed().as_secs_f64()))
}

#[derive(Default)]
struct Tally {
    episodes: Vec<Episode>,
    without_dots: u64,
    stuck: u64,
    moves: u64,
    oracle_moves: u64,
    choices: u64,
    iterations: u64,
    most_iterations: usize,
    nodes: u64,
}

impl Tally {
    fn add_choice(&mut self, choice: &Choice) {
        self.choices += 1;
        self.iterations += choice.iterations as u64;
        self.most_iterations = self.most_iterations.max(choice.iterations);
        self.nodes += choice.nodes as u64;
    }

    fn add_episode(&mut self, episode: &Episode, moves: u32, stuck: bool) {
        self.episodes.push(*episode);
        self.moves += u64::from(moves);
        self.stuck += u64::from(stuck);
    }

    fn report(&self, config: &PacmanConfig, seed: u64, options: &PlayOptions, seconds: f64) -> PlayReport {
        let rates: Vec<f64> = self.episodes.iter().filter_map(Episode::success).collect();
        let count = rates.len().max(1) as f64;
        let mean = rates.iter().sum::<f64>() / count;
        let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let choices = self.choices.max(1) as f64;
        PlayReport {
            task: itergnn_tasks::Task::Pacman.name().to_owned(),
            size: config.size.to_string(),
            dots: config.dots,
            walls: config.walls,
            count: rates.len() as u64,
            without_dots: self.without_dots,
            seed,
            success_rate: mean,
            standard_error: (variance / count).sqrt(),
            complete: rates.iter().filter(|&&rate| rate == 1.0).count() as f64 / count,
            stuck: self.stuck,
            moves: self.moves as f64 / count,
            oracle_moves: self.oracle_moves as f64 / count,
            exploration: options.exploration,
            recall: options.recall.is_some(),
            iterations: IterationSummary { mean: self.iterations as f64 / choices, max: self.most_iterations },
            nodes: NodeSummary { mean: self.nodes as f64 / choices },
            seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: PacmanConfig = PacmanConfig { size: 8, walls: 4, wall_length: 3, dots: 3 };

    fn report(player: &dyn Chooser, exploration: f64) -> PlayReport {
        play_games(player, &GAME, 30, 2, &PlayOptions { exploration, recall: None }, &mut |_| {}).unwrap()
    }

    struct LeftRight;

    impl Chooser for LeftRight {
        fn choose(&self, games: &[(u64, &Pacman)]) -> Result<Vec<Choice>, TrainError> {
            let action = |game: &Pacman| if game.agent().x > 0 { Action::Left } else { Action::Right };
            Ok(games
                .iter()
                .map(|(_, game)| Choice { action: action(game), outputs: None, iterations: 1, nodes: 2 })
                .collect())
        }
    }

    #[test]
    fn the_oracle_eats_everything_and_is_its_own_measure() {
        let report = report(&OraclePlayer, 0.0);
        assert_eq!((report.success_rate, report.complete, report.stuck), (1.0, 1.0, 0));
        assert_eq!(report.moves, report.oracle_moves);
        assert_eq!(report.count + report.without_dots, 30);
    }

    #[test]
    fn random_moves_are_repeatable_and_not_cut_short() {
        let (one, two) = (report(&RandomPlayer { seed: 1 }, 0.0), report(&RandomPlayer { seed: 1 }, 0.0));
        assert_eq!(PlayReport { seconds: 0.0, ..one.clone() }, PlayReport { seconds: 0.0, ..two });
        assert!(one.success_rate > 0.5 && one.moves > 2.0 * one.oracle_moves, "{one:?}");
    }

    /// Ends no game early.
    struct Patient<P>(P);

    impl<P: Chooser> Chooser for Patient<P> {
        fn choose(&self, games: &[(u64, &Pacman)]) -> Result<Vec<Choice>, TrainError> {
            self.0.choose(games)
        }

        fn is_deterministic(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_circle_is_known_before_the_time_is_up() {
        let (quick, patient) = (report(&LeftRight, 0.0), report(&Patient(LeftRight), 0.0));
        assert!(quick.stuck > 20, "{quick:?}");
        assert_eq!((quick.success_rate, quick.moves), (patient.success_rate, patient.moves));
        assert_eq!(patient.stuck, 0);
        assert!(report(&LeftRight, 0.5).success_rate > quick.success_rate);
    }
}
