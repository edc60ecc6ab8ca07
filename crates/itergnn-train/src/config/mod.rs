//! A run as data.
//!
//! A [`RunConfig`] is read from TOML, completed by [`RunConfig::resolve`] and written back beside the results. Fields
//! that do not exist are refused, and what makes no sense is answered with one line that names the field.

mod checkpoint;
mod limits;
mod loss_kind;
mod max_plus;
mod measure;
mod method;
mod model;
mod names;
mod optimiser;
mod run_config;
mod run_task;
mod schedule;
mod setting;
mod short_form;
mod supervised;
mod task_shape;

pub use crate::classification::CrossValidationConfig;
pub use crate::rl::DqnConfig;
pub use checkpoint::CheckpointConfig;
pub use loss_kind::LossKind;
pub use max_plus::MaxPlusChanges;
pub use measure::{Cap, Measure, SelectionConfig};
pub use method::MethodConfig;
pub use model::ModelConfig;
pub use names::NamesVersion;
pub(crate) use names::in_todays_names;
pub use optimiser::OptimiserConfig;
pub(crate) use run_config::at_least_one;
pub use run_config::{ResolvedRun, RunConfig};
pub use run_task::{Holdout, OwnTask, RunTask};
pub use schedule::Schedule;
pub(crate) use supervised::splits;
pub use supervised::{DataConfig, Finishing, SupervisedConfig};
pub use task_shape::TaskShape;
pub(crate) use task_shape::sizes as task_sizes;
