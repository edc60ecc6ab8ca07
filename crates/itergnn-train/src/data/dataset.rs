//! Labelled graphs, whoever has them.

use std::borrow::Cow;

use itergnn_graph::Graph;
use itergnn_nn::Level;
use itergnn_tasks::Sample;

use crate::TrainError;

/// A graph and what a model should say about it.
///
/// # Shapes
/// | level | `target` |
/// |---|---|
/// | graph | `[outputs]` |
/// | node | `[nodes, outputs]`, or `[target_nodes.len(), outputs]` where only some nodes have a target |
/// | edge | `[edges, outputs]`, in the order in which the edges were given |
/// | pointer | `[nodes]`: the incoming edge that is right, by its place in that order, or -1 for the node itself |
///
/// Classes are whole numbers from 0 on, one per row.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The model's input.
    pub graph: Graph,
    /// What it should predict, row after row.
    pub target: Vec<f32>,
    /// The nodes that have a target, where not all of them have.
    pub target_nodes: Vec<u32>,
}

impl Example {
    /// A graph with a target for all of it.
    pub fn new(graph: Graph, target: Vec<f32>) -> Self {
        Self { graph, target, target_nodes: Vec::new() }
    }

    /// The width of the edge attributes; a graph without edges does not say it.
    pub(crate) fn edge_width(&self) -> Option<usize> {
        (self.graph.edges() > 0).then(|| self.graph.edge_attributes().width())
    }

    /// Rows of the target at a level.
    pub fn rows(&self, level: Level) -> usize {
        match level {
            Level::Graph => 1,
            Level::Node if !self.target_nodes.is_empty() => self.target_nodes.len(),
            Level::Node | Level::Pointer => self.graph.nodes(),
            Level::Edge => self.graph.edges(),
        }
    }

    /// Numbers in a row of the target at a level.
    ///
    /// # Errors
    /// A line that says what does not fit.
    pub fn outputs(&self, level: Level) -> Result<usize, String> {
        let (rows, numbers) = (self.rows(level), self.target.len());
        if rows == 0 && numbers == 0 {
            return Ok(0);
        }
        let outputs = numbers / rows.max(1);
        if outputs == 0 || outputs * rows != numbers || (level == Level::Pointer && outputs != 1) {
            return Err(format!("{numbers} numbers in the target do not make {rows} rows, one per {level}"));
        }
        Ok(outputs)
    }

    /// The target in the order in which a network answers: edges by their position in the graph.
    pub(crate) fn target_by_position(&self, level: Level) -> Cow<'_, [f32]> {
        match level {
            Level::Edge => {
                let outputs = self.target.len() / self.graph.edges().max(1);
                let row = |&edge: &u32| &self.target[edge as usize * outputs..(edge as usize + 1) * outputs];
                Cow::Owned(self.graph.original_edges().iter().flat_map(row).copied().collect())
            }
            _ => Cow::Borrowed(&self.target),
        }
    }

    /// What every node should point at: the position of an incoming edge, or `None` for itself.
    ///
    /// # Errors
    /// A line that names a target that is no choice of its node.
    pub(crate) fn pointers(&self) -> Result<Vec<Option<u32>>, String> {
        let mut positions = vec![0_u32; self.graph.edges()];
        for (position, &edge) in self.graph.original_edges().iter().enumerate() {
            positions[edge as usize] = position as u32;
        }
        let pointer = |(node, &target): (usize, &f32)| {
            if target == -1.0 {
                return Ok(None);
            }
            let place = (target >= 0.0 && target.fract() == 0.0).then_some(target as usize);
            let position = place.and_then(|place| positions.get(place)).copied();
            let reaches = |position: &u32| self.graph.incoming_positions(node as u32).contains(&(*position as usize));
            position.filter(reaches).map(Some).ok_or_else(|| {
                format!("node {node} cannot point at {target}: expected the index of an edge that reaches it, or -1")
            })
        };
        self.target.iter().enumerate().map(pointer).collect()
    }
}

impl From<(Graph, Vec<f32>)> for Example {
    fn from((graph, target): (Graph, Vec<f32>)) -> Self {
        Self::new(graph, target)
    }
}

