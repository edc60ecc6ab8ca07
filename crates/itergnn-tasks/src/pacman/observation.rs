//! What a player sees.

use itergnn_graph::{Attributes, Graph};

use super::{
    Pacman,
    maze::{Cell, UNREACHED},
};
use crate::TaskError;

/// Numbers on each node of the observation graph: dx, dy, and one-hot (agent, dot, landmark).
pub const NODE_ATTRIBUTES: usize = 5;

/// Channels of the observation image: wall, dot, agent.
pub const IMAGE_CHANNELS: usize = 3;

impl Pacman {
    /// The game as a complete graph of agent, dots and landmarks.
    ///
    /// Nodes are the agent, then the dots that are left (reachable or not) in the order in which they were placed, then
    /// the landmarks. A landmark stands at each cell where a shortest path from the agent to a dot turns; of all
    /// shortest paths one is taken that goes straight on where it can, seen from the dot. A cell is a landmark once,
    /// however many paths turn there, and may also hold a dot.
    ///
    /// # Shapes
    /// Node attributes `[nodes, 5]`: position relative to the agent (right, down), then one-hot (agent, dot, landmark).
    /// Edge attributes `[edges, 1]`: the Manhattan distance. There is an edge between any two different nodes, in both
    /// directions.
    ///
    /// # Errors
    /// [`TaskError::Graph`] if there are more edges than 32-bit indices can name, which needs tens of thousands of
    /// dots.
    pub fn observation_graph(&self) -> Result<Graph, TaskError> {
        let mut cells = vec![self.agent];
        cells.extend_from_slice(&self.dots);
        self.add_landmarks(&mut cells);

        let count = cells.len();
        let origin = self.agent();
        let places: Vec<[f32; 2]> = cells
            .iter()
            .map(|&cell| {
                let at = self.maze.position(cell);
                [f32::from(at.x) - f32::from(origin.x), f32::from(at.y) - f32::from(origin.y)]
            })
            .collect();
        let mut nodes = Vec::with_capacity(NODE_ATTRIBUTES * count);
        for (node, [right, down]) in places.iter().enumerate() {
            let kind = if node == 0 {
                0
            } else if node <= self.dots.len() {
                1
            } else {
                2
            };
            let mut row = [*right, *down, 0.0, 0.0, 0.0];
            row[2 + kind] = 1.0;
            nodes.extend_from_slice(&row);
        }
        let mut edges = Vec::with_capacity(count * (count - 1));
        let mut weights = Vec::with_capacity(count * (count - 1));
        // Receivers in order, so that the graph's edges keep the order given here.
        for (receiver, [x, y]) in places.iter().enumerate() {
            for (sender, [other_x, other_y]) in places.iter().enumerate() {
                if sender != receiver {
                    edges.push([sender as u32, receiver as u32]);
                    weights.push((x - other_x).abs() + (y - other_y).abs());
                }
            }
        }
        let graph = Graph::new(count, &edges)?;
        Ok(graph
            .with_node_attributes(Attributes::new(NODE_ATTRIBUTES, nodes))?
            .with_edge_attributes(Attributes::new(1, weights))?)
    }

    /// Adds the corners of the paths to all reachable dots.
    fn add_landmarks(&self, cells: &mut Vec<Cell>) {
        let (distances, _) = self.maze.distances(self.agent, |_| false);
        let mut marked = vec![false; self.maze.cells()];
        for &dot in &self.dots {
            if distances[usize::from(dot)] == UNREACHED {
                continue;
            }
            let mut direction = None;
            self.maze.walk_back(&distances, dot, |cell, step| {
                let turns = direction.is_some_and(|before| before != step);
                if turns && !marked[usize::from(cell)] {
                    marked[usize::from(cell)] = true;
                    cells.push(cell);
                }
                direction = Some(step);
            });
        }
    }

    /// The game as a picture of zeros and ones.
    ///
    /// # Shapes
    /// `[3, side, side]`, flat: channels wall, dot, agent; in each, rows from top to bottom.
    pub fn observation_image(&self) -> Vec<f32> {
        let side = usize::from(self.maze.side());
        let area = side * side;
        let mut image = vec![0.0; IMAGE_CHANNELS * area];
        for (pixel, position) in self.maze.positions().enumerate() {
            let cell = self.maze.cell(position);
            image[pixel] = f32::from(u8::from(self.maze.is_wall(cell)));
            image[area + pixel] = f32::from(u8::from(self.has_dot[usize::from(cell)]));
            image[2 * area + pixel] = f32::from(u8::from(cell == self.agent));
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacman::PacmanConfig;

    fn game(rows: &[&str]) -> Pacman {
        Pacman::from_rows(PacmanConfig { size: rows.len() as u16, ..PacmanConfig::default() }, rows).unwrap()
    }

    fn rows(graph: &Graph) -> Vec<Vec<f32>> {
        graph.node_attributes().rows().map(<[f32]>::to_vec).collect()
    }

    #[test]
    fn a_straight_way_needs_no_landmark() {
        let graph = game(&[" . ", "   ", " @ "]).observation_graph().unwrap();
        assert_eq!(rows(&graph), [vec![0.0, 0.0, 1.0, 0.0, 0.0], vec![0.0, -2.0, 0.0, 1.0, 0.0]]);
        assert_eq!(graph.edge_attributes().values(), &[2.0, 2.0]);
    }

    #[test]
    fn a_way_around_a_wall_has_a_landmark_at_each_corner() {
        let graph = game(&["@#. ", " #  ", "    ", "    "]).observation_graph().unwrap();
        // Down two, right two, up two: two corners.
        let found = rows(&graph);
        assert_eq!(found.len(), 4);
        assert!(found.contains(&vec![0.0, 2.0, 0.0, 0.0, 1.0]) && found.contains(&vec![2.0, 2.0, 0.0, 0.0, 1.0]));
        assert_eq!(graph.edges(), 12);
    }

    #[test]
    fn shared_corners_are_one_landmark_and_walled_in_dots_have_none() {
        let graph = game(&["@#. ", " #. ", "   #", "  #."]).observation_graph().unwrap();
        let kinds = |kind: usize| rows(&graph).iter().filter(|row| row[2 + kind] == 1.0).count();
        assert_eq!((kinds(0), kinds(1), kinds(2)), (1, 3, 2));
    }

    #[test]
    fn weights_are_manhattan_distances() {
        let graph = PacmanConfig::default().game(11).unwrap().observation_graph().unwrap();
        let table = rows(&graph);
        assert!(graph.nodes() > 11, "ten dots behind eight walls have landmarks");
        assert_eq!(graph.edges(), graph.nodes() * (graph.nodes() - 1));
        for (position, weight) in graph.edge_attributes().values().iter().enumerate() {
            let (from, to) = (&table[graph.senders()[position] as usize], &table[graph.receivers()[position] as usize]);
            assert_eq!(*weight, (from[0] - to[0]).abs() + (from[1] - to[1]).abs());
        }
    }

    #[test]
    fn the_image_has_a_channel_for_each_kind() {
        let image = game(&["@.", " #"]).observation_image();
        assert_eq!(image, [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    }
}
