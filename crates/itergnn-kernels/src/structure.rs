//! Who sends to whom in a batch of graphs.

use std::sync::Arc;

use crate::block::BatchView;
use crate::error::KernelError;
use crate::segments::Segments;
use crate::settings::Level;

/// Connectivity of a disjoint union of graphs, edges sorted by receiver. Checked once, when it is made; a clone shares
/// everything.
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
    /// [`KernelError::Length`] and [`KernelError::Batch`] when the sizes disagree, a sender does not exist, or an edge
    /// joins two graphs.
    pub fn new(
        senders: impl Into<Arc<[u32]>>,
        incoming: Segments,
        node_segments: Segments,
    ) -> Result<Self, KernelError> {
        let senders = senders.into();
        for (what, expected, found) in
            [("senders", incoming.rows(), senders.len()), ("nodes of graphs", incoming.len(), node_segments.rows())]
        {
            if expected != found {
                return Err(KernelError::Length { what, expected, found });
            }
        }
        let structure = Self::checked(senders, incoming, node_segments);
        BatchView { checked: false, ..structure.view() }.validate()?;
        Ok(structure)
    }

    /// The structure as the kernels read it; they do not check it again.
    pub fn view(&self) -> BatchView<'_> {
        BatchView {
            node_offsets: self.node_segments.offsets(),
            edge_offsets: self.edge_segments.offsets(),
            senders: &self.senders,
            receiver_offsets: self.incoming.offsets(),
            checked: true,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_counts_its_own_nodes() {
        // An edge both ways, a lone node, a line of three.
        let incoming = Segments::from_lengths([1, 1, 0, 1, 2, 1]);
        let whole = GraphStructure::new(vec![1, 0, 4, 3, 5, 4], incoming, Segments::from_lengths([2, 1, 3]));
        let part = whole.expect("the edges stay in their graphs").select_graphs(&[2, 0]);
        assert_eq!(part.node_segments(), &Segments::from_lengths([3, 2]));
        assert_eq!(part.incoming(), &Segments::from_lengths([1, 2, 1, 1, 1]));
        assert_eq!(part.senders(), [1, 0, 2, 1, 4, 3]);
    }
}
