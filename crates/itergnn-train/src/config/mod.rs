//! A training run as data.
//!
//! A [`TrainConfig`] is read from TOML, completed by [`TrainConfig::resolved`] and written back beside the results. Fields that do not exist are
//! refused, and what makes no sense is answered with one line that names the field.

mod loss_kind;
mod max_plus;
mod measure;
mod model;
mod names;
mod optimiser;
mod schedule;
mod task_shape;
mod train;

pub use loss_kind::LossKind;
pub use max_plus::MaxPlusChanges;
pub use measure::{Cap, Measure, SelectionConfig};
pub use model::ModelConfig;
pub use names::NamesVersion;
pub(crate) use names::in_todays_names;
pub use optimiser::OptimiserConfig;
pub use schedule::Schedule;
pub use task_shape::TaskShape;
pub(crate) use task_shape::sizes as task_sizes;
pub(crate) use train::read_toml;
pub use train::{CheckpointConfig, DataConfig, TrainConfig};
