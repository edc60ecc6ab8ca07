//! Decisions about edges that follow from the bound: too dear to take in, or too dear to leave out.

use super::candidate_graph::{CandidateGraph, Fate};
use super::one_tree::{OneTree, reduced};

/// The rise of the bound when no edge can take the place of a tree edge.
const IRREPLACEABLE: i64 = i64::MAX;

/// No edge, no city.
const NONE: u32 = u32::MAX;

/// Scratch space for reductions.
pub(super) struct Reduction {
    /// For each tree edge that may be exchanged, how much the bound rises without it.
    rise_without: Vec<i64>,
    in_tree: Vec<bool>,
    /// Tree over all cities but the special one: the edge and city above each city, and the depth.
    above: Vec<(u32, u32, u32)>,
    starts: Vec<u32>,
    links: Vec<(u32, u32)>,
    stack: Vec<u32>,
}

impl Reduction {
    pub(super) fn new(graph: &CandidateGraph) -> Self {
        let cities = graph.cities();
        Self {
            rise_without: vec![IRREPLACEABLE; graph.edges.len()],
            in_tree: vec![false; graph.edges.len()],
            above: vec![(NONE, NONE, 0); cities],
            starts: vec![0; cities + 1],
            links: Vec::with_capacity(cities * 2),
            stack: Vec::with_capacity(cities),
        }
    }

    /// Decides open edges by the bound of the tree last evaluated; returns how many.
    ///
    /// Taking in an edge outside the tree costs its reduced cost minus the dearest exchangeable edge on the path it
    /// closes; leaving out a tree edge costs the cheapest edge that reconnects the tree minus its own. An edge is
    /// forbidden, or required, when that lifts the bound above `closed_above`.
    pub(super) fn run(
        &mut self,
        graph: &CandidateGraph,
        tree: &OneTree<'_>,
        fates: &mut [Fate],
        multipliers: &[i64],
        bound: i64,
        closed_above: i64,
    ) -> usize {
        self.in_tree.fill(false);
        tree.tree().iter().for_each(|&edge| self.in_tree[edge as usize] = true);
        self.rise_without.fill(IRREPLACEABLE);
        self.root_tree(graph, tree);
        let price = |edge: u32| {
            let edge = graph.edges[edge as usize];
            reduced(edge.cost, edge.ends, multipliers)
        };
        let mut decided = 0;
        for index in 0..graph.edges.len() {
            let edge = graph.edges[index];
            if fates[index] != Fate::Open || self.in_tree[index] || edge.ends.contains(&graph.special) {
                continue;
            }
            let cost = reduced(edge.cost, edge.ends, multipliers);
            let mut dearest = None;
            let [mut u, mut v] = edge.ends;
            while u != v {
                let (deeper, other) =
                    if self.above[u as usize].2 >= self.above[v as usize].2 { (u, v) } else { (v, u) };
                let (path_edge, city, _) = self.above[deeper as usize];
                if fates[path_edge as usize] == Fate::Open {
                    let path_cost = price(path_edge);
                    dearest = dearest.max(Some(path_cost));
                    let rise = &mut self.rise_without[path_edge as usize];
                    *rise = (*rise).min(cost - path_cost);
                }
                (u, v) = (city, other);
            }
            if dearest.is_none_or(|dearest| bound - dearest + cost > closed_above) {
                fates[index] = Fate::Forbidden;
                decided += 1;
            }
        }
        decided += self.reduce_special(graph, fates, &price, bound, closed_above);
        for &edge in tree.tree() {
            let rise = self.rise_without[edge as usize];
            if fates[edge as usize] == Fate::Open && (rise == IRREPLACEABLE || bound + rise > closed_above) {
                fates[edge as usize] = Fate::Required;
                decided += 1;
            }
        }
        decided
    }

    /// The same at the special city, where the dearest open tree edge makes way, or the cheapest other steps in.
    fn reduce_special(
        &mut self,
        graph: &CandidateGraph,
        fates: &mut [Fate],
        price: &impl Fn(u32) -> i64,
        bound: i64,
        closed_above: i64,
    ) -> usize {
        let open = || graph.at(graph.special).iter().copied();
        let dearest =
            open().filter(|&edge| self.in_tree[edge as usize] && fates[edge as usize] == Fate::Open).map(price).max();
        let cheapest =
            open().filter(|&edge| !self.in_tree[edge as usize] && fates[edge as usize] == Fate::Open).map(price).min();
        let mut decided = 0;
        for edge in open() {
            if fates[edge as usize] != Fate::Open {
                continue;
            }
            if self.in_tree[edge as usize] {
                self.rise_without[edge as usize] = cheapest.map_or(IRREPLACEABLE, |cheapest| cheapest - price(edge));
            } else if dearest.is_none_or(|dearest| bound - dearest + price(edge) > closed_above) {
                fates[edge as usize] = Fate::Forbidden;
                decided += 1;
            }
        }
        decided
    }

    /// Hangs the tree over all cities but the special one from one of them.
    fn root_tree(&mut self, graph: &CandidateGraph, tree: &OneTree<'_>) {
        let cities = graph.cities();
        let away = || {
            tree.tree()
                .iter()
                .map(|&edge| (edge, graph.edges[edge as usize].ends))
                .filter(|(_, ends)| !ends.contains(&graph.special))
        };
        self.starts.fill(0);
        for (_, ends) in away() {
            ends.iter().for_each(|&end| self.starts[end as usize + 1] += 1);
        }
        for city in 0..cities {
            self.starts[city + 1] += self.starts[city];
        }
        self.links.clear();
        self.links.resize(self.starts[cities] as usize, (NONE, NONE));
        for (edge, [u, v]) in away() {
            for (from, to) in [(u, v), (v, u)] {
                // Filling moves each start to its end, which is where the next city's links begin.
                let slot = &mut self.starts[from as usize];
                self.links[*slot as usize] = (edge, to);
                *slot += 1;
            }
        }
        let root = u32::from(graph.special == 0);
        self.above.fill((NONE, NONE, 0));
        self.stack.push(root);
        while let Some(city) = self.stack.pop() {
            let (from_edge, _, depth) = self.above[city as usize];
            let begin = if city == 0 { 0 } else { self.starts[city as usize - 1] };
            for &(edge, to) in &self.links[begin as usize..self.starts[city as usize] as usize] {
                if edge != from_edge {
                    self.above[to as usize] = (edge, city, depth + 1);
                    self.stack.push(to);
                }
            }
        }
    }
}
