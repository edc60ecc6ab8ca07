//! To and from petgraph.

use petgraph::{
    Directed,
    graph::{DiGraph, NodeIndex},
    visit::EdgeRef,
};

use crate::{Attributes, Graph, GraphError};

impl Graph {
    /// The same graph for petgraph, attributes as weights; edge indices are the order in which the edges were given.
    ///
    /// # Example
    /// ```
    /// use itergnn_graph::Graph;
    /// let graph = Graph::undirected(3, &[[0, 1], [1, 2]])?;
    /// assert_eq!(petgraph::algo::connected_components(&graph.to_petgraph()), 1);
    /// # Ok::<(), itergnn_graph::GraphError>(())
    /// ```
    pub fn to_petgraph(&self) -> DiGraph<Vec<f32>, Vec<f32>, u32> {
        let mut result = petgraph::Graph::<_, _, Directed, u32>::with_capacity(self.nodes(), self.edges());
        for node in 0..self.nodes() {
            result.add_node(self.node_attributes.row(node).to_vec());
        }
        let attributes = self.edge_attributes_in_original_order();
        for (edge, [sender, receiver]) in self.edge_list().into_iter().enumerate() {
            result.add_edge(NodeIndex::from(sender), NodeIndex::from(receiver), attributes.row(edge).to_vec());
        }
        result
    }

    /// The graph of a petgraph `DiGraph` whose weights are attribute rows.
    ///
    /// # Errors
    /// [`GraphError::RowLength`] or [`GraphError::NotFinite`] names the offending node or edge.
    pub fn from_petgraph<N: AsRef<[f32]>, E: AsRef<[f32]>>(source: &DiGraph<N, E, u32>) -> Result<Self, GraphError> {
        let edges: Vec<_> =
            source.edge_references().map(|edge| [edge.source().index() as u32, edge.target().index() as u32]).collect();
        let node_rows: Vec<_> = source.node_weights().map(AsRef::as_ref).collect();
        let edge_rows: Vec<_> = source.edge_references().map(|edge| edge.weight().as_ref()).collect();
        Self::new(source.node_count(), &edges)?
            .with_node_attributes(Attributes::from_rows("node attributes", &node_rows)?)?
            .with_edge_attributes(Attributes::from_rows("edge attributes", &edge_rows)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_keeps_everything() {
        let graph = Graph::new(3, &[[2, 1], [0, 1], [1, 0], [2, 1]])
            .unwrap()
            .with_node_attributes(Attributes::new(2, (0..6).map(|value| value as f32).collect()))
            .unwrap()
            .with_edge_attributes(Attributes::new(1, vec![1.0, 2.0, 3.0, 4.0]))
            .unwrap();
        assert_eq!(Graph::from_petgraph(&graph.to_petgraph()).unwrap(), graph);
    }
}
