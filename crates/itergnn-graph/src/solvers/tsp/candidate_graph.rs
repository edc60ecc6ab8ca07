//! The edges that may still belong to a shorter tour, and what has been decided about each.

/// What a subproblem says about an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Undecided.
    Open,
    /// Every tour of the subproblem uses the edge.
    Required,
    /// No tour of the subproblem uses the edge.
    Forbidden,
}

/// An edge with its cost in bound units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) ends: [u32; 2],
    pub(super) cost: i64,
}

/// A sparse graph over all cities, with the edges at each city.
#[derive(Debug, Clone)]
pub(super) struct CandidateGraph {
    /// The city that 1-trees treat apart: it gets two edges of its own, the others a spanning tree.
    pub(super) special: u32,
    pub(super) edges: Vec<Edge>,
    starts: Vec<u32>,
    incident: Vec<u32>,
}

impl CandidateGraph {
    pub(super) fn new(cities: usize, special: u32, edges: Vec<Edge>) -> Self {
        let mut starts = vec![0_u32; cities + 1];
        for end in edges.iter().flat_map(|edge| edge.ends) {
            starts[end as usize + 1] += 1;
        }
        for city in 0..cities {
            starts[city + 1] += starts[city];
        }
        let mut fill = starts.clone();
        let mut incident = vec![0; edges.len() * 2];
        for (index, edge) in edges.iter().enumerate() {
            for end in edge.ends {
                incident[fill[end as usize] as usize] = index as u32;
                fill[end as usize] += 1;
            }
        }
        Self { special, edges, starts, incident }
    }

    pub(super) fn cities(&self) -> usize {
        self.starts.len() - 1
    }

    /// Indices of the edges at a city.
    #[inline]
    pub(super) fn at(&self, city: u32) -> &[u32] {
        &self.incident[self.starts[city as usize] as usize..self.starts[city as usize + 1] as usize]
    }

    /// The graph without the edges already forbidden, and the fates of those left.
    pub(super) fn without_forbidden(&self, fates: &[Fate]) -> (Self, Vec<Fate>) {
        let kept = || (0..self.edges.len()).filter(|&index| fates[index] != Fate::Forbidden);
        let edges = kept().map(|index| self.edges[index]).collect();
        (Self::new(self.cities(), self.special, edges), kept().map(|index| fates[index]).collect())
    }
}
