//! The graphs of SALSA-CLRS.

use itergnn_graph::{Graph, GraphError, generators, solvers::components};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantArray, VariantNames};

/// Graphs tried before giving up. The rarest connected ones have a chance of about a third.
const ATTEMPTS: u32 = 1_000;

/// A family of connected, undirected random graphs.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum GraphFamily {
    /// Erdos-Renyi graphs with p uniform in [1, 3) ln(m) / m, where m is the number of nodes, at least 16.
    #[default]
    Er,
    /// Watts-Strogatz graphs with 4, 6 or 8 neighbours and a share in [0.05, 0.2) of edges led elsewhere.
    Ws,
    /// Delaunay triangulations of uniform points.
    Delaunay,
}

impl GraphFamily {
    /// A connected graph of `nodes` nodes, without attributes.
    ///
    /// # Errors
    /// [`GraphError::Parameter`] for fewer than three nodes, and where no connected graph is found.
    pub fn generate(self, nodes: usize, rng: &mut impl Rng) -> Result<Graph, GraphError> {
        let refuse = |why: String| Err(GraphError::Parameter { what: "graph of an algorithm", why });
        if nodes < 3 {
            return refuse(format!("{nodes} nodes, expected at least 3"));
        }
        for _ in 0..ATTEMPTS {
            let graph = match self {
                Self::Er => {
                    // Training graphs have up to 16 nodes and share one range of p.
                    let base = nodes.max(16) as f64;
                    let p = rng.random_range(1.0..3.0) * natural_logarithm(base) / base;
                    generators::erdos_renyi(nodes, p.min(1.0), false, rng)?
                }
                Self::Ws => {
                    let neighbours = 2 * rng.random_range(2_u32..5) as usize;
                    let p = rng.random_range(0.05..0.2);
                    generators::watts_strogatz(nodes, neighbours.min((nodes - 1) / 2 * 2), p, rng)?
                }
                Self::Delaunay => {
                    let graph = generators::planar(nodes, rng)?;
                    Graph::new(nodes, &graph.edge_list())?
                }
            };
            if components::count(&graph) == 1 {
                return Ok(graph);
            }
        }
        refuse(format!("no connected graph of {nodes} nodes among {ATTEMPTS} of the family {self}"))
    }
}

/// The logarithm of the platform may differ in the last bit; this one does not.
fn natural_logarithm(value: f64) -> f64 {
    libm::log(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::rng;

    #[test]
    fn graphs_are_connected_simple_and_of_the_size_asked_for() {
        for &family in <GraphFamily as VariantArray>::VARIANTS {
            for nodes in [4, 7, 16, 80] {
                let graph = family.generate(nodes, &mut rng::seeded(nodes as u64)).unwrap();
                assert_eq!((graph.nodes(), components::count(&graph)), (nodes, 1), "{family}");
                assert!(graph.is_symmetric());
                let mut edges = graph.edge_list();
                edges.sort_unstable();
                assert!(edges.windows(2).all(|pair| pair[0] != pair[1]) && edges.iter().all(|[a, b]| a != b));
            }
            assert!(family.generate(2, &mut rng::seeded(0)).is_err());
        }
    }
}
