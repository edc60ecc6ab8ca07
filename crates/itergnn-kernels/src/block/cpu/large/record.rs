//! What is known of a run: the history of another one, and what differs from it.
//!
//! Whatever grows with the rows of a node, a weighted sum over the iterations for instance, is nowhere in a group larger
//! than it is for the group's own rows; so a search for the largest value looks into few groups, and there only at the
//! channels in which the group has a larger one.

use super::history::{History, Winners};
use super::overlay::{Overlay, Place};
use super::run::raise;
use crate::kernels::{Kernels, UNTOUCHED, WeightedAdd};
use crate::real::Real;

/// Iterations before the last that a [bound](Record::bound) tells apart.
const BOUND_STEPS: usize = 2;

/// Channels that are summed alone, a multiple of all vectors' lengths; of more the whole row is.
const FEW_CHANNELS: usize = 16;

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

/// Rows while a search goes on.
struct Scratch<T> {
    /// What was asked for, channel by channel.
    values: Vec<T>,
    states: Vec<T>,
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

    fn find(self, id: usize, step: usize) -> Place<'a, T> {
        self.own.map_or(Place::Base(step), |own| own.find(id, step))
    }

    /// The row of a node (or group) after an iteration.
    pub(super) fn read(self, id: usize, step: usize, row: &mut [T]) {
        match self.find(id, step) {
            Place::Base(step) => self.base.read(id, step, row),
            Place::Own(own) => row.copy_from_slice(own),
        }
    }

    /// One value of that row.
    fn value(self, id: usize, step: usize, channel: usize) -> T {
        match self.find(id, step) {
            Place::Base(step) => self.base.value(id, step, channel),
            Place::Own(row) => row[channel],
        }
    }

    /// Some values of that row.
    fn values(self, id: usize, step: usize, channels: &[u32], values: &mut [T]) {
        match self.find(id, step) {
            Place::Base(step) => self.base.values(id, step, channels, values),
            Place::Own(row) => {
                values.iter_mut().zip(channels).for_each(|(value, &channel)| *value = row[channel as usize]);
            }
        }
    }

    /// Whether an iteration changed a node; initial states count as changes.
    pub(super) fn changed(self, node: usize, step: usize) -> bool {
        let own = self.own.and_then(|own| own.changed(node, step));
        own.unwrap_or_else(|| self.base.changed(node, step))
    }

    /// The elementwise maximum over a group, which is part of a level above the nodes.
    pub(super) fn largest(self, group: usize, level: usize, step: usize) -> Vec<T> {
        let members = self.base.members(group, level);
        let mut most = vec![T::ZERO; self.base.width];
        let mut row = most.clone();
        self.read(members.start, step, &mut most);
        for member in members.skip(1) {
            self.read(member, step, &mut row);
            raise(&mut most, &row);
        }
        most
    }

    /// The nodes with the largest value of some channel, after an iteration.
    pub(super) fn find_winners(self, step: usize) -> Winners {
        let levels = &self.base.levels;
        let mut winners: Vec<(u32, u32)> = (0..self.base.width)
            .map(|channel| {
                let mut inside = levels.last().cloned().unwrap_or(0..0);
                let mut best = 0;
                for level in (0..levels.len()).rev() {
                    let value = |id: usize| self.value(id, step, channel);
                    let first = (inside.start, value(inside.start));
                    let larger = |best: (usize, T), (id, value)| if value > best.1 { (id, value) } else { best };
                    best = inside.clone().map(|id| (id, value(id))).fold(first, larger).0;
                    if level > 0 {
                        inside = self.base.members(best, level);
                    }
                }
                (best as u32, channel as u32)
            })
            .collect();
        winners.sort_unstable();
        let nodes = winners.chunk_by(|left, right| left.0 == right.0);
        nodes.map(|pairs| (pairs[0].0, pairs.iter().map(|pair| pair.1).collect())).collect()
    }

    fn winners(self, step: usize) -> &'a Winners {
        let winners = self.own.map_or(&self.base.winners, Overlay::winners);
        &winners[step.min(winners.len() - 1)]
    }

    /// `most = max(most, state of v)` over the nodes that are not `left_out`, after an iteration.
    pub(super) fn raise_by_states(self, step: usize, left_out: impl Fn(usize) -> bool, most: &mut [T]) {
        self.search(step, left_out, most, |id, channels, _, values, _| {
            self.values(id, step, channels, values);
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
        let all = self.base.all_channels();
        self.search(weights.steps, left_out, most, |id, channels, most, values, states| {
            self.bound(id, weights, channels, values, states);
            let is_larger = |(value, &channel): (&T, &u32)| *value > most[channel as usize];
            if !values.iter().zip(channels).any(is_larger) {
                return false;
            }
            let few = channels.len() <= FEW_CHANNELS;
            let (summed, width) = if few { (channels, FEW_CHANNELS) } else { (all, all.len()) };
            let (values, states) = (&mut values[..width.min(all.len())], &mut states[..width.min(all.len())]);
            values.fill(T::ZERO);
            let settled = self.settle(kernels, id, weights.steps, weights.totals, summed, values, states);
            finish_sum(values, states, settled, weights);
            if !few {
                channels.iter().enumerate().for_each(|(place, &channel)| values[place] = values[channel as usize]);
            }
            true
        });
    }

    /// What the sums of a node (or group) do not exceed but by their last bits: states grow, so that the weight of all
    /// early iterations may go to one of the last. Few rows are read.
    fn bound(self, id: usize, weights: Weights<'_>, channels: &[u32], values: &mut [T], states: &mut [T]) {
        let total = |step: usize| weights.totals.get(step).copied().unwrap_or(weights.total);
        let first = weights.steps.min(weights.totals.len() - 1).saturating_sub(BOUND_STEPS);
        let factor = T::from_f64(weights.factor);
        let weight = T::from_f64(total(first)) * factor;
        self.values(id, first, channels, values);
        values[..channels.len()].iter_mut().for_each(|value| *value *= weight);
        for step in first + 1..=first + BOUND_STEPS + 1 {
            let is_last = step > first + BOUND_STEPS || step >= weights.steps;
            let weight = T::from_f64(if is_last { weights.total } else { total(step) } - total(step - 1)) * factor;
            self.values(id, if is_last { weights.steps } else { step }, channels, states);
            let pairs = values[..channels.len()].iter_mut().zip(states.iter());
            pairs.for_each(|(value, &state)| *value += weight * state);
            if is_last {
                return;
            }
        }
    }

    /// Looks at what `value` makes of channels of nodes and groups, which must not be larger for a node than for its
    /// group; it may say `false` instead where nothing would be larger than `most`.
    fn search(
        self,
        step: usize,
        left_out: impl Fn(usize) -> bool,
        most: &mut [T],
        mut value: impl FnMut(usize, &[u32], &[T], &mut [T], &mut [T]) -> bool,
    ) {
        let width = self.base.width;
        let mut scratch =
            Scratch { values: vec![T::ZERO; width.max(FEW_CHANNELS)], states: vec![T::ZERO; width.max(FEW_CHANNELS)] };
        // With these the rest is mostly known to be smaller.
        for (node, channels) in self.winners(step) {
            self.descend((0, *node as usize), channels, &left_out, most, &mut value, &mut scratch);
        }
        let top = self.base.levels.len() - 1;
        for id in self.base.levels[top].clone() {
            self.descend((top, id), self.base.all_channels(), &left_out, most, &mut value, &mut scratch);
        }
    }

    /// Raises `most` by some channels of a node or of the nodes of a group.
    fn descend(
        self,
        (level, id): (usize, usize),
        channels: &[u32],
        left_out: &impl Fn(usize) -> bool,
        most: &mut [T],
        value: &mut impl FnMut(usize, &[u32], &[T], &mut [T], &mut [T]) -> bool,
        scratch: &mut Scratch<T>,
    ) {
        if level == 0 && left_out(id) || !value(id, channels, most, &mut scratch.values, &mut scratch.states) {
            return;
        }
        let larger = channels.iter().zip(&scratch.values).filter(|&(&channel, &value)| value > most[channel as usize]);
        if level == 0 {
            let larger: Vec<(u32, T)> = larger.map(|(&channel, &value)| (channel, value)).collect();
            larger.into_iter().for_each(|(channel, value)| most[channel as usize] = value);
            return;
        }
        let larger: Vec<u32> = larger.map(|(&channel, _)| channel).collect();
        if !larger.is_empty() {
            for member in self.base.members(id, level) {
                self.descend((level - 1, member), &larger, left_out, most, value, scratch);
            }
        }
    }

    /// Adds to `sums`, which are zero, what channels of a node (or group) owed to the output when it last changed, up to
    /// an iteration; returns up to which weight that is. `states` receives their values then.
    #[expect(clippy::too_many_arguments, reason = "two buffers of the caller, so that a search makes none")]
    pub(super) fn settle(
        self,
        kernels: &Kernels<T>,
        id: usize,
        step: usize,
        totals: &[f64],
        channels: &[u32],
        sums: &mut [T],
        states: &mut [T],
    ) -> f64 {
        let mut settled = UNTOUCHED;
        let own = self.own.and_then(|own| own.since(id)).filter(|own| own.0 <= step);
        let joined = own.as_ref().map_or(step + 1, |own| own.0);
        if joined > 0 {
            self.base.values(id, 0, channels, states);
        }
        for step in 1..joined.min(self.base.steps() + 1) {
            self.base.update(id, step, channels, states, |states| {
                settled = settle(kernels, states, totals[step - 1], settled, sums);
            });
        }
        for (changed, row) in own.into_iter().flat_map(|own| own.1).take_while(|own| own.0 <= step) {
            if changed > 0 {
                settled = settle(kernels, states, totals[changed - 1], settled, sums);
            }
            states.iter_mut().zip(channels).for_each(|(state, &channel)| *state = row[channel as usize]);
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
    bytes(left) == bytes(right)
}

pub(super) fn bytes<T: Real>(values: &[T]) -> &[u8] {
    // SAFETY: floats are plain memory without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
