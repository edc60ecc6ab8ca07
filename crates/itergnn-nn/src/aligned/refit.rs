//! What finishing a model did.

use serde::{Deserialize, Serialize};

/// What [`GnnModel::finish`](crate::GnnModel::finish) did: this part of a model was fitted to training samples at once,
/// not learned by gradient steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refit {
    /// Root of the mean squared error of the training predictions before, with absent values at minus infinity.
    pub error_before: f64,
    /// The same after; `None` if every head is undefined for some sample, and nothing was fitted.
    pub error_after: Option<f64>,
    /// Terms left in each head.
    pub terms: Vec<usize>,
    /// Whether slopes were near whole numbers and became whole.
    pub snapped: bool,
    /// Whether a soft stop became exactly "nothing changes any more".
    pub settled_stop: bool,
}
