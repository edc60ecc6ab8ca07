//! Random regular graphs.

use rand::{Rng, RngExt};

use crate::{Graph, GraphError};

/// How often the pairing starts anew before it gives up; small degrees succeed within a few tries.
const ATTEMPTS: usize = 1000;

/// A random graph without self-loops and parallel edges in which every node has `degree` neighbours, both directions.
///
/// # Errors
/// [`GraphError::Parameter`] if no such graph exists (odd `nodes * degree`, or `degree >= nodes`).
///
/// # Complexity
/// O(nodes * degree) a try for small degrees: stubs are paired at random, a pair that would repeat an edge is drawn
/// again (Steger and Wormald 1999, whose distribution is asymptotically uniform).
pub fn regular(nodes: usize, degree: usize, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    let impossible = |why: String| GraphError::Parameter { what: "regular", why };
    if degree > 0 && degree >= nodes {
        return Err(impossible(format!("degree {degree} needs more than {nodes} nodes")));
    }
    if !(nodes * degree).is_multiple_of(2) {
        return Err(impossible(format!("{nodes} nodes of degree {degree} would have half an edge over")));
    }
    for _ in 0..ATTEMPTS {
        if let Some(pairs) = pair_stubs(nodes, degree, rng) {
            return Graph::undirected(nodes, &pairs);
        }
    }
    Err(impossible(format!("no graph of {nodes} nodes and degree {degree} was found in {ATTEMPTS} tries")))
}

/// Pairs the stubs of all nodes; `None` where the last ones left over do not fit.
fn pair_stubs(nodes: usize, degree: usize, rng: &mut impl Rng) -> Option<Vec<[u32; 2]>> {
    let mut stubs: Vec<u32> = (0..nodes as u32).flat_map(|node| std::iter::repeat_n(node, degree)).collect();
    let mut neighbours = vec![Vec::with_capacity(degree); nodes];
    let mut pairs = Vec::with_capacity(stubs.len() / 2);
    while !stubs.is_empty() {
        // Near the end most pairs may be taken already; that many misses mean that (almost surely) none is left.
        let tries = 50 + 2 * degree * degree;
        let (a, b) = (0..tries).find_map(|_| {
            let (i, j) = (rng.random_range(0..stubs.len() as u32), rng.random_range(0..stubs.len() as u32));
            let (a, b) = (stubs[i as usize], stubs[j as usize]);
            (a != b && !neighbours[a as usize].contains(&b)).then_some((i.max(j), i.min(j)))
        })?;
        let (a, b) = (stubs.swap_remove(a as usize), stubs.swap_remove(b as usize));
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
        pairs.push([a, b]);
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    #[test]
    fn every_node_has_the_degree_and_no_edge_is_doubled() {
        for (nodes, degree) in [(0, 0), (5, 0), (6, 2), (8, 3), (100, 7), (10, 9)] {
            let graph = regular(nodes, degree, &mut rng::seeded(1)).unwrap();
            assert!((0..nodes as u32).all(|node| graph.senders_of(node).len() == degree));
            let mut edges = graph.edge_list();
            edges.sort_unstable();
            assert!(edges.windows(2).all(|pair| pair[0] != pair[1]));
            assert!(edges.iter().all(|[a, b]| a != b));
        }
    }

    #[test]
    fn impossible_ones_are_refused() {
        assert!(regular(5, 3, &mut rng::seeded(1)).is_err());
        assert!(regular(3, 3, &mut rng::seeded(1)).is_err());
    }
}
