//! Edge weights that solvers may trust.

use crate::{Graph, GraphError};

/// One finite, non-negative weight for each edge position of a graph.
///
/// Checked once here, so that solvers need not check again. Weights are `f64`: sums of `f32` weights along a path are
/// then exact enough to compare paths.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeWeights(Vec<f64>);

impl EdgeWeights {
    /// Weight 1 on every edge.
    pub fn unit(graph: &Graph) -> Self {
        Self(vec![1.0; graph.edges()])
    }

    /// Column `column` of the edge attributes; weight 1 everywhere when the graph has no edge attributes.
    ///
    /// # Errors
    /// [`GraphError::Weight`] names the first edge (in the order given) with a negative weight;
    /// [`GraphError::Parameter`] if there is no such column.
    pub fn from_attribute(graph: &Graph, column: usize) -> Result<Self, GraphError> {
        let attributes = graph.edge_attributes();
        if attributes.width() == 0 {
            return Ok(Self::unit(graph));
        }
        if column >= attributes.width() {
            let why = format!("column {column} of {} asked for", attributes.width());
            return Err(GraphError::Parameter { what: "edge weights", why });
        }
        Self::new(graph, attributes.rows().map(|row| f64::from(row[column])).collect())
    }

    /// Weights by edge position.
    ///
    /// # Errors
    /// [`GraphError::Weight`] or [`GraphError::RowCount`].
    pub fn new(graph: &Graph, weights: Vec<f64>) -> Result<Self, GraphError> {
        if weights.len() != graph.edges() {
            return Err(GraphError::RowCount { what: "edge weights", expected: graph.edges(), found: weights.len() });
        }
        match weights.iter().position(|&weight| !(weight.is_finite() && weight >= 0.0)) {
            Some(at) => Err(GraphError::Weight { edge: graph.original_edges()[at] as usize, value: weights[at] }),
            None => Ok(Self(weights)),
        }
    }

    /// The weight of the edge at `position`.
    pub fn at(&self, position: usize) -> f64 {
        self.0[position]
    }

    /// All weights by position.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Attributes;

    #[test]
    fn a_negative_weight_is_named_by_its_original_edge() {
        let graph = Graph::new(2, &[[0, 1], [1, 0]])
            .unwrap()
            .with_edge_attributes(Attributes::new(1, vec![-1.0, 2.0]))
            .unwrap();
        let error = EdgeWeights::from_attribute(&graph, 0).unwrap_err();
        assert_eq!(error.to_string(), "edge 0 has weight -1, expected a finite number that is not negative");
        assert!(EdgeWeights::from_attribute(&graph, 1).is_err());
    }
}
