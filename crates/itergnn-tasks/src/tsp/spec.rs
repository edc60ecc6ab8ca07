//! What TSP samples look like.

use serde::{Deserialize, Serialize};

use super::TspSampler;
use crate::{SizeRange, TaskError};

/// The settings of the TSP task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TspSpec {
    /// Number of points.
    pub size: SizeRange,
    /// Coordinates are integers from 1 to this.
    pub extent: u32,
}

impl Default for TspSpec {
    /// The paper's: sizes [4, 34), coordinates from 1 to 1000.
    fn default() -> Self {
        Self { size: SizeRange::TRAINING, extent: 1_000 }
    }
}

impl TspSpec {
    /// A sampler of these settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for fewer than two points, more than the solver is meant for, or coordinates that `f32`
    /// cannot hold.
    pub fn sampler(self) -> Result<TspSampler, TaskError> {
        TspSampler::new(self)
    }
}
