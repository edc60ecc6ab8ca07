//! The edges of a step that can change anything.

/// Edges grouped by receiver, possibly without some that cannot change their receiver.
#[derive(Clone, Copy)]
pub(crate) struct ActiveEdges {
    pub(crate) nodes: usize,
    /// `[nodes + 1]`: where the active edges that reach each node begin.
    pub(crate) offsets: *const u32,
    /// Which edge of the graph each active one is.
    pub(crate) edges: *const u32,
    /// Which row holds the message of each active edge.
    pub(crate) rows: *const u32,
    /// `[nodes + 1]`: where all edges that reach each node begin.
    pub(crate) all_offsets: *const u32,
}

impl ActiveEdges {
    /// First and past-the-last active edge of a node.
    ///
    /// # Safety
    /// The node is one of the graph, and the lists are valid.
    #[inline(always)]
    pub(super) unsafe fn incoming(&self, node: usize) -> (usize, usize) {
        // SAFETY: offsets have one entry more than there are nodes.
        unsafe { (*self.offsets.add(node) as usize, *self.offsets.add(node + 1) as usize) }
    }

    /// Position of an active edge among all that reach its receiver, from 1 on.
    ///
    /// # Safety
    /// The edge is an active one that reaches the node.
    #[inline(always)]
    pub(super) unsafe fn number(&self, node: usize, edge: usize) -> f64 {
        // SAFETY: as the contract says.
        unsafe { f64::from(*self.edges.add(edge) - *self.all_offsets.add(node) + 1) }
    }
}
