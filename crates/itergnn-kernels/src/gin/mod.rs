//! GIN layers with batch normalisation, each once or in the iterative module, whose pooled states all vote: a whole
//! classifier on a whole batch.
//!
//! ```text
//! f(h)_v = relu(norm_2(relu(norm_1((h_v + sum over incoming h_s) W_1 + b_1)) W_2 + b_2))
//! y      = sum over layers l of factor_l * (pool_v h^l_v V_l + d_l),   h^0 = x
//! ```
//! The iterative module repeats `f` with confidence `c = sigmoid(max over nodes of h . w + b)` per graph,
//! `h~ <- decay h~ + r c h`, `r <- decay (1 - c) r`, from `r = 1`, until `r <= epsilon` or for `training_cap` steps;
//! graphs that are done leave the batch, and with it its statistics. Running statistics are kept for every step apart,
//! since states of different steps are distributed differently (Cooijmans et al. 2017 do so in recurrent networks);
//! scale and shift are shared.
//!
//! All blocks and votes are one call, so that states stay where they are between them: on small graphs it is copies,
//! and the tensor framework's care for each of its operations, that cost as much as the products.
//!
//! Batch normalisation makes the graphs of a batch depend on each other, so the one-graph-at-a-time engine of
//! [`block`](crate::block) cannot run it; sets are small, so folds of a cross-validation are what runs side by side,
//! and a step runs on one thread.

mod affine;
mod batch;
mod block;
mod layer;
mod layout;
mod module;
mod norm;
mod vote;

pub use layout::{AffineRanges, BlockRanges, GinLayout, MapRanges, RunningRanges};
pub use module::{Gin, GinGradients, GinInputs, GinOutput, GinTape, GinWanted};
