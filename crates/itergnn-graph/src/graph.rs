//! A directed graph in CSR form, sorted by receiver.

use serde::{Deserialize, Serialize};

use crate::{Adjacency, AdjacencyView, Attributes, GraphError, adjacency::counting_sort};

/// A directed graph with attributes on nodes, edges and the whole.
///
/// Edges are stored sorted by receiver, because every aggregation of a graph neural network is per receiver: the
/// incoming edges of node `v` are the *positions* `offsets[v] .. offsets[v + 1]`. Among edges of one receiver the order
/// in which they were given is kept. An undirected graph holds both directions. Self-loops and parallel edges are
/// allowed.
///
/// | field | length | meaning |
/// |---|---|---|
/// | `offsets` | nodes + 1 | where each receiver's edges begin |
/// | `senders` | edges | sender of the edge at each position |
/// | `receivers` | edges | receiver of the edge at each position, ascending |
/// | `original_edges` | edges | which edge, in the order given at construction, stands at each position |
/// | `node_attributes` | nodes rows | x_v |
/// | `edge_attributes` | edges rows, by position | x_e |
/// | `global_attributes` | any | u |
///
/// Serialised with the edges (and their attributes) in the order given, as `{nodes, node_attributes, edges: [[sender,
/// receiver], ..], edge_attributes, global_attributes}`; deserialising validates.
///
/// # Example
/// ```
/// use itergnn_graph::{Attributes, Graph};
/// let graph = Graph::new(3, &[[2, 1], [0, 1], [1, 0]])?
///     .with_edge_attributes(Attributes::new(1, vec![0.5, 1.5, 2.5]))?;
/// assert_eq!(graph.senders_of(1), &[2, 0]);
/// assert_eq!(graph.edge_attributes().values(), &[2.5, 0.5, 1.5]); // by position: receiver 0 first
/// assert_eq!(graph.original_edges(), &[2, 0, 1]);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GraphRecord", into = "GraphRecord")]
pub struct Graph {
    pub(crate) offsets: Vec<u32>,
    pub(crate) senders: Vec<u32>,
    pub(crate) receivers: Vec<u32>,
    pub(crate) original_edges: Vec<u32>,
    pub(crate) node_attributes: Attributes,
    pub(crate) edge_attributes: Attributes,
    pub(crate) global_attributes: Vec<f32>,
}

impl Graph {
    /// A graph of `nodes` nodes and the given `[sender, receiver]` edges, without attributes.
    ///
    /// # Errors
    /// [`GraphError::EdgeEndpoint`] names the first edge with an end that does not exist; [`GraphError::TooLarge`] if
    /// nodes or edges do not fit in 32-bit indices.
    ///
    /// # Complexity
    /// O(nodes + edges).
    pub fn new(nodes: usize, edges: &[[u32; 2]]) -> Result<Self, GraphError> {
        let limit = u32::MAX as usize - 1;
        for (what, found) in [("nodes", nodes), ("edges", edges.len())] {
            if found > limit {
                return Err(GraphError::TooLarge { what, found, limit });
            }
        }
        for (edge, ends) in edges.iter().enumerate() {
            for (node, role) in ends.iter().zip(["sender", "receiver"]) {
                if *node as usize >= nodes {
                    return Err(GraphError::EdgeEndpoint { edge, role, node: *node, nodes });
                }
            }
        }
        let (offsets, original_edges) = counting_sort(nodes, edges.len(), |edge| edges[edge][1]);
        let senders = original_edges.iter().map(|&edge| edges[edge as usize][0]).collect();
        let receivers = original_edges.iter().map(|&edge| edges[edge as usize][1]).collect();
        Ok(Self {
            offsets,
            senders,
            receivers,
            original_edges,
            node_attributes: Attributes::none(),
            edge_attributes: Attributes::none(),
            global_attributes: Vec::new(),
        })
    }

    /// A graph that holds both directions of each pair: first all pairs as given, then all of them reversed.
    ///
    /// # Errors
    /// As [`Graph::new`].
    pub fn undirected(nodes: usize, pairs: &[[u32; 2]]) -> Result<Self, GraphError> {
        let mut edges = Vec::with_capacity(2 * pairs.len());
        edges.extend_from_slice(pairs);
        edges.extend(pairs.iter().map(|&[a, b]| [b, a]));
        Self::new(nodes, &edges)
    }

