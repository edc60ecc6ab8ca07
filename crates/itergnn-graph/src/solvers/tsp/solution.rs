//! What the exact solver is asked for and what it answers.

use std::fmt;

use super::{DistanceMatrix, LocalSearchOptions};

/// Settings of [`solve`](super::solve).
///
/// The same matrix and settings give the same tour on every machine, unless `stop` cuts the search short.
#[derive(Clone, Copy, Default)]
pub struct TspOptions<'a> {
    /// Settings of the local search that finds the first tour.
    pub local_search: LocalSearchOptions,
    /// Most subproblems to examine before giving up the proof; `None` for no limit.
    pub node_limit: Option<u64>,
    /// Called now and then; the search ends without proof when it answers `true`. The way to set a time limit.
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl TspOptions<'_> {
    pub(super) fn should_stop(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }
}

impl fmt::Debug for TspOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TspOptions")
            .field("local_search", &self.local_search)
            .field("node_limit", &self.node_limit)
            .field("stop", &self.stop.map(|_| "Fn() -> bool"))
            .finish()
    }
}

/// A tour with what is known about how short a tour can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TspSolution {
    /// The cities in order of visit; starts at city 0 and continues to the smaller of its two neighbours.
    pub tour: Vec<u32>,
    /// Length of the closed tour.
    pub length: i64,
    /// No tour is shorter than this; equal to `length` when `proven`.
    pub lower_bound: i64,
    /// Whether the tour is proven optimal.
    pub proven: bool,
    /// Subproblems examined; 0 when the bound met the tour before any search.
    pub nodes: u64,
}

impl TspSolution {
    /// A tour known to be optimal.
    pub(super) fn optimal(matrix: &DistanceMatrix, tour: Vec<u32>, nodes: u64) -> Self {
        let length = matrix.tour_length(&tour);
        Self { tour: canonical(tour), length, lower_bound: length, proven: true, nodes }
    }
}

/// Rotates and mirrors a tour so that it starts at city 0 and goes on to the smaller neighbour.
pub(super) fn canonical(mut tour: Vec<u32>) -> Vec<u32> {
    if let Some(start) = tour.iter().position(|&city| city == 0) {
        tour.rotate_left(start);
    }
    if tour.len() > 2 && tour[1] > tour[tour.len() - 1] {
        tour[1..].reverse();
    }
    tour
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_tours_start_at_zero_and_take_the_smaller_neighbour() {
        assert_eq!(canonical(vec![2, 3, 0, 1]), [0, 1, 2, 3]);
        assert_eq!(canonical(vec![1, 0, 3, 2]), [0, 1, 2, 3]);
        assert_eq!(canonical(vec![1, 0]), [0, 1]);
        assert_eq!(canonical(vec![0]), [0]);
    }
}
