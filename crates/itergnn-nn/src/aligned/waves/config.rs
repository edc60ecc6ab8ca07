//! The settings of a wave model.

use serde::{Deserialize, Serialize};

use crate::architecture::{Recipe, Settings};
use crate::config::{at_least_one, check_parameters};
use crate::{Error, ReadoutKind, TaskWidths};

/// Deepest tree of a head. The search for a tree is exhaustive, so its time grows like the number of possible tests to
/// this power.
const DEEPEST: usize = 3;

/// What becomes of the target when all node and edge attributes are multiplied by a positive number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Scaling {
    /// Nothing: a count, a class. The head reads who is an origin and how many steps waves came.
    Invariant,
    /// It is multiplied too: a position, a speed. The head reads attributes and strengths of waves.
    Proportional,
}

/// The settings of a [`WaveModel`](super::WaveModel).
///
/// # Example
/// ```
/// use itergnn_nn::aligned::waves::{Scaling, WaveConfig};
/// use itergnn_nn::{GnnConfig, ReadoutKind, TaskWidths, preset};
/// let config = WaveConfig::new(2, 1, 2, ReadoutKind::Node);
/// assert_eq!((config.scaling, config.local_width()), (Scaling::Proportional, 4));
/// assert_eq!(preset("waves", &TaskWidths::node(2, 1, 2))?, GnnConfig::Waves(config));
/// # Ok::<(), itergnn_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaveConfig {
    /// Width of the node attributes.
    pub node_width: usize,
    /// Width of the edge attributes.
    pub edge_width: usize,
    /// Width of a prediction.
    pub output_width: usize,
    /// Kinds of waves.
    pub channels: usize,
    /// How the target scales with the input.
    pub scaling: Scaling,
    /// Tests between the root of the head's tree and a leaf; 0 for a single linear map.
    pub depth: usize,
    /// `node`, `sum` or `max`.
    pub readout: ReadoutKind,
}

impl WaveConfig {
    /// A wave for the largest and one for the smallest value of everything a node sees. Predictions on nodes are
    /// proportional and have four regions; those of graphs are invariant and linear.
    pub fn new(node_width: usize, edge_width: usize, output_width: usize, readout: ReadoutKind) -> Self {
        let (scaling, depth) = match readout {
            ReadoutKind::Node => (Scaling::Proportional, 2),
            _ => (Scaling::Invariant, 0),
        };
        let channels = 2 * (node_width + 2 * edge_width);
        Self { node_width, edge_width, output_width, channels, scaling, depth, readout }
    }

    /// What a node sees before the first step: its attributes, and the largest and smallest of its incoming edges.
    pub fn local_width(&self) -> usize {
        self.node_width + 2 * self.edge_width
    }

    /// Numbers that the maps of the head read.
    pub(super) fn feature_width(&self) -> usize {
        match self.scaling {
            // A constant, the number of nodes, and origins and steps of every channel.
            Scaling::Invariant => 2 + 2 * self.channels,
            Scaling::Proportional => self.local_width() + self.channels,
        }
    }

    /// Leaves of the head's tree.
    pub(super) fn leaves(&self) -> usize {
        1 << self.depth
    }
}

impl Settings for WaveConfig {
    fn validate(&self) -> Result<(), Error> {
        at_least_one("node_width", self.node_width)?;
        at_least_one("output_width", self.output_width)?;
        at_least_one("channels", self.channels)?;
        let problem = |why: String| Err(Error::config("waves", why));
        if self.depth > DEEPEST {
            return problem(format!("depth is {}, more than {DEEPEST}", self.depth));
        }
        if !matches!(self.readout, ReadoutKind::Node | ReadoutKind::Sum | ReadoutKind::Max) {
            return problem(format!("readout {:?}: only node, sum and max are possible", self.readout));
        }
        let (channels, features) = (self.channels as f64, 2.0 * (self.channels as f64 + 1.0) + self.node_width as f64);
        let features = features + 2.0 * self.edge_width as f64;
        let outputs = self.output_width as f64;
        check_parameters(channels * features + self.leaves() as f64 * features * (outputs + 1.0))
    }

    fn widths(&self) -> TaskWidths {
        let Self { node_width, edge_width, output_width, readout, .. } = *self;
        TaskWidths { node_width, edge_width, output_width, readout }
    }

    fn line(&self) -> String {
        let (channels, scaling, readout) = (self.channels, self.scaling, self.readout);
        let head = if self.depth == 0 { "a linear head".to_owned() } else { format!("{} linear maps", self.leaves()) };
        format!("waves (task-aligned): {channels} channels, {scaling} target, readout {readout}, {head}")
    }

    fn hidden_width(&self) -> usize {
        self.channels
    }

    fn set_hidden_width(&mut self, width: usize) -> Result<(), Error> {
        self.channels = width;
        Ok(())
    }

    fn recipe(&self) -> Recipe {
        Recipe::Finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_settings_are_refused() {
        let fine = WaveConfig::new(2, 1, 2, ReadoutKind::Node);
        assert!(fine.validate().is_ok());
        for refused in [
            WaveConfig { depth: 4, ..fine.clone() },
            WaveConfig { readout: ReadoutKind::Attention, ..fine.clone() },
            WaveConfig { channels: 0, ..fine.clone() },
            WaveConfig { channels: 1 << 40, ..fine },
        ] {
            assert!(refused.validate().is_err(), "{refused:?}");
        }
    }
}
