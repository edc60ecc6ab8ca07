//! Erdos and Renyi's random graph.

use rand::{Rng, RngExt};

use crate::{Graph, GraphError};

/// G(n, p): each ordered (`directed`) or unordered pair of different nodes is an edge with probability `p`.
///
/// # Errors
/// [`GraphError::Parameter`] unless 0 <= p <= 1.
///
/// # Complexity
/// O(nodes + edges): instead of asking every pair, the gaps between edges are drawn from the geometric distribution.
///
/// # Example
/// ```
/// use itergnn_graph::{generators, rng};
/// let sparse = generators::erdos_renyi(10_000, 0.0002, false, &mut rng::seeded(1))?;
/// assert!(sparse.is_symmetric());
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
pub fn erdos_renyi(nodes: usize, p: f64, directed: bool, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    if !(0.0..=1.0).contains(&p) {
        return Err(GraphError::Parameter {
            what: "erdos_renyi",
            why: format!("probability {p} is not between 0 and 1"),
        });
    }
    let n = nodes as u64;
    let expected = p * (n * n.saturating_sub(1)) as f64;
    let limit = u32::MAX as usize - 1;
    if expected > 0.99 * limit as f64 {
        return Err(GraphError::TooLarge { what: "edges", found: expected as usize, limit });
    }
    let mut edges = Vec::with_capacity((1.02 * expected) as usize + 16);
    // Row `receiver` holds its possible senders: all others when directed, the smaller ones when not.
    for receiver in 0..n {
        let row = if directed { n - 1 } else { receiver };
        edges_of_row(row, p, rng, |index| {
            let sender = index + u64::from(directed && index >= receiver);
            edges.push([sender as u32, receiver as u32]);
            if !directed {
                edges.push([receiver as u32, sender as u32]);
            }
        });
    }
    Graph::new(nodes, &edges)
}

/// Calls `take` with each index below `row` that is drawn with probability `p`, ascending.
fn edges_of_row(row: u64, p: f64, rng: &mut impl Rng, mut take: impl FnMut(u64)) {
    // Below this, a geometric gap costs less than asking every pair; measured around one in four.
    const SPARSE: f64 = 0.25;
    if p >= SPARSE {
        for index in 0..row {
            if rng.random::<f64>() < p {
                take(index);
            }
        }
    } else if p > 0.0 {
        let log_miss = libm::log1p(-p);
        let mut index = 0_u64;
        loop {
            // 1 - u lies in (0, 1], so that the logarithm is finite; the gap is below 2^64 only if it is below `row`.
            let gap = libm::log(1.0 - rng.random::<f64>()) / log_miss;
            if gap >= (row - index.min(row)) as f64 {
                break;
            }
            index += gap as u64;
            take(index);
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    #[test]
    fn the_edge_count_is_close_to_its_mean() {
        for (p, directed) in [(0.5, true), (0.5, false), (0.01, true), (0.01, false), (0.2, true)] {
            let graph = erdos_renyi(1000, p, directed, &mut rng::seeded(3)).unwrap();
            let pairs = if directed { 999_000.0 } else { 499_500.0 };
            let found = graph.edges() as f64 / if directed { 1.0 } else { 2.0 };
            // Five standard deviations of the binomial distribution.
            let tolerance = 5.0 * (pairs * p * (1.0 - p)).sqrt();
            assert!((found - pairs * p).abs() < tolerance, "p {p}: {found} edges");
        }
    }

    #[test]
    fn every_pair_can_occur_and_none_twice() {
        for directed in [true, false] {
            for p in [0.2, 0.5] {
                let mut seen = [[0; 4]; 4];
                for seed in 0..200 {
                    let graph = erdos_renyi(4, p, directed, &mut rng::seeded(seed)).unwrap();
                    let mut edges = graph.edge_list();
                    edges.sort_unstable();
                    assert!(edges.windows(2).all(|pair| pair[0] != pair[1]));
                    assert!(directed || graph.is_symmetric());
                    edges.iter().for_each(|&[a, b]| seen[a as usize][b as usize] += 1);
                }
                for (a, row) in seen.iter().enumerate() {
                    assert!(row.iter().enumerate().all(|(b, &count)| (count > 0) == (a != b)), "{seen:?}");
                }
            }
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(erdos_renyi(5, 0.0, true, &mut rng::seeded(0)).unwrap().edges(), 0);
        assert_eq!(erdos_renyi(5, 1.0, true, &mut rng::seeded(0)).unwrap().edges(), 20);
        assert_eq!(erdos_renyi(0, 0.5, true, &mut rng::seeded(0)).unwrap().nodes(), 0);
        assert!(erdos_renyi(5, 1.5, true, &mut rng::seeded(0)).is_err());
        assert!(erdos_renyi(5, f64::NAN, true, &mut rng::seeded(0)).is_err());
    }
}