impl From<Sample> for Example {
    fn from(sample: Sample) -> Self {
        Self { graph: sample.graph, target: sample.target, target_nodes: sample.target_nodes }
    }
}

/// Labelled graphs to learn from: a type of yours, a `Vec` of graphs with their targets, a file of JSON lines
/// ([`read_examples`](super::read_examples)), or a built-in task ([`SampleSource`](super::SampleSource)).
///
/// # Example
/// ```
/// use std::borrow::Cow;
/// use itergnn_graph::Graph;
/// use itergnn_train::TrainError;
/// use itergnn_train::data::{Dataset, Example};
///
/// /// Lines of 2, 3, .. nodes, labelled with their length.
/// struct Lines(u64);
///
/// impl Dataset for Lines {
///     fn len(&self) -> u64 {
///         self.0
///     }
///
///     fn sample(&self, index: u64) -> Result<Cow<'_, Example>, TrainError> {
///         let edges: Vec<[u32; 2]> = (0..=index as u32).map(|node| [node, node + 1]).collect();
///         let graph = Graph::undirected(index as usize + 2, &edges)?;
///         Ok(Cow::Owned(Example::new(graph, vec![index as f32 + 1.0])))
///     }
/// }
/// assert_eq!(Lines(5).sample(4)?.target, [5.0]);
/// # Ok::<(), TrainError>(())
/// ```
pub trait Dataset: Send + Sync {
    /// How many samples there are.
    fn len(&self) -> u64;

    /// Sample `index`, counted from 0; the same whenever it is asked for.
    ///
    /// # Errors
    /// Whatever keeps the sample from being had.
    fn sample(&self, index: u64) -> Result<Cow<'_, Example>, TrainError>;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Dataset for Vec<Example> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn sample(&self, index: u64) -> Result<Cow<'_, Example>, TrainError> {
        Ok(Cow::Borrowed(&self[index as usize]))
    }
}

impl Dataset for Vec<(Graph, Vec<f32>)> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn sample(&self, index: u64) -> Result<Cow<'_, Example>, TrainError> {
        Ok(Cow::Owned(self[index as usize].clone().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two edges into node 0, one into node 2, given in another order than the graph keeps them in.
    fn example(target: Vec<f32>) -> Example {
        Example::new(Graph::new(3, &[[0, 2], [2, 0], [1, 0]]).unwrap(), target)
    }

    #[test]
    fn targets_of_edges_follow_their_edges() {
        let example = example(vec![20.0, 1.0, 2.0]);
        assert_eq!(example.outputs(Level::Edge), Ok(1));
        let targets = example.target_by_position(Level::Edge);
        let by_ends = example.graph.senders().iter().zip(example.graph.receivers()).zip(&*targets);
        let found: Vec<(u32, u32, f32)> = by_ends.map(|((&from, &to), &target)| (from, to, target)).collect();
        assert!(found.contains(&(0, 2, 20.0)) && found.contains(&(2, 0, 1.0)) && found.contains(&(1, 0, 2.0)));
    }

    #[test]
    fn pointers_are_incoming_edges_or_the_node_itself() {
        let pointers = example(vec![2.0, -1.0, 0.0]).pointers().unwrap();
        let graph = example(Vec::new()).graph;
        let ends =
            pointers.iter().map(|pointer| pointer.map(|edge| graph.senders()[edge as usize])).collect::<Vec<_>>();
        assert_eq!(ends, [Some(1), None, Some(0)]);
        for wrong in [vec![0.0, -1.0, -1.0], vec![7.0, -1.0, -1.0], vec![0.5, -1.0, -1.0]] {
            assert!(example(wrong).pointers().unwrap_err().starts_with("node 0 cannot point at "));
        }
    }

    #[test]
    fn a_target_of_the_wrong_length_is_named() {
        assert!(example(vec![1.0, 2.0]).outputs(Level::Node).unwrap_err().contains("3 rows, one per node"));
        assert_eq!(example(vec![1.0; 6]).outputs(Level::Node), Ok(2));
        assert_eq!(example(vec![1.0; 2]).outputs(Level::Graph), Ok(2));
        assert!(example(vec![1.0; 6]).outputs(Level::Pointer).is_err());
    }
}
