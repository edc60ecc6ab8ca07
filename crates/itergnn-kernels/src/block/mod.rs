//! One block: a controller around a message-passing layer, on a batch of graphs, forward and backward.
//!
//! [`forward`] and [`backward`] are the fused engine, [`infer`] is its form without a way back; [`mod@reference`]
//! computes the same in the plainest way and is what the engine is tested against. Every graph of a batch is
//! independent of the others: its results are the same bits alone and in any batch, on any number of threads.

mod batch;
mod confidence;
mod config;
mod cpu;
mod output;
mod parameters;
pub mod reference;
mod schedule;
mod stops;

pub(crate) use batch::expect_length;
pub use batch::{BatchView, BlockInputs};
pub use config::{BlockConfig, RANGE_TOLERANCE};
pub use cpu::{Change, Engine, Strategy, Tape, VariantOutput, Variants, backward, forward, infer, infer_with};
pub use output::{BlockGradients, BlockOutput, OutputGradients, Wanted};
pub use parameters::{ParameterKind, ParameterLayout, ParameterSlot};
pub use stops::{Loops, Stops};
