//! From node states to what is predicted about.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

/// How node states become the vector of a graph; `node` leaves them as they are.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, Display, EnumString, VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ReadoutKind {
    /// Elementwise maximum over the nodes of a graph.
    #[default]
    Max,
    /// Elementwise minimum.
    Min,
    /// Mean.
    Mean,
    /// Sum.
    Sum,
    /// Weighted mean with learned weights.
    Attention,
    /// First and last node of a chain, side by side.
    HeadTail,
    /// First node of a graph: the one that asks, such as the player of a game.
    First,
    /// No readout: one row per node.
    Node,
}

impl ReadoutKind {
    /// Width of the pooled vector.
    pub fn output_width(self, hidden_width: usize) -> usize {
        if self == Self::HeadTail { 2 * hidden_width } else { hidden_width }
    }
}
