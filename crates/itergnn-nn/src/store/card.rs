//! What is known about a trained model besides its weights.

use serde::{Deserialize, Serialize};

/// Where a model comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCard {
    /// Name of the model, such as `iter-homo-path`.
    pub name: String,
    /// The task it was trained on, such as `shortest-path`.
    pub task: String,
    /// Seed of the training run.
    pub seed: u64,
    /// Anything the training run wants to remember: data, steps, losses, versions, device.
    pub training: serde_json::Value,
}
