//! Minimum 1-trees of a candidate graph: the relaxation that bounds tours from below.

use super::ascent::{NO_TOUR, Relaxation};
use super::candidate_graph::{CandidateGraph, Fate};

/// Moves per edge after which sorting by insertion gives up: about what a full sort costs at a thousand edges.
const MOVES_PER_EDGE: usize = 20;

/// An open edge with its cost under the current multipliers.
#[derive(Debug, Clone, Copy)]
struct Priced {
    reduced: i64,
    edge: u32,
    ends: [u32; 2],
}

/// Finds minimum 1-trees of one subproblem under changing multipliers.
///
/// A 1-tree is a spanning tree of all cities but the special one, plus two edges at the special city. Every tour is a
/// 1-tree, and adding `multiplier(u) + multiplier(v)` to every edge `u-v` changes all tours by the same
/// `2 * sum(multipliers)`, so
///
/// `bound(m) = min over 1-trees T of sum over edges of T (cost + m(u) + m(v)) - 2 sum(m)`
///
/// is a lower bound on every tour for every `m` (Held and Karp, 1970).
///
/// The open edges stay in the order of the last tree: multipliers change little from step to step, so that sorting by
/// insertion is close to linear, and a tree costs a few microseconds at 100 cities.
pub(super) struct OneTree<'g> {
    graph: &'g CandidateGraph,
    /// Open edges away from the special city, sorted by reduced cost after each tree.
    open: Vec<Priced>,
    /// Required edges away from the special city.
    required: Vec<u32>,
    special_required: Vec<u32>,
    special_open: Vec<Priced>,
    /// Components of the required edges, the state each spanning tree starts from.
    joined: Vec<u32>,
    joins_left: usize,
    parent: Vec<u32>,
    tree: Vec<u32>,
    degree: Vec<i32>,
    /// How many of the trees since [`load`](Self::load) used each edge.
    usage: Vec<u32>,
}

impl<'g> OneTree<'g> {
    pub(super) fn new(graph: &'g CandidateGraph) -> Self {
        let cities = graph.cities();
        Self {
            graph,
            open: Vec::with_capacity(graph.edges.len()),
            required: Vec::new(),
            special_required: Vec::new(),
            special_open: Vec::new(),
            joined: vec![0; cities],
            joins_left: 0,
            parent: vec![0; cities],
            tree: Vec::with_capacity(cities),
            degree: vec![0; cities],
            usage: vec![0; graph.edges.len()],
        }
    }

    /// Takes over the decisions of a subproblem.
    pub(super) fn load(&mut self, fates: &[Fate], multipliers: &[i64]) {
        let cities = self.graph.cities();
        self.usage.fill(0);
        self.open.clear();
        self.required.clear();
        self.special_required.clear();
        self.special_open.clear();
        self.joined.clear();
        self.joined.extend(0..cities as u32);
        // The special city stays outside the tree.
        self.joins_left = cities - 2;
        for (index, (edge, &fate)) in self.graph.edges.iter().zip(fates).enumerate() {
            let priced =
                Priced { reduced: reduced(edge.cost, edge.ends, multipliers), edge: index as u32, ends: edge.ends };
            match (fate, edge.ends.contains(&self.graph.special)) {
                (Fate::Forbidden, _) => {}
                (Fate::Open, true) => self.special_open.push(priced),
                (Fate::Open, false) => self.open.push(priced),
                (Fate::Required, true) => self.special_required.push(index as u32),
                (Fate::Required, false) => {
                    self.required.push(index as u32);
                    let [u, v] = edge.ends.map(|end| root(&mut self.joined, end));
                    if u != v {
                        self.joined[u as usize] = v;
                        self.joins_left -= 1;
                    }
                }
            }
        }
        for city in 0..cities as u32 {
            self.joined[city as usize] = root(&mut self.joined, city);
        }
        self.open.sort_unstable_by_key(|priced| (priced.reduced, priced.edge));
    }

    /// Edges of the last tree.
    pub(super) fn tree(&self) -> &[u32] {
        &self.tree
    }

    /// How many trees since the subproblem was loaded used each edge. Divided by the number of trees this estimates the
    /// edge's value in the linear relaxation the bound converges to.
    pub(super) fn usage(&self) -> &[u32] {
        &self.usage
    }

    /// Whether the last tree is a tour. A connected graph of `n` edges whose degrees are all two is one cycle.
    pub(super) fn is_tour(&self) -> bool {
        self.degree.iter().all(|&degree| degree == 2)
    }

    /// The cities in order of visit, when the last tree is a tour.
    pub(super) fn tour(&self) -> Vec<u32> {
        debug_assert!(self.is_tour());
        let mut links = vec![Vec::with_capacity(2); self.graph.cities()];
        for &edge in &self.tree {
            let [u, v] = self.graph.edges[edge as usize].ends;
            links[u as usize].push(v);
            links[v as usize].push(u);
        }
        let mut tour = vec![0];
        let (mut previous, mut city) = (0, links[0][0]);
        while city != 0 {
            tour.push(city);
            let onward =
                if links[city as usize][0] == previous { links[city as usize][1] } else { links[city as usize][0] };
            (previous, city) = (city, onward);
        }
        tour
    }

