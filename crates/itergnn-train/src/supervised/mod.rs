//! Learning from labelled samples: steps, epochs and their validation.

mod learned;
mod method;
mod place;
mod validator;

pub(crate) use learned::Learned;
pub(crate) use method::Supervised;
pub(crate) use place::Place;
pub use validator::{Validations, Validator};

use crate::config::{LossKind, Measure, RunConfig};

/// The loss of a resolved run from samples.
pub(crate) fn loss_of(config: &RunConfig) -> LossKind {
    let given = config.supervised().ok().and_then(|settings| settings.loss);
    given.or(config.task.built_in().map(|spec| LossKind::of_task(spec.task()))).unwrap_or(LossKind::Mse)
}

/// The measure that chooses the best epoch of a resolved run from samples.
pub(crate) fn measure_of(config: &RunConfig) -> Measure {
    let own = config.task.built_in().map(|spec| Measure::of_task(spec.task()));
    config.selection.measure.or(own).unwrap_or(Measure::Mse)
}
