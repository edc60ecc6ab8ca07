//! The states of all nodes after every iteration, kept for runs that differ from this one in a few places.
//!
//! Over the nodes stands a tree of groups. The row of a group is the elementwise maximum of its members; so whatever
//! grows with the rows, a weighted sum over the iterations for instance, is nowhere in the group larger than it is for
//! the group's own rows, and a search for the largest value looks into few groups.

use std::ops::Range;

use rayon::prelude::*;

use super::run::raise;
use crate::kernels::{Kernels, UNTOUCHED, WeightedAdd};
use crate::memory::prefer_large_pages;
use crate::real::Real;

/// Members of a group.
const GROUP: usize = 32;

/// Nodes or groups that one thread looks at, at least.
const LEAST_PARALLEL: usize = 1024;

/// A row since some iteration: its place among the rows that changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Change {
    step: u32,
    row: u32,
}

/// All states of one run.
#[derive(Debug)]
pub(super) struct History<T> {
    nodes: usize,
    /// Values per row.
    width: usize,
    /// Per iteration, the rows that it changed: of nodes, and of groups. The first are the initial states.
    node_rows: Vec<Vec<T>>,
    group_rows: Vec<Vec<T>>,
    /// Per node and then per group, its changes in order. The first is that of step 0.
    changes: Vec<Vec<Change>>,
    /// Nodes, groups of nodes, groups of these, and so on up to at most [`GROUP`].
    levels: Vec<Range<usize>>,
    /// Per iteration, the nodes with the largest value of some channel.
    winners: Vec<Vec<u32>>,
    bytes: usize,
}

/// The weights that a run gave to its iterations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights<'a> {
    /// The sum of the weights before the first iteration, after the first, and so on; constant after the last.
    pub(super) totals: &'a [f64],
    /// The sum in the end.
    pub(super) total: f64,
    /// The last iteration.
    pub(super) steps: usize,
    /// What the sum of the states is multiplied by.
    pub(super) factor: f64,
}

impl<T: Real> History<T> {
    /// No state is known yet.
    pub(super) fn new(nodes: usize, width: usize) -> Self {
        let mut levels = vec![0..nodes];
        while let Some(below) = levels.last().filter(|below| below.len() > GROUP).cloned() {
            levels.push(below.end..below.end + below.len().div_ceil(GROUP));
        }
        let all = levels.last().map_or(0, |level| level.end);
        Self {
            nodes,
            width,
            node_rows: Vec::new(),
            group_rows: Vec::new(),
            changes: vec![Vec::new(); all],
            levels,
            winners: Vec::new(),
            bytes: all * size_of::<Vec<Change>>(),
        }
    }

