//! What a maze looks like.

use serde::{Deserialize, Serialize};

use super::{Pacman, PacmanSampler};
use crate::{Task, TaskError};

/// The settings of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PacmanConfig {
    /// Side of the square map.
    pub size: u16,
    /// Number of walls; they may overlap.
    pub walls: u16,
    /// Cells of a wall.
    pub wall_length: u16,
    /// Number of dots.
    pub dots: u16,
}

impl Default for PacmanConfig {
    /// The paper's training setting: 16 x 16, 8 walls of length 3, 10 dots.
    fn default() -> Self {
        Self { size: 16, walls: 8, wall_length: 3, dots: 10 }
    }
}

impl PacmanConfig {
    /// The largest side: with its frame the map still fits in 16-bit cell numbers.
    pub const LARGEST: u16 = 250;

    /// Checks that such a map can exist.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for a side of 0 or beyond [`PacmanConfig::LARGEST`], walls longer than the map or of
    /// length 0, or more dots than cells.
    pub fn check(&self) -> Result<(), TaskError> {
        let refuse = |what: String, why: String| Err(TaskError::Setting { task: Task::Pacman, what, why });
        let side = self.size;
        if side == 0 || side > Self::LARGEST {
            return refuse(format!("size {side}"), format!("is not between 1 and {}", Self::LARGEST));
        }
        if self.walls > 0 && self.wall_length == 0 {
            return refuse("wall length 0".to_owned(), "makes no wall".to_owned());
        }
        if self.walls > 0 && self.wall_length > side {
            return refuse(
                format!("wall length {}", self.wall_length),
                format!("does not fit in a map of side {side}"),
            );
        }
        let cells = u32::from(side) * u32::from(side);
        if u32::from(self.dots) + 1 > cells {
            let why = format!("and the agent do not fit in {cells} cells");
            return refuse(format!("{} dots", self.dots), why);
        }
        Ok(())
    }

    /// The game of a seed.
    ///
    /// # Errors
    /// As [`Pacman::new`].
    pub fn game(self, seed: u64) -> Result<Pacman, TaskError> {
        Pacman::new(self, seed)
    }

    /// A sampler of first observations.
    ///
    /// # Errors
    /// As [`PacmanConfig::check`].
    pub fn sampler(self) -> Result<PacmanSampler, TaskError> {
        PacmanSampler::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_settings_are_named() {
        let base = PacmanConfig::default();
        for (config, message) in [
            (PacmanConfig { size: 0, ..base }, "pacman: size 0 is not between 1 and 250"),
            (PacmanConfig { size: 251, ..base }, "pacman: size 251 is not between 1 and 250"),
            (PacmanConfig { dots: 256, ..base }, "pacman: 256 dots and the agent do not fit in 256 cells"),
            (PacmanConfig { wall_length: 17, ..base }, "pacman: wall length 17 does not fit in a map of side 16"),
            (PacmanConfig { wall_length: 0, ..base }, "pacman: wall length 0 makes no wall"),
        ] {
            assert_eq!(config.check().unwrap_err().to_string(), message);
        }
        assert!(PacmanConfig { dots: 255, walls: 0, wall_length: 99, ..base }.check().is_ok());
    }
}
