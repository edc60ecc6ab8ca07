//! `one-tree`: a model for tour lengths; prices on nodes, raised and lowered until a cheapest tree looks like a tour.
//!
//! Fixed: the relaxation (cheapest 1-trees under prices, which it shares with the solver that makes the labels), the
//! direction of the update, and that a tree that is a tour ends the steps. Fitted by gradient steps from labelled
//! tours: how far to step and how fast to slow down, how much of the last direction to keep, how long to remember which
//! edges were used, when to stop, and how much is missing from the bound. Nothing is fitted at the end. No tour is ever
//! searched for.
//!
//! A tour through all nodes is a 1-tree (a spanning tree and one edge more) in which every node has degree two, so a
//! cheapest 1-tree is never longer. A price on a node is paid once for every edge there and given back twice, so prices
//! change no tour, but they do change which tree is cheapest. [`OneTreeModel`] is a graph neural network whose node
//! state is such a price: every step aggregates by the cheapest 1-tree instead of a sum or a maximum, and updates a
//! node by how far its degree is from two. The scheme is that of Held and Karp (1970, 1971).
//!
//! | file | what |
//! |---|---|
//! | `config` | the settings |
//! | `model` | parameters, and the forward pass with its derivatives |
//! | `ascent` | the steps of one graph |
//! | `lengths` | the lengths of a graph; its cheapest 1-trees are [`PricedTree`](itergnn_graph::solvers::tsp::PricedTree) |
//! | `memory` | how often each edge was used lately |
//! | `number` | numbers that carry their derivatives |

mod ascent;
mod config;
mod lengths;
mod memory;
mod model;
mod number;

pub use config::OneTreeConfig;
pub use model::OneTreeModel;
