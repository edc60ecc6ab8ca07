//! Cells, walls and ways between cells.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{Action, PacmanConfig};

/// A cell of the map: `x` grows to the right, `y` downwards, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// Column.
    pub x: u16,
    /// Row.
    pub y: u16,
}

impl Position {
    /// |dx| + |dy|.
    pub fn manhattan(self, other: Self) -> u32 {
        u32::from(self.x.abs_diff(other.x)) + u32::from(self.y.abs_diff(other.y))
    }
}

/// A cell number of the framed map.
pub(super) type Cell = u16;

/// The walls of a square map.
///
/// A frame of wall surrounds the cells, so that every cell has four neighbours and no search checks for the edge of the
/// map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Maze {
    side: u16,
    wall: Vec<bool>,
}

/// The distance of a cell that cannot be reached.
pub(super) const UNREACHED: u16 = u16::MAX;

impl Maze {
    /// A map without walls.
    pub(super) fn open(side: u16) -> Self {
        let stride = usize::from(side) + 2;
        let mut wall = vec![true; stride * stride];
        for row in wall.chunks_exact_mut(stride).skip(1).take(usize::from(side)) {
            row[1..stride - 1].fill(false);
        }
        Self { side, wall }
    }

    /// A map with walls of random direction and feasible position.
    pub(super) fn random(config: &PacmanConfig, rng: &mut impl Rng) -> Self {
        let mut maze = Self::open(config.size);
        for _ in 0..config.walls {
            let horizontal = rng.random::<bool>();
            let along = rng.random_range(0..=config.size - config.wall_length);
            let across = rng.random_range(0..config.size);
            for step in along..along + config.wall_length {
                let (x, y) = if horizontal { (step, across) } else { (across, step) };
                maze.set_wall(Position { x, y });
            }
        }
        maze
    }

    pub(super) fn set_wall(&mut self, position: Position) {
        let cell = self.cell(position);
        self.wall[usize::from(cell)] = true;
    }

    pub(super) fn side(&self) -> u16 {
        self.side
    }

    /// Numbers of cells run below this.
    pub(super) fn cells(&self) -> usize {
        self.wall.len()
    }

    pub(super) fn is_wall(&self, cell: Cell) -> bool {
        self.wall[usize::from(cell)]
    }

    pub(super) fn cell(&self, position: Position) -> Cell {
        (position.y + 1) * self.stride() + position.x + 1
    }

    pub(super) fn position(&self, cell: Cell) -> Position {
        Position { x: cell % self.stride() - 1, y: cell / self.stride() - 1 }
    }

    /// The cells of the map, row after row, walls included.
    pub(super) fn positions(&self) -> impl Iterator<Item = Position> + use<> {
        let side = self.side;
        (0..side).flat_map(move |y| (0..side).map(move |x| Position { x, y }))
    }

    /// The neighbour in a direction, which may be a wall.
    pub(super) fn neighbour(&self, cell: Cell, action: Action) -> Cell {
        match action {
            Action::Left => cell - 1,
            Action::Right => cell + 1,
            Action::Up => cell - self.stride(),
            Action::Down => cell + self.stride(),
        }
    }

    /// Steps from `from` to every cell, breadth first; [`UNREACHED`] for walls and what lies behind them.
    ///
    /// The search ends early at a cell for which `found` holds; only cells nearer than that one are then sure to have
    /// their distance.
    pub(super) fn distances(&self, from: Cell, mut found: impl FnMut(Cell) -> bool) -> (Vec<u16>, Option<Cell>) {
        let mut distances = vec![UNREACHED; self.cells()];
        let mut queue = Vec::with_capacity(self.cells());
        distances[usize::from(from)] = 0;
        queue.push(from);
        let mut next = 0;
        while next < queue.len() {
            let cell = queue[next];
            next += 1;
            if found(cell) {
                return (distances, Some(cell));
            }
            let distance = distances[usize::from(cell)] + 1;
            for action in Action::ALL {
                let neighbour = self.neighbour(cell, action);
                if !self.is_wall(neighbour) && distances[usize::from(neighbour)] == UNREACHED {
                    distances[usize::from(neighbour)] = distance;
                    queue.push(neighbour);
                }
            }
        }
        (distances, None)
    }

    /// Walks a shortest path from `cell` back to where `distances` is 0, and calls `visit` with each cell left and the
    /// direction taken.
    ///
    /// The walk keeps its direction as long as that is shortest, so it has few corners; else it takes the first
    /// direction in the order of [`Action::ALL`].
    pub(super) fn walk_back(&self, distances: &[u16], mut cell: Cell, mut visit: impl FnMut(Cell, Action)) {
        let mut direction = None;
        while distances[usize::from(cell)] > 0 {
            let wanted = distances[usize::from(cell)] - 1;
            let nearer = |action: &Action| distances[usize::from(self.neighbour(cell, *action))] == wanted;
            let straight = direction.filter(nearer);
            let Some(step) = straight.or_else(|| Action::ALL.into_iter().find(nearer)) else {
                unreachable!("a reached cell has a neighbour that is one step nearer");
            };
            visit(cell, step);
            direction = Some(step);
            cell = self.neighbour(cell, step);
        }
    }

    fn stride(&self) -> u16 {
        self.side + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::rng;

    #[test]
    fn cells_and_positions_correspond() {
        let maze = Maze::open(5);
        let free = (0..maze.cells() as u16).filter(|&cell| !maze.is_wall(cell)).count();
        assert_eq!(free, 25);
        for position in maze.positions() {
            assert_eq!(maze.position(maze.cell(position)), position);
        }
    }

    #[test]
    fn the_largest_map_fits_in_cell_numbers() {
        let side = PacmanConfig::LARGEST;
        let maze = Maze::open(side);
        let corner = Position { x: side - 1, y: side - 1 };
        assert_eq!(maze.position(maze.cell(corner)), corner);
        let (distances, _) = maze.distances(maze.cell(Position { x: 0, y: 0 }), |_| false);
        assert_eq!(distances[usize::from(maze.cell(corner))], 2 * side - 2);
    }

    #[test]
    fn distances_on_an_open_map_are_manhattan() {
        let maze = Maze::open(7);
        let from = Position { x: 2, y: 4 };
        let (distances, found) = maze.distances(maze.cell(from), |_| false);
        assert_eq!(found, None);
        for to in maze.positions() {
            assert_eq!(u32::from(distances[usize::from(maze.cell(to))]), from.manhattan(to));
        }
    }

    #[test]
    fn walls_have_their_length_in_both_directions() {
        let config = PacmanConfig { size: 16, walls: 1, wall_length: 3, dots: 1 };
        let mut horizontal = 0;
        for seed in 0..200 {
            let maze = Maze::random(&config, &mut rng::seeded(seed));
            let walls: Vec<_> = maze.positions().filter(|&at| maze.is_wall(maze.cell(at))).collect();
            assert_eq!(walls.len(), 3);
            horizontal += u32::from(walls[0].y == walls[2].y);
        }
        // Five standard deviations of 200 fair throws are 35.
        assert!(horizontal.abs_diff(100) < 35, "{horizontal}");
    }

    #[test]
    fn walking_back_turns_once_on_an_open_map() {
        let maze = Maze::open(9);
        let (distances, _) = maze.distances(maze.cell(Position { x: 1, y: 1 }), |_| false);
        let mut steps = Vec::new();
        maze.walk_back(&distances, maze.cell(Position { x: 5, y: 8 }), |_, step| steps.push(step));
        assert_eq!(steps.len(), 11);
        assert_eq!(steps.windows(2).filter(|pair| pair[0] != pair[1]).count(), 1);
    }
}
