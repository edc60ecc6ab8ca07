//! Watts and Strogatz's small worlds.

use std::collections::HashSet;

use rand::{Rng, RngExt};

use crate::{Graph, GraphError};

/// A ring in which each node is joined to its `neighbours` nearest, half of them on either side; then each edge is led
/// to a random other node with probability `p`. Both directions of every edge.
///
/// An edge is never led to its own beginning or to a neighbour of it; where every node is a neighbour, it stays.
///
/// # Errors
/// [`GraphError::Parameter`] unless `neighbours` is even and below the number of nodes, and 0 <= p <= 1.
///
/// # Complexity
/// O(nodes x neighbours).
///
/// # Example
/// ```
/// use itergnn_graph::{generators, rng};
/// let graph = generators::watts_strogatz(20, 4, 0.1, &mut rng::seeded(1))?;
/// assert_eq!(graph.edges(), 2 * 20 * 2);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
pub fn watts_strogatz(nodes: usize, neighbours: usize, p: f64, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    let refuse = |why: String| Err(GraphError::Parameter { what: "watts_strogatz", why });
    if !neighbours.is_multiple_of(2) || neighbours >= nodes {
        return refuse(format!(
            "{neighbours} neighbours of {nodes} nodes, expected an even number below that of nodes"
        ));
    }
    if !(0.0..=1.0).contains(&p) {
        return refuse(format!("probability {p} is not between 0 and 1"));
    }
    if nodes.saturating_mul(neighbours) >= u32::MAX as usize {
        let found = nodes.saturating_mul(neighbours);
        return Err(GraphError::TooLarge { what: "edges", found, limit: u32::MAX as usize - 1 });
    }
    let n = nodes as u32;
    let key = |a: u32, b: u32| (a.min(b), a.max(b));
    let mut pairs = Vec::with_capacity(nodes * neighbours / 2);
    for step in 1..=neighbours as u32 / 2 {
        pairs.extend((0..n).map(|node| [node, (node + step) % n]));
    }
    let mut present: HashSet<(u32, u32)> = pairs.iter().map(|&[a, b]| key(a, b)).collect();
    let mut degree = vec![neighbours as u32; nodes];
    for pair in &mut pairs {
        let [from, to] = *pair;
        if rng.random::<f64>() >= p || degree[from as usize] >= n - 1 {
            continue;
        }
        let other = loop {
            let other = rng.random_range(0..n);
            if other != from && !present.contains(&key(from, other)) {
                break other;
            }
        };
        present.remove(&key(from, to));
        present.insert(key(from, other));
        degree[to as usize] -= 1;
        degree[other as usize] += 1;
        *pair = [from, other];
    }
    Graph::undirected(nodes, &pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    #[test]
    fn edges_are_led_elsewhere_but_never_lost_or_doubled() {
        let ring = watts_strogatz(10, 4, 0.0, &mut rng::seeded(1)).unwrap();
        assert!((0..10).all(|node| ring.senders_of(node).len() == 4));
        for seed in 0..50 {
            let graph = watts_strogatz(9, 6, 0.5, &mut rng::seeded(seed)).unwrap();
            let mut edges = graph.edge_list();
            edges.sort_unstable();
            assert!(edges.windows(2).all(|pair| pair[0] != pair[1]) && edges.iter().all(|[a, b]| a != b));
            assert_eq!((edges.len(), graph.is_symmetric()), (2 * 9 * 3, true));
        }
        // The share of edges that are led elsewhere is p, but for those that come back by chance.
        let graph = watts_strogatz(4_000, 4, 0.2, &mut rng::seeded(3)).unwrap();
        let near = |&[a, b]: &[u32; 2]| [1, 2].contains(&(a.abs_diff(b)).min(4_000 - a.abs_diff(b)));
        let moved = graph.edge_list().iter().filter(|edge| !near(edge)).count() as f64 / graph.edges() as f64;
        assert!((moved - 0.2).abs() < 0.02, "{moved}");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        assert!(watts_strogatz(5, 3, 0.1, &mut rng::seeded(0)).is_err());
        assert!(watts_strogatz(4, 4, 0.1, &mut rng::seeded(0)).is_err());
        assert!(watts_strogatz(5, 2, 1.5, &mut rng::seeded(0)).is_err());
        assert_eq!(watts_strogatz(5, 4, 1.0, &mut rng::seeded(0)).unwrap().edges(), 20);
    }
}
