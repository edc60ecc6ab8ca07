//! The rules of the game.

use itergnn_graph::rng;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{
    Episode, PacmanConfig, Position,
    maze::{Cell, Maze, UNREACHED},
};
use crate::{Task, TaskError};

/// A move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// x decreases.
    Left,
    /// x increases.
    Right,
    /// y decreases.
    Up,
    /// y increases.
    Down,
}

impl Action {
    /// All moves, in the order of a network's outputs.
    pub const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Up, Self::Down];

    /// The position in [`Action::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The move at a position of [`Action::ALL`].
    pub fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }
}

/// What a move brought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepResult {
    /// 1 if a dot was eaten, else 0.
    pub reward: f32,
    /// Whether the game is over.
    pub done: bool,
}

/// A game: a maze, dots and an agent.
///
/// A move into a wall or off the map does nothing. The game ends when all dots that were reachable at its beginning are
/// eaten, or after side² (dots + 1) steps. A game in which no dot can be reached is over at once.
///
/// # Example
/// ```
/// use itergnn_tasks::pacman::{Action, Pacman, PacmanConfig};
/// let config = PacmanConfig { size: 3, walls: 0, wall_length: 3, dots: 1 };
/// let mut game = Pacman::from_rows(config, &["@ .", " # ", "   "])?;
/// assert_eq!(game.step(Action::Up).reward, 0.0); // off the map: nothing happens
/// game.step(Action::Right);
/// let result = game.step(Action::Right);
/// assert_eq!((result.reward, result.done), (1.0, true));
/// # Ok::<(), itergnn_tasks::TaskError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pacman {
    config: PacmanConfig,
    pub(super) maze: Maze,
    pub(super) agent: Cell,
    /// Dots that are left, in the order in which they were placed.
    pub(super) dots: Vec<Cell>,
    pub(super) has_dot: Vec<bool>,
    placed: u32,
    reachable: u32,
    eaten: u32,
    steps: u32,
}

/// How often walls are drawn until there is room for dots and agent.
const DRAWS_OF_WALLS: u32 = 100;

impl Pacman {
    /// The game of a seed.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for settings that no map satisfies, [`TaskError::Exhausted`] if the walls leave no room
    /// for the dots.
    pub fn new(config: PacmanConfig, seed: u64) -> Result<Self, TaskError> {
        Self::draw(config, &mut rng::seeded(seed))
    }

    /// A game from a random number generator.
    ///
    /// # Errors
    /// As [`Pacman::new`].
    pub fn draw(config: PacmanConfig, rng: &mut impl Rng) -> Result<Self, TaskError> {
        config.check()?;
        let wanted = usize::from(config.dots) + 1;
        for _ in 0..DRAWS_OF_WALLS {
            let maze = Maze::random(&config, rng);
            let mut free: Vec<Cell> =
                maze.positions().map(|position| maze.cell(position)).filter(|&cell| !maze.is_wall(cell)).collect();
            if free.len() < wanted {
                continue;
            }
            // The first steps of a Fisher-Yates shuffle: dots, then the agent, on different free cells.
            for chosen in 0..wanted {
                let other = rng.random_range(chosen as u32..free.len() as u32);
                free.swap(chosen, other as usize);
            }
            let agent = free[wanted - 1];
            free.truncate(wanted - 1);
            return Ok(Self::place(config, maze, free, agent));
        }
        let why = format!("{} walls leave no room for {} dots and the agent", config.walls, config.dots);
        Err(TaskError::Exhausted { task: Task::Pacman, attempts: DRAWS_OF_WALLS, why })
    }

    /// Starts again with the game of another seed.
    ///
    /// # Errors
    /// As [`Pacman::new`]; the game then stays as it is.
    pub fn reset(&mut self, seed: u64) -> Result<(), TaskError> {
        *self = Self::new(self.config, seed)?;
        Ok(())
    }

    /// A game with everything in its place. Dots and agent stand on different free cells.
    pub(super) fn place(config: PacmanConfig, maze: Maze, dots: Vec<Cell>, agent: Cell) -> Self {
        let (distances, _) = maze.distances(agent, |_| false);
        let reachable = dots.iter().filter(|&&dot| distances[usize::from(dot)] != UNREACHED).count() as u32;
        let mut has_dot = vec![false; maze.cells()];
        for &dot in &dots {
            has_dot[usize::from(dot)] = true;
        }
        let placed = dots.len() as u32;
        Self { config, maze, agent, dots, has_dot, placed, reachable, eaten: 0, steps: 0 }
    }

