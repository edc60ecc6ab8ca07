//! A walk through a graph and its length.

use serde::{Deserialize, Serialize};

use crate::{EdgeWeights, Graph};

/// Nodes from a source to a target, both included, and the sum of the weights between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// The nodes in walking order; one node when source and target are the same.
    pub nodes: Vec<u32>,
    /// The sum of the edge weights.
    pub length: f64,
}

impl Path {
    /// The path over these nodes with its true length, taking the lightest of parallel edges; `None` where two
    /// successive nodes are not joined.
    ///
    /// # Complexity
    /// The sum of the in-degrees along the path.
    pub fn measure(graph: &Graph, weights: &EdgeWeights, nodes: Vec<u32>) -> Option<Self> {
        if nodes.is_empty() || nodes.iter().any(|&node| node as usize >= graph.nodes()) {
            return None;
        }
        let mut length = 0.0;
        for pair in nodes.windows(2) {
            length += lightest_edge(graph, weights, pair[0], pair[1])?;
        }
        Some(Self { nodes, length })
    }
}

/// The smallest weight among the edges from `sender` to `receiver`.
fn lightest_edge(graph: &Graph, weights: &EdgeWeights, sender: u32, receiver: u32) -> Option<f64> {
    let positions = graph.incoming_positions(receiver).filter(|&position| graph.senders[position] == sender);
    positions.map(|position| weights.at(position)).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measuring_takes_the_lightest_parallel_edge_and_sees_gaps() {
        let graph = Graph::new(3, &[[0, 1], [0, 1], [1, 2]]).unwrap();
        let weights = EdgeWeights::new(&graph, vec![3.0, 2.0, 5.0]).unwrap();
        assert_eq!(Path::measure(&graph, &weights, vec![0, 1, 2]).unwrap().length, 7.0);
        assert_eq!(Path::measure(&graph, &weights, vec![1]).unwrap().length, 0.0);
        assert!(Path::measure(&graph, &weights, vec![2, 1]).is_none());
        assert!(Path::measure(&graph, &weights, vec![0, 9]).is_none());
    }
}
