//! The settings of a max-plus model.

use serde::{Deserialize, Serialize};

use crate::architecture::{Recipe, Settings, rows};
use crate::config::{at_least_one, check_parameters};
use crate::controllers::TRAINING_CAP;
use crate::fused::Engine;
use crate::{Error, ReadoutKind, TaskWidths};

/// The settings of a [`MaxPlusModel`](super::MaxPlusModel).
///
/// # Example
/// ```
/// use itergnn_nn::{GnnConfig, MaxPlusConfig, TaskWidths, preset};
/// let config = MaxPlusConfig::new(3, 1);
/// assert_eq!(preset("max-plus", &TaskWidths::graph(3, 1, 1))?, GnnConfig::MaxPlus(config));
/// # Ok::<(), itergnn_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxPlusConfig {
    /// Number of classes a node can have: the width of its one-hot attributes.
    pub node_width: usize,
    /// Continuous attributes of a node, in the columns before its class: what a gate looks at. 0 for no gate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attributes: usize,
    /// Width of a prediction.
    pub output_width: usize,
    /// Values that travel.
    #[serde(default = "channels")]
    pub channels: usize,
    /// Combinations of channels that the output is made of.
    #[serde(default = "heads")]
    pub heads: usize,
    /// Combinations of channels that the confidence is made of.
    #[serde(default = "heads")]
    pub confidence_heads: usize,
    /// Chance of a channel to travel without change, as a bit that says who was reached.
    #[serde(default = "drift_free")]
    pub drift_free: f64,
    /// Whether the confidence sees if anything changed in a step. For graphs where a later path can be shorter.
    #[serde(default)]
    pub residual: bool,
    /// Whether half of the channels travel against the edges. For directed graphs, where no node learns its distance to
    /// another otherwise.
    #[serde(default)]
    pub both_ways: bool,
    /// Price of the probability that is left at the cap.
    #[serde(default = "settle")]
    pub settle: f64,
    /// Price of an expected step.
    #[serde(default = "ponder")]
    pub ponder: f64,
    /// Price of the size of output weights, in the first three quarters of training.
    #[serde(default = "sparsity")]
    pub sparsity: f64,
    /// Steps in training.
    #[serde(default = "training_cap")]
    pub training_cap: usize,
    /// `max` for one prediction per graph, `node` for one per node.
    #[serde(default)]
    pub readout: ReadoutKind,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn channels() -> usize {
    32
}

fn heads() -> usize {
    4
}

fn drift_free() -> f64 {
    0.4
}

fn settle() -> f64 {
    0.3
}

fn ponder() -> f64 {
    0.01
}

fn sparsity() -> f64 {
    1e-3
}

fn training_cap() -> usize {
    TRAINING_CAP
}

impl MaxPlusConfig {
    /// The settings that were found for shortest paths in undirected trees.
    pub fn new(node_width: usize, output_width: usize) -> Self {
        Self {
            node_width,
            attributes: 0,
            output_width,
            channels: channels(),
            heads: heads(),
            confidence_heads: heads(),
            drift_free: drift_free(),
            residual: false,
            both_ways: false,
            settle: settle(),
            ponder: ponder(),
            sparsity: sparsity(),
            training_cap: training_cap(),
            readout: ReadoutKind::Max,
        }
    }

    /// The first channel that travels against the edges; the number of channels if none does.
    pub(super) fn first_against(&self) -> usize {
        if self.both_ways { self.channels / 2 } else { self.channels }
    }
}

impl Settings for MaxPlusConfig {
    fn validate(&self) -> Result<(), Error> {
        at_least_one("node_width", self.node_width)?;
        at_least_one("output_width", self.output_width)?;
        at_least_one("channels", self.channels)?;
        at_least_one("heads", self.heads)?;
        at_least_one("confidence_heads", self.confidence_heads)?;
        at_least_one("training_cap", self.training_cap)?;
        let problem = |why: String| Err(Error::config("max-plus", why));
        if !(0.0..=1.0).contains(&self.drift_free) {
            return problem(format!("drift_free is {}, not a probability", self.drift_free));
        }
        for (field, price) in [("settle", self.settle), ("ponder", self.ponder), ("sparsity", self.sparsity)] {
            if !(price.is_finite() && price >= 0.0) {
                return problem(format!("{field} is {price}, not a price"));
            }
        }
        if !matches!(self.readout, ReadoutKind::Max | ReadoutKind::Node) {
            return problem(format!("readout {:?}: only max and node are possible", self.readout));
        }
        let rows = (self.node_width + self.heads + self.confidence_heads) as f64;
        let gate = self.attributes as f64;
        check_parameters(rows * (self.channels as f64 + 1.0) + self.heads as f64 * self.output_width as f64 + gate)
    }

    fn widths(&self) -> TaskWidths {
        TaskWidths::graph(self.attributes + self.node_width, 1, self.output_width).with_readout(self.readout)
    }

    fn line(&self) -> String {
        let stop = if self.residual { "stops when nothing changes" } else { "learned stop" };
        let ways = if self.both_ways { ", waves both ways" } else { "" };
        let gate = if self.attributes > 0 { ", a gate" } else { "" };
        format!("max-plus (task-aligned): {} channels, {stop}{ways}{gate}", self.channels)
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

    fn is_capped_in_training(&self) -> bool {
        true
    }

    fn bytes(&self, nodes: usize, edges: usize) -> u64 {
        // States, their mean and what is sent, in double precision; ends and weights both ways.
        let states = 3 * self.channels as u64 * size_of::<f64>() as u64;
        let of_nodes = (nodes as u64).saturating_mul(states + NODE_BYTES);
        of_nodes.saturating_add((edges as u64).saturating_mul(EDGE_BYTES))
    }

    fn training_bytes(&self, nodes: usize, edges: usize, _engine: Engine) -> u64 {
        let step = rows(self.channels, (nodes, ROWS_PER_STEP), (edges, ROWS_PER_STEP));
        step.saturating_mul(self.training_cap as u64).saturating_add(self.bytes(nodes, edges))
    }
}

/// Rows of all channels that a step of training keeps for the gradients, for every node and edge.
const ROWS_PER_STEP: u64 = 5;

/// Attributes, classes, offsets and marks of a node.
const NODE_BYTES: u64 = 64;

/// Ends, weight and attribute of an edge, along and against, and in the batch.
const EDGE_BYTES: u64 = 64;
