//! Games that are played side by side to learn from.

use std::collections::VecDeque;
use std::sync::Arc;

use itergnn_graph::rng;
use itergnn_tasks::Split;
use itergnn_tasks::pacman::{Action, Pacman, PacmanConfig};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{AgentConfig, GameView, Horizon, Transition, ViewKind};
use crate::TrainError;

/// Several games, each stepped once a turn and replaced by a new one when it is over.
///
/// Game `i` of a run is drawn from stream `i` of the training split of the run's seed. A game in which no dot can be
/// reached is passed over.
pub struct Collector {
    config: PacmanConfig,
    seed: u64,
    rules: Rules,
    games: Vec<Player>,
    started: u64,
}

/// How moves become transitions.
#[derive(Clone, Copy)]
struct Rules {
    kind: ViewKind,
    discount: f32,
    returns: usize,
    horizon: Horizon,
    patience: u32,
}

struct Player {
    game: Pacman,
    view: Arc<GameView>,
    number: u64,
    actions: Vec<Action>,
    /// Steps made when the last dot was eaten.
    last_meal: u32,
    /// Moves whose sum of rewards is not complete.
    recent: VecDeque<(Arc<GameView>, Action, f32)>,
}

/// A game in progress, as the moves that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerState {
    /// The number of the game.
    pub game: u64,
    /// The moves so far, by their index.
    pub moves: Vec<u8>,
}

/// What a turn brought.
pub(super) struct Turn {
    pub(super) transitions: Vec<Transition>,
    /// Success of the games that ended, `eaten / reachable`.
    pub(super) ended: Vec<f64>,
}

impl Collector {
    /// New games.
    ///
    /// # Errors
    /// What the task reports if it cannot draw a game.
    pub fn new(
        config: PacmanConfig,
        kind: ViewKind,
        seed: u64,
        games: usize,
        agent: &AgentConfig,
    ) -> Result<Self, TrainError> {
        let (discount, returns) = (agent.discount as f32, agent.returns);
        let rules =
            Rules { kind, discount, returns, horizon: agent.horizon, patience: agent.patience.unwrap_or(u32::MAX) };
        let mut collector = Self { config, seed, rules, games: Vec::new(), started: 0 };
        for _ in 0..games {
            let player = collector.next_game()?;
            collector.games.push(player);
        }
        Ok(collector)
    }

    /// The games that are in progress, and how many were started.
    pub fn state(&self) -> (u64, Vec<PlayerState>) {
        let state = |player: &Player| PlayerState {
            game: player.number,
            moves: player.actions.iter().map(|action| action.index() as u8).collect(),
        };
        (self.started, self.games.iter().map(state).collect())
    }

    /// Goes on with games that were in progress: they are played again up to the last move.
    ///
    /// # Errors
    /// A line that says what is wrong with the state.
    pub fn restore(&mut self, started: u64, states: &[PlayerState]) -> Result<(), String> {
        if states.len() != self.games.len() {
            return Err(format!("{} games in progress, expected {}", states.len(), self.games.len()));
        }
        for (player, state) in self.games.iter_mut().zip(states) {
            let game = draw(self.config, self.seed, state.game).map_err(|error| error.to_string())?;
            *player = Player::new(game, self.rules.kind, state.game);
            for &index in &state.moves {
                let action = Action::from_index(index.into()).ok_or("a move that does not exist")?;
                player.step(action, &self.rules);
            }
            if player.is_done(&self.rules) {
                return Err("a game in progress is over".to_owned());
            }
        }
        self.started = started;
        Ok(())
    }

    /// What is seen of every game.
    pub fn views(&self) -> impl Iterator<Item = &GameView> {
        self.games.iter().map(|player| &*player.view)
    }

    /// Makes one move in every game, in parallel.
    pub(super) fn turn(&mut self, actions: &[Action]) -> Result<Turn, TrainError> {
        let rules = self.rules;
        let stepped: Vec<Vec<Transition>> =
            self.games.par_iter_mut().zip(actions).map(|(player, &action)| player.step(action, &rules)).collect();
        let mut ended = Vec::new();
        for place in 0..self.games.len() {
            if self.games[place].is_done(&rules) {
                ended.extend(self.games[place].game.episode().success());
                self.games[place] = self.next_game()?;
            }
        }
        Ok(Turn { transitions: stepped.into_iter().flatten().collect(), ended })
    }

    fn next_game(&mut self) -> Result<Player, TrainError> {
        loop {
            let number = self.started;
            self.started += 1;
            let game = draw(self.config, self.seed, number)?;
            if !game.is_over() {
                return Ok(Player::new(game, self.rules.kind, number));
            }
        }
    }
}

fn draw(config: PacmanConfig, seed: u64, number: u64) -> Result<Pacman, TrainError> {
    Ok(Pacman::draw(config, &mut rng::sample(Split::Train.seed(seed), number))?)
}

impl Player {
    fn new(game: Pacman, kind: ViewKind, number: u64) -> Self {
        let view = Arc::new(GameView::of(&game, kind));
        Self { game, view, number, actions: Vec::new(), last_meal: 0, recent: VecDeque::new() }
    }

