//! Graphs of random points: nearest neighbours and triangulations.

use delaunator::{EMPTY, next_halfedge, triangulate};
use nabo::{KDTree, NotNan, Point};
use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::{Attributes, Graph, GraphError};

/// Largest dimension of [`knn`]: the spatial index needs it at compile time.
const MAX_DIMENSION: usize = 4;

/// KNN(n, d, k): n uniform points in the unit cube of `dimension`; edges go from each point to its k nearest others
/// (all others where there are fewer).
///
/// The positions are left in the node attributes, `dimension` columns.
///
/// # Errors
/// [`GraphError::Parameter`] unless the dimension is 1 to 4.
///
/// # Complexity
/// O(n log n + n k), with a kd-tree, the queries in parallel.
///
/// # Paper
/// Appendix, properties of graph generators; the paper takes d = 1 and k = 8.
pub fn knn(nodes: usize, dimension: usize, k: usize, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    match dimension {
        1 => knn_in::<1>(nodes, k, rng),
        2 => knn_in::<2>(nodes, k, rng),
        3 => knn_in::<3>(nodes, k, rng),
        4 => knn_in::<4>(nodes, k, rng),
        _ => Err(GraphError::Parameter {
            what: "knn",
            why: format!("dimension {dimension} is not between 1 and {MAX_DIMENSION}"),
        }),
    }
}

fn knn_in<const AXES: usize>(nodes: usize, k: usize, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    let mut points = vec![[0.0; AXES]; nodes];
    points.as_flattened_mut().fill_with(|| rng.random::<f64>());
    let positions = points.as_flattened().iter().map(|&value| value as f32).collect();
    nearest_neighbours(&points, k)?.with_node_attributes(Attributes::new(AXES, positions))
}

/// Edges from each of the given points to its k nearest others (all others where there are fewer), nearest first.
///
/// # Errors
/// [`GraphError::NotFinite`] names a point that is not a point.
///
/// # Complexity
/// O(n log n + n k): sorted in one dimension, else with a kd-tree, the queries in parallel.
pub fn nearest_neighbours<const AXES: usize>(points: &[[f64; AXES]], k: usize) -> Result<Graph, GraphError> {
    check_points(points)?;
    let degree = k.min(points.len().saturating_sub(1));
    if degree == 0 {
        return Graph::new(points.len(), &[]);
    }
    if AXES == 1 {
        return Graph::new(points.len(), &nearest_on_a_line(points.as_flattened(), degree));
    }
    let sites: Vec<Site<AXES>> = points.iter().map(|&point| Site(point)).collect();
    let index = KDTree::new(&sites);
    // One more than wanted, since the nearest is the centre itself (or, among equal points, one of its doubles).
    let edges_of = |centre: usize| {
        let found = index.knn(degree as u32 + 1, &sites[centre]).into_iter().map(|site| site.index);
        let others = found.filter(move |&node| node as usize != centre).take(degree);
        others.map(move |node| [centre as u32, node])
    };
    let edges: Vec<[u32; 2]> =
        (0..points.len()).into_par_iter().with_min_len(PARALLEL).flat_map_iter(edges_of).collect();
    Graph::new(points.len(), &edges)
}

/// On a line the nearest neighbours lie around a point in sorted order: two hands walk outwards, the nearer one first.
fn nearest_on_a_line(points: &[f64], degree: usize) -> Vec<[u32; 2]> {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| points[a as usize].total_cmp(&points[b as usize]).then(a.cmp(&b)));
    let at = |rank: usize| points[order[rank] as usize];
    let mut edges = vec![[0, 0]; points.len() * degree];
    for (rank, &centre) in order.iter().enumerate() {
        let (mut left, mut right) = (rank, rank + 1);
        for edge in &mut edges[centre as usize * degree..][..degree] {
            let to_left = if left > 0 { at(rank) - at(left - 1) } else { f64::INFINITY };
            let to_right = if right < order.len() { at(right) - at(rank) } else { f64::INFINITY };
            let neighbour = if to_left <= to_right {
                left -= 1;
                order[left]
            } else {
                right += 1;
                order[right - 1]
            };
            *edge = [centre, neighbour];
        }
    }
    edges
}

/// Fewer queries than this are not worth a second thread.
const PARALLEL: usize = 1000;

/// A point as the kd-tree wants it.
#[derive(Clone, Copy)]
struct Site<const AXES: usize>([f64; AXES]);

impl<const AXES: usize> Default for Site<AXES> {
    fn default() -> Self {
        Self([0.0; AXES])
    }
}

impl<const AXES: usize> Point<f64> for Site<AXES> {
    const DIM: u32 = AXES as u32;

    fn set(&mut self, axis: u32, value: NotNan<f64>) {
        self.0[axis as usize] = *value;
    }

    fn get(&self, axis: u32) -> NotNan<f64> {
        // Points are checked to be finite before the tree is built; adding a number keeps the sum a number.
        NotNan::new(self.0[axis as usize]).unwrap_or_default()
    }
}

