//! The graphs and numbers a block runs on.

use std::ops::Range;

use super::config::BlockConfig;
use super::parameters::ParameterLayout;
use crate::error::KernelError;

/// A disjoint union of graphs, edges sorted by receiver.
///
/// Nodes and edges of graph `g` are `node_offsets[g]..node_offsets[g + 1]` and `edge_offsets[g]..edge_offsets[g + 1]`;
/// the edges that reach node `r` are `receiver_offsets[r]..receiver_offsets[r + 1]`; all indices count within the
/// union.
#[derive(Debug, Clone, Copy)]
pub struct BatchView<'a> {
    /// `[graphs + 1]`, first 0, last the number of nodes.
    pub(crate) node_offsets: &'a [u32],
    /// `[graphs + 1]`, first 0, last the number of edges.
    pub(crate) edge_offsets: &'a [u32],
    /// `[edges]`: the node each edge leaves.
    pub(crate) senders: &'a [u32],
    /// `[nodes + 1]`: where the edges that reach each node begin.
    pub(crate) receiver_offsets: &'a [u32],
    /// Whether the four agree, as [`GraphStructure`](crate::GraphStructure) made sure.
    pub(crate) checked: bool,
}

impl<'a> BatchView<'a> {
    /// A batch that is still to be checked; [`GraphStructure::view`](crate::GraphStructure::view) gives one that is.
    pub fn new(
        node_offsets: &'a [u32],
        edge_offsets: &'a [u32],
        senders: &'a [u32],
        receiver_offsets: &'a [u32],
    ) -> Self {
        Self { node_offsets, edge_offsets, senders, receiver_offsets, checked: false }
    }

    /// Number of graphs.
    pub fn graphs(&self) -> usize {
        self.node_offsets.len().saturating_sub(1)
    }

    /// Number of nodes of the union.
    pub fn nodes(&self) -> usize {
        self.node_offsets.last().map_or(0, |&nodes| nodes as usize)
    }

    /// Number of edges of the union.
    pub fn edges(&self) -> usize {
        self.senders.len()
    }

    /// The nodes of a graph.
    pub fn node_range(&self, graph: usize) -> Range<usize> {
        self.node_offsets[graph] as usize..self.node_offsets[graph + 1] as usize
    }

    /// The edges of a graph.
    pub fn edge_range(&self, graph: usize) -> Range<usize> {
        self.edge_offsets[graph] as usize..self.edge_offsets[graph + 1] as usize
    }

    /// The edges that reach a node.
    pub fn incoming(&self, node: usize) -> Range<usize> {
        self.receiver_offsets[node] as usize..self.receiver_offsets[node + 1] as usize
    }

    /// Checks that offsets ascend, agree with each other, and that no edge leaves its graph; a view of a structure is
    /// known to be right.
    ///
    /// # Errors
    /// [`KernelError::Batch`] or [`KernelError::Length`] names the array and the position.
    pub fn validate(&self) -> Result<(), KernelError> {
        if self.checked {
            return Ok(());
        }
        ascending("node_offsets", self.node_offsets, self.nodes())?;
        ascending("edge_offsets", self.edge_offsets, self.edges())?;
        if self.edge_offsets.len() != self.node_offsets.len() {
            let (expected, found) = (self.node_offsets.len(), self.edge_offsets.len());
            return Err(KernelError::Length { what: "edge_offsets", expected, found });
        }
        ascending("receiver_offsets", self.receiver_offsets, self.edges())?;
        if self.receiver_offsets.len() != self.nodes() + 1 {
            let (expected, found) = (self.nodes() + 1, self.receiver_offsets.len());
            return Err(KernelError::Length { what: "receiver_offsets", expected, found });
        }
        for graph in 0..self.graphs() {
            let (nodes, edges) = (self.node_range(graph), self.edge_range(graph));
            if self.receiver_offsets[nodes.start] as usize != edges.start {
                let problem = "the graph's first edge is not the first that reaches its nodes";
                return Err(KernelError::Batch { what: "edge_offsets", position: graph, problem });
            }
            for edge in edges {
                if !nodes.contains(&(self.senders[edge] as usize)) {
                    let problem = "the sender is not a node of the same graph";
                    return Err(KernelError::Batch { what: "senders", position: edge, problem });
                }
            }
        }
        Ok(())
    }
}

fn ascending(what: &'static str, offsets: &[u32], last: usize) -> Result<(), KernelError> {
    if offsets.first() != Some(&0) {
        return Err(KernelError::Batch { what, position: 0, problem: "the first offset is missing or not zero" });
    }
    if let Some(position) = (1..offsets.len()).find(|&position| offsets[position] < offsets[position - 1]) {
        return Err(KernelError::Batch { what, position, problem: "the offset is smaller than the one before" });
    }
    if offsets[offsets.len() - 1] as usize != last {
        let position = offsets.len() - 1;
        return Err(KernelError::Batch { what, position, problem: "the last offset is not the number of items" });
    }
    Ok(())
}

/// Everything a block reads: the batch, its features and the parameters.
#[derive(Debug, Clone, Copy)]
pub struct BlockInputs<'a, T> {
    /// The graphs.
    pub batch: BatchView<'a>,
    /// Node inputs x, `[nodes, input_width]`, the same at every iteration.
    pub node_inputs: &'a [T],
    /// Initial node states h, `[nodes, hidden_width]`.
    pub hidden: &'a [T],
    /// Edge features, `[edges, edge_width]`, in the order of the batch's edges.
    pub edge_features: &'a [T],
    /// All weights, laid out by [`ParameterLayout`].
    pub parameters: &'a [T],
}

impl<T> BlockInputs<'_, T> {
    /// Checks every shape against the configuration.
    ///
    /// # Errors
    /// What [`BatchView::validate`] and [`BlockConfig::validate`] return, or [`KernelError::Length`].
    pub fn validate(&self, config: &BlockConfig) -> Result<(), KernelError> {
        config.validate()?;
        self.batch.validate()?;
        let (nodes, edges) = (self.batch.nodes(), self.batch.edges());
        expect_length("node_inputs", self.node_inputs, nodes * config.input_width())?;
        expect_length("hidden", self.hidden, nodes * config.hidden_width())?;
        expect_length("edge_features", self.edge_features, edges * config.edge_width())?;
        expect_length("parameters", self.parameters, ParameterLayout::new(config).len())
    }
}

pub(crate) fn expect_length<T>(what: &'static str, slice: &[T], expected: usize) -> Result<(), KernelError> {
    if slice.len() == expected { Ok(()) } else { Err(KernelError::Length { what, expected, found: slice.len() }) }
}
