//! How the work may be laid out otherwise than the plan would have it.

/// Settings that change the speed and nothing else; what is `None` is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tuning {
    /// Threads of a block.
    pub threads: Option<usize>,
    /// Thread blocks that share a multiprocessor.
    pub blocks_per_multiprocessor: Option<usize>,
    /// Graphs of a thread block, on average.
    pub graphs: Option<usize>,
    /// Edges whose messages are computed together.
    pub edge_tile: Option<usize>,
    /// Keep node rows in global memory, as graphs too large for shared memory need.
    pub large: Option<bool>,
    /// Thread blocks that share a graph, where there are such kernels. By default as many as find a multiprocessor
    /// each.
    pub cluster: Option<usize>,
}