/// PL(n): the Delaunay triangulation of n uniform points in the unit square, both directions.
///
/// The positions are left in the node attributes, two columns.
///
/// # Errors
/// [`GraphError::TooLarge`].
///
/// # Complexity
/// O(n log n).
///
/// # Paper
/// Appendix, properties of graph generators; the paper takes d = 2.
pub fn planar(nodes: usize, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    let points: Vec<[f64; 2]> = (0..nodes).map(|_| [rng.random(), rng.random()]).collect();
    let positions = points.iter().flatten().map(|&value| value as f32).collect();
    delaunay(&points)?.with_node_attributes(Attributes::new(2, positions))
}

/// The Delaunay triangulation of the given points, both directions. Fewer than three points, or points on one line, are
/// joined in a row.
///
/// # Errors
/// [`GraphError::NotFinite`] names a point that is not a point.
///
/// # Complexity
/// O(n log n).
pub fn delaunay(points: &[[f64; 2]]) -> Result<Graph, GraphError> {
    check_points(points)?;
    let sites: Vec<_> = points.iter().map(|&[x, y]| delaunator::Point { x, y }).collect();
    let found = triangulate(&sites);
    let mut edges = Vec::with_capacity(found.triangles.len() + 2 * found.hull.len());
    for (halfedge, &start) in found.triangles.iter().enumerate() {
        let end = found.triangles[next_halfedge(halfedge)];
        edges.push([start as u32, end as u32]);
        // The other direction of an inner edge is the half-edge of the triangle beyond; an edge of the hull has none.
        if found.halfedges[halfedge] == EMPTY {
            edges.push([end as u32, start as u32]);
        }
    }
    if found.triangles.is_empty() {
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        order.sort_by(|&a, &b| {
            let ([ax, ay], [bx, by]) = (points[a as usize], points[b as usize]);
            ax.total_cmp(&bx).then(ay.total_cmp(&by))
        });
        edges.extend(order.windows(2).flat_map(|pair| [[pair[0], pair[1]], [pair[1], pair[0]]]));
    }
    Graph::new(points.len(), &edges)
}

fn check_points<const AXES: usize>(points: &[[f64; AXES]]) -> Result<(), GraphError> {
    for (row, point) in points.iter().enumerate() {
        if let Some(column) = point.iter().position(|value| !value.is_finite()) {
            return Err(GraphError::NotFinite { what: "points", row, column, value: point[column] });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rng, solvers::components};

    /// The same answer by comparing all pairs.
    fn nearest_by_force(points: &Attributes, centre: usize, k: usize) -> Vec<u32> {
        let distance = |node: usize| -> f64 {
            let pairs = points.row(node).iter().zip(points.row(centre));
            pairs.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
        };
        let mut others: Vec<u32> = (0..points.len() as u32).filter(|&node| node as usize != centre).collect();
        others.sort_by(|&a, &b| distance(a as usize).total_cmp(&distance(b as usize)));
        others.truncate(k);
        others.sort_unstable();
        others
    }

    #[test]
    fn knn_agrees_with_brute_force() {
        for dimension in 1..=4 {
            let graph = knn(60, dimension, 8, &mut rng::seeded(11)).unwrap();
            for centre in 0..60 {
                let mut found: Vec<_> =
                    graph.edge_list().iter().filter(|edge| edge[0] == centre).map(|edge| edge[1]).collect();
                found.sort_unstable();
                assert_eq!(found, nearest_by_force(graph.node_attributes(), centre as usize, 8));
            }
        }
        assert!(knn(5, 5, 2, &mut rng::seeded(0)).is_err());
    }

    #[test]
    fn small_graphs_are_complete() {
        for nodes in 0..8 {
            let graph = knn(nodes, 1, 8, &mut rng::seeded(1)).unwrap();
            assert_eq!(graph.edges(), nodes * nodes.saturating_sub(1));
        }
    }

    #[test]
    fn planar_obeys_euler() {
        for nodes in [3, 4, 10, 500] {
            let graph = planar(nodes, &mut rng::seeded(5)).unwrap();
            assert!(graph.is_symmetric() && components::count(&graph) == 1);
            // A triangulation of n points with h of them on the hull has 3 n - 3 - h edges.
            assert!(graph.edges() / 2 <= 3 * nodes - 6 || nodes == 3, "{nodes}: {}", graph.edges());
            assert!(graph.edges() / 2 >= 2 * nodes - 3);
        }
    }

    #[test]
    fn degenerate_points_are_joined_in_a_row() {
        let row = delaunay(&[[0.5, 0.0], [0.1, 0.0], [0.9, 0.0]]).unwrap();
        assert_eq!(row.edge_list(), vec![[1, 0], [0, 1], [0, 2], [2, 0]]);
        assert!(delaunay(&[[0.5, f64::NAN]]).is_err());
        assert_eq!(planar(2, &mut rng::seeded(5)).unwrap().edges(), 2);
        assert_eq!(planar(0, &mut rng::seeded(5)).unwrap().nodes(), 0);
    }
}
