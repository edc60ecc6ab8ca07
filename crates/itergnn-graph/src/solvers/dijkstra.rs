//! Dijkstra's algorithm.

use std::{cmp::Ordering, collections::BinaryHeap};

use crate::{Adjacency, AdjacencyView, EdgeWeights, Graph, GraphError, Path};

/// No node: the parent of a root, or of a node that was not reached.
pub(super) const NOBODY: u32 = u32::MAX;

/// Distances between one root and every node, with a tree of shortest paths.
#[derive(Debug, Clone, PartialEq)]
pub struct ShortestPaths {
    /// Length of the shortest path for each node; infinite where there is none.
    pub distances: Vec<f64>,
    parents: Vec<u32>,
}

impl ShortestPaths {
    pub(super) fn new(nodes: usize, root: u32) -> Self {
        let mut distances = vec![f64::INFINITY; nodes];
        distances[root as usize] = 0.0;
        Self { distances, parents: vec![NOBODY; nodes] }
    }

    pub(super) fn relax(&mut self, parent: u32, node: u32, length: f64) -> bool {
        let shorter = length < self.distances[node as usize];
        if shorter {
            self.distances[node as usize] = length;
            self.parents[node as usize] = parent;
        }
        shorter
    }

    pub(super) fn parent(&self, node: u32) -> Option<u32> {
        Some(self.parents[node as usize]).filter(|&parent| parent != NOBODY)
    }

    /// The nodes of a shortest path between `node` and the root, starting at `node`; `None` where the root is not
    /// reached.
    pub fn walk_to_root(&self, node: u32) -> Option<Vec<u32>> {
        if !self.distances[node as usize].is_finite() {
            return None;
        }
        Some(std::iter::successors(Some(node), |&node| self.parent(node)).collect())
    }
}

/// Distances from `source` to every node.
///
/// # Errors
/// [`GraphError::Node`].
///
/// # Complexity
/// O((nodes + edges) log nodes).
///
/// # Example
/// ```
/// use itergnn_graph::{EdgeWeights, Graph, solvers::dijkstra};
/// let graph = Graph::new(3, &[[0, 1], [1, 2], [0, 2]])?;
/// let weights = EdgeWeights::new(&graph, vec![1.0, 1.0, 5.0])?; // by position: 0->1, 1->2, 0->2
/// assert_eq!(dijkstra::distances_from(&graph, &weights, 0)?.distances, vec![0.0, 1.0, 2.0]);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
pub fn distances_from(graph: &Graph, weights: &EdgeWeights, source: u32) -> Result<ShortestPaths, GraphError> {
    graph.check_node(source)?;
    Ok(search(Adjacency::outgoing(graph).view(), weights, source, None))
}

/// Distances from every node to `target`; the walk to the root then follows the edges forward.
///
/// # Errors
/// [`GraphError::Node`].
///
/// # Complexity
/// O((nodes + edges) log nodes).
pub fn distances_to(graph: &Graph, weights: &EdgeWeights, target: u32) -> Result<ShortestPaths, GraphError> {
    graph.check_node(target)?;
    Ok(search(AdjacencyView::incoming(graph), weights, target, None))
}

/// A shortest path from `source` to `target`, or `None` if there is none.
///
/// # Errors
/// [`GraphError::Node`].
///
/// # Complexity
/// O((nodes + edges) log nodes), and less when the source is near: the search starts at the target, over incoming
/// edges, and ends at the source.
pub fn shortest_path(
    graph: &Graph,
    weights: &EdgeWeights,
    source: u32,
    target: u32,
) -> Result<Option<Path>, GraphError> {
    graph.check_node(source)?;
    graph.check_node(target)?;
    let tree = search(AdjacencyView::incoming(graph), weights, target, Some(source));
    let length = tree.distances[source as usize];
    Ok(tree.walk_to_root(source).map(|nodes| Path { nodes, length }))
}

/// Grows the tree of shortest paths from `root` over `adjacency` until it is complete or `stop_at` is settled.
pub(super) fn search(
    adjacency: AdjacencyView<'_>,
    weights: &EdgeWeights,
    root: u32,
    stop_at: Option<u32>,
) -> ShortestPaths {
    let mut tree = ShortestPaths::new(adjacency.nodes(), root);
    let mut queue = BinaryHeap::from([Entry { distance: 0.0, node: root }]);
    while let Some(Entry { distance, node }) = queue.pop() {
        if distance > tree.distances[node as usize] {
            continue; // a shorter way was found after this entry was queued
        }
        if Some(node) == stop_at {
            break;
        }
        for (neighbour, position) in adjacency.of(node) {
            let length = distance + weights.at(position);
            if tree.relax(node, neighbour, length) {
                queue.push(Entry { distance: length, node: neighbour });
            }
        }
    }
    tree
}

/// A queued node; the greatest is the nearest, and among equals the one with the smallest number.
#[derive(PartialEq)]
pub(super) struct Entry {
    pub(super) distance: f64,
    pub(super) node: u32,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1 -> 2 -> 3 costs 3, 0 -> 3 directly costs 4; 4 is alone.
    fn fixture() -> (Graph, EdgeWeights) {
        let graph = Graph::new(5, &[[0, 1], [1, 2], [0, 3], [2, 3]]).unwrap();
        let weights = EdgeWeights::new(&graph, vec![1.0, 1.0, 4.0, 1.0]).unwrap();
        (graph, weights)
    }

    #[test]
    fn finds_the_cheaper_detour() {
        let (graph, weights) = fixture();
        let path = shortest_path(&graph, &weights, 0, 3).unwrap().unwrap();
        assert_eq!(path, Path { nodes: vec![0, 1, 2, 3], length: 3.0 });
    }

    #[test]
    fn directions_matter_and_the_unreachable_is_none() {
        let (graph, weights) = fixture();
        assert_eq!(shortest_path(&graph, &weights, 3, 0).unwrap(), None);
        assert_eq!(shortest_path(&graph, &weights, 0, 4).unwrap(), None);
        let same = shortest_path(&graph, &weights, 4, 4).unwrap().unwrap();
        assert_eq!(same, Path { nodes: vec![4], length: 0.0 });
        assert!(shortest_path(&graph, &weights, 0, 5).is_err());
    }

    #[test]
    fn from_and_to_agree() {
        let (graph, weights) = fixture();
        let from = distances_from(&graph, &weights, 0).unwrap();
        assert_eq!(from.distances, vec![0.0, 1.0, 2.0, 3.0, f64::INFINITY]);
        assert_eq!(from.walk_to_root(3), Some(vec![3, 2, 1, 0]));
        let to = distances_to(&graph, &weights, 3).unwrap();
        assert_eq!(to.distances, vec![3.0, 2.0, 1.0, 0.0, f64::INFINITY]);
    }
}
