//! Breadth-first search: distances in hops.

use crate::{Adjacency, AdjacencyView, Graph, GraphError};

/// The hop count of a node that cannot be reached.
pub const UNREACHED: u32 = u32::MAX;

/// Hops from `source` to every node; [`UNREACHED`] where there is no path.
///
/// # Errors
/// [`GraphError::Node`].
///
/// # Complexity
/// O(nodes + edges).
pub fn hops_from(graph: &Graph, source: u32) -> Result<Vec<u32>, GraphError> {
    graph.check_node(source)?;
    Ok(hops(Adjacency::outgoing(graph).view(), source))
}

/// Hops from every node to `target`; [`UNREACHED`] where there is no path.
///
/// # Errors
/// [`GraphError::Node`].
///
/// # Complexity
/// O(nodes + edges).
///
/// # Example
/// ```
/// use itergnn_graph::{generators, solvers::bfs};
/// assert_eq!(bfs::hops_to(&generators::line(4)?, 0)?, vec![0, 1, 2, 3]);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
pub fn hops_to(graph: &Graph, target: u32) -> Result<Vec<u32>, GraphError> {
    graph.check_node(target)?;
    Ok(hops(AdjacencyView::incoming(graph), target))
}

pub(super) fn hops(adjacency: AdjacencyView<'_>, root: u32) -> Vec<u32> {
    let mut hops = vec![UNREACHED; adjacency.nodes()];
    visit(adjacency, root, &mut hops, &mut Vec::new());
    hops
}

/// Fills in the hops of all nodes reachable from `root` and leaves them in `order`, nearest first.
pub(super) fn visit(adjacency: AdjacencyView<'_>, root: u32, hops: &mut [u32], order: &mut Vec<u32>) {
    order.clear();
    order.push(root);
    hops[root as usize] = 0;
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for (neighbour, _) in adjacency.of(node) {
            if hops[neighbour as usize] == UNREACHED {
                hops[neighbour as usize] = hops[node as usize] + 1;
                order.push(neighbour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_matter() {
        let graph = Graph::new(4, &[[0, 1], [1, 2]]).unwrap();
        assert_eq!(hops_from(&graph, 1).unwrap(), vec![UNREACHED, 0, 1, UNREACHED]);
        assert_eq!(hops_to(&graph, 1).unwrap(), vec![1, 0, UNREACHED, UNREACHED]);
    }
}
