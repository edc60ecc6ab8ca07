//! What a player sees, as a picture.

use super::{Pacman, Symmetry};

/// Channels of the observation image: wall, dot, agent.
pub const IMAGE_CHANNELS: usize = 3;

/// A game as a picture, one byte per cell: bit 0 wall, bit 1 dot, bit 2 agent; rows from top to bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    side: u16,
    cells: Vec<u8>,
}

impl Picture {
    /// A picture of the given cells; `None` if they are not a square of that side.
    pub fn new(side: u16, cells: Vec<u8>) -> Option<Self> {
        (cells.len() == usize::from(side) * usize::from(side)).then_some(Self { side, cells })
    }

    /// Side of the square.
    pub fn side(&self) -> u16 {
        self.side
    }

    /// The cells, row after row.
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// The same game, rotated or reflected.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> Self {
        let side = self.side as i16;
        let mut cells = vec![0; self.cells.len()];
        for y in 0..side {
            for x in 0..side {
                // Twice the displacement from the middle, which may lie between cells.
                let (right, down) = symmetry.displacement(2 * x - (side - 1), 2 * y - (side - 1));
                let (to_x, to_y) = ((right + side - 1) / 2, (down + side - 1) / 2);
                cells[(to_y * side + to_x) as usize] = self.cells[(y * side + x) as usize];
            }
        }
        Self { side: self.side, cells }
    }

    /// The picture as zeros and ones.
    ///
    /// # Shapes
    /// `[3, side, side]`, flat: channels wall, dot, agent; in each, rows from top to bottom.
    pub fn image(&self) -> Vec<f32> {
        let channel = |bit: usize| self.cells.iter().map(move |cell| f32::from(cell >> bit & 1));
        (0..IMAGE_CHANNELS).flat_map(channel).collect()
    }
}

impl Pacman {
    /// What the player sees, as a picture.
    pub fn picture(&self) -> Picture {
        let code = |position| {
            let cell = self.maze.cell(position);
            let dot = self.has_dot[usize::from(cell)];
            u8::from(self.maze.is_wall(cell)) | u8::from(dot) << 1 | u8::from(cell == self.agent) << 2
        };
        Picture { side: self.maze.side(), cells: self.maze.positions().map(code).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacman::PacmanConfig;

    fn game(rows: &[&str]) -> Pacman {
        Pacman::from_rows(PacmanConfig { size: rows.len() as u16, ..PacmanConfig::default() }, rows).unwrap()
    }

    #[test]
    fn the_image_has_a_channel_for_each_kind() {
        let image = game(&["@.", " #"]).picture().image();
        assert_eq!(image, [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_turned_picture_is_that_of_the_turned_game() {
        let picture = game(&["@. ", " # ", "   "]).picture();
        // Swapping right and down mirrors at the diagonal.
        assert_eq!(picture.transformed(Symmetry::ALL[4]), game(&["@  ", ".# ", "   "]).picture());
        assert_eq!(picture.transformed(Symmetry::ALL[1]), game(&[" .@", " # ", "   "]).picture());
        assert_eq!(picture.transformed(Symmetry::ALL[2]), game(&["   ", " # ", "@. "]).picture());
    }
}
