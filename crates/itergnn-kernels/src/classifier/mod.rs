//! GIN and Iter-GIN classifiers with batch normalisation and jumping knowledge: loss, gradient and running statistics
//! of a step, and scores.
//!
//! ```text
//! h^0 = x                                     GIN;        Iter-GIN: h^0 = relu(x W + b)
//! h^l = block_l(h^(l-1))                      l = 1..L
//! block(h) = f(h)                             GIN;        Iter-GIN: the iterative module around f
//! f(h)_v = relu(norm_2(relu(norm_1((h_v + sum over incoming h_s) W_1 + b_1)) W_2 + b_2))
//! scores = sum over l = 0..L of dropout(pool(h^l) V_l + a_l)          h^0 = x here, also in Iter-GIN
//! loss   = mean cross-entropy
//! ```
//! The iterative module repeats `f` with confidence `c = sigmoid(max over nodes of h . w + b)` a graph, `h~ <- decay h~ + r c h`, `r <- decay (1 - c) r`, from `r = 1`,
//! until `r <= epsilon` or for `training_cap` steps; graphs that are done leave the batch, and with it its statistics. Running statistics are kept for every step apart, since states
//! of different steps are distributed differently (Cooijmans et al. 2017 do so in recurrent networks); scale and shift are shared.
//!
//! Batch normalisation makes the graphs of a batch depend on each other, so the one-graph-at-a-time engine of
//! [`block`](crate::block) cannot run it; sets are small, so folds of a cross-validation are what runs side by side,
//! and a step runs on one thread.

mod affine;
mod batch;
mod block;
mod layer;
mod layout;
mod network;
mod norm;
mod votes;

pub use batch::ClassifierBatch;
pub use layout::{AffineRanges, BlockRanges, ClassifierLayout, MapRanges, RunningRanges};
pub use network::{Classifier, StepOutcome};
