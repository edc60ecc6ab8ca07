//! The fused engine as one operation of the tensor framework, and the one place that chooses between it and the plain
//! path.
//!
//! A controller around a message-passing layer is hundreds of small tensor operations per step. The kernels of
//! `itergnn-kernels` do the same work as one operation on the whole batch, forward and backward; here that operation
//! meets modules, tensors and gradients:
//!
//! | file | what |
//! |---|---|
//! | `engine` | [`Engine`] as asked for, [`EngineChoice`] as made, by [`engine_for`] and `choose` alone |
//! | `parameters` | the weights of all modules as one vector, by differentiable operations |
//! | `operation` | the operation on Flex, and its backward step under autodiff |
//! | `clock` | how long the kernels worked |
//! | `call` | one run of the kernels: what they are told, what they leave behind |
//! | `recovery` | what is left of a batch when a value overflows |
//! | `block` | from modules to a [`ControllerOutput`](crate::controllers::ControllerOutput) |
//! | `gin` | the same for whole GIN classifiers, whose batch normalisation joins the graphs of a batch |
//!
//! The plain path is the specification: `tests/fused_f32.rs` and `tests/fused_f64.rs` compare every covered combination
//! with it, outputs, steps, auxiliary loss and all gradients. What the kernels do not cover runs plain, and
//! [`EngineUse`] says why.

mod block;
mod call;
mod clock;
mod engine;
mod fault;
mod gin;
mod operation;
mod parameters;
mod recovery;
mod variants;

pub(crate) use block::{FusedBlock, run};
pub use clock::KernelClock;
pub(crate) use engine::choose;
pub use engine::{Engine, EngineChoice, EngineUse, Unsupported, engine_for};
pub use fault::{Fault, FaultLog};
pub(crate) use gin::{FusedGin, run_gin};
pub(crate) use variants::{numbers, record, record_bytes};
