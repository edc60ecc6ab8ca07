//! What pictures look like.

use serde::{Deserialize, Serialize};

use super::NavigationSampler;
use crate::{SizeRange, TaskError};

/// The settings of image-based navigation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NavigationSpec {
    /// Side of the square picture.
    pub size: SizeRange,
    /// Pixels higher than this cannot be entered; heights are uniform in [0, 1).
    pub blocked_above: f32,
}

impl Default for NavigationSpec {
    /// Pictures of side 4 to 10, pixels above 0.8 blocked.
    ///
    /// The paper trains on pictures of at most 10 x 10 and does not say how small they get; 4 is where its other tasks
    /// begin.
    fn default() -> Self {
        Self { size: Self::TRAINING, blocked_above: 0.8 }
    }
}

impl NavigationSpec {
    const TRAINING: SizeRange = match SizeRange::TRAINING.up_to(10) {
        Some(range) => range,
        None => SizeRange::TRAINING,
    };

    /// A sampler of these settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if a picture has a single pixel, is too large, or the threshold is not between 0 and 1.
    pub fn sampler(self) -> Result<NavigationSampler, TaskError> {
        NavigationSampler::new(self)
    }
}
