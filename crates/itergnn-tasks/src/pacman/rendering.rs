//! The game as text.

use std::fmt;

use super::{Pacman, PacmanConfig, Position, maze::Maze};
use crate::{Task, TaskError};

const WALL: char = '#';
const DOT: char = '.';
const AGENT: char = '@';
const FREE: char = ' ';

impl Pacman {
    /// The map as text, one string per row: `#` wall, `.` dot, `@` agent, blank where nothing is.
    pub fn rows(&self) -> Vec<String> {
        let side = self.maze.side();
        let symbol = |position: Position| {
            let cell = self.maze.cell(position);
            if cell == self.agent {
                AGENT
            } else if self.maze.is_wall(cell) {
                WALL
            } else if self.has_dot[usize::from(cell)] {
                DOT
            } else {
                FREE
            }
        };
        (0..side).map(|y| (0..side).map(|x| symbol(Position { x, y })).collect()).collect()
    }

    /// A game on a given map, written as by [`Pacman::rows`]. `config` says what a later [`Pacman::reset`] draws.
    ///
    /// # Errors
    /// [`TaskError::Parse`] if the map is not a square of side `config.size`, has an unknown symbol, or not exactly one
    /// agent.
    pub fn from_rows<R: AsRef<str>>(config: PacmanConfig, rows: &[R]) -> Result<Self, TaskError> {
        let side = config.size;
        if side == 0 || side > PacmanConfig::LARGEST {
            let why = format!("is not between 1 and {}", PacmanConfig::LARGEST);
            return Err(TaskError::Setting { task: Task::Pacman, what: format!("size {side}"), why });
        }
        let refuse =
            |text: &str, expected| Err(TaskError::Parse { what: "row of the map", text: text.to_owned(), expected });
        if rows.len() != usize::from(side) {
            return refuse(&format!("number {}", rows.len()), "as many rows as the side of the map");
        }
        let (mut maze, mut dots, mut agent) = (Maze::open(side), Vec::new(), None);
        for (y, row) in (0..side).zip(rows) {
            let row = row.as_ref();
            if row.chars().count() != usize::from(side) {
                return refuse(row, "as many symbols as the side of the map");
            }
            for (x, symbol) in (0..side).zip(row.chars()) {
                let position = Position { x, y };
                match symbol {
                    WALL => maze.set_wall(position),
                    DOT => dots.push(maze.cell(position)),
                    AGENT if agent.is_none() => agent = Some(maze.cell(position)),
                    AGENT => return refuse(row, "one agent on the map"),
                    FREE => {}
                    _ => return refuse(row, "the symbols '#', '.', '@' and blank"),
                }
            }
        }
        match agent {
            Some(agent) => Ok(Self::place(config, maze, dots, agent)),
            None => refuse("", "an agent on the map"),
        }
    }
}

impl fmt::Display for Pacman {
    /// The map in a frame, and a line of score below.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frame = format!("+{}+", "-".repeat(usize::from(self.maze.side())));
        writeln!(formatter, "{frame}")?;
        for row in self.rows() {
            writeln!(formatter, "|{row}|")?;
        }
        writeln!(formatter, "{frame}")?;
        let episode = self.episode();
        write!(formatter, "eaten {} of {}, step {}", episode.eaten, episode.reachable, episode.steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_as_it_is_written() {
        let config = PacmanConfig::default();
        let game = config.game(3).unwrap();
        let again = Pacman::from_rows(config, &game.rows()).unwrap();
        assert_eq!(again.rows(), game.rows());
        assert_eq!(again.episode(), game.episode());
    }

    #[test]
    fn the_frame_and_the_score_are_shown() {
        let config = PacmanConfig { size: 2, ..PacmanConfig::default() };
        let game = Pacman::from_rows(config, &["@.", " #"]).unwrap();
        assert_eq!(game.to_string(), "+--+\n|@.|\n| #|\n+--+\neaten 0 of 1, step 0");
    }

    #[test]
    fn bad_maps_are_refused() {
        let config = PacmanConfig { size: 2, ..PacmanConfig::default() };
        for rows in [
            vec!["@."],
            vec!["@.", "  ", "  "],
            vec!["@.", "   "],
            vec!["@@", "  "],
            vec!["..", "  "],
            vec!["@x", "  "],
        ] {
            assert!(matches!(Pacman::from_rows(config, &rows), Err(TaskError::Parse { .. })), "{rows:?}");
        }
        let empty: [&str; 0] = [];
        assert!(Pacman::from_rows(PacmanConfig { size: 0, ..config }, &empty).is_err());
    }
}
