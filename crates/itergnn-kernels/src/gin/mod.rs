//! A GIN layer with batch normalisation, once or in the iterative module, on a whole batch.
//!
//! ```text
//! f(h)_v = relu(norm_2(relu(norm_1((h_v + sum over incoming h_s) W_1 + b_1)) W_2 + b_2))
//! ```
//! The iterative module repeats `f` with confidence `c = sigmoid(max over nodes of h . w + b)` per graph,
//! `h~ <- decay h~ + r c h`, `r <- decay (1 - c) r`, from `r = 1`, until `r <= epsilon` or for `training_cap` steps;
//! graphs that are done leave the batch, and with it its statistics. Running statistics are kept for every step apart,
//! since states of different steps are distributed differently (Cooijmans et al. 2017 do so in recurrent networks);
//! scale and shift are shared.
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

pub use layout::{AffineRanges, GinLayout, MapRanges, RunningRanges};
pub use module::{Gin, GinConfig, GinGradients, GinInputs, GinOutput, GinTape};
