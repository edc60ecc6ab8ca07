//! Games of Pacman: drawn here, played by a model, a rule, or whoever sits at the page.

use std::sync::Arc;

use itergnn::tasks::Split;
use itergnn::tasks::pacman::{Action, Pacman, PacmanConfig};
use itergnn::train::rl::{Chooser, OraclePlayer, RandomPlayer, ValuePlayer};
use serde::{Deserialize, Serialize};

use super::Loaded;
use crate::error::ApiError;
use crate::pool::Deadline;

/// Most moves of one request.
const MOST_MOVES: usize = 64;

/// Largest side: what a player sees grows with the number of dots and corners squared.
const LARGEST: u16 = 40;

/// Which game.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GameRequest {
    #[serde(flatten)]
    game: PacmanConfig,
    #[serde(default)]
    seed: u64,
}

/// A map: `#` wall, `.` dot, `@` the player.
#[derive(Debug, Serialize)]
pub(crate) struct GameAnswer {
    rows: Vec<String>,
    /// Dots that can be reached.
    reachable: u32,
    step_limit: u32,
}

/// A map and who moves on it: the one at the page, or a player.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlayRequest {
    rows: Vec<String>,
    /// A move; then nobody else is asked.
    #[serde(default)]
    action: Option<Action>,
    /// `nearest-dot`, `random`, or the name of a model.
    #[serde(default)]
    player: Option<String>,
    /// Moves of the player.
    #[serde(default = "one")]
    moves: usize,
    /// Of the moves of `random`.
    #[serde(default)]
    seed: u64,
}

fn one() -> usize {
    1
}

/// What happened.
#[derive(Debug, Serialize)]
pub(crate) struct PlayAnswer {
    moves: Vec<Move>,
    rows: Vec<String>,
    /// Whether all dots that can be reached are eaten.
    over: bool,
}

/// One move.
#[derive(Debug, Serialize)]
pub(crate) struct Move {
    action: Action,
    ate: bool,
    /// Where the player stands afterwards.
    at: [u16; 2],
    /// What a model says of left, right, up and down, and after how many iterations.
    values: Option<[f32; 4]>,
    iterations: usize,
}

/// Draws a game.
pub(crate) fn draw(request: &GameRequest) -> Result<GameAnswer, ApiError> {
    if request.game.size > LARGEST {
        return Err(ApiError::bad_request(format!("a map has a side of at most {LARGEST} here")));
    }
    let sampler = request.game.sampler().map_err(ApiError::bad_request)?;
    let game = sampler.game(Split::Test.seed(request.seed), 0).map_err(ApiError::bad_request)?;
    Ok(GameAnswer { rows: game.rows(), reachable: game.episode().reachable, step_limit: game.step_limit() })
}

/// Makes moves on a map.
pub(crate) fn play(
    request: &PlayRequest,
    find: &dyn Fn(&str) -> Result<Arc<Loaded>, ApiError>,
    deadline: &Deadline,
) -> Result<PlayAnswer, ApiError> {
    let side = u16::try_from(request.rows.len()).ok().filter(|side| *side <= LARGEST);
    let side = side.ok_or_else(|| ApiError::bad_request(format!("a map has a side of at most {LARGEST} here")))?;
    let config = PacmanConfig { size: side, ..PacmanConfig::default() };
    let mut game = Pacman::from_rows(config, &request.rows).map_err(ApiError::bad_request)?;
    let mut moves = Vec::new();
    if let Some(action) = request.action {
        moves.push(step(&mut game, action, None, 0));
    } else {
        let player = player(request, find)?;
        for _ in 0..request.moves.clamp(1, MOST_MOVES) {
            if game.is_over() {
                break;
            }
            deadline.check()?;
            let choices = player.choose(&[(0, &game)]).map_err(ApiError::bad_request)?;
            let choice = choices.first().ok_or_else(|| ApiError::internal("the player has no move"))?;
            moves.push(step(&mut game, choice.action, choice.outputs, choice.iterations));
        }
    }
    Ok(PlayAnswer { moves, rows: game.rows(), over: game.is_over() })
}

fn player(
    request: &PlayRequest,
    find: &dyn Fn(&str) -> Result<Arc<Loaded>, ApiError>,
) -> Result<Box<dyn Chooser>, ApiError> {
    match request.player.as_deref() {
        None => Err(ApiError::bad_request("give a move or a player")),
        Some("nearest-dot") => Ok(Box::new(OraclePlayer)),
        Some("random") => Ok(Box::new(RandomPlayer { seed: request.seed })),
        Some(name) => {
            let loaded = find(name)?;
            if loaded.game().is_none() {
                return Err(ApiError::bad_request(format!(
                    "{name} was trained on {}, not to play",
                    loaded.model.card().task
                )));
            }
            Ok(Box::new(ValuePlayer::new(loaded.model.network())))
        }
    }
}

fn step(game: &mut Pacman, action: Action, values: Option<[f32; 4]>, iterations: usize) -> Move {
    let ate = game.step(action).reward > 0.0;
    let at = game.agent();
    Move { action, ate, at: [at.x, at.y], values, iterations }
}
