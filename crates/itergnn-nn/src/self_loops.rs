//! The edges of a graph with exactly one self-loop per node.

use burn::tensor::{Device, Int, Tensor};

use crate::GraphStructure;
use crate::index::index_tensor;
use crate::ops::Segments;

/// Edges without their self-loops, and with one loop added as the last incoming edge of every node.
///
/// GCN and GAT let every node hear itself once. PyG's `add_remaining_self_loops` (GCN) and `remove_self_loops` +
/// `add_self_loops` (GAT) give the same edges and differ in the attribute of the loop only: GCN keeps the weight of an
/// old loop and else takes a constant, GAT takes the mean of the other incoming attributes.
#[derive(Clone, Debug)]
pub(crate) struct SelfLoops {
    /// The sender of every edge, `[looped edges]`.
    pub(crate) senders: Tensor<1, Int>,
    /// The receiver of every edge, `[looped edges]`.
    pub(crate) receivers: Tensor<1, Int>,
    /// The incoming edges of every node, its loop last.
    pub(crate) incoming: Segments,
    /// The original edges that are no loops.
    pub(crate) kept: Tensor<1, Int>,
    /// The incoming edges of every node among `kept`.
    pub(crate) kept_incoming: Segments,
    /// For every edge its row in `[original weights ; fill]`, where `fill` is one row for new loops.
    pub(crate) weight_rows: Tensor<1, Int>,
    /// For every edge its row in `[original attributes ; one row per node for its loop]`.
    pub(crate) attribute_rows: Tensor<1, Int>,
}

impl SelfLoops {
    pub(crate) fn new(structure: &GraphStructure, device: &Device) -> Self {
        let loops = LoopIndices::new(structure.senders(), structure.incoming());
        Self {
            senders: index_tensor(loops.senders, device),
            receivers: index_tensor(loops.incoming.ids(), device),
            incoming: loops.incoming,
            kept: index_tensor(loops.kept, device),
            kept_incoming: loops.kept_incoming,
            weight_rows: index_tensor(loops.weight_rows, device),
            attribute_rows: index_tensor(loops.attribute_rows, device),
        }
    }
}

/// The indices of [`SelfLoops`] on the host.
struct LoopIndices {
    senders: Vec<u32>,
    incoming: Segments,
    kept: Vec<u32>,
    kept_incoming: Segments,
    weight_rows: Vec<u32>,
    attribute_rows: Vec<u32>,
}

impl LoopIndices {
    fn new(senders: &[u32], incoming: &Segments) -> Self {
        let fill = senders.len() as u32;
        let mut looped = Vec::with_capacity(senders.len() + incoming.len());
        let (mut kept, mut kept_lengths) = (Vec::with_capacity(senders.len()), Vec::with_capacity(incoming.len()));
        let (mut weight_rows, mut attribute_rows) = (Vec::new(), Vec::new());
        for (node, edges) in incoming.iter().enumerate() {
            let before = kept.len();
            let mut loop_weight = fill;
            for edge in edges {
                if senders[edge] as usize == node {
                    // Of several loops PyG keeps the last one's weight.
                    loop_weight = edge as u32;
                } else {
                    looped.push(senders[edge]);
                    kept.push(edge as u32);
                    weight_rows.push(edge as u32);
                    attribute_rows.push(edge as u32);
                }
            }
            looped.push(node as u32);
            weight_rows.push(loop_weight);
            attribute_rows.push(fill + node as u32);
            kept_lengths.push(kept.len() - before);
        }
        Self {
            senders: looped,
            incoming: Segments::from_lengths(kept_lengths.iter().map(|length| length + 1)),
            kept,
            kept_incoming: Segments::from_lengths(kept_lengths),
            weight_rows,
            attribute_rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_one_loop_and_old_loops_are_found() {
        // Edges by receiver: 0 <- 1; 1 <- 1, 1 <- 0, 1 <- 1; 2 has none.
        let loops = LoopIndices::new(&[1, 1, 0, 1], &Segments::from_lengths([1, 3, 0]));
        assert_eq!(loops.senders, [1, 0, 0, 1, 2]);
        assert_eq!(loops.incoming, Segments::from_lengths([2, 2, 1]));
        assert_eq!(loops.kept, [0, 2]);
        assert_eq!(loops.kept_incoming, Segments::from_lengths([1, 1, 0]));
        assert_eq!(loops.weight_rows, [0, 4, 2, 3, 4]);
        assert_eq!(loops.attribute_rows, [0, 4, 2, 5, 6]);
    }
}
