//! A symmetric travelling salesman instance.

use super::DistanceKind;
use crate::{Attributes, Graph, GraphError, generators};

/// Cities and their whole-number distances, as a TSPLIB file gives them.
///
/// # Example
/// ```
/// use itergnn_graph::formats::parse_tsp;
/// let text = "NAME: t\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 0\n3 3 4\nEOF\n";
/// let instance = parse_tsp(text.as_bytes(), "t.tsp")?;
/// assert_eq!(instance.distance(0, 2), 5);
/// assert_eq!(instance.tour_length(&[0, 1, 2]), 12);
/// # Ok::<(), itergnn_graph::formats::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TspInstance {
    /// The name in the file; empty if it has none.
    pub name: String,
    /// How many cities there are.
    pub dimension: usize,
    /// How distances are defined.
    pub kind: DistanceKind,
    /// The coordinates of the cities, where distances follow from them.
    pub coordinates: Option<Vec<[f64; 2]>>,
    /// The triangle below the diagonal, row by row, where distances are explicit; else empty.
    pub(super) triangle: Vec<i64>,
}

impl TspInstance {
    /// The distance between two cities, counted from 0. Symmetric, not negative, 0 from a city to itself, at most 3e12.
    ///
    /// # Panics
    /// If there is no such city.
    pub fn distance(&self, a: usize, b: usize) -> i64 {
        let n = self.dimension;
        assert!(a < n && b < n, "cities {a} and {b} of {n}");
        if a == b {
            return 0;
        }
        match &self.coordinates {
            Some(points) => self.kind.between(points[a], points[b]),
            None => {
                let (high, low) = if a > b { (a, b) } else { (b, a) };
                self.triangle[high * (high - 1) / 2 + low]
            }
        }
    }

    /// The instance as a complete graph, as the task of tour lengths has it: node attributes are the coordinates (0
    /// where the file has none), the edge attribute is the distance.
    ///
    /// # Errors
    /// [`GraphError`] if a graph cannot have that many edges.
    ///
    /// # Complexity
    /// Time and memory `dimension^2`.
    pub fn graph(&self) -> Result<Graph, GraphError> {
        let graph = generators::complete(self.dimension)?;
        let distance = |[from, to]: [u32; 2]| self.distance(from as usize, to as usize) as f32;
        let distances = graph.edge_list().into_iter().map(distance).collect();
        let coordinates = match &self.coordinates {
            Some(points) => points.iter().flatten().map(|&coordinate| coordinate as f32).collect(),
            None => vec![0.0; 2 * self.dimension],
        };
        graph.with_node_attributes(Attributes::new(2, coordinates))?.with_edge_attributes(Attributes::new(1, distances))
    }

    /// The length of the closed tour through these cities in this order.
    ///
    /// # Panics
    /// If there is no such city.
    pub fn tour_length(&self, tour: &[u32]) -> i64 {
        let next = tour.iter().cycle().skip(1);
        tour.iter().zip(next).map(|(&a, &b)| self.distance(a as usize, b as usize)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_distances_are_symmetric() {
        let instance = TspInstance {
            name: String::new(),
            dimension: 3,
            kind: DistanceKind::Explicit,
            coordinates: None,
            triangle: vec![1, 2, 3],
        };
        assert_eq!((instance.distance(0, 2), instance.distance(2, 0), instance.distance(1, 1)), (2, 2, 0));
        assert_eq!(instance.tour_length(&[2, 0, 1]), 6);
        assert_eq!((instance.tour_length(&[]), instance.tour_length(&[1])), (0, 0));
    }

    #[test]
    fn a_graph_has_the_distances_of_the_file() {
        let text = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 0\n3 3 4\nEOF\n";
        let graph = crate::formats::parse_tsp(text.as_bytes(), "t.tsp").unwrap().graph().unwrap();
        assert_eq!((graph.nodes(), graph.edges()), (3, 6));
        assert_eq!(graph.node_attributes().values(), [0.0, 0.0, 3.0, 0.0, 3.0, 4.0]);
        let edges = graph.edge_list();
        let lengths = graph.edge_attributes_in_original_order();
        let between = |pair: [u32; 2]| lengths.values()[edges.iter().position(|&edge| edge == pair).unwrap()];
        assert_eq!((between([0, 2]), between([2, 0]), between([1, 2])), (5.0, 5.0, 4.0));
    }
}
