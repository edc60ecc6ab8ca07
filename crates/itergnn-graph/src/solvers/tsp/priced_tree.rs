//! Cheapest 1-trees under prices on nodes: the relaxation of Held and Karp, in whole numbers for the exact solver and
//! in real ones for models.

/// A number that edges cost.
pub trait Cost: Copy + PartialOrd {
    /// More than any edge costs: there is none.
    const NO_EDGE: Self;
}

impl Cost for i64 {
    const NO_EDGE: Self = i64::MAX;
}

impl Cost for f64 {
    const NO_EDGE: Self = f64::INFINITY;
}

/// A spanning tree with one edge more, found again and again under other costs.
///
/// A tour is a 1-tree in which every node has degree two, so the cheapest 1-tree costs at most as much as the cheapest
/// tour. Costs are given as a function of a node that returns a function of its other end, so that what belongs to the
/// first node is looked up once.
///
/// # Example
/// ```
/// use itergnn_graph::solvers::tsp::PricedTree;
/// let lengths = [[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]];
/// let mut tree = PricedTree::new(3);
/// tree.find_at_a_leaf(|from| move |to| lengths[from as usize][to as usize]);
/// assert!(tree.is_tour());
/// ```
#[derive(Debug, Clone)]
pub struct PricedTree<C> {
    edges: Vec<[u32; 2]>,
    degrees: Vec<i32>,
    /// Nodes that are not in the tree yet: cost and place of their cheapest edge into it.
    waiting: Vec<(C, u32, u32)>,
}

impl<C: Cost> PricedTree<C> {
    /// Room for the trees of this many nodes.
    pub fn new(nodes: usize) -> Self {
        Self { edges: Vec::with_capacity(nodes), degrees: vec![0; nodes], waiting: Vec::with_capacity(nodes) }
    }

    /// The edges: those of the spanning tree as its nodes joined, `[where, who]`, then the others. None with fewer than
    /// two nodes.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Degree of every node.
    pub fn degrees(&self) -> &[i32] {
        &self.degrees
    }

    /// Whether every node has degree two: then the 1-tree, which is connected, is a tour.
    pub fn is_tour(&self) -> bool {
        self.degrees.iter().all(|&degree| degree == 2)
    }

    /// Finds a cheapest spanning tree and, among its leaves, the one whose second cheapest edge is dearest: that leaf
    /// gets that edge as well.
    ///
    /// Removing a leaf from a cheapest tree leaves a cheapest tree of the rest, so any tour costs at least as much, and
    /// the choice does not depend on the order of the nodes. (A leaf with one neighbour gets the same edge twice, as a
    /// walk would use it.)
    ///
    /// # Complexity
    /// Time `nodes^2`.
    pub fn find_at_a_leaf<R: Fn(u32) -> C>(&mut self, costs_from: impl Fn(u32) -> R) {
        let nodes = self.degrees.len() as u32;
        self.span(0, 1..nodes, &costs_from);
        let mut dearest: Option<(C, u32, u32)> = None;
        for leaf in (0..nodes).filter(|&node| self.degrees[node as usize] == 1) {
            let [first, second] = two_cheapest(leaf, nodes, costs_from(leaf));
            let (cost, other) = if second.0 < C::NO_EDGE { second } else { first };
            if dearest.is_none_or(|(found, _, _)| cost > found) {
                dearest = Some((cost, leaf, other));
            }
        }
        if let Some((_, leaf, other)) = dearest {
            self.join(leaf, other);
        }
    }

    /// Finds a cheapest spanning tree of all nodes but one, and the two cheapest edges of that one.
    ///
    /// # Complexity
    /// Time `nodes^2`.
    pub fn find_around<R: Fn(u32) -> C>(&mut self, special: u32, costs_from: impl Fn(u32) -> R) {
        let nodes = self.degrees.len() as u32;
        let start = if special == 0 { 1 } else { 0 };
        self.span(start, (0..nodes).filter(|&node| node != special && node != start), &costs_from);
        for (_, other) in two_cheapest(special, nodes, costs_from(special)) {
            self.join(other, special);
        }
    }

