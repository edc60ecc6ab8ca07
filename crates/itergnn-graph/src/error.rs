//! What can be wrong with a graph.

/// Why a graph could not be built, or a question about it could not be asked.
///
/// Every variant says what was wrong and where, so that the message alone is enough to find the offending edge or row.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// An edge names a node that does not exist.
    #[error("edge {edge} names {role} {node}, but the graph has {nodes} nodes (0..{nodes})")]
    EdgeEndpoint {
        /// Position of the edge in the order it was given.
        edge: usize,
        /// `"sender"` or `"receiver"`.
        role: &'static str,
        /// The node it names.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A node number is out of range.
    #[error("node {node} does not exist: the graph has {nodes} nodes (0..{nodes})")]
    Node {
        /// The node asked for.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// There are not as many attribute rows as nodes or edges.
    #[error("{what}: expected {expected} rows, found {found}")]
    RowCount {
        /// Which attributes.
        what: &'static str,
        /// Rows wanted.
        expected: usize,
        /// Rows given.
        found: usize,
    },
    /// A row is longer or shorter than the others.
    #[error("{what}: row {row} has {found} values, expected {expected}")]
    RowLength {
        /// Which attributes.
        what: &'static str,
        /// The offending row.
        row: usize,
        /// Values wanted.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what}: row {row}, column {column} is {value}, expected a finite number")]
    NotFinite {
        /// Which attributes.
        what: &'static str,
        /// The offending row.
        row: usize,
        /// The offending column.
        column: usize,
        /// The number.
        value: f64,
    },
    /// An edge weight that the solver cannot use.
    #[error("edge {edge} has weight {value}, expected a finite number that is not negative")]
    Weight {
        /// Position of the edge in the order it was given.
        edge: usize,
        /// The weight.
        value: f64,
    },
    /// Following edges forever makes a path ever shorter.
    #[error("a cycle of negative length is reachable, so shortest paths do not exist; it passes through node {node}")]
    NegativeCycle {
        /// A node on the cycle.
        node: u32,
    },
    /// More nodes or edges than 32-bit indices can name.
    #[error("{what}: {found} is more than the {limit} that fit in 32-bit indices")]
    TooLarge {
        /// `"nodes"` or `"edges"`.
        what: &'static str,
        /// How many were asked for.
        found: usize,
        /// How many fit.
        limit: usize,
    },
    /// Graphs that cannot stand in one batch.
    #[error("graph {graph} of the batch has {what} of width {found}, the first has {expected}")]
    BatchWidth {
        /// Position in the batch.
        graph: usize,
        /// Which attributes.
        what: &'static str,
        /// Width of the first graph.
        expected: usize,
        /// Width of this one.
        found: usize,
    },
    /// A generator or solver was asked for something that does not exist.
    #[error("{what}: {why}")]
    Parameter {
        /// Which generator or solver, and its argument.
        what: &'static str,
        /// What was wrong with it.
        why: String,
    },
}
