//! How often each edge was in the tree lately.

use super::lengths::Lengths;
use super::number::Number;

/// Powers of the use that the remainder is made of; see [`Memory::indecision`].
pub(super) const POWERS: usize = 3;

/// A running mean of the trees: `x_e <- x_e + rho (1 if e is in the tree else 0 - x_e)`.
pub(super) struct Memory<N> {
    nodes: usize,
    /// Place of every pair of nodes in `uses`, counted from 1; 0 for edges that were in no tree.
    places: Vec<u32>,
    uses: Vec<(f64, N)>,
}

impl<N: Number> Memory<N> {
    /// A memory of nothing.
    pub(super) fn new(nodes: usize) -> Self {
        Self { nodes, places: vec![0; nodes * nodes], uses: Vec::with_capacity(4 * nodes) }
    }

    /// Remembers the edges of a tree with this rate; the first time, with rate 1.
    pub(super) fn add(&mut self, lengths: &Lengths, edges: &[[u32; 2]], rate: N) {
        let first = self.uses.is_empty();
        let rate = if first { N::constant(1.0) } else { rate };
        let kept = N::constant(1.0) - rate;
        for (_, used) in &mut self.uses {
            *used = *used * kept;
        }
        let pair = |&[from, to]: &[u32; 2]| from.min(to) as usize * self.nodes + from.max(to) as usize;
        // Only the last edge of a 1-tree can be there twice.
        let again = edges.split_last().is_some_and(|(last, rest)| rest.iter().any(|edge| pair(edge) == pair(last)));
        for edge in &edges[..edges.len() - usize::from(again)] {
            let ([from, to], pair) = (*edge, pair(edge));
            if self.places[pair] == 0 {
                self.uses.push((lengths.between(from, to), N::constant(0.0)));
                self.places[pair] = self.uses.len() as u32;
            }
            let used = &mut self.uses[self.places[pair] as usize - 1].1;
            *used = *used + rate;
        }
    }

    /// How undecided the trees were: the sums over edges of `w x (1 - x) x^j`, for `j` from 0.
    ///
    /// Zero where every edge was always or never used, as in a tour that stays. Positively homogeneous of degree 1 in
    /// the lengths.
    pub(super) fn indecision(&self) -> [N; POWERS] {
        let mut sums = [N::constant(0.0); POWERS];
        for &(length, used) in &self.uses {
            let mut term = (used * (N::constant(1.0) - used)).times(length);
            for sum in &mut sums {
                *sum = *sum + term;
                term = term * used;
            }
        }
        sums
    }
}
