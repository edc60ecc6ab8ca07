//! What is known of a run: the history of another one, and what differs from it.
//!
//! Whatever grows with the rows of a node, a weighted sum over the iterations for instance, is nowhere in a group larger
//! than it is for the group's own rows; so a search for the largest value looks into few groups.

use super::history::{Change, History};
use super::overlay::{OWN, Overlay};
use super::run::raise;
use crate::kernels::{Kernels, UNTOUCHED, WeightedAdd};
use crate::real::Real;

/// Iterations before the last that a [bound](Record::bound) tells apart.
const BOUND_STEPS: usize = 2;

/// A run, to be read.
#[derive(Debug)]
pub(super) struct Record<'a, T> {
    pub(super) base: &'a History<T>,
    pub(super) own: Option<&'a Overlay<T>>,
}

impl<T> Clone for Record<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Record<'_, T> {}

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

impl<'a, T: Real> Record<'a, T> {
    /// Iterations that are known.
    pub(super) fn steps(self) -> usize {
        self.own.map_or(self.base.steps(), Overlay::steps)
    }

    /// Whether the last iteration changed nothing: then none will.
    pub(super) fn rests(self) -> bool {
        self.base.rests() && self.own.is_none_or(|own| own.rests() && own.steps() >= self.base.steps())
    }

    /// Whether the states after an iteration are known.
    pub(super) fn knows(self, step: usize) -> bool {
        step <= self.steps() || self.rests()
    }