    /// Makes a move and gives the transitions that are now complete.
    fn step(&mut self, action: Action, rules: &Rules) -> Vec<Transition> {
        let result = self.game.step(action);
        self.actions.push(action);
        let before = std::mem::replace(&mut self.view, Arc::new(GameView::of(&self.game, rules.kind)));
        if result.reward > 0.0 {
            self.last_meal = self.game.steps();
        }
        self.recent.push_back((before, action, result.reward));
        let episode = self.game.episode();
        let won = episode.eaten == episode.reachable;
        let mut complete = Vec::new();
        let done = self.is_done(rules);
        while self.recent.len() >= rules.returns || (done && !self.recent.is_empty()) {
            complete.extend(self.oldest(won, rules));
        }
        complete
    }

    /// Whether the game is over, or given up.
    fn is_done(&self, rules: &Rules) -> bool {
        self.game.is_over() || self.game.steps() - self.last_meal >= rules.patience
    }

    /// Takes the oldest move out, with the rewards since. A game that only ran out of time is not lost: what comes next
    /// still has its value.
    fn oldest(&mut self, won: bool, rules: &Rules) -> Option<Transition> {
        let (mut reward, mut factor, mut over) = (0.0, 1.0, won);
        for (_, _, gained) in &self.recent {
            reward += factor * gained;
            factor *= rules.discount;
            if rules.horizon == Horizon::Dot && *gained > 0.0 {
                over = true;
                break;
            }
        }
        let (view, action, _) = self.recent.pop_front()?;
        // What is seen after the last dot has no value, so any view will do; this one surely has a graph.
        let next = if over { Arc::clone(&view) } else { Arc::clone(&self.view) };
        Some(Transition { view, action, reward, discount: if over { 0.0 } else { factor }, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    const SMALL: PacmanConfig = PacmanConfig { size: 5, walls: 2, wall_length: 3, dots: 3 };

    fn collector(returns: usize) -> Collector {
        let agent = AgentConfig { returns, ..AgentConfig::default() };
        Collector::new(SMALL, ViewKind::Graph, 4, 3, &agent).unwrap()
    }

    fn turns(collector: &mut Collector, count: usize) -> Vec<Transition> {
        // A walk without a pattern, so that it comes everywhere.
        let action = |turn: usize, game: usize| {
            Action::ALL[rng::sample(game as u64, turn as u64).random_range(0..Action::ALL.len() as u32) as usize]
        };
        let mut all = Vec::new();
        for turn in 0..count {
            let actions: Vec<Action> = (0..3).map(|game| action(turn, game)).collect();
            all.extend(collector.turn(&actions).unwrap().transitions);
        }
        all
    }

    #[test]
    fn restored_games_go_on_as_the_original_ones() {
        for returns in [1, 3] {
            let mut original = collector(returns);
            turns(&mut original, 57);
            let (started, states) = original.state();
            let mut restored = collector(returns);
            restored.restore(started, &states).unwrap();
            assert_eq!(turns(&mut restored, 40), turns(&mut original, 40));
            assert_eq!(restored.state(), original.state());
        }
    }

    #[test]
    fn rewards_add_up_over_the_moves_asked_for() {
        let (single, triple) = (turns(&mut collector(1), 300), turns(&mut collector(3), 300));
        assert!(single.iter().any(|transition| transition.discount == 0.0), "some games were won");
        let sum = |transitions: &[Transition]| transitions.iter().filter(|one| one.reward > 0.0).count();
        assert!(sum(&triple) > sum(&single), "a reward is seen from three moves");
        assert!(single.iter().all(|one| [0.0, 0.9].contains(&one.discount) && [0.0, 1.0].contains(&one.reward)));
        // Fewer than three moves are left only where a game ran out of time.
        let cubed = 0.9_f32 * 0.9 * 0.9;
        assert!(triple.iter().filter(|one| one.discount > 0.0).all(|one| one.discount >= cubed));
        assert!(triple.iter().filter(|one| one.discount == cubed).count() > 600);
    }

    #[test]
    fn with_the_horizon_of_a_dot_nothing_counts_after_it() {
        let agent = AgentConfig { returns: 3, horizon: Horizon::Dot, ..AgentConfig::default() };
        let mut collector = Collector::new(SMALL, ViewKind::Graph, 4, 3, &agent).unwrap();
        let transitions = turns(&mut collector, 300);
        let powers = [1.0, 0.9_f32, 0.9 * 0.9];
        assert!(transitions.iter().all(|one| (one.reward > 0.0) == (one.discount == 0.0)));
        assert!(transitions.iter().all(|one| one.reward == 0.0 || powers.contains(&one.reward)));
        assert!(powers.iter().all(|power| transitions.iter().any(|one| one.reward == *power)));
    }

    #[test]
    fn a_game_without_a_meal_for_long_is_given_up_but_not_lost() {
        let agent = AgentConfig { patience: Some(5), ..AgentConfig::default() };
        let mut collector = Collector::new(SMALL, ViewKind::Graph, 4, 3, &agent).unwrap();
        let transitions = turns(&mut collector, 100);
        assert!(collector.state().0 > 30, "{} games", collector.state().0);
        let (_, players) = collector.state();
        assert!(players.iter().all(|player| player.moves.len() < 5 * 4));
        assert!(transitions.iter().all(|one| one.discount > 0.0 || one.reward == 1.0), "only a won game has no future");
    }

    #[test]
    fn a_state_of_another_run_is_refused() {
        let (started, states) = collector(1).state();
        assert!(collector(1).restore(started, &states[1..]).is_err());
        let unknown = vec![PlayerState { game: 0, moves: vec![9] }; 3];
        assert!(collector(1).restore(started, &unknown).is_err());
    }
}
