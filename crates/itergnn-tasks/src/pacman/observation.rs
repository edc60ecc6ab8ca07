//! What a player sees, as a graph.

use itergnn_graph::{Attributes, Graph};

use super::{
    Pacman, Symmetry,
    maze::{Cell, UNREACHED},
};
use crate::TaskError;

/// Numbers on each node of the observation graph: dx, dy, and one-hot (agent, dot, landmark).
pub const NODE_ATTRIBUTES: usize = 5;

/// Numbers on each node of [`Observation::compass_graph`]: one-hot (agent, dot, landmark).
pub const COMPASS_NODE_ATTRIBUTES: usize = 3;

/// Numbers on each edge of [`Observation::compass_graph`]: the distance, and whether the sender lies to the right of
/// the receiver, to its left, below, above.
pub const COMPASS_EDGE_ATTRIBUTES: usize = 5;

/// What a node of an observation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// The player.
    Agent,
    /// A dot that is left.
    Dot,
    /// A corner of a path to a dot.
    Landmark,
}

impl NodeKind {
    /// All kinds, in the order of the one-hot code.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Dot, Self::Landmark];
}

/// A node of an observation: what it is and where, seen from the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObservedNode {
    /// Cells to the right of the agent.
    pub right: i16,
    /// Cells below the agent.
    pub down: i16,
    /// What it is.
    pub kind: NodeKind,
}

/// A game as agent, dots and landmarks: what [`Observation::graph`] makes a graph of, in a few bytes per node.
///
/// Nodes are the agent, then the dots that are left (reachable or not) in the order in which they were placed, then the
/// landmarks. A landmark stands at each cell where a shortest path from the agent to a dot turns; of all shortest paths
/// one is taken that goes straight on where it can, seen from the dot. A cell is a landmark once, however many paths
/// turn there, and may also hold a dot.
///
/// # Example
/// ```
/// use itergnn_tasks::pacman::{PacmanConfig, Symmetry};
/// let observation = PacmanConfig::default().game(7)?.observation();
/// let mirrored = observation.transformed(Symmetry::ALL[1]);
/// assert_eq!(mirrored.nodes()[1].right, -observation.nodes()[1].right);
/// assert_eq!(mirrored.graph()?.edge_attributes(), observation.graph()?.edge_attributes());
/// # Ok::<(), itergnn_tasks::TaskError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    nodes: Vec<ObservedNode>,
}

impl Observation {
    /// An observation of the given nodes.
    pub fn new(nodes: Vec<ObservedNode>) -> Self {
        Self { nodes }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[ObservedNode] {
        &self.nodes
    }

    /// The same game, rotated or reflected.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> Self {
        let turn = |node: &ObservedNode| {
            let (right, down) = symmetry.displacement(node.right, node.down);
            ObservedNode { right, down, kind: node.kind }
        };
        Self { nodes: self.nodes.iter().map(turn).collect() }
    }

    /// The complete graph of the nodes.
    ///
    /// # Shapes
    /// Node attributes `[nodes, 5]`: position relative to the agent (right, down), then one-hot (agent, dot, landmark).
    /// Edge attributes `[edges, 1]`: the Manhattan distance. There is an edge between any two different nodes, in both
    /// directions.
    ///
    /// # Errors
    /// [`TaskError::Graph`] if there are more edges than 32-bit indices can name, which needs tens of thousands of
    /// dots.
    pub fn graph(&self) -> Result<Graph, TaskError> {
        self.graph_of(NODE_ATTRIBUTES, 1, |_, _| true, |_, _| [])
    }

    /// The straight ways alone, each with its direction beside its length.
    ///
    /// Paths consist of straight pieces between neighbouring corners, so only nodes in one row or column have an edge.
    /// Edges say all that positions say of them, so nodes need none: what is learned in one place holds in every other.
    /// Nothing is added to what [`Observation::graph`] shows; a network is saved from comparing positions, and from
    /// most of the work.
    ///
    /// # Shapes
    /// Node attributes `[nodes, 3]`: one-hot (agent, dot, landmark). Edge attributes `[edges, 5]`: the distance, then 1
    /// where the sender lies to the right of the receiver, to its left, below it, above it, else 0; all four are 0
    /// where a dot and a landmark share a cell.
    ///
    /// # Errors
    /// As [`Observation::graph`].
    pub fn compass_graph(&self) -> Result<Graph, TaskError> {
        let in_line = |from: &ObservedNode, to: &ObservedNode| from.right == to.right || from.down == to.down;
        self.graph_of(COMPASS_NODE_ATTRIBUTES, COMPASS_EDGE_ATTRIBUTES, in_line, |from, to| {
            let sides = [from.right > to.right, from.right < to.right, from.down > to.down, from.down < to.down];
            sides.map(|lies_there| f32::from(u8::from(lies_there)))
        })
    }

