//! Decisions about edges that follow from others because every city of a tour has exactly two edges.

use super::candidate_graph::{CandidateGraph, Fate};

/// Scratch space for drawing conclusions in one subproblem after another.
pub(super) struct Propagation {
    queue: Vec<u32>,
    queued: Vec<bool>,
    /// For the end of a path of required edges, its other end and the number of edges between.
    path: Vec<(u32, u32)>,
}

impl Propagation {
    pub(super) fn new(cities: usize) -> Self {
        Self { queue: Vec::with_capacity(cities), queued: vec![false; cities], path: vec![(0, 0); cities] }
    }

    /// Decides what follows from the fates so far; `false` when no tour is left.
    ///
    /// A city with two required edges forbids its others, a city with only two edges left requires both, and an edge
    /// that would close a path of required edges into a cycle short of a tour is forbidden. Repeats until nothing
    /// follows.
    pub(super) fn run(&mut self, graph: &CandidateGraph, fates: &mut [Fate]) -> bool {
        loop {
            (0..graph.cities() as u32).for_each(|city| self.wake(city));
            if !self.settle_degrees(graph, fates) {
                return false;
            }
            match self.forbid_early_cycles(graph, fates) {
                None => return false,
                Some(false) => return true,
                Some(true) => {}
            }
        }
    }

    fn wake(&mut self, city: u32) {
        if !self.queued[city as usize] {
            self.queued[city as usize] = true;
            self.queue.push(city);
        }
    }

    fn settle_degrees(&mut self, graph: &CandidateGraph, fates: &mut [Fate]) -> bool {
        let mut feasible = true;
        while let Some(city) = self.queue.pop() {
            self.queued[city as usize] = false;
            let (mut required, mut open) = (0, 0);
            for &edge in graph.at(city) {
                match fates[edge as usize] {
                    Fate::Required => required += 1,
                    Fate::Open => open += 1,
                    Fate::Forbidden => {}
                }
            }
            if required > 2 || required + open < 2 {
                feasible = false;
            }
            // After a contradiction only the queue is emptied.
            if !feasible || open == 0 {
                continue;
            }
            let fate = match (required, required + open) {
                (2, _) => Fate::Forbidden,
                (_, 2) => Fate::Required,
                _ => continue,
            };
            for &edge in graph.at(city) {
                if fates[edge as usize] == Fate::Open {
                    fates[edge as usize] = fate;
                    graph.edges[edge as usize].ends.iter().for_each(|&end| self.wake(end));
                }
            }
        }
        feasible
    }

    /// Forbids open edges between the two ends of a required path; `None` on a cycle that is too short, else whether
    /// anything changed.
    fn forbid_early_cycles(&mut self, graph: &CandidateGraph, fates: &mut [Fate]) -> Option<bool> {
        let cities = graph.cities();
        for (city, path) in self.path.iter_mut().enumerate() {
            *path = (city as u32, 0);
        }
        for (edge, _) in graph.edges.iter().zip(fates.iter()).filter(|(_, fate)| **fate == Fate::Required) {
            let [u, v] = edge.ends;
            let ((first, before), (last, after)) = (self.path[u as usize], self.path[v as usize]);
            let length = before + after + 1;
            if first == v {
                // The edge closes the path u..v: right only for a whole tour.
                if before as usize + 1 != cities {
                    return None;
                }
            } else {
                self.path[first as usize] = (last, length);
                self.path[last as usize] = (first, length);
            }
        }
        let mut changed = false;
        for city in 0..cities as u32 {
            let (other, length) = self.path[city as usize];
            // Cities inside a path keep stale entries; only true ends point at each other.
            if length < 2
                || city > other
                || self.path[other as usize] != (city, length)
                || length as usize + 1 == cities
            {
                continue;
            }
            for &edge in graph.at(city) {
                if fates[edge as usize] == Fate::Open && graph.edges[edge as usize].ends.contains(&other) {
                    fates[edge as usize] = Fate::Forbidden;
                    changed = true;
                }
            }
        }
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate_graph::Edge;
    use super::*;

    fn graph(cities: usize, pairs: &[(u32, u32)]) -> CandidateGraph {
        CandidateGraph::new(cities, 0, pairs.iter().map(|&(u, v)| Edge { ends: [u, v], cost: 1 }).collect())
    }

    #[test]
    fn degrees_decide_the_rest_of_a_ring_with_chords() {
        // City 1 has two edges; requiring both and 2-3 leaves only the ring 0 1 2 3 4.
        let graph = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (2, 4)]);
        let mut fates = [Fate::Open; 7];
        fates[2] = Fate::Required;
        assert!(Propagation::new(5).run(&graph, &mut fates));
        assert_eq!(fates[..5], [Fate::Required; 5]);
        assert_eq!(fates[5..], [Fate::Forbidden; 2]);
    }

    #[test]
    fn short_cycles_are_forbidden_and_whole_tours_are_not() {
        let pairs = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 0), (1, 3), (1, 4)];
        let graph = graph(5, &pairs);
        let mut fates = [Fate::Open; 8];
        (fates[0], fates[1]) = (Fate::Required, Fate::Required);
        assert!(Propagation::new(5).run(&graph, &mut fates));
        assert_eq!(fates[2], Fate::Forbidden, "0-2 would close a triangle");
        assert_eq!(fates[3..6], [Fate::Required; 3]);
    }

    #[test]
    fn contradictions_are_noticed() {
        let pairs = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3)];
        let mut fates = [Fate::Open; 7];
        assert!(!Propagation::new(6).run(&graph(6, &pairs), &mut fates), "a bridge is in no tour");
        let mut scratch = Propagation::new(3);
        let triangle = graph(3, &pairs[..3]);
        assert!(!scratch.run(&triangle, &mut [Fate::Open, Fate::Open, Fate::Forbidden]));
        assert!(scratch.run(&triangle, &mut [Fate::Open; 3]), "a contradiction leaves no trace in the scratch space");
    }
}
