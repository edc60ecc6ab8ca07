//! The algorithms.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray, VariantNames};

/// An algorithm on graphs whose result is to be predicted.
///
/// Ties are broken by the number of nodes, the lowest first, as in CLRS; the position among the node attributes rises
/// with the number, so that a network can know it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Algorithm {
    /// Breadth-first search from the source: each node's parent is its neighbour one step nearer to the source, the
    /// lowest of these.
    Bfs,
    /// Depth-first search from the source, which goes to the lowest unvisited neighbour first: parents.
    Dfs,
    /// Dijkstra's algorithm from the source: parents in the tree of shortest paths.
    Dijkstra,
    /// Prim's algorithm from the source: parents in the minimum spanning tree.
    Prim,
    /// The number of hops from the source to the node farthest from it.
    Eccentricity,
    /// The maximal independent set that takes nodes by falling priority, which is their position and random: 1 for
    /// members.
    Mis,
    /// Which nodes can be reached from the source: 1 for those. Some edges of the graph are missing.
    Reachability,
    /// For each node the width of the widest path from the source: the largest least weight along a path. The source's
    /// own is 1, the bound of all weights.
    WidestPath,
    /// Whether the graph has two sides such that edges only join different sides: class 1. Graphs of the other class
    /// differ from such a graph by one edge.
    Bipartiteness,
}

impl Algorithm {
    /// What a target belongs to, as `--level` names it: `pointer`, `node` or `graph`.
    pub fn level(self) -> &'static str {
        match self {
            Self::Bfs | Self::Dfs | Self::Dijkstra | Self::Prim => "pointer",
            Self::Mis | Self::Reachability | Self::WidestPath => "node",
            Self::Eccentricity | Self::Bipartiteness => "graph",
        }
    }

    /// How many classes a target has; `None` where it is a number or an edge.
    pub fn classes(self) -> Option<usize> {
        matches!(self, Self::Mis | Self::Reachability | Self::Bipartiteness).then_some(2)
    }

    /// Whether edges have random weights.
    pub fn is_weighted(self) -> bool {
        matches!(self, Self::Dijkstra | Self::Prim | Self::WidestPath)
    }

    /// Whether one node is marked as the source.
    pub fn has_source(self) -> bool {
        !matches!(self, Self::Mis | Self::Bipartiteness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_match_serde() {
        for &algorithm in <Algorithm as VariantArray>::VARIANTS {
            let name = algorithm.to_string();
            assert_eq!(name.parse(), Ok(algorithm));
            assert_eq!(serde_json::to_value(algorithm).unwrap(), name);
        }
        assert_eq!(<Algorithm as VariantArray>::VARIANTS.len(), 9);
    }
}