    /// Sets the node attributes, one row per node.
    ///
    /// # Errors
    /// [`GraphError::RowCount`] or [`GraphError::NotFinite`].
    pub fn with_node_attributes(mut self, attributes: Attributes) -> Result<Self, GraphError> {
        attributes.check("node attributes", self.nodes())?;
        self.node_attributes = attributes;
        Ok(self)
    }

    /// Sets the edge attributes, one row per edge, **in the order in which the edges were given** at construction.
    ///
    /// # Errors
    /// [`GraphError::RowCount`] or [`GraphError::NotFinite`].
    pub fn with_edge_attributes(mut self, attributes: Attributes) -> Result<Self, GraphError> {
        attributes.check("edge attributes", self.edges())?;
        self.edge_attributes = attributes.gather(&self.original_edges);
        Ok(self)
    }

    /// Sets the attributes of the graph as a whole.
    ///
    /// # Errors
    /// [`GraphError::NotFinite`].
    pub fn with_global_attributes(mut self, attributes: Vec<f32>) -> Result<Self, GraphError> {
        if let Some(column) = attributes.iter().position(|value| !value.is_finite()) {
            let value = f64::from(attributes[column]);
            return Err(GraphError::NotFinite { what: "global attributes", row: 0, column, value });
        }
        self.global_attributes = attributes;
        Ok(self)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of directed edges.
    pub fn edges(&self) -> usize {
        self.senders.len()
    }

    /// Where each receiver's edges begin; one more than there are nodes.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The sender of the edge at each position.
    pub fn senders(&self) -> &[u32] {
        &self.senders
    }

    /// The receiver of the edge at each position, ascending.
    pub fn receivers(&self) -> &[u32] {
        &self.receivers
    }

    /// Which edge, in the order given at construction, stands at each position.
    pub fn original_edges(&self) -> &[u32] {
        &self.original_edges
    }

    /// The positions of the edges that `receiver` receives.
    pub fn incoming_positions(&self, receiver: u32) -> std::ops::Range<usize> {
        self.offsets[receiver as usize] as usize..self.offsets[receiver as usize + 1] as usize
    }

    /// The senders of the edges that `receiver` receives.
    pub fn senders_of(&self, receiver: u32) -> &[u32] {
        &self.senders[self.incoming_positions(receiver)]
    }

    /// One row per node; width 0 when there are none.
    pub fn node_attributes(&self) -> &Attributes {
        &self.node_attributes
    }

    /// One row per edge, by position; width 0 when there are none.
    pub fn edge_attributes(&self) -> &Attributes {
        &self.edge_attributes
    }

    /// The attributes of the graph as a whole.
    pub fn global_attributes(&self) -> &[f32] {
        &self.global_attributes
    }

    /// The `[sender, receiver]` pairs in the order in which they were given.
    pub fn edge_list(&self) -> Vec<[u32; 2]> {
        let mut edges = vec![[0, 0]; self.edges()];
        for (position, &edge) in self.original_edges.iter().enumerate() {
            edges[edge as usize] = [self.senders[position], self.receivers[position]];
        }
        edges
    }

    /// The edge attributes in the order in which the edges were given.
    pub fn edge_attributes_in_original_order(&self) -> Attributes {
        let mut positions = vec![0; self.edges()];
        for (position, &edge) in self.original_edges.iter().enumerate() {
            positions[edge as usize] = position as u32;
        }
        self.edge_attributes.gather(&positions)
    }

    /// Whether every edge also exists in the other direction (with any attributes).
    ///
    /// # Complexity
    /// O(edges log degree).
    pub fn is_symmetric(&self) -> bool {
        let outgoing = Adjacency::outgoing(self);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let gather = |list: &mut Vec<u32>, view: AdjacencyView<'_>, node: u32| {
            list.clear();
            list.extend(view.of(node).map(|(neighbour, _)| neighbour));
            list.sort_unstable();
            list.dedup();
        };
        (0..self.nodes() as u32).all(|node| {
            gather(&mut left, outgoing.view(), node);
            gather(&mut right, AdjacencyView::incoming(self), node);
            left == right
        })
    }

    /// Checks that a node exists.
    ///
    /// # Errors
    /// [`GraphError::Node`].
    pub fn check_node(&self, node: u32) -> Result<(), GraphError> {
        if (node as usize) < self.nodes() { Ok(()) } else { Err(GraphError::Node { node, nodes: self.nodes() }) }
    }
}

