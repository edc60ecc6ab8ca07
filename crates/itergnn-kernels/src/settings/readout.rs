//! From node states to what is predicted about.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

/// How node states become the vectors that the head reads: one per graph, or one per [`Level`].
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
    /// One row per edge, from both its ends and its attributes.
    Edge,
    /// One row per choice of a node: each of its incoming edges, then itself.
    Pointer,
}

/// What is predicted about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Level {
    /// Graphs.
    Graph,
    /// Nodes.
    Node,
    /// Edges.
    Edge,
    /// For every node one of its incoming edges, or itself.
    Pointer,
}

impl ReadoutKind {
    /// What the rows are about.
    pub fn level(self) -> Level {
        match self {
            Self::Node => Level::Node,
            Self::Edge => Level::Edge,
            Self::Pointer => Level::Pointer,
            _ => Level::Graph,
        }
    }

    /// Whether there is one row per graph.
    pub fn pools(self) -> bool {
        self.level() == Level::Graph
    }

    /// Width of a row.
    pub fn output_width(self, hidden_width: usize) -> usize {
        if self == Self::HeadTail { 2 * hidden_width } else { hidden_width }
    }
}
