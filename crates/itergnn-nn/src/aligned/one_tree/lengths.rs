//! The lengths of a graph, and its cheapest 1-trees under prices.

use itergnn_graph::solvers::tsp::PricedTree;

use crate::Error;

/// Most nodes of a graph: a table of this size takes 0.8 GB.
const MOST_NODES: usize = 10_000;

/// Lengths between all pairs of nodes of one graph; infinite where there is no edge.
pub(super) struct Lengths {
    nodes: usize,
    table: Vec<f64>,
}

impl Lengths {
    /// The lengths of a graph's edges `(sender, receiver, length)`; the shorter one where both directions differ.
    ///
    /// # Errors
    /// [`Error::Graph`] for too many nodes, a length that is negative or no number, or nodes that cannot reach each
    /// other: they have no tour.
    pub(super) fn new(nodes: usize, edges: impl Iterator<Item = (usize, usize, f64)>) -> Result<Self, Error> {
        if nodes > MOST_NODES {
            return Err(Error::Graph(format!("{nodes} nodes, a one-tree model takes at most {MOST_NODES}")));
        }
        let mut table = vec![f64::INFINITY; nodes * nodes];
        for (sender, receiver, length) in edges {
            if !(length.is_finite() && length >= 0.0) {
                let why = format!("edge {sender} -> {receiver} has length {length}, expected a number of at least 0");
                return Err(Error::Graph(why));
            }
            for place in [sender * nodes + receiver, receiver * nodes + sender] {
                table[place] = length.min(table[place]);
            }
        }
        let lengths = Self { nodes, table };
        let mut tree = PricedTree::new(nodes);
        lengths.find(&mut tree, &vec![0.0; nodes]);
        match tree.edges().iter().find(|[from, to]| lengths.between(*from, *to).is_infinite()) {
            Some([_, node]) => Err(Error::Graph(format!("node {node} is not connected with node 0: there is no tour"))),
            None => Ok(lengths),
        }
    }

    /// Length of the edge between two nodes.
    pub(super) fn between(&self, from: u32, to: u32) -> f64 {
        self.table[from as usize * self.nodes + to as usize]
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Finds the cheapest 1-tree where an edge costs its length and the prices of both ends.
    pub(super) fn find(&self, tree: &mut PricedTree<f64>, prices: &[f64]) {
        tree.find_at_a_leaf(|from| {
            let (row, own) = (&self.table[from as usize * self.nodes..], prices[from as usize]);
            move |to| row[to as usize] + (own + prices[to as usize])
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_tour_is_refused() {
        let error = |edges: Vec<(usize, usize, f64)>| Lengths::new(3, edges.into_iter()).err().unwrap().to_string();
        assert!(error(vec![(0, 1, 1.0)]).contains("node 2"));
        assert!(error(vec![(0, 1, -1.0)]).contains("length -1"));
        assert!(error(vec![(0, 1, f64::NAN)]).contains("length NaN"));
    }
}
