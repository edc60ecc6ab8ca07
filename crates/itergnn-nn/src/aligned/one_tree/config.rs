//! The settings of a one-tree model.

use serde::{Deserialize, Serialize};

use crate::architecture::{Recipe, Settings};
use crate::config::{at_least_one, check_parameters};
use crate::{Error, TaskWidths};

/// The settings of a [`OneTreeModel`](super::OneTreeModel).
///
/// # Example
/// ```
/// use itergnn_nn::{GnnConfig, OneTreeConfig, TaskWidths, preset};
/// let config = OneTreeConfig::new(2, 1);
/// assert_eq!(preset("one-tree", &TaskWidths::graph(2, 1, 1))?, GnnConfig::OneTree(config));
/// # Ok::<(), itergnn_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneTreeConfig {
    /// Width of the node attributes, which are not read: distances say everything.
    pub node_width: usize,
    /// Width of a prediction.
    pub output_width: usize,
    /// Price of the probability that is left at the cap.
    #[serde(default = "settle")]
    pub settle: f64,
    /// Price of an expected step, in squared relative error.
    #[serde(default = "ponder")]
    pub ponder: f64,
    /// Steps in training.
    #[serde(default = "training_cap")]
    pub training_cap: usize,
}

/// Squared relative errors are near 1e-5, so a model that leaves a hundredth of the probability at the cap pays about
/// as much as for its predictions.
fn settle() -> f64 {
    1e-3
}

/// A hundred steps cost as much as a relative error of .001.
fn ponder() -> f64 {
    1e-8
}

fn training_cap() -> usize {
    100
}

impl OneTreeConfig {
    /// The settings that were found for tours through uniform points.
    pub fn new(node_width: usize, output_width: usize) -> Self {
        Self { node_width, output_width, settle: settle(), ponder: ponder(), training_cap: training_cap() }
    }
}

impl Settings for OneTreeConfig {
    fn validate(&self) -> Result<(), Error> {
        at_least_one("node_width", self.node_width)?;
        at_least_one("output_width", self.output_width)?;
        at_least_one("training_cap", self.training_cap)?;
        for (field, price) in [("settle", self.settle), ("ponder", self.ponder)] {
            if !(price.is_finite() && price >= 0.0) {
                return Err(Error::config("one-tree", format!("{field} is {price}, not a price")));
            }
        }
        check_parameters(4.0 * self.output_width as f64)
    }

    fn widths(&self) -> TaskWidths {
        TaskWidths::graph(self.node_width, 1, self.output_width)
    }

    fn line(&self) -> String {
        "one-tree (task-aligned): one price per node, five steering numbers, a learned remainder".to_owned()
    }

    fn hidden_width(&self) -> usize {
        1
    }

    fn set_hidden_width(&mut self, _width: usize) -> Result<(), Error> {
        Err(Error::config("one-tree", "it has one price per node, and no width to change"))
    }

    fn recipe(&self) -> Recipe {
        Recipe::Relative
    }

    fn is_capped_in_training(&self) -> bool {
        true
    }
}
