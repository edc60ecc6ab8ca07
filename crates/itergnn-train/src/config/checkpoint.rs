//! When the state of a run is saved.

use serde::{Deserialize, Serialize};

/// When the state of a run is saved, besides at its end and when it is stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointConfig {
    /// After this many steps.
    pub every_steps: Option<u64>,
    /// After this many seconds.
    pub every_seconds: f64,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        Self { every_steps: None, every_seconds: 60.0 }
    }
}