    /// Prim's algorithm from `start` to all `others`.
    fn span<R: Fn(u32) -> C>(&mut self, start: u32, others: impl Iterator<Item = u32>, costs_from: &impl Fn(u32) -> R) {
        self.edges.clear();
        self.degrees.fill(0);
        self.waiting.clear();
        self.waiting.extend(others.map(|node| (C::NO_EDGE, node, start)));
        let mut latest = start;
        while !self.waiting.is_empty() {
            let costs = costs_from(latest);
            let (mut nearest, mut least) = (0, C::NO_EDGE);
            for (place, (cost, node, at)) in self.waiting.iter_mut().enumerate() {
                let through = costs(*node);
                if through < *cost {
                    (*cost, *at) = (through, latest);
                }
                if *cost < least {
                    (nearest, least) = (place, *cost);
                }
            }
            let (_, node, at) = self.waiting.swap_remove(nearest);
            self.join(at, node);
            latest = node;
        }
    }

    fn join(&mut self, from: u32, to: u32) {
        self.edges.push([from, to]);
        self.degrees[from as usize] += 1;
        self.degrees[to as usize] += 1;
    }
}

/// Cost and other end of the two cheapest edges at a node, the first of equals; the node itself where there is none.
fn two_cheapest<C: Cost>(node: u32, nodes: u32, costs: impl Fn(u32) -> C) -> [(C, u32); 2] {
    let mut found = [(C::NO_EDGE, node); 2];
    for other in (0..nodes).filter(|&other| other != node) {
        let cost = costs(other);
        if cost < found[0].0 {
            found = [(cost, other), found[0]];
        } else if cost < found[1].0 {
            found[1] = (cost, other);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(points: &[(f64, f64)], prices: &[f64]) -> impl Fn(u32) -> Box<dyn Fn(u32) -> f64> {
        let (points, prices) = (points.to_vec(), prices.to_vec());
        move |from: u32| {
            let (points, prices) = (points.clone(), prices.clone());
            Box::new(move |to: u32| {
                let (from, to) = (from as usize, to as usize);
                (points[from].0 - points[to].0).hypot(points[from].1 - points[to].1) + prices[from] + prices[to]
            })
        }
    }

    #[test]
    fn a_triangle_and_two_nodes_are_tours() {
        for nodes in [2, 3] {
            let points = &[(0.0, 0.0), (3.0, 0.0), (0.0, 4.0)][..nodes];
            let mut tree = PricedTree::new(nodes);
            tree.find_at_a_leaf(between(points, &[0.0; 3]));
            assert!(tree.is_tour() && tree.edges().len() == nodes);
        }
    }

    #[test]
    fn a_price_drives_edges_away() {
        // Three corners and their centre: the cheapest tree has degree three in the centre.
        let points = [(0.0, 0.0), (0.0, 2.0), (1.7, -1.0), (-1.7, -1.0)];
        let mut tree = PricedTree::new(4);
        tree.find_at_a_leaf(between(&points, &[0.0; 4]));
        assert_eq!(tree.degrees()[0], 3);
        tree.find_at_a_leaf(between(&points, &[2.0, 0.0, 0.1, 0.0]));
        assert_eq!(tree.degrees()[0], 2, "{:?}", tree.edges());
    }

    #[test]
    fn around_a_node_it_has_its_two_cheapest_edges() {
        let points = [(0.0, 0.0), (0.0, 2.0), (1.7, -1.0), (-1.7, -1.0), (9.0, 0.0)];
        let mut tree = PricedTree::new(5);
        tree.find_around(4, between(&points, &[0.0; 5]));
        assert_eq!((tree.edges().len(), tree.degrees()[4]), (5, 2));
        assert_eq!(tree.edges()[3..], [[2, 4], [0, 4]]);
    }
}