    /// Iterations that are known.
    pub(super) fn steps(&self) -> usize {
        self.node_rows.len().saturating_sub(1)
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the last iteration changed nothing: then none will.
    pub(super) fn rests(&self) -> bool {
        self.steps() > 0 && self.node_rows.last().is_some_and(Vec::is_empty)
    }

    /// Whether the states after an iteration are known.
    pub(super) fn knows(&self, step: usize) -> bool {
        step <= self.steps() || self.rests()
    }

    fn change_at(&self, id: usize, step: usize) -> Change {
        let changes = &self.changes[id];
        // A node that changed at every iteration.
        if let Some(&change) = changes.get(step).filter(|change| change.step as usize == step) {
            return change;
        }
        changes[changes.partition_point(|change| change.step as usize <= step) - 1]
    }

    fn row_of(&self, id: usize, change: Change) -> &[T] {
        let rows = if id < self.nodes { &self.node_rows } else { &self.group_rows };
        &rows[change.step as usize][change.row as usize * self.width..][..self.width]
    }

    /// The row of a node (or group) after an iteration.
    pub(super) fn row(&self, id: usize, step: usize) -> &[T] {
        self.row_of(id, self.change_at(id, step))
    }

    /// Whether an iteration changed a node; initial states count as changes.
    pub(super) fn changed(&self, node: usize, step: usize) -> bool {
        self.change_at(node, step).step as usize == step
    }

    /// Notes the states after one more iteration, or the initial ones.
    pub(super) fn record<'a>(&mut self, state: impl Fn(usize) -> &'a [T] + Sync) {
        let step = self.node_rows.len();
        let width = self.width;
        let is_new = |id: usize, row: &[T]| {
            self.changes[id].last().is_none_or(|&change| !same_bits(self.row_of(id, change), row))
        };
        let changed: Vec<u32> = (0..self.nodes as u32)
            .into_par_iter()
            .with_min_len(LEAST_PARALLEL)
            .filter(|&node| is_new(node as usize, state(node as usize)))
            .collect();
        let mut rows = vec![T::ZERO; changed.len() * width];
        prefer_large_pages(rows.as_mut_ptr(), size_of_val(rows.as_slice()));
        let copy = |(row, &node): (&mut [T], &u32)| row.copy_from_slice(state(node as usize));
        rows.par_chunks_exact_mut(width).zip(&changed).with_min_len(LEAST_PARALLEL).for_each(copy);
        self.node_rows.push(rows);
        self.note(&changed, step);

        self.group_rows.push(Vec::new());
        let mut below = changed;
        for level in 1..self.levels.len() {
            let (inner, outer) = (self.levels[level - 1].clone(), self.levels[level].clone());
            let mut groups: Vec<u32> =
                below.iter().map(|&id| (outer.start + (id as usize - inner.start) / GROUP) as u32).collect();
            groups.dedup();
            let largest = |&group: &u32| {
                let mut members = self.members(group as usize, level).map(|id| self.row(id, step));
                let mut row = members.next().map_or(Vec::new(), <[T]>::to_vec);
                members.for_each(|member| raise(&mut row, member));
                is_changed(self, group as usize, &row).then_some((group, row))
            };
            let groups: Vec<(u32, Vec<T>)> =
                groups.par_iter().with_min_len(LEAST_PARALLEL / GROUP).filter_map(largest).collect();
            below = groups.iter().map(|&(group, _)| group).collect();
            self.note_groups(&groups, step);
        }
        self.winners.push(self.find_winners(step));
        self.bytes += size_of_val(self.node_rows[step].as_slice()) + size_of_val(self.group_rows[step].as_slice());
        self.bytes += (self.node_rows[step].len() + self.group_rows[step].len()) / width * size_of::<Change>();
    }

    /// Gives changes of this iteration their places, one after the other.
    fn note(&mut self, changed: &[u32], step: usize) {
        for (row, &node) in changed.iter().enumerate() {
            self.changes[node as usize].push(Change { step: step as u32, row: row as u32 });
        }
    }

    fn note_groups(&mut self, groups: &[(u32, Vec<T>)], step: usize) {
        let rows = &mut self.group_rows[step];
        for (group, row) in groups {
            let place = (rows.len() / self.width) as u32;
            self.changes[*group as usize].push(Change { step: step as u32, row: place });
            rows.extend_from_slice(row);
        }
    }

    /// The members of a group, which is part of a level above the nodes.
    fn members(&self, group: usize, level: usize) -> Range<usize> {
        let inner = &self.levels[level - 1];
        let first = inner.start + (group - self.levels[level].start) * GROUP;
        first..inner.end.min(first + GROUP)
    }

    fn find_winners(&self, step: usize) -> Vec<u32> {
        let mut winners: Vec<u32> = (0..self.width)
            .map(|channel| {
                let mut inside = self.levels.last().cloned().unwrap_or(0..0);
                for level in (0..self.levels.len()).rev() {
                    let first = inside.start;
                    let better = |best: usize, id: usize| {
                        if self.row(id, step)[channel] > self.row(best, step)[channel] { id } else { best }
                    };
                    let best = inside.fold(first, better);
                    if level == 0 {
                        return best as u32;
                    }
                    inside = self.members(best, level);
                }
                0
            })
            .collect();
        winners.sort_unstable();
        winners.dedup();
        winners
    }

    /// `most = max(most, state of v)` over the nodes that are not `left_out`, after an iteration.
    pub(super) fn raise_by_states(&self, step: usize, left_out: impl Fn(usize) -> bool, most: &mut [T]) {
        self.search(step, left_out, most, |id, row| row.copy_from_slice(self.row(id, step)));
    }