    /// Makes a move. When the game is over nothing happens any more.
    pub fn step(&mut self, action: Action) -> StepResult {
        if self.is_over() {
            return StepResult { reward: 0.0, done: true };
        }
        self.steps += 1;
        let mut reward = 0.0;
        let to = self.maze.neighbour(self.agent, action);
        if !self.maze.is_wall(to) {
            self.agent = to;
            if self.has_dot[usize::from(to)] {
                self.has_dot[usize::from(to)] = false;
                self.dots.retain(|&dot| dot != to);
                self.eaten += 1;
                reward = 1.0;
            }
        }
        StepResult { reward, done: self.is_over() }
    }

    /// Whether a move would change the agent's position.
    pub fn is_feasible(&self, action: Action) -> bool {
        !self.maze.is_wall(self.maze.neighbour(self.agent, action))
    }

    /// Whether the game has ended.
    pub fn is_over(&self) -> bool {
        self.eaten == self.reachable || self.steps >= self.step_limit()
    }

    /// The number of steps after which the game ends in any case: side² (dots + 1).
    pub fn step_limit(&self) -> u32 {
        let side = u32::from(self.maze.side());
        side * side * (self.placed + 1)
    }

    /// Steps made so far.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// What has been achieved so far.
    pub fn episode(&self) -> Episode {
        Episode { eaten: self.eaten, reachable: self.reachable, steps: self.steps }
    }

    /// The settings from which [`Pacman::reset`] draws.
    pub fn config(&self) -> &PacmanConfig {
        &self.config
    }

    /// Where the agent is.
    pub fn agent(&self) -> Position {
        self.maze.position(self.agent)
    }

    /// The dots that are left, reachable or not, in the order in which they were placed.
    pub fn dots(&self) -> impl ExactSizeIterator<Item = Position> + '_ {
        self.dots.iter().map(|&dot| self.maze.position(dot))
    }

    /// Whether a cell is a wall. Everything outside the map is.
    pub fn is_wall(&self, position: Position) -> bool {
        let side = self.maze.side();
        position.x >= side || position.y >= side || self.maze.is_wall(self.maze.cell(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(rows: &[&str]) -> Pacman {
        Pacman::from_rows(PacmanConfig { size: rows.len() as u16, ..PacmanConfig::default() }, rows).unwrap()
    }

    #[test]
    fn walls_and_edges_stop_the_agent_but_not_the_clock() {
        let mut game = game(&["@# ", " . ", "   "]);
        for action in [Action::Left, Action::Up, Action::Right] {
            assert!(!game.is_feasible(action));
            assert_eq!(game.step(action), StepResult { reward: 0.0, done: false });
            assert_eq!(game.agent(), Position { x: 0, y: 0 });
        }
        assert_eq!(game.steps(), 3);
        game.step(Action::Down);
        assert_eq!(game.step(Action::Right), StepResult { reward: 1.0, done: true });
        assert_eq!(game.step(Action::Right), StepResult { reward: 0.0, done: true });
        assert_eq!((game.steps(), game.agent()), (5, Position { x: 1, y: 1 }));
    }

    #[test]
    fn dots_behind_walls_do_not_count() {
        let mut game = game(&["@.#.", "   #", "    ", "   ."]);
        assert_eq!(game.episode().reachable, 2);
        assert!(!game.step(Action::Right).done);
        for action in [Action::Down, Action::Down, Action::Down, Action::Right] {
            assert!(!game.step(action).done);
        }
        assert!(game.step(Action::Right).done);
        assert_eq!(game.dots().collect::<Vec<_>>(), [Position { x: 3, y: 0 }]);
    }

    #[test]
    fn the_clock_ends_a_game() {
        let mut game = game(&["@.", "  "]);
        assert_eq!(game.step_limit(), 8);
        let steps = (1..=10).find(|_| game.step(Action::Left).done);
        assert_eq!(steps, Some(8));
        assert_eq!(game.episode(), Episode { eaten: 0, reachable: 1, steps: 8 });
    }

    #[test]
    fn without_reachable_dots_the_game_is_over_at_once() {
        let mut game = game(&["@#", "#."]);
        assert!(game.is_over());
        assert_eq!(game.step(Action::Left), StepResult { reward: 0.0, done: true });
        assert_eq!(game.episode().success(), None);
    }

    #[test]
    fn walls_without_room_are_reported() {
        let config = PacmanConfig { size: 4, walls: 1_000, wall_length: 4, dots: 3 };
        assert!(matches!(Pacman::new(config, 0), Err(TaskError::Exhausted { attempts: DRAWS_OF_WALLS, .. })));
    }

    #[test]
    fn actions_and_indices_correspond() {
        for (index, action) in Action::ALL.into_iter().enumerate() {
            assert_eq!((action.index(), Action::from_index(index)), (index, Some(action)));
        }
        assert_eq!(Action::from_index(4), None);
    }
}
