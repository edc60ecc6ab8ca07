//! Task 5: symbolic Pacman, a game of eating dots in a maze.
//!
//! The rules are here; learning to play is not. A game is made by [`PacmanConfig::game`] or [`Pacman::new`], played
//! with [`Pacman::step`], seen as a graph ([`Pacman::observation_graph`]), as a picture ([`Pacman::picture`])
//! or as text (`Display`). Metric: eaten dots / reachable dots ([`Episode::success`]).
//!
//! # Example
//! ```
//! use itergnn_tasks::pacman::{NearestDot, PacmanConfig, play};
//! let mut game = PacmanConfig::default().game(7)?;
//! println!("{game}");
//! let episode = play(&mut game, &mut NearestDot);
//! assert_eq!(episode.success(), Some(1.0));
//! # Ok::<(), itergnn_tasks::TaskError>(())
//! ```

mod env;
mod maze;
mod metric;
mod observation;
mod picture;
mod policy;
mod rendering;
mod sampler;
mod spec;
mod symmetry;

pub use env::{Action, Pacman, StepResult};
pub use maze::Position;
pub use metric::Episode;
pub use observation::{
    COMPASS_EDGE_ATTRIBUTES, COMPASS_NODE_ATTRIBUTES, NODE_ATTRIBUTES, NodeKind, Observation, ObservedNode,
};
pub use picture::{IMAGE_CHANNELS, Picture};
pub use policy::{NearestDot, Policy, RandomMoves, play};
pub use sampler::PacmanSampler;
pub use spec::PacmanConfig;
pub use symmetry::Symmetry;
