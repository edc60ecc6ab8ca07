//! Learning from labelled samples: steps, epochs and their validation.

mod method;
mod place;
mod validator;

pub(crate) use method::Supervised;
pub(crate) use place::Place;
pub use validator::{Validations, Validator};

use crate::config::{LossKind, Measure, RunConfig};

/// The loss of a run from samples.
pub(crate) fn loss_of(config: &RunConfig) -> LossKind {
    let given = config.supervised().ok().and_then(|settings| settings.loss);
    given.unwrap_or(LossKind::of_task(config.task.task()))
}

/// The measure that chooses the best epoch of a run from samples.
pub(crate) fn measure_of(config: &RunConfig) -> Measure {
    config.selection.measure.unwrap_or(Measure::of_task(config.task.task()))
}
