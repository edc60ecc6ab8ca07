//! Which nodes changed in the last step, and which edges can therefore change anything in the next one.
//!
//! States only grow: `h' = max(h, aggregate)`. A message whose inputs did not change is the same as in the step before,
//! is contained in the receiver's state already, and cannot win again, because a tie goes to the state. So with the
//! maximum only edges whose sender changed (or whose receiver did, where messages depend on it) need to be computed;
//! with attention only the edges of receivers that changed themselves or one of whose senders did. This is exact, for
//! states and for gradients.

use super::plan::GraphPlan;
use crate::block::config::BlockConfig;
use crate::kernels::{ActiveEdges, MessageRows};
use crate::memory::Buffer;
use crate::real::Real;

/// The active part of one graph.
#[derive(Debug, Default)]
pub(super) struct ActiveSet {
    /// Everything is active: the first step, or a step with other weights than the one before.
    everything: bool,
    /// `[nodes]`: 1 where the last step changed the state.
    changed: Buffer<u8>,
    /// The nodes that changed.
    nodes: Buffer<u32>,
    node_count: usize,
    /// `[nodes + 1]`: where the active edges of each receiver begin.
    offsets: Buffer<u32>,
    /// Sender, receiver and number of the active edges.
    senders: Buffer<u32>,
    receivers: Buffer<u32>,
    edges: Buffer<u32>,
}

impl ActiveSet {
    /// Makes room for a graph.
    pub(super) fn reserve(&mut self, plan: &GraphPlan) {
        self.changed.ensure(plan.nodes);
        self.nodes.ensure(plan.nodes);
        self.offsets.ensure(plan.nodes + 1);
        self.senders.ensure(plan.edges);
        self.receivers.ensure(plan.edges);
        self.edges.ensure(plan.edges);
    }

    /// Makes everything active.
    pub(super) fn select_everything(&mut self) {
        self.everything = true;
    }

    /// Makes active what the last step's changes can reach.
    pub(super) fn select_changed(&mut self, plan: &GraphPlan, config: &BlockConfig) {
        let changed = &self.changed.as_slice()[..plan.nodes];
        let nodes = self.nodes.as_mut_slice();
        self.node_count = 0;
        for (node, &flag) in changed.iter().enumerate() {
            if flag == 1 {
                nodes[self.node_count] = node as u32;
                self.node_count += 1;
            }
        }
        self.everything = self.node_count == plan.nodes;
        if self.everything {
            return;
        }
        let (all_offsets, all_senders) = (plan.offsets(), plan.senders());
        let offsets = self.offsets.as_mut_slice();
        let (senders, receivers) = (self.senders.as_mut_slice(), self.receivers.as_mut_slice());
        let edges = self.edges.as_mut_slice();
        let by_receiver = !config.aggregates_by_max();
        let mut count = 0;
        for receiver in 0..plan.nodes {
            offsets[receiver] = count as u32;
            let incoming = all_offsets[receiver] as usize..all_offsets[receiver + 1] as usize;
            let is_changed = |edge: &usize| changed[all_senders[*edge] as usize] == 1;
            let whole = if by_receiver {
                changed[receiver] == 1 || incoming.clone().any(|edge| is_changed(&edge))
            } else {
                config.uses_receiver() && changed[receiver] == 1
            };
            for edge in incoming {
                if whole || (!by_receiver && is_changed(&edge)) {
                    (senders[count], receivers[count], edges[count]) =
                        (all_senders[edge], receiver as u32, edge as u32);
                    count += 1;
                }
            }
        }
        offsets[plan.nodes] = count as u32;
    }

    /// Where a step notes which states it changed.
    pub(super) fn changed_mut(&mut self) -> *mut u8 {
        self.changed.as_mut_ptr()
    }

    /// `[nodes]`: 1 where the last step changed the state.
    pub(super) fn changed(&self, nodes: usize) -> &[u8] {
        &self.changed.as_slice()[..nodes]
    }

    /// The nodes that changed, or `None` for all.
    pub(super) fn changed_nodes(&self) -> Option<&[u32]> {
        (!self.everything).then(|| &self.nodes.as_slice()[..self.node_count])
    }

    /// The active edges.
    pub(super) fn edges(&self, plan: &GraphPlan) -> ActiveEdges {
        let (offsets, senders, edges) = if self.everything {
            (plan.offsets(), plan.senders(), plan.numbers())
        } else {
            (self.offsets.as_slice(), self.senders.as_slice(), self.edges.as_slice())
        };
        ActiveEdges {
            nodes: plan.nodes,
            offsets: offsets.as_ptr(),
            edges: edges.as_ptr(),
            rows: if plan.shared_messages { senders.as_ptr() } else { plan.numbers().as_ptr() },
            all_offsets: plan.offsets().as_ptr(),
        }
    }

    /// Whether a node has active edges to it.
    pub(super) fn is_reached(&self, node: usize) -> bool {
        self.everything || self.offsets.as_slice()[node] < self.offsets.as_slice()[node + 1]
    }

    /// The message rows that must be computed: the changed senders where messages are shared, else the active edges.
    pub(super) fn message_rows<T: Real>(&self, plan: &GraphPlan, rows: MessageRows<T>) -> MessageRows<T> {
        if self.everything {
            return rows;
        }
        if plan.shared_messages {
            return MessageRows { senders: self.nodes.as_ptr(), ..rows };
        }
        let (senders, receivers, edges) = (self.senders.as_ptr(), self.receivers.as_ptr(), self.edges.as_ptr());
        MessageRows { senders, receivers, edges, ..rows }
    }
}
