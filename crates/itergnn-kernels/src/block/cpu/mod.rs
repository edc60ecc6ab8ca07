//! The fused engine: each graph goes through all its iterations on one thread, in memory that stays close to it.
//!
//! What makes it fast, in the order of effect:
//! - The first message layer is split, `W [v_s ; v_r ; e] = W_s v_s + W_r v_r + W_e e`, so that its large part runs
//!   once per node ([`packed`]), and the part of the constant inputs once per graph. Attention scores are two more
//!   columns of the same product.
//! - Messages of `path-sim` on a graph whose edges all have the same features depend on the sender only and are
//!   computed once per node ([`plan`]).
//! - Edges whose inputs did not change in the last step are skipped ([`active`]).
//! - The gradient of a maximum visits only the winners; that of attention keeps only the signs of the messages.
//! - Large graphs have an inference of their own, which works only where something changes ([`large`]).
//! - Rows are padded and aligned, weights are packed once per call (in both directions where there is a way back), and
//!   memory is reused ([`tape`]).
//!
//! Gradients of the parameters are summed per group of graphs and then over the groups in a fixed order ([`threads`]);
//! the groups do not depend on the number of threads, so neither do the bits of the result.

mod active;
mod attention;
mod attention_backward;
mod backward;
mod convolution;
mod engine;
mod forward;
mod infer;
mod large;
mod layer_backward;
mod layer_forward;
mod packed;
mod plan;
mod softmax;
mod tape;
mod threads;

pub use engine::{Engine, backward, forward};
pub use infer::{infer, infer_with};
pub use large::{Change, Strategy, VariantOutput, Variants};
pub use tape::Tape;

/// Rows of messages that are worked on at once: the first layer's output of one tile stays in the first-level cache.
const TILE_ROWS: usize = 48;
