//! What samples of Newton's balls look like.

use serde::{Deserialize, Serialize};

use super::NewtonBallsSampler;
use crate::{SizeRange, TaskError};

/// The settings of Newton's balls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewtonBallsSpec {
    /// Number of balls, the moving one included.
    pub size: SizeRange,
    /// Radius of every ball.
    pub radius: f64,
    /// The gap to the row and the speed are uniform between 0 and this many radii (radii a time step).
    pub reach: f64,
}

impl Default for NewtonBallsSpec {
    /// The paper's: sizes [4, 34), r = 0.1, gap and speed up to 200 r.
    fn default() -> Self {
        Self { size: SizeRange::TRAINING, radius: 0.1, reach: 200.0 }
    }
}

impl NewtonBallsSpec {
    /// A sampler of these settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] unless there are at least two balls and radius and reach are positive.
    pub fn sampler(self) -> Result<NewtonBallsSampler, TaskError> {
        NewtonBallsSampler::new(self)
    }
}
