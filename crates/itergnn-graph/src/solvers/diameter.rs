//! Eccentricity and hop diameter.

use serde::{Deserialize, Serialize};

use super::bfs::{self, UNREACHED};
use crate::{Adjacency, AdjacencyView, Graph, GraphError};

/// The longest hop distance from `source` to any node it reaches.
///
/// # Errors
/// [`GraphError::Node`].
///
/// # Complexity
/// O(nodes + edges).
pub fn eccentricity(graph: &Graph, source: u32) -> Result<u32, GraphError> {
    let hops = bfs::hops_from(graph, source)?;
    Ok(hops.into_iter().filter(|&hops| hops != UNREACHED).max().unwrap_or(0))
}

/// The hop diameter, or bounds on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopDiameter {
    /// The diameter is at least this.
    pub lower: u32,
    /// The diameter is at most this.
    pub upper: u32,
}

impl HopDiameter {
    /// Whether the two bounds agree.
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper
    }
}

/// The largest hop distance between any two nodes that are joined by a path (so a graph of several components has the
/// largest of their diameters).
///
/// # Arguments
/// `budget` bounds the work: about how many edges the searches may look at. Where that is not enough for the exact
/// diameter, the result is a pair of bounds.
///
/// # Complexity
/// O(nodes * edges) at worst; a symmetric graph usually needs a handful of searches (iFUB, Crescenzi et al. 2013:
/// search from a central node, then from its farthest nodes inwards, until the largest eccentricity found is at least
/// twice the depth that remains).
///
/// # Example
/// ```
/// use itergnn_graph::{generators, solvers::diameter};
/// let found = diameter::hop_diameter(&generators::line(1000)?, 1_000_000);
/// assert_eq!((found.lower, found.upper), (999, 999));
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
pub fn hop_diameter(graph: &Graph, budget: u64) -> HopDiameter {
    let outgoing = Adjacency::outgoing(graph);
    let mut searches = Searches {
        adjacency: outgoing.view(),
        hops: vec![UNREACHED; graph.nodes()],
        order: Vec::new(),
        cost: graph.edges() as u64 + graph.nodes() as u64 + 1,
        left: budget,
    };
    if graph.is_symmetric() { symmetric(graph, &mut searches) } else { directed(graph, &mut searches) }
}

/// Repeated breadth-first searches that share their buffers and a budget.
struct Searches<'a> {
    adjacency: AdjacencyView<'a>,
    hops: Vec<u32>,
    order: Vec<u32>,
    cost: u64,
    left: u64,
}

impl Searches<'_> {
    /// The node farthest from `root` and its distance. Leaves the visited nodes in `order`.
    fn run(&mut self, root: u32) -> (u32, u32) {
        for &node in &self.order {
            self.hops[node as usize] = UNREACHED;
        }
        bfs::visit(self.adjacency, root, &mut self.hops, &mut self.order);
        self.left = self.left.saturating_sub(self.cost.min(16 * self.order.len() as u64 + 1));
        let last = self.order.last().copied().unwrap_or(root);
        (last, self.hops[last as usize])
    }
}

/// Every node is a source; the budget may run out before the last.
fn directed(graph: &Graph, searches: &mut Searches<'_>) -> HopDiameter {
    let mut lower = 0;
    for source in 0..graph.nodes() as u32 {
        if searches.left == 0 {
            // Nothing better is known of a directed graph: a shortest path passes each node at most once.
            return HopDiameter { lower, upper: (graph.nodes() as u32).saturating_sub(1) };
        }
        lower = lower.max(searches.run(source).1);
    }
    HopDiameter { lower, upper: lower }
}

fn symmetric(graph: &Graph, searches: &mut Searches<'_>) -> HopDiameter {
    let mut seen = vec![false; graph.nodes()];
    let mut total = HopDiameter { lower: 0, upper: 0 };
    for root in 0..graph.nodes() as u32 {
        if seen[root as usize] {
            continue;
        }
        let part = component(root, searches);
        for &node in &searches.order {
            seen[node as usize] = true;
        }
        total = HopDiameter { lower: total.lower.max(part.lower), upper: total.upper.max(part.upper) };
    }
    total
}

/// The diameter of the component of `root`; leaves the component's nodes in `searches.order`.
fn component(root: u32, searches: &mut Searches<'_>) -> HopDiameter {
    // Two sweeps find a long path; its middle is a good centre.
    let (end, _) = searches.run(root);
    let (other_end, mut lower) = searches.run(end);
    let mut centre = other_end;
    for _ in 0..lower / 2 {
        let depth = searches.hops[centre as usize];
        let up = searches.adjacency.of(centre).map(|(node, _)| node);
        centre = up.into_iter().find(|&node| searches.hops[node as usize] + 1 == depth).unwrap_or(centre);
    }
    let (_, radius) = searches.run(centre);
    lower = lower.max(radius);
    let levels: Vec<(u32, u32)> =
        searches.order.iter().rev().map(|&node| (node, searches.hops[node as usize])).collect();
    // Nodes no deeper than d are at most 2 d apart, so the levels are searched from the deepest inwards; the last is
    // the centre itself.
    let mut upper = lower;
    for &(node, depth) in &levels {
        upper = lower.max(2 * depth);
        if lower >= 2 * depth || searches.left == 0 {
            break;
        }
        lower = lower.max(searches.run(node).1);
    }
    searches.run(centre);
    HopDiameter { lower, upper: upper.max(lower) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators;

    const PLENTY: u64 = u64::MAX;

    fn exact(graph: &Graph) -> u32 {
        let found = hop_diameter(graph, PLENTY);
        assert!(found.is_exact(), "{found:?}");
        found.lower
    }

    #[test]
    fn known_diameters() {
        assert_eq!(exact(&generators::line(1).unwrap()), 0);
        assert_eq!(exact(&generators::line(17).unwrap()), 16);
        assert_eq!(exact(&generators::cycle(9).unwrap()), 4);
        assert_eq!(exact(&generators::complete(5).unwrap()), 1);
        assert_eq!(exact(&generators::grid(3, 7).unwrap()), 8);
        assert_eq!(exact(&generators::cube().unwrap()), 3);
        assert_eq!(exact(&generators::moebius_ladder(8).unwrap()), 2);
        assert_eq!(exact(&Graph::new(3, &[[0, 1], [1, 2]]).unwrap()), 2);
        assert_eq!(exact(&Graph::new(0, &[]).unwrap()), 0);
    }

    #[test]
    fn several_components_give_the_largest() {
        let parts = [generators::line(3).unwrap(), generators::line(6).unwrap(), generators::line(2).unwrap()];
        assert_eq!(exact(&generators::disjoint_union(&parts).unwrap()), 5);
    }

    #[test]
    fn a_small_budget_gives_bounds_that_hold() {
        let graph = generators::cycle(1001).unwrap();
        let found = hop_diameter(&graph, 1);
        assert!(found.lower <= 500 && found.upper >= 500, "{found:?}");
        assert!(!found.is_exact());
    }
}
