//! Bellman and Ford's algorithm: any weights, and a witness where no answer exists.

use super::dijkstra::ShortestPaths;
use crate::{Graph, GraphError};

/// Distances from `source` to every node; weights by edge position may be negative.
///
/// # Errors
/// [`GraphError::NegativeCycle`] names a node on a cycle that makes paths ever shorter; [`GraphError::Node`];
/// [`GraphError::NotFinite`] or [`GraphError::RowCount`] for bad weights.
///
/// # Complexity
/// O(nodes * edges) at worst, O(hops * edges) where shortest paths have at most that many hops.
///
/// # Example
/// ```
/// use itergnn_graph::{Graph, solvers::bellman_ford};
/// let graph = Graph::new(3, &[[0, 1], [1, 2], [0, 2]])?; // positions: 0->1, 1->2, 0->2
/// assert_eq!(bellman_ford::distances_from(&graph, &[4.0, -3.0, 2.0], 0)?.distances, vec![0.0, 4.0, 1.0]);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
pub fn distances_from(graph: &Graph, weights: &[f64], source: u32) -> Result<ShortestPaths, GraphError> {
    graph.check_node(source)?;
    if weights.len() != graph.edges() {
        let (expected, found) = (graph.edges(), weights.len());
        return Err(GraphError::RowCount { what: "edge weights", expected, found });
    }
    if let Some(position) = weights.iter().position(|weight| !weight.is_finite()) {
        let row = graph.original_edges()[position] as usize;
        return Err(GraphError::NotFinite { what: "edge weights", row, column: 0, value: weights[position] });
    }
    let mut tree = ShortestPaths::new(graph.nodes(), source);
    for _ in 0..graph.nodes() {
        if relax_all(graph, weights, &mut tree).is_none() {
            return Ok(tree);
        }
    }
    match relax_all(graph, weights, &mut tree) {
        // A node that still improves after `nodes` rounds hangs off a cycle; `nodes` steps up the tree end on it.
        Some(node) => {
            let on_cycle = (0..graph.nodes()).fold(node, |node, _| tree.parent(node).unwrap_or(node));
            Err(GraphError::NegativeCycle { node: on_cycle })
        }
        None => Ok(tree),
    }
}

/// One round over all edges; the last node that improved, if any.
fn relax_all(graph: &Graph, weights: &[f64], tree: &mut ShortestPaths) -> Option<u32> {
    let mut improved = None;
    for ((&sender, &receiver), weight) in graph.senders().iter().zip(graph.receivers()).zip(weights) {
        let length = tree.distances[sender as usize] + weight;
        if length.is_finite() && tree.relax(sender, receiver, length) {
            improved = Some(receiver);
        }
    }
    improved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_cycle_is_named() {
        let graph = Graph::new(4, &[[0, 1], [1, 2], [2, 1], [2, 3]]).unwrap();
        let weights: Vec<_> = graph.senders().iter().map(|&sender| if sender == 2 { -2.0 } else { 1.0 }).collect();
        let error = distances_from(&graph, &weights, 0).unwrap_err();
        assert!(matches!(error, GraphError::NegativeCycle { node: 1 | 2 }), "{error}");
        // The cycle cannot be reached from 3.
        assert_eq!(distances_from(&graph, &weights, 3).unwrap().distances[3], 0.0);
    }

    #[test]
    fn weights_are_checked() {
        let graph = Graph::new(2, &[[0, 1]]).unwrap();
        assert!(distances_from(&graph, &[], 0).is_err());
        assert!(distances_from(&graph, &[f64::NAN], 0).is_err());
    }
}