    /// The same for the sums of the states with these weights, up to the last bits of a sum.
    pub(super) fn raise_by_sums(
        &self,
        kernels: &Kernels<T>,
        weights: Weights<'_>,
        left_out: impl Fn(usize) -> bool,
        most: &mut [T],
    ) {
        self.search(weights.steps, left_out, most, |id, row| {
            row.fill(T::ZERO);
            let settled = self.settle(kernels, id, weights.steps, weights.totals, row);
            finish_sum(row, self.row(id, weights.steps), settled, weights);
        });
    }

    /// Looks at what `value` makes of nodes and groups, which must not be larger for a node than for its group.
    fn search(
        &self,
        step: usize,
        left_out: impl Fn(usize) -> bool,
        most: &mut [T],
        mut value: impl FnMut(usize, &mut [T]),
    ) {
        let mut row = vec![T::ZERO; self.width];
        // With these the rest is mostly known to be smaller.
        for &node in self.winners[step.min(self.steps())].iter().filter(|&&node| !left_out(node as usize)) {
            value(node as usize, &mut row);
            raise(most, &row);
        }
        let mut open: Vec<(usize, usize)> =
            self.levels.last().cloned().unwrap_or(0..0).map(|id| (self.levels.len() - 1, id)).collect();
        while let Some((level, id)) = open.pop() {
            if level == 0 && left_out(id) {
                continue;
            }
            value(id, &mut row);
            if !row.iter().zip(most.iter()).any(|(value, most)| value > most) {
                continue;
            }
            match level {
                0 => raise(most, &row),
                _ => open.extend(self.members(id, level).map(|id| (level - 1, id))),
            }
        }
    }

    /// Adds to `sum`, which is zero, what a node (or group) owed to the output when it last changed, up to an
    /// iteration; returns up to which weight that is.
    pub(super) fn settle(&self, kernels: &Kernels<T>, id: usize, step: usize, totals: &[f64], sum: &mut [T]) -> f64 {
        let mut settled = UNTOUCHED;
        for pair in self.changes[id].windows(2).take_while(|pair| pair[1].step as usize <= step) {
            settled = settle(kernels, self.row_of(id, pair[0]), totals[pair[1].step as usize - 1], settled, sum);
        }
        settled
    }
}

/// Whether a group's row is not the one it had.
fn is_changed<T: Real>(history: &History<T>, id: usize, row: &[T]) -> bool {
    history.changes[id].last().is_none_or(|&change| !same_bits(history.row_of(id, change), row))
}

/// Adds what a state owes that had been the same since the weight was `settled`; returns the new one.
pub(super) fn settle<T: Real>(kernels: &Kernels<T>, state: &[T], total: f64, settled: f64, sum: &mut [T]) -> f64 {
    if total == settled {
        return settled;
    }
    let weight = T::from_f64(if settled == UNTOUCHED { total } else { total - settled });
    // SAFETY: one row of values each, and the table is that of this processor.
    unsafe {
        (kernels.weighted_add)(&WeightedAdd {
            rows: 1,
            width: state.len(),
            source: state.as_ptr(),
            target: sum.as_mut_ptr(),
            weights: &weight,
            weight_step: 0,
            keeps: std::ptr::null(),
            factor: std::ptr::null(),
            products: std::ptr::null_mut(),
        });
    }
    total
}

/// The output of a node from what is settled and its last state.
pub(super) fn finish_sum<T: Real>(sum: &mut [T], state: &[T], settled: f64, weights: Weights<'_>) {
    let factor = T::from_f64(weights.factor);
    if settled == UNTOUCHED {
        let weight = T::from_f64(weights.total);
        sum.iter_mut().zip(state).for_each(|(value, &state)| *value = weight * state * factor);
    } else {
        let weight = T::from_f64(weights.total - settled);
        sum.iter_mut().zip(state).for_each(|(value, &state)| *value = (*value + weight * state) * factor);
    }
}

/// Whether two rows are the same to the bit; `==` would take zero for minus zero.
pub(super) fn same_bits<T: Real>(left: &[T], right: &[T]) -> bool {
    // SAFETY: floats are plain memory without padding.
    let bytes = |values: &[T]| unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
    bytes(left) == bytes(right)
}
