//! Task-aligned families: a fixed algorithm whose schedule, slopes, gates or readout are fitted.
//!
//! They are no general networks. Each carries the algorithm of one kind of task, so it needs little training and is
//! exact, or nearly so, at any size; on another kind of task it can express nothing. They are chosen by their own names
//! only, and never stand in for a network of the paper.
//!
//! | family | task | fixed | fitted by gradient steps | fitted at the end of training |
//! |---|---|---|---|---|
//! | [`max_plus`] | path lengths, with or without obstacles | waves by addition and maximum, gain 1 | what an edge adds, who starts a wave, the stop, the gate, the head | head by least squares, slopes to whole numbers, gate to a threshold |
//! | [`waves`] | counts, classes, chains of causes | waves by maximum until nothing changes, and what may be read of them | directions of waves, tests and maps of the head | tests and maps by search and least squares, weights to whole numbers |
//! | [`one_tree`] | tour lengths | cheapest 1-trees under prices, the direction of their update | five numbers that steer the steps, the share of the indecision | nothing |
//!
//! What is fitted at the end comes from [`GnnModel::finish`](crate::GnnModel::finish), not from gradient steps; a
//! [`Refit`] says what it did, and runs report it. How much each part contributes is measured by `itergnn reproduce
//! families`.

mod least_squares;
pub mod max_plus;
pub mod one_tree;
mod parameter;
mod refit;
pub mod waves;

pub use refit::Refit;
