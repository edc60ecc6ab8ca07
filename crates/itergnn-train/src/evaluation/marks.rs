//! Marks on the ends of a path.

use itergnn_graph::{Attributes, EdgeWeights, Graph};
use itergnn_tasks::{navigation, shortest_path};

use crate::TrainError;

/// How a model is told where a path begins and ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Marks {
    /// Nodes are (source, target, other), times a scale that goes with the weights.
    Ends {
        /// The size of the marks: in training, weights around 1 go with marks of 1.
        scale: f32,
    },
    /// The same behind a height, which is the first node attribute and stays.
    EndsBehindHeight,
}

impl Marks {
    /// Marks for a graph with these weights: as large as the mean weight, so that the input is a scaled training input.
    pub fn for_weights(weights: &EdgeWeights) -> Self {
        let mean = weights.as_slice().iter().sum::<f64>() / weights.as_slice().len().max(1) as f64;
        Self::Ends { scale: if mean > 0.0 && mean.is_finite() { mean as f32 } else { 1.0 } }
    }

    /// The graph as a model sees it for two ends.
    ///
    /// # Errors
    /// [`TrainError::Task`] if a node does not exist, or has no height where one is needed.
    pub fn mark(self, graph: &Graph, source: u32, target: u32) -> Result<Graph, TrainError> {
        Ok(match self {
            Self::Ends { scale } => shortest_path::mark_ends(graph.clone(), source, target, scale)?,
            Self::EndsBehindHeight => navigation::mark_ends(graph.clone(), source, target)?,
        })
    }

    /// The attributes of a node with a mark.
    pub(super) fn row(self, graph: &Graph, node: u32, kind: usize) -> Vec<f32> {
        let mut row = match self {
            Self::Ends { .. } => vec![0.0; 3],
            Self::EndsBehindHeight => vec![graph.node_attributes().row(node as usize)[0], 0.0, 0.0, 0.0],
        };
        let (first, size) = match self {
            Self::Ends { scale } => (0, scale),
            Self::EndsBehindHeight => (1, 1.0),
        };
        row[first + kind] = size;
        row
    }

    /// The graph without ends.
    pub(super) fn mark_none(self, graph: &Graph) -> Result<Graph, TrainError> {
        let values: Vec<f32> = (0..graph.nodes() as u32).flat_map(|node| self.row(graph, node, OTHER)).collect();
        let width = values.len() / graph.nodes().max(1);
        Ok(graph.clone().with_node_attributes(Attributes::new(width, values))?)
    }
}

/// Marks by their places: the source, the target, and nodes that are neither.
pub(super) const SOURCE: usize = 0;
pub(super) const TARGET: usize = 1;
const OTHER: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::generators;

    #[test]
    fn single_rows_are_those_of_a_graph_with_both_marks() {
        let graph = generators::line(5).unwrap();
        let heights = Attributes::new(1, vec![0.1, 0.2, 0.3, 0.4, 0.5]);
        let graph = graph.with_node_attributes(heights).unwrap();
        for marks in [Marks::Ends { scale: 2.5 }, Marks::EndsBehindHeight] {
            let both = marks.mark(&graph, 1, 3).unwrap();
            let none = marks.mark_none(&graph).unwrap();
            for node in 0..5_u32 {
                let kind = [OTHER, SOURCE, OTHER, TARGET, OTHER][node as usize];
                assert_eq!(marks.row(&graph, node, kind), both.node_attributes().row(node as usize));
                assert_eq!(marks.row(&graph, node, OTHER), none.node_attributes().row(node as usize));
            }
        }
    }
}
