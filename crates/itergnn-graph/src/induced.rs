//! The part of a graph that some nodes span.

use crate::{Attributes, Graph, GraphError};

impl Graph {
    /// The graph of some nodes and all edges between them, attributes included.
    ///
    /// # Arguments
    /// Node `i` of the result is `nodes[i]`; no node may be named twice.
    ///
    /// # Errors
    /// [`GraphError::Node`] for a node that does not exist.
    ///
    /// # Panics
    /// If a node is named twice.
    ///
    /// # Complexity
    /// O(nodes + edges) of the whole graph.
    ///
    /// # Example
    /// ```
    /// use itergnn_graph::{Graph, solvers::components};
    /// let graph = Graph::undirected(5, &[[0, 1], [2, 4], [4, 3]])?;
    /// let part = graph.induced(&components::largest(&graph))?;
    /// assert_eq!(part.edge_list(), [[0, 2], [2, 1], [2, 0], [1, 2]]);
    /// # Ok::<(), itergnn_graph::GraphError>(())
    /// ```
    pub fn induced(&self, nodes: &[u32]) -> Result<Self, GraphError> {
        const OUTSIDE: u32 = u32::MAX;
        let mut place = vec![OUTSIDE; self.nodes()];
        for (new, &node) in (0_u32..).zip(nodes) {
            self.check_node(node)?;
            assert_eq!(place[node as usize], OUTSIDE, "node {node} is named twice");
            place[node as usize] = new;
        }
        let attributes = self.edge_attributes_in_original_order();
        let (mut edges, mut values) = (Vec::new(), Vec::new());
        for (index, [sender, receiver]) in self.edge_list().into_iter().enumerate() {
            let edge = [place[sender as usize], place[receiver as usize]];
            if !edge.contains(&OUTSIDE) {
                edges.push(edge);
                values.extend_from_slice(attributes.row(index));
            }
        }
        let rows = nodes.iter().flat_map(|&node| self.node_attributes().row(node as usize)).copied().collect();
        let width = if edges.is_empty() { 0 } else { attributes.width() };
        Self::new(nodes.len(), &edges)?
            .with_edge_attributes(Attributes::new(width, values))?
            .with_node_attributes(Attributes::new(self.node_attributes().width(), rows))?
            .with_global_attributes(self.global_attributes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_the_order_of_edges_stay() {
        let graph = Graph::new(4, &[[3, 0], [0, 1], [1, 3], [2, 2]])
            .and_then(|graph| graph.with_node_attributes(Attributes::new(1, vec![10.0, 11.0, 12.0, 13.0])))
            .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, vec![1.0, 2.0, 3.0, 4.0])))
            .unwrap();
        let part = graph.induced(&[3, 1, 0]).unwrap();
        assert_eq!(part.edge_list(), [[0, 2], [2, 1], [1, 0]]);
        assert_eq!(part.edge_attributes_in_original_order().values(), [1.0, 2.0, 3.0]);
        assert_eq!(part.node_attributes().values(), [13.0, 11.0, 10.0]);
        assert_eq!(graph.induced(&[1]).unwrap().edges(), 0);
        assert!(graph.induced(&[4]).is_err());
    }
}
