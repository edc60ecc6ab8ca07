//! `waves`: a model whose waves run until nothing changes, and whose head is a tree of linear maps; exact at any size
//! where the answer is one.
//!
//! Fixed: waves by maximum with gain 1, the stop (when nothing changes), and which quantities a target may depend on,
//! given how it scales ([`Scaling`]). Fitted by gradient steps: the directions of the waves (where the target is
//! proportional), the tests and linear maps of the head. Fitted at the end, by finishing: tests and maps are searched
//! and fitted by least squares, and weights that are nearly whole numbers become whole; for counts and classes that
//! alone determines the model, and gradient steps change nothing.
//!
//! Every node starts a wave for every channel, as strong as a learned linear function of what the node sees; the
//! strongest wave takes every node it reaches. A node then knows the strength of the wave that took it, how many steps
//! that wave came, and whether it is the wave's origin. A tree of linear maps reads this. [`WaveModel`] has the
//! formulas.
//!
//! It can express piecewise linear functions of extreme values over what a node can hear from, and counts of their
//! origins; nothing else.
//!
//! | file | what |
//! |---|---|
//! | `config` | the settings |
//! | `model` | parameters and the schedule of training |
//! | `spread` | where the waves end up, on the host |
//! | `features` | what the head reads, on the host |
//! | `tree` | the head, on the host |
//! | `training` | the forward pass as tensor operations |
//! | `inference` | predictions on the host |
//! | `experts` | which linear maps the training samples follow |
//! | `grow` | the tree that tells where each map holds |
//! | `polish` | terms that do nothing go, weights near whole numbers become whole |
//! | `refit` | what follows training: all of these together |

mod config;
mod experts;
mod features;
mod grow;
mod inference;
mod model;
mod polish;
mod refit;
mod spread;
mod training;
mod tree;

pub use config::{Scaling, WaveConfig};
pub use model::WaveModel;
