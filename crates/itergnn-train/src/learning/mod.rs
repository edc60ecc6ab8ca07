//! One step of learning: a batch in, better weights out.

mod gradients;
mod learner;
mod loss;
mod memory;
mod optimiser;

pub use gradients::HostGradients;
pub use learner::{Learner, LearnerState, StepReport};
pub(crate) use learner::{check_names, started_from};
pub use loss::batch_loss;
pub use memory::keep_freed_memory;
pub use optimiser::{Moments, Optimiser};