    fn changes(self, id: usize) -> &'a [Change] {
        self.own.and_then(|own| own.changes(id)).unwrap_or(&self.base.changes[id])
    }

    fn change_at(self, id: usize, step: usize) -> Change {
        let changes = self.changes(id);
        // A node that changed at every iteration.
        if let Some(&change) = changes.get(step).filter(|change| change.step as usize == step) {
            return change;
        }
        changes[changes.partition_point(|change| change.step as usize <= step) - 1]
    }

    fn row_of(self, id: usize, change: Change) -> &'a [T] {
        let (step, row) = (change.step as usize, (change.row & !OWN) as usize);
        let rows = match self.own {
            Some(own) if change.row & OWN != 0 => own.rows(step),
            _ if id < self.base.nodes => &self.base.node_rows[step],
            _ => &self.base.group_rows[step],
        };
        &rows[row * self.base.width..][..self.base.width]
    }

    /// The row of a node (or group) after an iteration.
    pub(super) fn row(self, id: usize, step: usize) -> &'a [T] {
        self.row_of(id, self.change_at(id, step))
    }

    /// Whether a row is not the last one of a node (or group).
    pub(super) fn is_new(self, id: usize, row: &[T]) -> bool {
        self.changes(id).last().is_none_or(|&change| !same_bits(self.row_of(id, change), row))
    }

    /// Whether an iteration changed a node; initial states count as changes.
    pub(super) fn changed(self, node: usize, step: usize) -> bool {
        self.change_at(node, step).step as usize == step
    }

    /// The elementwise maximum over a group, which is part of a level above the nodes.
    pub(super) fn largest(self, group: usize, level: usize, step: usize) -> Vec<T> {
        let mut members = self.base.members(group, level).map(|id| self.row(id, step));
        let mut row = members.next().map_or(Vec::new(), <[T]>::to_vec);
        members.for_each(|member| raise(&mut row, member));
        row
    }

    /// The nodes with the largest value of some channel, after an iteration.
    pub(super) fn find_winners(self, step: usize) -> Vec<u32> {
        let levels = &self.base.levels;
        let mut winners: Vec<u32> = (0..self.base.width)
            .map(|channel| {
                let mut inside = levels.last().cloned().unwrap_or(0..0);
                for level in (0..levels.len()).rev() {
                    let value = |id: usize| self.row(id, step)[channel];
                    let first = (inside.start, value(inside.start));
                    let larger = |best: (usize, T), (id, value)| if value > best.1 { (id, value) } else { best };
                    let best = inside.map(|id| (id, value(id))).fold(first, larger).0;
                    if level == 0 {
                        return best as u32;
                    }
                    inside = self.base.members(best, level);
                }
                0
            })
            .collect();
        winners.sort_unstable();
        winners.dedup();
        winners
    }

    fn winners(self, step: usize) -> &'a [u32] {
        let winners = self.own.map_or(&self.base.winners, Overlay::winners);
        &winners[step.min(winners.len() - 1)]
    }

    /// `most = max(most, state of v)` over the nodes that are not `left_out`, after an iteration.
    pub(super) fn raise_by_states(self, step: usize, left_out: impl Fn(usize) -> bool, most: &mut [T]) {
        self.search(step, left_out, most, |id, _, row| {
            row.copy_from_slice(self.row(id, step));
            true
        });
    }

    /// The same for the sums of the states with these weights, up to the last bits of a sum.
    pub(super) fn raise_by_sums(
        self,
        kernels: &Kernels<T>,
        weights: Weights<'_>,
        left_out: impl Fn(usize) -> bool,
        most: &mut [T],
    ) {
        self.search(weights.steps, left_out, most, |id, most, row| {
            self.bound(id, weights, row);
            if !is_larger(row, most) {
                return false;
            }
            row.fill(T::ZERO);
            let settled = self.settle(kernels, id, weights.steps, weights.totals, row);
            finish_sum(row, self.row(id, weights.steps), settled, weights);
            true
        });
    }

    /// What the sum of a node (or group) does not exceed but by its last bits: states grow, so that the weight of all
    /// early iterations may go to one of the last. Few rows are read.
    fn bound(self, id: usize, weights: Weights<'_>, row: &mut [T]) {
        let total = |step: usize| weights.totals.get(step).copied().unwrap_or(weights.total);
        let first = weights.steps.min(weights.totals.len() - 1).saturating_sub(BOUND_STEPS);
        let factor = T::from_f64(weights.factor);
        let weight = T::from_f64(total(first)) * factor;
        row.iter_mut().zip(self.row(id, first)).for_each(|(value, &state)| *value = weight * state);
        for step in first + 1..=first + BOUND_STEPS + 1 {
            let is_last = step > first + BOUND_STEPS || step >= weights.steps;
            let weight = T::from_f64(if is_last { weights.total } else { total(step) } - total(step - 1)) * factor;
            let state = self.row(id, if is_last { weights.steps } else { step });
            row.iter_mut().zip(state).for_each(|(value, &state)| *value += weight * state);
            if is_last {
                return;
            }
        }
    }

    /// Looks at what `value` makes of nodes and groups, which must not be larger for a node than for its group; it may
    /// say `false` instead where nothing would be larger than `most`.
    fn search(
        self,
        step: usize,
        left_out: impl Fn(usize) -> bool,
        most: &mut [T],
        mut value: impl FnMut(usize, &[T], &mut [T]) -> bool,
    ) {
        let mut row = vec![T::ZERO; self.base.width];
        // With these the rest is mostly known to be smaller.
        for &node in self.winners(step).iter().filter(|&&node| !left_out(node as usize)) {
            if value(node as usize, most, &mut row) {
                raise(most, &row);
            }
        }
        let mut open: Vec<(usize, usize)> =
            self.base.levels.last().cloned().unwrap_or(0..0).map(|id| (self.base.levels.len() - 1, id)).collect();
        while let Some((level, id)) = open.pop() {
            if level == 0 && left_out(id) {
                continue;
            }
            if !value(id, most, &mut row) || !is_larger(&row, most) {
                continue;
            }
            match level {
                0 => raise(most, &row),
                _ => open.extend(self.base.members(id, level).map(|id| (level - 1, id))),
            }
        }
    }

    /// Adds to `sum`, which is zero, what a node (or group) owed to the output when it last changed, up to an
    /// iteration; returns up to which weight that is.
    pub(super) fn settle(self, kernels: &Kernels<T>, id: usize, step: usize, totals: &[f64], sum: &mut [T]) -> f64 {
        let mut settled = UNTOUCHED;
        for pair in self.changes(id).windows(2).take_while(|pair| pair[1].step as usize <= step) {
            settled = settle(kernels, self.row_of(id, pair[0]), totals[pair[1].step as usize - 1], settled, sum);
        }
        settled
    }
}

/// Whether any value is larger than the one it would replace.
pub(super) fn is_larger<T: Real>(row: &[T], most: &[T]) -> bool {
    row.iter().zip(most).any(|(value, most)| value > most)
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
