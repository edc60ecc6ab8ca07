//! The game, for `itergnn.gym`.

use itergnn::tasks::pacman::{Action, NearestDot, Pacman as Game, PacmanConfig, Policy};
use numpy::{IntoPyArray, PyArray3, ndarray::Array3};
use pyo3::prelude::*;

use crate::{errors::Fault, graph::Graph, work::guarded};

/// A game of symbolic Pacman: a maze, dots and an agent. `itergnn.gym` makes a Gymnasium environment of it.
///
/// >>> from itergnn import Pacman
/// >>> game = Pacman(dots=10, walls=8, seed=7)
/// >>> while not game.over:
/// ...     reward = game.step(game.nearest_dot())
/// >>> (game.eaten, game.reachable)
/// (10, 10)
#[pyclass(module = "itergnn")]
pub(crate) struct Pacman {
    pub(crate) game: Game,
}

#[pymethods]
impl Pacman {
    #[new]
    #[pyo3(signature = (*, dots=10, walls=8, size=16, wall_length=3, seed=0))]
    fn new(dots: u16, walls: u16, size: u16, wall_length: u16, seed: u64) -> Result<Self, Fault> {
        guarded(|| {
            let config = PacmanConfig { size, walls, wall_length, dots };
            guarded(|| Ok(Self { game: Game::new(config, seed).map_err(Fault::input)? }))
        })
    }

    /// Starts again with the game of another seed.
    fn reset(&mut self, seed: u64) -> Result<(), Fault> {
        guarded(|| self.game.reset(seed).map_err(Fault::input))
    }

    /// Moves left (0), right (1), up (2) or down (3); a move into a wall does nothing. Returns 1.0 if a dot was eaten,
    /// else 0.0.
    fn step(&mut self, action: usize) -> Result<f32, Fault> {
        guarded(|| {
            let expected =
                || Fault::input(format!("action {action}: expected 0 (left), 1 (right), 2 (up) or 3 (down)"));
            let action = Action::from_index(action).ok_or_else(expected)?;
            Ok(self.game.step(action).reward)
        })
    }

    /// What the agent sees, as a complete graph of agent, dots and landmarks. `x`: position seen from the agent, then
    /// one-hot (agent, dot, landmark); `edge_attr`: the Manhattan distance.
    fn graph(&self) -> Result<Graph, Fault> {
        guarded(|| self.game.observation_graph().map(Graph::new).map_err(Fault::failed))
    }

    /// What the agent sees, as an image `[3, size, size]` of zeros and ones: walls, dots, agent.
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        guarded(|| {
            let side = usize::from(self.game.config().size);
            let image = Array3::from_shape_vec((3, side, side), self.game.picture().image()).map_err(Fault::failed)?;
            Ok(image.into_pyarray(py))
        })
    }

    /// Which of the four moves would change the agent's place.
    fn feasible(&self) -> PyResult<[bool; 4]> {
        guarded(|| Ok(Action::ALL.map(|action| self.game.is_feasible(action))))
    }

    /// The move of a player who always walks to the nearest dot.
    fn nearest_dot(&self) -> PyResult<usize> {
        guarded(|| Ok(NearestDot.act(&self.game).index()))
    }

    /// Whether the game has ended: all reachable dots are eaten, or the steps are used up.
    #[getter]
    fn over(&self) -> PyResult<bool> {
        guarded(|| Ok(self.game.is_over()))
    }

    /// Dots eaten so far.
    #[getter]
    fn eaten(&self) -> PyResult<u32> {
        guarded(|| Ok(self.game.episode().eaten))
    }

    /// Dots that could be reached when the game began.
    #[getter]
    fn reachable(&self) -> PyResult<u32> {
        guarded(|| Ok(self.game.episode().reachable))
    }

    /// Moves made so far.
    #[getter]
    fn steps(&self) -> PyResult<u32> {
        guarded(|| Ok(self.game.steps()))
    }

    /// Moves after which the game ends in any case.
    #[getter]
    fn step_limit(&self) -> PyResult<u32> {
        guarded(|| Ok(self.game.step_limit()))
    }

    fn __str__(&self) -> PyResult<String> {
        guarded(|| Ok(self.game.to_string()))
    }
}
