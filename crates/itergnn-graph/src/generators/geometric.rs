//! Graphs of random points: nearest neighbours and triangulations.

use delaunator::{EMPTY, Point, next_halfedge, triangulate};
use rand::{Rng, RngExt};
use rstar::RTree;

use crate::{Attributes, Graph, GraphError};

/// Largest dimension of [`knn`]: the spatial index needs it at compile time.
const MAX_DIMENSION: usize = 4;

/// KNN(n, d, k): n uniform points in the unit cube of `dimension`; edges go from each point to its k nearest others (all others where there are fewer).
///
/// The positions are left in the node attributes, `dimension` columns.
///
/// # Errors
/// [`GraphError::Parameter`] unless the dimension is 1 to 4.
///
/// # Complexity
/// O(n log n + n k), with an R*-tree.
///
/// # Paper
/// Appendix, properties of graph generators; the paper takes d = 1 and k = 8.
pub fn knn(nodes: usize, dimension: usize, k: usize, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    match dimension {
        // The R*-tree wants at least two axes; a second one that is always 0 changes no distance.
        1 => knn_in::<2>(nodes, 1, k, rng),
        2 => knn_in::<2>(nodes, 2, k, rng),
        3 => knn_in::<3>(nodes, 3, k, rng),
        4 => knn_in::<4>(nodes, 4, k, rng),
        _ => Err(GraphError::Parameter {
            what: "knn",
            why: format!("dimension {dimension} is not between 1 and {MAX_DIMENSION}"),
        }),
    }
}

fn knn_in<const AXES: usize>(
    nodes: usize,
    dimension: usize,
    k: usize,
    rng: &mut impl Rng,
) -> Result<Graph, GraphError> {
    let mut points = vec![[0.0; AXES]; nodes];
    for point in &mut points {
        point[..dimension].fill_with(|| rng.random::<f64>());
    }
    let positions = points.iter().flat_map(|point| point[..dimension].iter().map(|&value| value as f32)).collect();
    nearest_neighbours(&points, k)?.with_node_attributes(Attributes::new(dimension, positions))
}

/// Edges from each of the given points to its k nearest others (all others where there are fewer), nearest first.
///
/// # Errors
/// [`GraphError::NotFinite`] names a point that is not a point.
///
/// # Panics
/// If `AXES` is 1: give points on a line a second coordinate of 0.
///
/// # Complexity
/// O(n log n + n k), with an R*-tree.
pub fn nearest_neighbours<const AXES: usize>(points: &[[f64; AXES]], k: usize) -> Result<Graph, GraphError> {
    type Site<const AXES: usize> = rstar::primitives::GeomWithData<[f64; AXES], u32>;
    check_points(points)?;
    let sites = points.iter().zip(0..).map(|(&point, node)| Site::new(point, node)).collect();
    let index = RTree::bulk_load(sites);
    let degree = k.min(points.len().saturating_sub(1));
    let mut edges = Vec::with_capacity(points.len() * degree);
    for (centre, point) in (0..).zip(points) {
        let others = index.nearest_neighbor_iter(*point).map(|site| site.data).filter(|&node| node != centre);
        edges.extend(others.take(degree).map(|neighbour| [centre, neighbour]));
    }
    Graph::new(points.len(), &edges)
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

/// The Delaunay triangulation of the given points, both directions. Fewer than three points, or points on one line, are joined in a row.
///
/// # Errors
/// [`GraphError::NotFinite`] names a point that is not a point.
///
/// # Complexity
/// O(n log n).
pub fn delaunay(points: &[[f64; 2]]) -> Result<Graph, GraphError> {
    check_points(points)?;
    let sites: Vec<Point> = points.iter().map(|&[x, y]| Point { x, y }).collect();
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
