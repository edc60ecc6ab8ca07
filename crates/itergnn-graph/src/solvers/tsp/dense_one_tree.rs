//! Minimum 1-trees over all pairs of cities, for the first bound, before any edge is ruled out.

use super::DistanceMatrix;
use super::ascent::Relaxation;
use super::candidate_graph::{CandidateGraph, Edge};

/// Finds minimum 1-trees of the complete graph by Prim's algorithm, in `O(n^2)` each.
pub(super) struct DenseOneTree<'m> {
    matrix: &'m DistanceMatrix,
    /// Bound units per unit of distance.
    precision: i64,
    special: u32,
    degree: Vec<i32>,
    /// Cities in the order they joined the tree, with the city each joined at.
    joined: Vec<(u32, u32)>,
    /// Cities not yet in the tree: reduced cost and place of the cheapest edge into it.
    waiting: Vec<(i64, u32, u32)>,
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
        let (joined, waiting) = (Vec::with_capacity(cities), Vec::with_capacity(cities));
        Self { matrix, precision, special, degree: vec![0; cities], joined, waiting }
    }

    /// Keeps the edges that a shorter tour might use, given the best multipliers and their bound.
    ///
    /// Exchanging an edge into the tree costs its reduced cost minus the largest on the tree path it replaces; an
    /// edge whose exchange lifts the bound above `closed_above` is in no shorter tour. Takes `O(n^2)` time.
    pub(super) fn candidates(&mut self, multipliers: &[i64], closed_above: i64) -> CandidateGraph {
        let bound = self.evaluate(multipliers);
        let cities = self.matrix.cities();
        let mut edges = Vec::new();
        let priced = |u: u32, v: u32| {
            self.matrix.step(u, v) * self.precision + multipliers[u as usize] + multipliers[v as usize]
        };
        let mut keep = |u: u32, v: u32| {
            edges.push(Edge { ends: [u.min(v), u.max(v)], cost: self.matrix.step(u, v) * self.precision });
        };
        // For each city in the order of joining, the dearest edge on the path to every city that joined before.
        let mut place = vec![0; cities];
        for (index, &(city, _)) in self.joined.iter().enumerate() {
            place[city as usize] = index;
        }
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); cities];
        for &(city, at) in self.joined.iter().skip(1) {
            children[at as usize].push(city);
            children[city as usize].push(at);
        }
        let mut visits: Vec<(u32, u32, i64)> = Vec::new();
        for &(from, _) in &self.joined {
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
}

impl Relaxation for DenseOneTree<'_> {
    fn evaluate(&mut self, multipliers: &[i64]) -> i64 {
        let cities = self.matrix.cities() as u32;
        let special = self.special;
        self.degree.fill(0);
        self.joined.clear();
        self.waiting.clear();
        let start = if special == 0 { 1 } else { 0 };
        self.waiting
            .extend((0..cities).filter(|&city| city != special && city != start).map(|city| (i64::MAX, city, 0)));
        self.joined.push((start, start));
        let mut total = -2 * multipliers.iter().sum::<i64>();
        let mut latest = start;
        while !self.waiting.is_empty() {
            let row = self.matrix.row(latest as usize);
            let shift = multipliers[latest as usize];
            let (mut nearest, mut nearest_cost) = (0, i64::MAX);
            for (index, (cost, city, at)) in self.waiting.iter_mut().enumerate() {
                let through = row[*city as usize] * self.precision + multipliers[*city as usize] + shift;
                if through < *cost {
                    (*cost, *at) = (through, latest);
                }
                if *cost < nearest_cost {
                    (nearest, nearest_cost) = (index, *cost);
                }
            }
            let (cost, city, at) = self.waiting.swap_remove(nearest);
            total += cost;
            self.degree[city as usize] += 1;
            self.degree[at as usize] += 1;
            self.joined.push((city, at));
            latest = city;
        }
        let (mut first, mut second) = ((i64::MAX, 0), (i64::MAX, 0));
        for city in (0..cities).filter(|&city| city != special) {
            let cost = self.matrix.step(special, city) * self.precision + multipliers[city as usize];
            if (cost, city) < first {
                (first, second) = ((cost, city), first);
            } else if (cost, city) < second {
                second = (cost, city);
            }
        }
        for (cost, city) in [first, second] {
            total += cost + multipliers[special as usize];
            self.degree[city as usize] += 1;
            self.degree[special as usize] += 1;
        }
        total
    }

    fn degree(&self) -> &[i32] {
        &self.degree
    }
}
