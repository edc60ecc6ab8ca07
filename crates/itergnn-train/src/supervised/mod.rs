//! Learning from labelled samples: the loop, its validation, and several seeds side by side.

mod options;
mod outcome;
mod run_files;
mod seeds;
mod session;
mod validator;

pub use options::TrainOptions;
pub use outcome::{Outcome, Status};
pub use seeds::{SeedOutcome, seed_directory, train_seeds};
pub use session::train;
pub use validator::{Validations, Validator};
