//! Lobsters: lines with two levels of leaves.

use rand::{Rng, RngExt};

use crate::{Graph, GraphError};

/// Lob(n, p1, p2): a line of n nodes, Bin(n, p1) first-level leaves on uniform nodes of the line, Bin(n1, p2)
/// second-level leaves on uniform first-level leaves; both directions.
///
/// Nodes `0..n` are the line in order, then come the first-level leaves, then the second-level ones.
///
/// # Errors
/// [`GraphError::Parameter`] unless both probabilities lie between 0 and 1.
///
/// # Complexity
/// O(n).
///
/// # Paper
/// Appendix, properties of graph generators; the paper takes p1 = p2 = 0.2.
pub fn lobster(line: usize, p1: f64, p2: f64, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    for p in [p1, p2] {
        if !(0.0..=1.0).contains(&p) {
            let why = format!("probability {p} is not between 0 and 1");
            return Err(GraphError::Parameter { what: "lobster", why });
        }
    }
    if line > u32::MAX as usize / 4 {
        return Err(GraphError::TooLarge { what: "nodes", found: line, limit: u32::MAX as usize / 4 });
    }
    let line = line as u32;
    let first = binomial(line, p1, rng);
    let second = binomial(first, p2, rng);
    let nodes = line + first + second;
    let mut pairs = Vec::with_capacity(nodes as usize);
    pairs.extend((1..line).map(|node| [node - 1, node]));
    pairs.extend((line..line + first).map(|leaf| [rng.random_range(0..line), leaf]));
    pairs.extend((line + first..nodes).map(|leaf| [rng.random_range(line..line + first), leaf]));
    Graph::undirected(nodes as usize, &pairs)
}

/// Successes in `trials` trials. Drawing each costs no more than the line itself, and needs no logarithms that differ
/// between platforms.
fn binomial(trials: u32, p: f64, rng: &mut impl Rng) -> u32 {
    (0..trials).filter(|_| rng.random::<f64>() < p).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rng, solvers::components};

    #[test]
    fn it_is_a_tree_of_about_one_and_a_quarter_lines() {
        let graph = lobster(10_000, 0.2, 0.2, &mut rng::seeded(2)).unwrap();
        assert_eq!(graph.edges(), 2 * (graph.nodes() - 1));
        assert_eq!(components::count(&graph), 1);
        // 1 + 0.2 + 0.04 lines in the mean; five standard deviations are about 0.025 lines.
        assert!((graph.nodes() as f64 / 10_000.0 - 1.24).abs() < 0.025, "{}", graph.nodes());
    }

    #[test]
    fn extremes() {
        assert_eq!(lobster(0, 0.2, 0.2, &mut rng::seeded(0)).unwrap().nodes(), 0);
        assert_eq!(lobster(1, 0.0, 0.0, &mut rng::seeded(0)).unwrap().nodes(), 1);
        assert_eq!(lobster(4, 1.0, 1.0, &mut rng::seeded(0)).unwrap().nodes(), 12);
        assert!(lobster(4, -0.1, 0.2, &mut rng::seeded(0)).is_err());
    }
}
