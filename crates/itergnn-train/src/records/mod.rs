//! What a run says about itself while it runs.

mod epoch;
mod observer;
mod step;

pub use epoch::{EpochRecord, Validation};
pub use observer::{Observer, Plan, Silent};
pub use step::StepRecord;
