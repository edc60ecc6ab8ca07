//! One large graph with indices of its own, in an order of its own.

use crate::block::batch::BlockInputs;

/// Structure of one graph, counted from its first node and edge.
#[derive(Debug)]
pub(super) struct LargeGraph {
    pub(super) nodes: usize,
    pub(super) first_node: usize,
    pub(super) first_edge: usize,
    /// Which node of the caller each node is; `None` where they are the same.
    pub(super) order: Option<Vec<u32>>,
    /// `[nodes + 1]`: where the edges that reach each node begin.
    pub(super) offsets: Vec<u32>,
    /// `[edges]`.
    pub(super) senders: Vec<u32>,
    /// `[edges]`; empty until [indexed](Self::index_edges).
    pub(super) receivers: Vec<u32>,
    /// `[edges]`: which edge of the caller each edge is; empty where they are the same, until
    /// [indexed](Self::index_edges).
    pub(super) edge_numbers: Vec<u32>,
    outgoing: Option<Outgoing>,
}

/// The receivers of each sender.
#[derive(Debug)]
struct Outgoing {
    offsets: Vec<u32>,
    receivers: Vec<u32>,
}

impl LargeGraph {
    /// The graph as the caller has it.
    pub(super) fn new<T>(inputs: &BlockInputs<'_, T>, graph: usize) -> Self {
        let (node_range, edge_range) = (inputs.batch.node_range(graph), inputs.batch.edge_range(graph));
        let (first_node, first_edge) = (node_range.start, edge_range.start);
        let offsets: Vec<u32> = inputs.batch.receiver_offsets[first_node..=node_range.end]
            .iter()
            .map(|&offset| offset - first_edge as u32)
            .collect();
        let senders = inputs.batch.senders[edge_range].iter().map(|&sender| sender - first_node as u32).collect();
        let nodes = offsets.len() - 1;
        let (receivers, edge_numbers) = (Vec::new(), Vec::new());
        Self { nodes, first_node, first_edge, order: None, offsets, senders, receivers, edge_numbers, outgoing: None }
    }

    /// Makes the lists with one entry per edge.
    pub(super) fn index_edges(&mut self) {
        let edges = self.senders.len();
        if self.receivers.len() < edges {
            self.receivers = vec![0; edges];
            for (node, ends) in self.offsets.windows(2).enumerate() {
                self.receivers[ends[0] as usize..ends[1] as usize].fill(node as u32);
            }
        }
        if self.edge_numbers.len() < edges {
            self.edge_numbers = (0..edges as u32).collect();
        }
    }

    /// Which edge of the caller an edge is.
    pub(super) fn edge_number(&self, edge: usize) -> u32 {
        self.edge_numbers.get(edge).copied().unwrap_or(edge as u32)
    }

    /// The same graph, its nodes in another order (new to present). Edges keep their order at each receiver.
    pub(super) fn reordered(&self, order: Vec<u32>) -> Self {
        let mut places = vec![0_u32; self.nodes];
        order.iter().enumerate().for_each(|(place, &node)| places[node as usize] = place as u32);
        let mut offsets = Vec::with_capacity(self.nodes + 1);
        let mut senders = Vec::with_capacity(self.senders.len());
        let mut edge_numbers = Vec::with_capacity(self.senders.len());
        offsets.push(0);
        for &node in &order {
            let incoming = self.incoming(node as usize);
            senders.extend(self.senders[incoming.clone()].iter().map(|&sender| places[sender as usize]));
            edge_numbers.extend(incoming.map(|edge| self.edge_number(edge)));
            offsets.push(senders.len() as u32);
        }
        let order = match &self.order {
            None => order,
            Some(before) => order.into_iter().map(|node| before[node as usize]).collect(),
        };
        let Self { nodes, first_node, first_edge, .. } = *self;
        let (order, receivers) = (Some(order), Vec::new());
        Self { nodes, first_node, first_edge, order, offsets, senders, receivers, edge_numbers, outgoing: None }
    }

    pub(super) fn incoming(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }

    /// Makes [`outgoing`](Self::outgoing) ready.
    pub(super) fn index_outgoing(&mut self) {
        if self.outgoing.is_some() {
            return;
        }
        let mut offsets = vec![0_u32; self.nodes + 2];
        self.senders.iter().for_each(|&sender| offsets[sender as usize + 2] += 1);
        for node in 0..self.nodes {
            offsets[node + 2] += offsets[node + 1];
        }
        let mut receivers = vec![0; self.senders.len()];
        for receiver in 0..self.nodes {
            for &sender in &self.senders[self.incoming(receiver)] {
                let place = &mut offsets[sender as usize + 1];
                receivers[*place as usize] = receiver as u32;
                *place += 1;
            }
        }
        offsets.pop();
        self.outgoing = Some(Outgoing { offsets, receivers });
    }

    /// The receivers of a sender.
    ///
    /// # Panics
    /// If they were not indexed.
    pub(super) fn outgoing(&self, node: usize) -> &[u32] {
        let outgoing = self.outgoing.as_ref().expect("outgoing edges were indexed");
        &outgoing.receivers[outgoing.offsets[node] as usize..outgoing.offsets[node + 1] as usize]
    }

    /// Which node of the caller's graph a node is.
    pub(super) fn original(&self, node: usize) -> usize {
        self.order.as_ref().map_or(node, |order| order[node] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::batch::BatchView;

    #[test]
    fn reordering_renames_both_ends_of_every_edge() {
        let batch = BatchView::new(&[0, 1, 5], &[0, 0, 5], &[2, 4, 1, 3, 2], &[0, 0, 2, 3, 3, 5]);
        let inputs = BlockInputs::<f32> { batch, node_inputs: &[], hidden: &[], edge_features: &[], parameters: &[] };
        let mut graph = LargeGraph::new(&inputs, 1).reordered(vec![3, 1, 0, 2]);
        graph.index_outgoing();
        graph.index_edges();
        let mut edges: Vec<_> = (0..5)
            .map(|edge| {
                let name = |node: u32| graph.original(node as usize) as u32 + 1;
                (graph.edge_numbers[edge], name(graph.senders[edge]), name(graph.receivers[edge]))
            })
            .collect();
        edges.sort_unstable();
        assert_eq!(edges, [(0, 2, 1), (1, 4, 1), (2, 1, 2), (3, 3, 4), (4, 2, 4)]);
        for node in 0..4 {
            for &receiver in graph.outgoing(node) {
                assert!(graph.senders[graph.incoming(receiver as usize)].contains(&(node as u32)));
            }
        }
        assert_eq!((0..4).map(|node| graph.outgoing(node).len()).sum::<usize>(), 5);
    }
}
