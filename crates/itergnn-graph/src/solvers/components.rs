//! Connected components by union-find.

use petgraph::unionfind::UnionFind;

use crate::Graph;

/// The component of every node: components are numbered from 0 in the order of their smallest node. Directions are
/// ignored.
///
/// # Complexity
/// O((nodes + edges) α(nodes)).
///
/// # Example
/// ```
/// use itergnn_graph::{Graph, solvers::components};
/// let graph = Graph::new(5, &[[0, 2], [3, 4]])?;
/// assert_eq!(components::labels(&graph), vec![0, 1, 0, 2, 2]);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
pub fn labels(graph: &Graph) -> Vec<u32> {
    let mut sets = UnionFind::<u32>::new(graph.nodes());
    for (&sender, &receiver) in graph.senders().iter().zip(graph.receivers()) {
        sets.union(sender, receiver);
    }
    const UNSEEN: u32 = u32::MAX;
    let mut number = vec![UNSEEN; graph.nodes()];
    let mut found = 0;
    (0..graph.nodes() as u32)
        .map(|node| {
            let root = sets.find_mut(node) as usize;
            if number[root] == UNSEEN {
                number[root] = found;
                found += 1;
            }
            number[root]
        })
        .collect()
}

/// How many connected components there are; directions are ignored.
///
/// # Complexity
/// As [`labels`].
pub fn count(graph: &Graph) -> usize {
    labels(graph).iter().max().map_or(0, |&last| last as usize + 1)
}

/// The nodes of the largest component, ascending; the one with the smallest node among equals.
///
/// # Complexity
/// As [`labels`].
pub fn largest(graph: &Graph) -> Vec<u32> {
    let labels = labels(graph);
    let mut sizes = vec![0_usize; labels.iter().max().map_or(0, |&last| last as usize + 1)];
    for &label in &labels {
        sizes[label as usize] += 1;
    }
    let best = (0..sizes.len()).rev().max_by_key(|&label| sizes[label]);
    (0..graph.nodes() as u32).filter(|&node| Some(labels[node as usize] as usize) == best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_largest() {
        let graph = Graph::new(6, &[[1, 0], [2, 3], [3, 4]]).unwrap();
        assert_eq!(count(&graph), 3);
        assert_eq!(largest(&graph), vec![2, 3, 4]);
        assert_eq!(count(&Graph::new(0, &[]).unwrap()), 0);
        assert_eq!(largest(&Graph::new(2, &[]).unwrap()), vec![0]);
    }
}