    /// The graph with the last `node_width` of the node attributes and the edges that `joined` lets through, given
    /// sender and receiver, with `more` numbers after the length of each.
    fn graph_of<const MORE: usize>(
        &self,
        node_width: usize,
        edge_width: usize,
        joined: impl Fn(&ObservedNode, &ObservedNode) -> bool,
        more: impl Fn(&ObservedNode, &ObservedNode) -> [f32; MORE],
    ) -> Result<Graph, TaskError> {
        let count = self.nodes.len();
        let mut nodes = Vec::with_capacity(node_width * count);
        for node in &self.nodes {
            let mut row = [f32::from(node.right), f32::from(node.down), 0.0, 0.0, 0.0];
            row[2 + node.kind as usize] = 1.0;
            nodes.extend_from_slice(&row[NODE_ATTRIBUTES - node_width..]);
        }
        let mut edges = Vec::with_capacity(count * count.saturating_sub(1));
        let mut weights = Vec::with_capacity(edge_width * edges.capacity());
        // Receivers in order, so that the graph's edges keep the order given here.
        for (receiver, to) in self.nodes.iter().enumerate() {
            for (sender, from) in self.nodes.iter().enumerate() {
                if sender != receiver && joined(from, to) {
                    edges.push([sender as u32, receiver as u32]);
                    weights.push(f32::from(to.right.abs_diff(from.right)) + f32::from(to.down.abs_diff(from.down)));
                    weights.extend(more(from, to));
                }
            }
        }
        let graph = Graph::new(count, &edges)?;
        Ok(graph
            .with_node_attributes(Attributes::new(node_width, nodes))?
            .with_edge_attributes(Attributes::new(edge_width, weights))?)
    }
}

impl Pacman {
    /// What the player sees, as nodes.
    pub fn observation(&self) -> Observation {
        let mut cells = vec![self.agent];
        cells.extend_from_slice(&self.dots);
        self.add_landmarks(&mut cells);
        let origin = self.agent();
        // A side is at most 250, so differences fit.
        let difference = |to: u16, from: u16| to as i16 - from as i16;
        let node = |(index, &cell): (usize, &Cell)| {
            let at = self.maze.position(cell);
            let kind = match index {
                0 => NodeKind::Agent,
                _ if index <= self.dots.len() => NodeKind::Dot,
                _ => NodeKind::Landmark,
            };
            ObservedNode { right: difference(at.x, origin.x), down: difference(at.y, origin.y), kind }
        };
        Observation { nodes: cells.iter().enumerate().map(node).collect() }
    }

    /// The game as a complete graph of agent, dots and landmarks; see [`Observation`].
    ///
    /// # Errors
    /// As [`Observation::graph`].
    pub fn observation_graph(&self) -> Result<Graph, TaskError> {
        self.observation().graph()
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
    fn a_compass_says_where_the_sender_lies_in_a_row_or_column() {
        let graph = game(&["@  ", "  .", "   "]).observation().compass_graph().unwrap();
        let edge = |sender: u32, receiver: u32| {
            let mut ends = graph.senders().iter().zip(graph.receivers());
            ends.position(|ends| ends == (&sender, &receiver)).map(|place| graph.edge_attributes().row(place).to_vec())
        };
        assert_eq!((graph.nodes(), graph.edges()), (3, 4), "agent and dot are not in line");
        assert_eq!(edge(1, 0), None);
        assert_eq!(rows(&graph)[1], [0.0, 1.0, 0.0], "a dot");
        let (near, far) = (edge(2, 0).unwrap(), edge(1, 2).unwrap());
        assert_eq!(near[0] + far[0], 3.0);
        // The landmark stands right of the agent and above the dot, or below the agent and left of the dot.
        let right = [1.0, 0.0, 0.0, 0.0];
        let below = [0.0, 0.0, 1.0, 0.0];
        assert!([(&right[..], &below[..]), (&below[..], &right[..])].contains(&(&near[1..], &far[1..])));
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
}
