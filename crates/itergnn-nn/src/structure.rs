//! The host side of a batch: who sends to whom.

use std::sync::Arc;

use burn::tensor::{Device, Int, Tensor, TensorData};
use itergnn_kernels::settings::Level;

use crate::error::Error;
use crate::ops::Segments;

/// Connectivity of a disjoint union of graphs, edges sorted by receiver, on the host.
#[derive(Clone, Debug)]
pub struct GraphStructure {
    senders: Arc<[u32]>,
    incoming: Segments,
    node_segments: Segments,
    edge_segments: Segments,
}

impl GraphStructure {
    /// A structure from the sender of every edge, the incoming edges of every node and the nodes of every graph.
    ///
    /// # Errors
    ///
    /// When the sizes disagree, a sender does not exist, or an edge joins two graphs.
    pub fn new(senders: impl Into<Arc<[u32]>>, incoming: Segments, node_segments: Segments) -> Result<Self, Error> {
        let senders = senders.into();
        if incoming.rows() != senders.len() {
            let (edges, found) = (incoming.rows(), senders.len());
            return Err(Error::Graph(format!("offsets describe {edges} edges, but there are {found} senders")));
        }
        if node_segments.rows() != incoming.len() {
            let (nodes, found) = (node_segments.rows(), incoming.len());
            return Err(Error::Graph(format!("the graphs hold {nodes} nodes, but offsets describe {found}")));
        }
        for (graph, nodes) in node_segments.iter().enumerate() {
            let edges = incoming.offsets()[nodes.start] as usize..incoming.offsets()[nodes.end] as usize;
            for edge in edges {
                if !nodes.contains(&(senders[edge] as usize)) {
                    let sender = senders[edge];
                    return Err(Error::Graph(format!(
                        "edge {edge} of graph {graph} comes from node {sender} outside it"
                    )));
                }
            }
        }
        Ok(Self::checked(senders, incoming, node_segments))
    }

    fn checked(senders: Arc<[u32]>, incoming: Segments, node_segments: Segments) -> Self {
        let edge_offsets: Vec<u32> =
            node_segments.offsets().iter().map(|&node| incoming.offsets()[node as usize]).collect();
        let edge_segments = Segments::from_offsets(edge_offsets);
        Self { senders, incoming, node_segments, edge_segments }
    }

    /// The sender of every edge.
    pub fn senders(&self) -> &[u32] {
        &self.senders
    }

    /// The incoming edges of every node.
    pub fn incoming(&self) -> &Segments {
        &self.incoming
    }

    /// The nodes of every graph.
    pub fn node_segments(&self) -> &Segments {
        &self.node_segments
    }

    /// The edges of every graph.
    pub fn edge_segments(&self) -> &Segments {
        &self.edge_segments
    }

    /// Where the rows of each graph begin in predictions at a level, `[graphs + 1]`.
    pub fn row_offsets(&self, level: Level) -> Vec<u32> {
        let (nodes, edges) = (self.node_segments.offsets(), self.edge_segments.offsets());
        match level {
            Level::Graph => (0..nodes.len() as u32).collect(),
            Level::Node => nodes.to_vec(),
            Level::Edge => edges.to_vec(),
            Level::Pointer => nodes.iter().zip(edges).map(|(nodes, edges)| nodes + edges).collect(),
        }
    }

    /// The union of the graphs in `keep`, in that order.
    ///
    /// # Panics
    ///
    /// When an index is not a graph.
    pub fn select_graphs(&self, keep: &[usize]) -> Self {
        let mut senders = Vec::new();
        let mut incoming = Vec::new();
        let mut nodes_before = 0_u32;
        for &graph in keep {
            let nodes = self.node_segments.range(graph);
            let first = nodes.start as u32;
            let edges = &self.senders[self.edge_segments.range(graph)];
            senders.extend(edges.iter().map(|&sender| sender - first + nodes_before));
            nodes_before += nodes.len() as u32;
            incoming.extend(nodes.map(|node| self.incoming.range(node).len()));
        }
        let node_segments = Segments::from_lengths(keep.iter().map(|&graph| self.node_segments.range(graph).len()));
        Self::checked(senders.into(), Segments::from_lengths(incoming), node_segments)
    }
}

/// Indices as an integer tensor.
pub(crate) fn index_tensor(indices: impl IntoIterator<Item = u32>, device: &Device) -> Tensor<1, Int> {
    let indices: Vec<i64> = indices.into_iter().map(i64::from).collect();
    let length = indices.len();
    Tensor::from_data(TensorData::new(indices, [length]), device)
}
