//! Cheapest 1-trees under prices.

use crate::Error;

/// Most nodes of a graph: a table of this size takes 0.8 GB.
const MOST_NODES: usize = 10_000;

/// Lengths between all pairs of nodes of one graph; infinite where there is no edge.
pub(super) struct Lengths {
    nodes: usize,
    table: Vec<f64>,
}

/// A cheapest 1-tree: a spanning tree and, at one of its leaves, a second edge.
pub(super) struct OneTree {
    /// The edges; with fewer than two nodes there is none.
    pub(super) edges: Vec<[u32; 2]>,
    /// Degree of every node.
    pub(super) degrees: Vec<u32>,
    cheapest: Vec<f64>,
    at: Vec<u32>,
    waiting: Vec<u32>,
}

impl Lengths {
    /// The lengths of a graph's edges `(sender, receiver, length)`; the shorter one where both directions differ.
    ///
    /// # Errors
    /// [`Error::Graph`] for too many nodes, a length that is negative or no number, or nodes that cannot reach each other: they have no tour.
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
        let mut tree = OneTree::new(nodes);
        tree.find(&lengths, &vec![0.0; nodes]);
        match tree.edges.iter().find(|[from, to]| lengths.between(*from, *to).is_infinite()) {
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

    fn of(&self, node: u32) -> &[f64] {
        &self.table[node as usize * self.nodes..(node as usize + 1) * self.nodes]
    }
}

impl OneTree {
    /// Room for the trees of a graph.
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            edges: Vec::with_capacity(nodes),
            degrees: vec![0; nodes],
            cheapest: vec![0.0; nodes],
            at: vec![0; nodes],
            waiting: Vec::with_capacity(nodes),
        }
    }

    /// Finds the cheapest 1-tree where an edge costs its length and the prices of both ends.
    ///
    /// The spanning tree is Prim's. Among its leaves the one whose second cheapest edge is dearest gets that edge as well: removing a leaf from a cheapest tree leaves
    /// a cheapest tree of the rest, so any tour costs at least as much, and the choice does not depend on the order of the nodes. (A leaf with one
    /// neighbour gets the same edge twice, as a walk would use it.)
    ///
    /// # Complexity
    /// Time `nodes^2`.
    pub(super) fn find(&mut self, lengths: &Lengths, prices: &[f64]) {
        let nodes = lengths.nodes();
        self.edges.clear();
        self.degrees.fill(0);
        if nodes < 2 {
            return;
        }
        self.span(lengths, prices);
        let mut dearest: Option<(f64, u32, u32)> = None;
        for leaf in (0..nodes as u32).filter(|&node| self.degrees[node as usize] == 1) {
            let (cost, other) = second_cheapest(lengths, prices, leaf);
            if dearest.is_none_or(|(found, _, _)| cost > found) {
                dearest = Some((cost, leaf, other));
            }
        }
        if let Some((_, leaf, other)) = dearest {
            self.join(leaf, other);
        }
    }

    fn span(&mut self, lengths: &Lengths, prices: &[f64]) {
        self.waiting.clear();
        self.waiting.extend(1..lengths.nodes() as u32);
        self.cheapest.fill(f64::INFINITY);
        self.at.fill(0);
        let mut latest = 0;
        while !self.waiting.is_empty() {
            let (row, own) = (lengths.of(latest), prices[latest as usize]);
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (place, &node) in self.waiting.iter().enumerate() {
                let node = node as usize;
                let cost = row[node] + (own + prices[node]);
                if cost < self.cheapest[node] {
                    (self.cheapest[node], self.at[node]) = (cost, latest);
                }
                if self.cheapest[node] < least {
                    (nearest, least) = (place, self.cheapest[node]);
                }
            }
            latest = self.waiting.swap_remove(nearest);
            self.join(self.at[latest as usize], latest);
        }
    }

    fn join(&mut self, from: u32, to: u32) {
        self.edges.push([from, to]);
        self.degrees[from as usize] += 1;
        self.degrees[to as usize] += 1;
    }

    /// Whether every node has degree two: then the 1-tree, which is connected, is a tour.
    pub(super) fn is_tour(&self) -> bool {
        self.degrees.iter().all(|&degree| degree == 2)
    }
}

/// Cost and other end of the second cheapest edge at a node; of the only one if there is no second.
fn second_cheapest(lengths: &Lengths, prices: &[f64], node: u32) -> (f64, u32) {
    let (mut first, mut second) = ((f64::INFINITY, node), (f64::INFINITY, node));
    for (other, &length) in lengths.of(node).iter().enumerate().filter(|&(other, _)| other != node as usize) {
        let cost = (length + (prices[node as usize] + prices[other]), other as u32);
        if cost.0 < first.0 {
            (first, second) = (cost, first);
        } else if cost.0 < second.0 {
            second = cost;
        }
    }
    if second.0.is_finite() { second } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: &[(f64, f64)]) -> Lengths {
        let place = |index: usize| points[index];
        let pairs = (0..points.len()).flat_map(|from| (0..points.len()).map(move |to| (from, to)));
        let edges = pairs.filter(|(from, to)| from != to).map(|(from, to)| {
            let ((ax, ay), (bx, by)) = (place(from), place(to));
            (from, to, (ax - bx).hypot(ay - by))
        });
        Lengths::new(points.len(), edges).unwrap()
    }

    #[test]
    fn a_triangle_and_two_nodes_are_tours() {
        for nodes in [2, 3] {
            let lengths = points(&[(0.0, 0.0), (3.0, 0.0), (0.0, 4.0)][..nodes]);
            let mut tree = OneTree::new(nodes);
            tree.find(&lengths, &[0.0; 3][..nodes]);
            assert!(tree.is_tour() && tree.edges.len() == nodes);
        }
    }

    #[test]
    fn a_price_drives_edges_away() {
        // Three corners and their centre: the cheapest tree has degree three in the centre.
        let lengths = points(&[(0.0, 0.0), (0.0, 2.0), (1.7, -1.0), (-1.7, -1.0)]);
        let mut tree = OneTree::new(4);
        tree.find(&lengths, &[0.0; 4]);
        assert_eq!(tree.degrees[0], 3);
        tree.find(&lengths, &[2.0, 0.0, 0.1, 0.0]);
        assert_eq!(tree.degrees[0], 2, "{:?}", tree.edges);
    }

    #[test]
    fn what_has_no_tour_is_refused() {
        let error = |edges: Vec<(usize, usize, f64)>| Lengths::new(3, edges.into_iter()).err().unwrap().to_string();
        assert!(error(vec![(0, 1, 1.0)]).contains("node 2"));
        assert!(error(vec![(0, 1, -1.0)]).contains("length -1"));
        assert!(error(vec![(0, 1, f64::NAN)]).contains("length NaN"));
    }
}
