//! Shortest paths on a grid of free and blocked cells, without building a graph.

use std::collections::BinaryHeap;

use super::dijkstra::Entry;
use crate::{GraphError, Path};

/// Which cells are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connectivity {
    /// Left, right, up, down; each step has length 1.
    Four,
    /// Also diagonals, of length √2, where both cells beside the diagonal are free (the moving-AI rule).
    Eight,
}

/// Free and blocked cells, row after row: cell `row * columns + column`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellGrid {
    rows: usize,
    columns: usize,
    free: Vec<bool>,
}

impl CellGrid {
    /// A grid from its cells, row after row.
    ///
    /// # Errors
    /// [`GraphError::RowCount`] if there are not `rows * columns` cells; [`GraphError::TooLarge`].
    pub fn new(rows: usize, columns: usize, free: Vec<bool>) -> Result<Self, GraphError> {
        let cells = rows.saturating_mul(columns);
        let limit = u32::MAX as usize - 1;
        if cells > limit {
            return Err(GraphError::TooLarge { what: "cells", found: cells, limit });
        }
        if free.len() != cells {
            return Err(GraphError::RowCount { what: "cells", expected: cells, found: free.len() });
        }
        Ok(Self { rows, columns, free })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether a cell can be entered.
    pub fn is_free(&self, cell: u32) -> bool {
        self.free[cell as usize]
    }

    /// The free neighbours of a cell and the length of the step to each.
    pub fn neighbours(&self, cell: u32, connectivity: Connectivity) -> impl Iterator<Item = (u32, f64)> + '_ {
        const STEPS: [(isize, isize); 8] = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)];
        let (row, column) = (cell as usize / self.columns, cell as usize % self.columns);
        let steps = match connectivity {
            Connectivity::Four => &STEPS[..4],
            Connectivity::Eight => &STEPS[..],
        };
        steps.iter().filter_map(move |&(down, right)| {
            let to = self.free_cell(row.checked_add_signed(down)?, column.checked_add_signed(right)?)?;
            if down != 0 && right != 0 {
                self.free_cell(row, column.checked_add_signed(right)?)?;
                self.free_cell(row.checked_add_signed(down)?, column)?;
                return Some((to, std::f64::consts::SQRT_2));
            }
            Some((to, 1.0))
        })
    }

    fn free_cell(&self, row: usize, column: usize) -> Option<u32> {
        let cell = row * self.columns + column;
        (row < self.rows && column < self.columns && self.free[cell]).then_some(cell as u32)
    }

    /// A shortest path between two cells, or `None` if there is none or either is blocked.
    ///
    /// # Errors
    /// [`GraphError::Node`] if a cell does not exist.
    ///
    /// # Complexity
    /// O(cells log cells).
    ///
    /// # Example
    /// ```
    /// use itergnn_graph::solvers::grid::{CellGrid, Connectivity};
    /// let grid = CellGrid::new(2, 3, vec![true, false, true, true, true, true])?;
    /// let path = grid.shortest_path(0, 2, Connectivity::Four)?.expect("there is a way around");
    /// assert_eq!((path.length, path.nodes), (4.0, vec![0, 3, 4, 5, 2]));
    /// # Ok::<(), itergnn_graph::GraphError>(())
    /// ```
    pub fn shortest_path(
        &self,
        source: u32,
        target: u32,
        connectivity: Connectivity,
    ) -> Result<Option<Path>, GraphError> {
        for node in [source, target] {
            if node as usize >= self.free.len() {
                return Err(GraphError::Node { node, nodes: self.free.len() });
            }
        }
        if !self.is_free(source) || !self.is_free(target) {
            return Ok(None);
        }
        // Searched from the target, so that the walk up the tree goes from source to target.
        let mut tree = super::dijkstra::ShortestPaths::new(self.free.len(), target);
        let mut queue = BinaryHeap::from([Entry { distance: 0.0, node: target }]);
        while let Some(Entry { distance, node }) = queue.pop() {
            if node == source {
                break;
            }
            if distance > tree.distances[node as usize] {
                continue;
            }
            for (neighbour, step) in self.neighbours(node, connectivity) {
                if tree.relax(node, neighbour, distance + step) {
                    queue.push(Entry { distance: distance + step, node: neighbour });
                }
            }
        }
        let length = tree.distances[source as usize];
        Ok(tree.walk_to_root(source).map(|nodes| Path { nodes, length }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[&str]) -> CellGrid {
        let free = text.iter().flat_map(|row| row.bytes().map(|cell| cell == b'.')).collect();
        CellGrid::new(text.len(), text[0].len(), free).unwrap()
    }

    #[test]
    fn diagonals_need_both_side_cells() {
        let corner = parse(&[".@", ".."]);
        let open = parse(&["..", ".."]);
        let length = |grid: &CellGrid| grid.shortest_path(0, 3, Connectivity::Eight).unwrap().unwrap().length;
        assert_eq!(length(&corner), 2.0);
        assert_eq!(length(&open), std::f64::consts::SQRT_2);
    }

    #[test]
    fn blocked_ends_and_walls_have_no_path() {
        let grid = parse(&[".@.", ".@.", ".@."]);
        assert_eq!(grid.shortest_path(0, 2, Connectivity::Eight).unwrap(), None);
        assert_eq!(grid.shortest_path(0, 1, Connectivity::Four).unwrap(), None);
        assert!(grid.shortest_path(0, 9, Connectivity::Four).is_err());
        assert!(CellGrid::new(2, 2, vec![true]).is_err());
    }
}
