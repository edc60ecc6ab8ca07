//! What networks are made of, as plain data: layers, controllers, readouts.
//!
//! Every setting is defined here once. The kernels run these, `itergnn-nn` makes modules of them, files and command
//! lines spell them: the serialised form and the names ([`strum::VariantNames`]) are part of the file format.

mod activation;
mod classifier;
mod controller;
mod layer;
mod readout;

pub use activation::{Activation, LEAKY_SLOPE};
pub use classifier::JumpingKnowledgeConfig;
pub use controller::{
    ActConfig, ControllerConfig, IterConfig, Mode, SAFETY_CAP, STOP_EPSILON, Scope, SharedConfig, StackConfig,
    TRAINING_CAP,
};
pub use layer::{Aggregation, EdgeOrder, Isolated, LayerConfig, LayerKind, Update};
pub use readout::{Level, ReadoutKind};

/// Width of every hidden state in the paper.
pub const HIDDEN_WIDTH: usize = 64;

/// Reads a setting by name; the error lists the names there are.
///
/// # Errors
/// `what` and the name that was not found, with those that exist.
///
/// # Example
/// ```
/// use itergnn_kernels::settings::{LayerKind, named};
/// assert_eq!(named::<LayerKind>("layer", "path-sim"), Ok(LayerKind::PathSim));
/// assert!(named::<LayerKind>("layer", "pathsim").unwrap_err().contains("mpnn-max, path, path-sim"));
/// ```
pub fn named<T: std::str::FromStr + strum::VariantNames>(what: &str, name: &str) -> Result<T, String> {
    name.parse().map_err(|_| format!("there is no {what} '{name}', only {}", T::VARIANTS.join(", ")))
}
