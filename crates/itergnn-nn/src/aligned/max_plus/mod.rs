//! `max-plus`: a model for path problems whose messages are sums and maxima; what it learns on small graphs is exact on
//! large ones.
//!
//! Fixed: waves that travel by addition and maximum with gain 1, so that a state is a shortest (here: longest negative)
//! distance; that the stop reads only who was reached; that the output is a maximum over nodes of a combination of
//! states. Fitted by gradient steps: which class of nodes starts a wave, what a unit of distance adds to it, when to
//! stop, which nodes can be passed (the gate, where nodes have continuous attributes), and the weights of the output.
//! Fitted at the end, by finishing: the output weights by least squares, slopes that are nearly whole numbers become
//! whole, the gate becomes a threshold.
//!
//! The message of the paper's layers has a learned gain, and a gain that is only nearly 1 is useless after thousands of
//! steps. Here the gain of a state on the way is 1 by construction; only what an edge adds to it is learned.
//! [`MaxPlusModel`] has the formulas. The price is generality: it can express maxima over nodes of non-negative
//! combinations of shortest distances from classes of nodes, read at a learned moment, and nothing else.
//!
//! | file | what |
//! |---|---|
//! | `config` | the settings |
//! | `model` | parameters and the schedule of training |
//! | `gate` | what it costs to pass a node, from its continuous attributes |
//! | `training` | the forward pass as tensor operations |
//! | `rule` | the numbers of a trained model, on the host |
//! | `all_ends` | lengths between many pairs of nodes of one graph |
//! | `inference` | one graph at a time, only where something changes |
//! | `refit` | what follows training: terms that do nothing are removed, the head is fitted |
//! | `threshold` | where a gate closes |
//! | `snap` | slopes near whole numbers become whole |

mod all_ends;
mod config;
mod gate;
mod inference;
mod model;
mod refit;
mod rule;
mod snap;
mod threshold;
mod training;

pub use all_ends::{AllLengths, FixedEnd, PairLength, PairLengths};
pub use config::MaxPlusConfig;
pub use model::MaxPlusModel;
