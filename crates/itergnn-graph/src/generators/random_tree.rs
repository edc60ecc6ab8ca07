//! Uniform random trees.

use rand::{Rng, RngExt};

use crate::{Graph, GraphError};

/// A labelled tree, uniform among all n^(n-2) of them, both directions.
///
/// # Errors
/// [`GraphError::TooLarge`].
///
/// # Complexity
/// O(n): a random Prüfer sequence, decoded with a moving pointer to the smallest leaf.
pub fn tree(nodes: usize, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    if nodes < 2 {
        return Graph::new(nodes, &[]);
    }
    let limit = u32::MAX as usize / 2;
    if nodes > limit {
        return Err(GraphError::TooLarge { what: "nodes", found: nodes, limit });
    }
    let code: Vec<u32> = (0..nodes - 2).map(|_| rng.random_range(0..nodes as u32)).collect();
    Graph::undirected(nodes, &decode(nodes, &code))
}

/// The edges of the tree with this Prüfer sequence.
fn decode(nodes: usize, code: &[u32]) -> Vec<[u32; 2]> {
    let mut degrees = vec![1_u32; nodes];
    for &node in code {
        degrees[node as usize] += 1;
    }
    let next_leaf = |degrees: &[u32], from: usize| (from..nodes).find(|&node| degrees[node] == 1).unwrap_or(nodes - 1);
    let mut pointer = next_leaf(&degrees, 0);
    let mut leaf = pointer;
    let mut pairs = Vec::with_capacity(nodes - 1);
    for &parent in code {
        pairs.push([leaf as u32, parent]);
        degrees[parent as usize] -= 1;
        if degrees[parent as usize] == 1 && (parent as usize) < pointer {
            leaf = parent as usize;
        } else {
            pointer = next_leaf(&degrees, pointer + 1);
            leaf = pointer;
        }
    }
    pairs.push([leaf as u32, nodes as u32 - 1]);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rng, solvers::components};

    #[test]
    fn decodes_the_textbook_sequence() {
        // The tree 0-3, 1-3, 2-3, 3-4, 4-5 has the sequence 3 3 3 4.
        assert_eq!(decode(6, &[3, 3, 3, 4]), vec![[0, 3], [1, 3], [2, 3], [3, 4], [4, 5]]);
    }

    #[test]
    fn all_sixteen_trees_of_four_nodes_occur_about_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        let rng = &mut rng::seeded(9);
        for _ in 0..16_000 {
            let mut edges = tree(4, rng).unwrap().edge_list();
            edges.sort_unstable();
            *counts.entry(edges).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 16);
        // 1,000 in the mean, standard deviation 31.
        assert!(counts.values().all(|&count: &i32| (count - 1000).abs() < 160), "{counts:?}");
    }

    #[test]
    fn it_is_a_tree() {
        for nodes in [0, 1, 2, 3, 50, 1000] {
            let graph = tree(nodes, &mut rng::seeded(4)).unwrap();
            assert_eq!(graph.edges(), 2 * nodes.saturating_sub(1));
            assert_eq!(components::count(&graph), nodes.min(1));
        }
    }
}
