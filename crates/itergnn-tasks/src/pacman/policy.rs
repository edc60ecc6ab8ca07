//! Players that do not learn.

use rand::{Rng, RngExt};

use super::{Action, Episode, Pacman};

/// Something that chooses moves. Every `FnMut(&Pacman) -> Action` is one.
pub trait Policy {
    /// The next move.
    fn act(&mut self, game: &Pacman) -> Action;
}

impl<F: FnMut(&Pacman) -> Action> Policy for F {
    fn act(&mut self, game: &Pacman) -> Action {
        self(game)
    }
}

/// Walks to the nearest dot on a shortest path: eats every reachable dot, always within the limit of steps.
///
/// Among dots that are equally near, it takes the one that breadth-first search finds first. When no dot can be reached
/// it moves left.
#[derive(Debug, Clone, Copy, Default)]
pub struct NearestDot;

impl Policy for NearestDot {
    fn act(&mut self, game: &Pacman) -> Action {
        let (distances, found) = game.maze.distances(game.agent, |cell| game.has_dot[usize::from(cell)]);
        let mut last = Action::Right;
        if let Some(dot) = found {
            game.maze.walk_back(&distances, dot, |_, step| last = step);
        }
        // The last step back to the agent, reversed, is the agent's first step.
        match last {
            Action::Left => Action::Right,
            Action::Right => Action::Left,
            Action::Up => Action::Down,
            Action::Down => Action::Up,
        }
    }
}

/// Moves at random, each direction equally likely.
#[derive(Debug, Clone)]
pub struct RandomMoves<R>(
    /// Where the moves come from.
    pub R,
);

impl<R: Rng> Policy for RandomMoves<R> {
    fn act(&mut self, _: &Pacman) -> Action {
        Action::ALL[self.0.random_range(0..4_u32) as usize]
    }
}

/// Plays a game to its end.
pub fn play(game: &mut Pacman, policy: &mut impl Policy) -> Episode {
    while !game.is_over() {
        let action = policy.act(game);
        game.step(action);
    }
    game.episode()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacman::PacmanConfig;
    use itergnn_graph::rng;

    #[test]
    fn the_nearest_dot_player_always_eats_everything() {
        for (walls, dots) in [(0, 1), (8, 10), (15, 20), (40, 30)] {
            for seed in 0..25 {
                let mut game = PacmanConfig { walls, dots, ..PacmanConfig::default() }.game(seed).unwrap();
                let episode = play(&mut game, &mut NearestDot);
                assert_eq!(episode.eaten, episode.reachable);
            }
        }
    }

    #[test]
    fn every_step_towards_a_dot_shortens_the_way() {
        let mut game = PacmanConfig::default().game(5).unwrap();
        while !game.is_over() {
            let nearest = |game: &Pacman| game.maze.distances(game.agent, |cell| game.has_dot[usize::from(cell)]);
            let (before, found) = nearest(&game);
            let wanted = before[usize::from(found.unwrap())] - 1;
            let reward = game.step(NearestDot.act(&game)).reward;
            let (after, _) = game.maze.distances(game.agent, |_| false);
            assert_eq!(after[usize::from(found.unwrap())], wanted);
            assert_eq!(reward, f32::from(u8::from(wanted == 0)));
        }
    }

    #[test]
    fn random_moves_eat_less_than_everything_in_the_time_of_the_other_player() {
        let (mut random, mut total) = (0, 0);
        for seed in 0..20 {
            let mut game = PacmanConfig::default().game(seed).unwrap();
            let planned = play(&mut game.clone(), &mut NearestDot);
            let mut moves = RandomMoves(rng::seeded(seed));
            for _ in 0..planned.steps {
                let action = moves.act(&game);
                game.step(action);
            }
            random += game.episode().eaten;
            total += planned.eaten;
        }
        assert!(2 * random < total, "{random} of {total}");
    }
}
