//! First observations as samples.

use itergnn_graph::rng;

use super::{Action, Pacman, PacmanConfig, maze::UNREACHED};
use crate::{Fields, Sample, Sampler, Task, TaskError};

/// Draws games and gives their first observation.
///
/// The task is learned by playing, not from labels. As a target a sample has one number for each move of
/// [`Action::ALL`]: 1 if the move brings the agent nearer to a nearest dot, else 0. It serves for inspection and
/// imitation.
#[derive(Debug, Clone)]
pub struct PacmanSampler {
    config: PacmanConfig,
}

impl PacmanSampler {
    /// A sampler of the given settings.
    ///
    /// # Errors
    /// As [`PacmanConfig::check`].
    pub fn new(config: PacmanConfig) -> Result<Self, TaskError> {
        config.check()?;
        Ok(Self { config })
    }

    /// The settings.
    pub fn config(&self) -> &PacmanConfig {
        &self.config
    }

    /// The game behind a sample.
    ///
    /// # Errors
    /// As [`Pacman::new`].
    pub fn game(&self, split_seed: u64, index: u64) -> Result<Pacman, TaskError> {
        Pacman::draw(self.config, &mut rng::sample(split_seed, index))
    }
}

/// 1 for each move that leads towards a nearest dot.
fn good_moves(game: &Pacman) -> Vec<f32> {
    let nearest_after = |action: Action| {
        let to = game.maze.neighbour(game.agent, action);
        if game.maze.is_wall(to) {
            return UNREACHED;
        }
        let (distances, found) = game.maze.distances(to, |cell| game.has_dot[usize::from(cell)]);
        found.map_or(UNREACHED, |dot| distances[usize::from(dot)])
    };
    let after = Action::ALL.map(nearest_after);
    let best = after.into_iter().min().unwrap_or(UNREACHED);
    after.map(|distance| f32::from(u8::from(distance == best && best != UNREACHED))).to_vec()
}

impl Sampler for PacmanSampler {
    fn task(&self) -> Task {
        Task::Pacman
    }

    fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError> {
        let game = self.game(split_seed, index)?;
        let graph = game.observation_graph()?;
        let mut sample = Sample::graph_level(Task::Pacman, u32::from(self.config.size), graph, good_moves(&game));
        sample.fields =
            Fields { map: Some(game.rows()), reachable_dots: Some(game.episode().reachable), ..Fields::default() };
        Ok(sample)
    }

    fn largest(&self) -> usize {
        // About as many landmarks as dots, and a complete graph.
        let nodes = 2 * usize::from(self.config.dots) + 1;
        nodes * nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacman::{NearestDot, Policy};

    #[test]
    fn good_moves_lead_towards_a_nearest_dot() {
        let config = PacmanConfig { size: 3, ..PacmanConfig::default() };
        let game = Pacman::from_rows(config, &["   ", " @ ", ". ."]).unwrap();
        assert_eq!(good_moves(&game), [1.0, 1.0, 0.0, 1.0]);
        let stuck = Pacman::from_rows(config, &["   ", " @ ", "   "]).unwrap();
        assert_eq!(good_moves(&stuck), [0.0; 4]);
    }

    #[test]
    fn the_nearest_dot_player_makes_good_moves() {
        let sampler = PacmanConfig::default().sampler().unwrap();
        for index in 0..50 {
            let sample = sampler.sample(1, index).unwrap();
            let game = sampler.game(1, index).unwrap();
            assert_eq!(sample.fields.map, Some(game.rows()));
            assert_eq!(sample.target[NearestDot.act(&game).index()], 1.0);
        }
    }
}
