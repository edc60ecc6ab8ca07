//! What a run says about itself while it runs.

mod epoch;
mod observer;
mod record;
mod step;

pub use epoch::{EpochRecord, Validation};
pub use observer::{Observer, Plan, Silent};
pub use record::Record;
pub use step::StepRecord;
