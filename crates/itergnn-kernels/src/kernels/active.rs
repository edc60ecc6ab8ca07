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
    /// The same edges for `nodes` receivers from `first` on, which are then counted from 0.
    pub(crate) fn starting_at(&self, first: usize, nodes: usize) -> Self {
        let (offsets, all_offsets) = (self.offsets.wrapping_add(first), self.all_offsets.wrapping_add(first));
        Self { nodes, offsets, all_offsets, ..*self }
    }

    /// First and past-the-last active edge of a node.
    ///
    /// # Safety
    /// The node is one of the graph, and the lists are valid.
    #[inline(always)]
    pub(super) unsafe fn incoming(&self, node: usize) -> (usize, usize) {
        // SAFETY: offsets have one entry more than there are nodes.
        unsafe { (*self.offsets.add(node) as usize, *self.offsets.add(node + 1) as usize) }
    }

    /// Whether no active edge reaches a node.
    ///
    /// # Safety
    /// As [`ActiveEdges::incoming`].
    #[inline(always)]
    pub(super) unsafe fn is_unreached(&self, node: usize) -> bool {
        // SAFETY: as the contract says.
        let (first, end) = unsafe { self.incoming(node) };
        first == end
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