    /// Prices the open edges and sorts them by insertion: the order of the tree before is nearly right. Falls back to a
    /// full sort when it is not, so that a step never costs the square of the number of edges.
    fn sort_open(&mut self, multipliers: &[i64]) {
        for priced in &mut self.open {
            priced.reduced = reduced(self.graph.edges[priced.edge as usize].cost, priced.ends, multipliers);
        }
        let mut moves_left = MOVES_PER_EDGE * self.open.len();
        for index in 1..self.open.len() {
            let priced = self.open[index];
            let mut place = index;
            while place > 0 && self.open[place - 1].reduced > priced.reduced {
                self.open[place] = self.open[place - 1];
                place -= 1;
            }
            self.open[place] = priced;
            moves_left = moves_left.saturating_sub(index - place);
            if moves_left == 0 {
                self.open.sort_unstable_by_key(|priced| (priced.reduced, priced.edge));
                return;
            }
        }
    }
}

impl Relaxation for OneTree<'_> {
    fn evaluate(&mut self, multipliers: &[i64]) -> i64 {
        let edges = &self.graph.edges;
        self.tree.clear();
        self.degree.fill(0);
        let mut total = -2 * multipliers.iter().sum::<i64>();
        for &edge in self.required.iter().chain(&self.special_required) {
            let picked = edges[edge as usize];
            total += reduced(picked.cost, picked.ends, multipliers);
            self.tree.push(edge);
            picked.ends.iter().for_each(|&end| self.degree[end as usize] += 1);
        }
        self.sort_open(multipliers);
        self.parent.copy_from_slice(&self.joined);
        let mut joins_left = self.joins_left;
        for priced in &self.open {
            if joins_left == 0 {
                break;
            }
            let [u, v] = priced.ends.map(|end| root(&mut self.parent, end));
            if u != v {
                self.parent[u as usize] = v;
                joins_left -= 1;
                total += priced.reduced;
                self.tree.push(priced.edge);
                priced.ends.iter().for_each(|&end| self.degree[end as usize] += 1);
            }
        }
        if joins_left > 0 || self.special_required.len() > 2 {
            return NO_TOUR;
        }
        let missing = 2 - self.special_required.len();
        if self.special_open.len() < missing {
            return NO_TOUR;
        }
        for priced in &mut self.special_open {
            priced.reduced = reduced(edges[priced.edge as usize].cost, priced.ends, multipliers);
        }
        self.special_open.sort_unstable_by_key(|priced| (priced.reduced, priced.edge));
        for priced in &self.special_open[..missing] {
            total += priced.reduced;
            self.tree.push(priced.edge);
            priced.ends.iter().for_each(|&end| self.degree[end as usize] += 1);
        }
        self.tree.iter().for_each(|&edge| self.usage[edge as usize] += 1);
        total
    }

    fn degree(&self) -> &[i32] {
        &self.degree
    }
}

/// Cost of an edge under multipliers.
#[inline]
pub(super) fn reduced(cost: i64, ends: [u32; 2], multipliers: &[i64]) -> i64 {
    cost + multipliers[ends[0] as usize] + multipliers[ends[1] as usize]
}

/// Representative of a city's component, halving the way there.
#[inline]
fn root(parent: &mut [u32], mut city: u32) -> u32 {
    while parent[city as usize] != city {
        let above = parent[parent[city as usize] as usize];
        parent[city as usize] = above;
        city = above;
    }
    city
}

#[cfg(test)]
mod tests {
    use super::super::candidate_graph::Edge;
    use super::*;

    /// The square 0 1 2 3 with sides 10 and diagonals 14.
    fn square() -> CandidateGraph {
        let pairs = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (1, 3)];
        let edge =
            |(index, &(u, v)): (usize, &(u32, u32))| Edge { ends: [u, v], cost: if index < 4 { 10 } else { 14 } };
        CandidateGraph::new(4, 0, pairs.iter().enumerate().map(edge).collect())
    }

    #[test]
    fn bound_is_the_tour_when_the_tree_is_one() {
        let graph = square();
        let mut tree = OneTree::new(&graph);
        tree.load(&[Fate::Open; 6], &[0; 4]);
        assert_eq!(tree.evaluate(&[0; 4]), 40);
        assert!(tree.is_tour());
        assert_eq!(tree.tour().len(), 4);
        // Now 1-3 replaces 2-3: 13 + 13 for the tree, 11 + 14 at city 0, minus twice the sum of multipliers.
        assert_eq!(tree.evaluate(&[3, -2, 5, 1]), 13 + 13 + 11 + 14 - 2 * 7);
        assert_eq!(tree.degree(), [2, 3, 1, 2]);
    }

    #[test]
    fn decisions_are_respected() {
        let graph = square();
        let mut tree = OneTree::new(&graph);
        let mut fates = [Fate::Open; 6];
        fates[1] = Fate::Forbidden;
        fates[4] = Fate::Required;
        tree.load(&fates, &[0; 4]);
        // Tree edges 2-3 and 1-3, then the required 0-2 and the cheaper of 0-1 and 0-3.
        assert_eq!(tree.evaluate(&[0; 4]), 10 + 14 + 14 + 10);
        fates[2] = Fate::Forbidden;
        tree.load(&fates, &[0; 4]);
        assert_eq!(tree.evaluate(&[0; 4]), NO_TOUR);
    }
}
