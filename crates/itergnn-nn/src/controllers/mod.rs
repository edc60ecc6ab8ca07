//! How layers are composed: a fixed stack, a shared layer, or a loop that learns when to stop.
//!
//! | name | output | stops |
//! |---|---|---|
//! | `stack(L)` | h^L, every layer with its own weights | after L layers |
//! | `shared(L)` | h^L, one layer repeated | after L steps |
//! | `iter` | sum_j p_j h^j with p_j = c^j prod_{i<j} (1 - c^i) (Algorithm 1) | when the remaining probability is at most epsilon |
//! | `iter-decay` | lambda^(K-1) sum_j p_j h^j (the paper's efficient inference) | the same, the remaining probability shrinking by lambda per step |
//! | `act` | adaptive computation time with ponder cost, in Graves' form or that of the authors' code | when the confidences sum to 1 |
//!
//! The three loops differ only in their [`Halting`] rule; [`run_loop`] does the rest for all of them: one confidence
//! per graph or per node, the cap of 30 steps in training, graphs that are done leaving the batch, and the [`Trace`].
//! Memory at inference does not grow with the number of steps.
//!
//! The paper lets a finished graph's accumulator shrink on while other graphs of its batch run. Here a finished graph
//! (or node) is frozen, so that a result does not depend on what else is in the batch.

mod confidence;
mod controller;
mod halting;
mod output;
mod run_loop;
mod stack;
mod trace;

pub use itergnn_kernels::settings::{
    ActConfig, ControllerConfig, IterConfig, Mode, SAFETY_CAP, STOP_EPSILON, Scope, SharedConfig, StackConfig,
    TRAINING_CAP,
};

pub use confidence::{Confidence, StoppingCriterion};
pub use controller::Controller;
pub use halting::{Halting, HaltingStep};
pub use output::{ControllerOutput, RunOptions};
pub use run_loop::run_loop;
pub(crate) use trace::GraphStep;
pub use trace::{NodeStates, NodeWatch, Trace, TraceStep};
