//! Minimum 1-trees over all pairs of cities, for the first bound, before any edge is ruled out.

use super::DistanceMatrix;
use super::ascent::Relaxation;
use super::candidate_graph::{CandidateGraph, Edge};
use super::priced_tree::PricedTree;

/// Finds minimum 1-trees of the complete graph, in `O(n^2)` each.
pub(super) struct DenseOneTree<'m> {
    matrix: &'m DistanceMatrix,
    /// Bound units per unit of distance.
    precision: i64,
    special: u32,
    tree: PricedTree<i64>,
}

impl<'m> DenseOneTree<'m> {
    /// Takes the city with the longest way to its second nearest neighbour as the special one: two edges there are
    /// then a good share of what a tour pays.
    pub(super) fn new(matrix: &'m DistanceMatrix, precision: i64) -> Self {
        let cities = matrix.cities();
        let second_nearest = |city: usize| {
            let (mut first, mut second) = (i64::MAX, i64::MAX);
            for (other, &distance) in matrix.row(city).iter().enumerate() {
                if other != city && distance < second {
                    (first, second) = if distance < first { (distance, first) } else { (first, distance) };
                }
            }
            second
        };
        let special =
            (0..cities).max_by_key(|&city| (second_nearest(city), std::cmp::Reverse(city))).unwrap_or(0) as u32;
        Self { matrix, precision, special, tree: PricedTree::new(cities) }
    }

    /// Keeps the edges that a shorter tour might use, given the best multipliers and their bound.
    ///
    /// Exchanging an edge into the tree costs its reduced cost minus the largest on the tree path it replaces; an
    /// edge whose exchange lifts the bound above `closed_above` is in no shorter tour. Takes `O(n^2)` time.
    pub(super) fn candidates(&mut self, multipliers: &[i64], closed_above: i64) -> CandidateGraph {
        let bound = self.evaluate(multipliers);
        let cities = self.matrix.cities();
        let mut edges = Vec::new();
        let priced = |u: u32, v: u32| self.priced(multipliers, u, v);
        let mut keep = |u: u32, v: u32| {
            edges.push(Edge { ends: [u.min(v), u.max(v)], cost: self.matrix.step(u, v) * self.precision });
        };
        // For each city in the order of joining, the dearest edge on the path to every city that joined before.
        let spanning = &self.tree.edges()[..cities - 2];
        let joined: Vec<u32> = [spanning[0][0]].into_iter().chain(spanning.iter().map(|&[_, city]| city)).collect();
        let mut place = vec![0; cities];
        for (index, &city) in joined.iter().enumerate() {
            place[city as usize] = index;
        }
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); cities];
        for &[at, city] in spanning {
            children[at as usize].push(city);
            children[city as usize].push(at);
        }
        let mut visits: Vec<(u32, u32, i64)> = Vec::new();
        for &from in &joined {
            visits.push((from, from, i64::MIN));
            while let Some((city, came_from, dearest)) = visits.pop() {
                // Each pair once: from the city that joined later.
                if place[city as usize] < place[from as usize] && bound - dearest + priced(from, city) <= closed_above {
                    keep(from, city);
                }
                for &next in children[city as usize].iter().filter(|&&next| next != came_from) {
                    visits.push((next, city, dearest.max(priced(city, next))));
                }
            }
        }
        let mut at_special: Vec<(i64, u32)> = (0..cities as u32)
            .filter(|&city| city != self.special)
            .map(|city| (priced(self.special, city), city))
            .collect();
        at_special.sort_unstable();
        let second = at_special[1].0;
        for &(cost, city) in &at_special {
            if bound + (cost - second).max(0) <= closed_above {
                keep(self.special, city);
            }
        }
        CandidateGraph::new(cities, self.special, edges)
    }

    fn priced(&self, multipliers: &[i64], u: u32, v: u32) -> i64 {
        self.matrix.step(u, v) * self.precision + multipliers[u as usize] + multipliers[v as usize]
    }
}

impl Relaxation for DenseOneTree<'_> {
    fn evaluate(&mut self, multipliers: &[i64]) -> i64 {
        let (matrix, precision) = (self.matrix, self.precision);
        self.tree.find_around(self.special, |from| {
            let (row, shift) = (matrix.row(from as usize), multipliers[from as usize]);
            move |to| row[to as usize] * precision + multipliers[to as usize] + shift
        });
        let edges: i64 = self.tree.edges().iter().map(|&[u, v]| self.priced(multipliers, u, v)).sum();
        edges - 2 * multipliers.iter().sum::<i64>()
    }

    fn degree(&self) -> &[i32] {
        self.tree.degrees()
    }
}
