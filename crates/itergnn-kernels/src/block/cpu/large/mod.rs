//! Inference on one large graph, aggregated by maximum: memory that does not grow with the iterations, and work only
//! where something changes.
//!
//! An iteration is done in one of two ways that give the same bits, because every row is computed alone and a maximum
//! does not care about order:
//! - *dense* ([`dense`]): all rows, in [`chunks`] that stay in the cache, after the nodes were put into an [`order`] in
//!   which neighbours share a chunk;
//! - *active* ([`sparse`]): only the rows of nodes that changed in the iteration before, and the receivers they reach.
//!   Where all edges are alike, the nodes that so far have seen nothing but each other have one common state, the
//!   [`background`], which is computed once for all of them.
//!
//! What follows from the states is kept up where they change: the pooled maximum directly, the weighted output lazily
//! (a node that rests owes its state times the weight given since).
//!
//! Where many runs differ from one in a single node, that one is [recorded](history) and the others compute only where
//! they differ from it ([`variants`]).

mod background;
mod chunks;
mod dense;
mod fold;
mod graph;
mod history;
mod kinds;
mod order;
mod overlay;
mod record;
mod rows;
mod run;
mod sparse;
mod storage;
mod units;
mod variant;
mod variants;

pub use variants::{Change, VariantOutput, Variants};

/// Graphs with at least this many nodes are worth the preparation.
pub(super) const LARGE_NODES: usize = 1024;

/// Nodes per chunk: with 64 channels, rows and states of a chunk take a quarter of a second-level cache of one
/// mebibyte.
const CHUNK_NODES: usize = 512;

/// Graphs with at least this many nodes are worked on by all threads.
const PARALLEL_NODES: usize = 4096;

/// From this share of active nodes on, an iteration is dense. Gathering single rows costs more than computing all of
/// them in order; where the two cross was measured with `cargo bench --bench inference -- share`.
const DENSE_SHARE: f64 = 0.5;

/// How an iteration on a large graph is done. Both ways give the same bits; the choice is one of speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Strategy {
    /// Dense where most nodes are active, else active.
    #[default]
    Automatic,
    /// Every node at every iteration.
    Dense,
    /// Only nodes that changed, however many they are.
    Active,
}
