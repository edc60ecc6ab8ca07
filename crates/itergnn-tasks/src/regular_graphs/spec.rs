//! What regular-graph samples look like.

use itergnn_graph::{Graph, generators};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantArray};

use super::RegularGraphsSampler;
use crate::TaskError;

/// Two regular graphs of equal size and degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum GraphPair {
    /// A ring of six nodes (class 0) and two triangles (class 1): different numbers of components.
    Cycles,
    /// The cube (class 0) and the Moebius ladder of eight nodes (class 1): diameters 3 and 2.
    Cubic,
}

impl GraphPair {
    /// The graphs of class 0 and class 1, without attributes.
    ///
    /// # Errors
    /// None in fact; building a graph can fail in general.
    pub fn graphs(self) -> Result<[Graph; 2], TaskError> {
        Ok(match self {
            Self::Cycles => {
                let triangle = generators::cycle(3)?;
                [generators::cycle(6)?, generators::disjoint_union(&[triangle.clone(), triangle])?]
            }
            Self::Cubic => [generators::cube()?, generators::moebius_ladder(8)?],
        })
    }
}

/// The settings of the regular-graph task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RegularGraphsSpec {
    /// Which two graphs.
    pub pair: GraphPair,
    /// Random numbers on each node, uniform in [0, 1).
    pub attributes: usize,
    /// Whether these are random at all; without, every one is 1 and no network of messages can tell the graphs apart.
    pub random: bool,
}

impl Default for RegularGraphsSpec {
    /// Cycles, one random number per node.
    fn default() -> Self {
        Self { pair: GraphPair::Cycles, attributes: 1, random: true }
    }
}

impl RegularGraphsSpec {
    /// A sampler of these settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] without attributes.
    pub fn sampler(self) -> Result<RegularGraphsSampler, TaskError> {
        RegularGraphsSampler::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::solvers::{bfs, components};

    #[test]
    fn the_graphs_of_a_pair_agree_in_degree_and_differ_in_kind() {
        for &pair in GraphPair::VARIANTS {
            let [first, second] = pair.graphs().unwrap();
            assert_eq!(first.nodes(), second.nodes());
            let degree = first.edges() / first.nodes();
            for graph in [&first, &second] {
                assert!((0..graph.nodes() as u32).all(|node| graph.senders_of(node).len() == degree));
            }
            assert_eq!(pair.to_string().parse::<GraphPair>().unwrap(), pair);
        }
        let [ring, triangles] = GraphPair::Cycles.graphs().unwrap();
        assert_eq!((components::count(&ring), components::count(&triangles)), (1, 2));
        let diameter = |graph: &Graph| (0..8).flat_map(|node| bfs::hops_from(graph, node).unwrap()).max().unwrap();
        let [cube, ladder] = GraphPair::Cubic.graphs().unwrap();
        assert_eq!((diameter(&cube), diameter(&ladder)), (3, 2));
    }
}
