//! Graphs without chance: lines, cycles, grids and the like, all with both directions.

use crate::{Attributes, Graph, GraphBatch, GraphError};

/// The nodes `0 - 1 - ... - n-1` in a row.
///
/// # Errors
/// [`GraphError::TooLarge`].
pub fn line(nodes: usize) -> Result<Graph, GraphError> {
    check(nodes, 2 * nodes)?;
    let pairs: Vec<_> = (1..nodes as u32).map(|node| [node - 1, node]).collect();
    Graph::undirected(nodes, &pairs)
}

/// The nodes in a ring; one or two nodes give a line.
///
/// # Errors
/// [`GraphError::TooLarge`].
pub fn cycle(nodes: usize) -> Result<Graph, GraphError> {
    if nodes < 3 {
        return line(nodes);
    }
    check(nodes, 2 * nodes)?;
    let pairs: Vec<_> = (0..nodes as u32).map(|node| [node, (node + 1) % nodes as u32]).collect();
    Graph::undirected(nodes, &pairs)
}

/// Every pair of different nodes, both directions.
///
/// # Errors
/// [`GraphError::TooLarge`].
pub fn complete(nodes: usize) -> Result<Graph, GraphError> {
    check(nodes, nodes.saturating_mul(nodes.saturating_sub(1)))?;
    let n = nodes as u32;
    let edges: Vec<_> = (0..n).flat_map(|r| (0..n).filter(move |&s| s != r).map(move |s| [s, r])).collect();
    Graph::new(nodes, &edges)
}

/// Cells in `rows` rows and `columns` columns, each joined to its left, right, upper and lower neighbour. Cell (row,
/// column) is node `row * columns + column`.
///
/// The position `[row, column]` of each cell is left in the node attributes.
///
/// # Errors
/// [`GraphError::TooLarge`].
pub fn grid(rows: usize, columns: usize) -> Result<Graph, GraphError> {
    let nodes = rows.saturating_mul(columns);
    check(nodes, nodes.saturating_mul(4))?;
    let mut pairs = Vec::with_capacity(2 * nodes);
    let mut positions = Vec::with_capacity(2 * nodes);
    for row in 0..rows {
        for column in 0..columns {
            let cell = (row * columns + column) as u32;
            if column + 1 < columns {
                pairs.push([cell, cell + 1]);
            }
            if row + 1 < rows {
                pairs.push([cell, cell + columns as u32]);
            }
            positions.extend([row as f32, column as f32]);
        }
    }
    Graph::undirected(nodes, &pairs)?.with_node_attributes(Attributes::new(2, positions))
}

/// The cube: 8 nodes of degree 3, diameter 3. Nodes whose numbers differ in one bit are joined.
///
/// # Errors
/// None in fact; the signature is that of the other generators.
pub fn cube() -> Result<Graph, GraphError> {
    let pairs: Vec<_> =
        (0..8_u32).flat_map(|node| [1, 2, 4].map(|bit| [node, node ^ bit])).filter(|[a, b]| a < b).collect();
    Graph::undirected(8, &pairs)
}

/// The Moebius ladder: a ring of an even number of nodes, each joined to the opposite one. With 8 nodes it has diameter
/// 2.
///
/// # Errors
/// [`GraphError::Parameter`] unless the number of nodes is even and at least 4.
pub fn moebius_ladder(nodes: usize) -> Result<Graph, GraphError> {
    if nodes < 4 || !nodes.is_multiple_of(2) {
        let why = format!("needs an even number of at least 4 nodes, not {nodes}");
        return Err(GraphError::Parameter { what: "moebius_ladder", why });
    }
    check(nodes, 3 * nodes)?;
    let (n, half) = (nodes as u32, nodes as u32 / 2);
    let ring = (0..n).map(|node| [node, (node + 1) % n]);
    let pairs: Vec<_> = ring.chain((0..half).map(|node| [node, node + half])).collect();
    Graph::undirected(nodes, &pairs)
}

/// Several graphs side by side as one graph; attributes come along.
///
/// # Errors
/// [`GraphError::BatchWidth`] if their attributes are not equally wide.
pub fn disjoint_union(parts: &[Graph]) -> Result<Graph, GraphError> {
    Ok(GraphBatch::new(parts)?.union().clone())
}

/// Refuses sizes that 32-bit indices cannot name, before anything is allocated.
fn check(nodes: usize, edges: usize) -> Result<(), GraphError> {
    let limit = u32::MAX as usize - 1;
    for (what, found) in [("nodes", nodes), ("edges", edges)] {
        if found > limit {
            return Err(GraphError::TooLarge { what, found, limit });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solvers::components;

    fn degrees(graph: &Graph) -> Vec<usize> {
        (0..graph.nodes() as u32).map(|node| graph.senders_of(node).len()).collect()
    }

    #[test]
    fn degrees_are_right() {
        assert_eq!(degrees(&line(4).unwrap()), vec![1, 2, 2, 1]);
        assert_eq!(degrees(&cycle(5).unwrap()), vec![2; 5]);
        assert_eq!(degrees(&complete(5).unwrap()), vec![4; 5]);
        assert_eq!(degrees(&grid(2, 3).unwrap()), vec![2, 3, 2, 2, 3, 2]);
        assert_eq!(degrees(&cube().unwrap()), vec![3; 8]);
        assert_eq!(degrees(&moebius_ladder(8).unwrap()), vec![3; 8]);
    }

    #[test]
    fn small_and_impossible_sizes() {
        for nodes in 0..3 {
            assert_eq!(cycle(nodes).unwrap().nodes(), nodes);
            assert_eq!(complete(nodes).unwrap().nodes(), nodes);
        }
        assert_eq!(grid(0, 5).unwrap().nodes(), 0);
        assert!(moebius_ladder(7).is_err());
        assert!(complete(1_000_000).is_err());
        assert!(grid(usize::MAX, 2).is_err());
    }

    #[test]
    fn a_union_has_the_components_of_its_parts() {
        let union = disjoint_union(&[cycle(3).unwrap(), cycle(3).unwrap()]).unwrap();
        assert_eq!((union.nodes(), components::count(&union)), (6, 2));
    }
}