/// The serialised form: edges as the user gave them.
#[derive(Serialize, Deserialize)]
struct GraphRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<usize>,
    #[serde(default)]
    node_attributes: Attributes,
    edges: Vec<[u32; 2]>,
    #[serde(default)]
    edge_attributes: Attributes,
    /// Only where there are no edges to tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edge_attribute_width: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    global_attributes: Vec<f32>,
}

impl TryFrom<GraphRecord> for Graph {
    type Error = GraphError;

    fn try_from(record: GraphRecord) -> Result<Self, GraphError> {
        let nodes = record.nodes.unwrap_or(record.node_attributes.len());
        // A count that the rest of the record does not bear out would let a few bytes ask for gigabytes of offsets.
        if record.node_attributes.width() == 0 && nodes > 64 * (record.edges.len() + 1_000) {
            let why = format!("{nodes} nodes without attributes and only {} edges", record.edges.len());
            return Err(GraphError::Parameter { what: "nodes", why });
        }
        record.node_attributes.check("node attributes", nodes)?;
        let edge_attributes = match record.edge_attribute_width {
            Some(width) if record.edge_attributes.is_empty() => Attributes::new(width, Vec::new()),
            _ => record.edge_attributes,
        };
        Self::new(nodes, &record.edges)?
            .with_node_attributes(record.node_attributes)?
            .with_edge_attributes(edge_attributes)?
            .with_global_attributes(record.global_attributes)
    }
}

impl From<Graph> for GraphRecord {
    fn from(graph: Graph) -> Self {
        let edge_width = graph.edge_attributes.width();
        Self {
            nodes: Some(graph.nodes()),
            edge_attribute_width: (graph.edges() == 0 && edge_width > 0).then_some(edge_width),
            edges: graph.edge_list(),
            edge_attributes: graph.edge_attributes_in_original_order(),
            node_attributes: graph.node_attributes,
            global_attributes: graph.global_attributes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_out_of_range_is_named() {
        let error = Graph::new(2, &[[0, 1], [1, 2]]).unwrap_err();
        assert_eq!(error.to_string(), "edge 1 names receiver 2, but the graph has 2 nodes (0..2)");
    }

    #[test]
    fn attributes_are_checked() {
        let graph = Graph::new(2, &[[0, 1]]).unwrap();
        let short = graph.clone().with_node_attributes(Attributes::new(1, vec![1.0])).unwrap_err();
        assert_eq!(short.to_string(), "node attributes: expected 2 rows, found 1");
        let nan = graph.with_edge_attributes(Attributes::new(2, vec![1.0, f32::NAN])).unwrap_err();
        assert_eq!(nan.to_string(), "edge attributes: row 0, column 1 is NaN, expected a finite number");
    }

    #[test]
    fn edge_list_restores_the_given_order() {
        let edges = [[2, 1], [0, 1], [1, 0], [2, 1], [1, 1]];
        let graph = Graph::new(3, &edges).unwrap();
        assert_eq!(graph.edge_list(), edges);
        assert_eq!(graph.receivers(), &[0, 1, 1, 1, 1]);
        assert_eq!(graph.senders_of(1), &[2, 0, 2, 1]);
    }

    #[test]
    fn json_round_trip_and_validation() {
        let graph = Graph::new(2, &[[1, 0], [0, 1]])
            .unwrap()
            .with_node_attributes(Attributes::new(2, vec![1.0, 2.0, 3.0, 4.0]))
            .unwrap()
            .with_edge_attributes(Attributes::new(1, vec![9.0, 8.0]))
            .unwrap();
        let text = serde_json::to_string(&graph).unwrap();
        assert_eq!(
            text,
            r#"{"nodes":2,"node_attributes":[[1.0,2.0],[3.0,4.0]],"edges":[[1,0],[0,1]],"edge_attributes":[[9.0],[8.0]]}"#
        );
        assert_eq!(serde_json::from_str::<Graph>(&text).unwrap(), graph);
        assert!(serde_json::from_str::<Graph>(r#"{"nodes":1,"edges":[[0,1]]}"#).is_err());
        assert!(serde_json::from_str::<Graph>(r#"{"nodes":4000000000,"edges":[]}"#).is_err());
    }

    #[test]
    fn symmetry_is_seen() {
        assert!(Graph::undirected(3, &[[0, 1], [1, 2]]).unwrap().is_symmetric());
        assert!(!Graph::new(3, &[[0, 1], [1, 2]]).unwrap().is_symmetric());
    }
}
