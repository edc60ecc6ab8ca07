//! One graph of the batch with its own indices, and how its messages are laid out in rows.

use crate::block::batch::BlockInputs;
use crate::block::config::BlockConfig;
use crate::block::output::Wanted;
use crate::kernels::{MOST_BYTE_EDGES, MessageRows};
use crate::memory::Buffer;
use crate::real::Real;
use crate::settings::LayerKind;

use super::packed::{PackedWeights, Shapes};

/// Indices of one graph, counted from its first node and edge.
#[derive(Debug)]
pub(super) struct GraphPlan {
    pub(super) graph: usize,
    pub(super) nodes: usize,
    pub(super) edges: usize,
    pub(super) first_node: usize,
    pub(super) first_edge: usize,
    /// Whether messages belong to senders: all edges have the same features and the receiver's state does not matter.
    pub(super) shared_messages: bool,
    /// Whether the winners of a maximum fit bytes.
    pub(super) byte_winners: bool,
    /// Offsets `[nodes + 1]`, senders `[edges]`, receivers `[edges]`, counting numbers `[max(nodes, edges)]`, zeros
    /// `[nodes]`.
    indices: Buffer<u32>,
}

impl GraphPlan {
    pub(super) fn new<T: Real>(
        config: &BlockConfig,
        inputs: &BlockInputs<'_, T>,
        graph: usize,
        wanted: Wanted,
    ) -> Self {
        let (node_range, edge_range) = (inputs.batch.node_range(graph), inputs.batch.edge_range(graph));
        let (nodes, edges) = (node_range.len(), edge_range.len());
        let width = config.edge_width();
        let features = &inputs.edge_features[edge_range.start * width..edge_range.end * width];
        let shared_messages = config.layer.kind == LayerKind::PathSim
            && !wanted.edge_features
            && nodes <= edges
            && features.iter().skip(width).zip(features).all(|(next, value)| next == value);
        let counting = nodes.max(edges);
        let mut indices = Buffer::<u32>::new(nodes + 1 + 2 * edges + counting + nodes);
        let (offsets, rest) = indices.as_mut_slice().split_at_mut(nodes + 1);
        let (senders, rest) = rest.split_at_mut(edges);
        let (receivers, rest) = rest.split_at_mut(edges);
        let (numbers, zeros) = rest.split_at_mut(counting);
        let mut most = 0;
        for (local, offset) in offsets.iter_mut().enumerate() {
            *offset = inputs.batch.receiver_offsets[node_range.start + local] - edge_range.start as u32;
        }
        for node in 0..nodes {
            let incoming = offsets[node] as usize..offsets[node + 1] as usize;
            most = most.max(incoming.len());
            receivers[incoming].fill(node as u32);
        }
        for (local, &sender) in senders.iter_mut().zip(&inputs.batch.senders[edge_range.clone()]) {
            *local = sender - node_range.start as u32;
        }
        numbers.iter_mut().enumerate().for_each(|(number, value)| *value = number as u32);
        zeros.fill(0);
        Self {
            graph,
            nodes,
            edges,
            first_node: node_range.start,
            first_edge: edge_range.start,
            shared_messages,
            byte_winners: most <= MOST_BYTE_EDGES,
            indices,
        }
    }

    fn section(&self, start: usize, len: usize) -> &[u32] {
        &self.indices.as_slice()[start..start + len]
    }

    /// `[nodes + 1]`: where the edges that reach each node begin.
    pub(super) fn offsets(&self) -> &[u32] {
        self.section(0, self.nodes + 1)
    }

    /// `[edges]`.
    pub(super) fn senders(&self) -> &[u32] {
        self.section(self.nodes + 1, self.edges)
    }

    /// `[edges]`.
    pub(super) fn receivers(&self) -> &[u32] {
        self.section(self.nodes + 1 + self.edges, self.edges)
    }

    /// 0, 1, 2 and so on.
    pub(super) fn numbers(&self) -> &[u32] {
        self.section(self.nodes + 1 + 2 * self.edges, self.nodes.max(self.edges))
    }

    fn zeros(&self) -> &[u32] {
        self.section(self.nodes + 1 + 2 * self.edges + self.nodes.max(self.edges), self.nodes)
    }

    /// Number of message rows.
    pub(super) fn rows(&self) -> usize {
        if self.shared_messages { self.nodes } else { self.edges }
    }

    /// The message rows: one per edge, or one per sender where messages are shared.
    pub(super) fn message_rows<T: Real>(
        &self,
        inputs: &BlockInputs<'_, T>,
        weights: &PackedWeights<T>,
        layer: usize,
        prepared: *const T,
    ) -> MessageRows<T> {
        let rows = self.edge_message_rows(inputs, weights, layer, prepared);
        if self.shared_messages {
            MessageRows { senders: self.numbers().as_ptr(), edges: self.zeros().as_ptr(), ..rows }
        } else {
            rows
        }
    }

    /// The message rows with one row per edge in any case.
    pub(super) fn edge_message_rows<T: Real>(
        &self,
        inputs: &BlockInputs<'_, T>,
        weights: &PackedWeights<T>,
        layer: usize,
        prepared: *const T,
    ) -> MessageRows<T> {
        let Shapes { prepared_row, receiver_column, edge, message_row, .. } = weights.shapes;
        MessageRows {
            senders: self.senders().as_ptr(),
            receivers: self.receivers().as_ptr(),
            edges: self.numbers().as_ptr(),
            prepared,
            prepared_row,
            receiver_column,
            features: self.features(inputs, edge).as_ptr(),
            feature_width: edge,
            edge_weight: weights.layer(layer)[weights.sections.edge..].as_ptr(),
            width: message_row,
        }
    }

    /// Features of the graph's edges.
    pub(super) fn features<'a, T>(&self, inputs: &BlockInputs<'a, T>, width: usize) -> &'a [T] {
        &inputs.edge_features[self.first_edge * width..(self.first_edge + self.edges) * width]
    }

    /// Inputs of the graph's nodes.
    pub(super) fn node_inputs<'a, T>(&self, inputs: &BlockInputs<'a, T>, width: usize) -> &'a [T] {
        &inputs.node_inputs[self.first_node * width..(self.first_node + self.nodes) * width]
    }

    /// How much work the graph is, in no particular unit.
    pub(super) fn cost(nodes: usize, edges: usize) -> usize {
        nodes + edges
    }
}
