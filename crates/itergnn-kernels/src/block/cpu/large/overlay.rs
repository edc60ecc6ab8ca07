//! What differs from a history in a run that is recorded too.

use rayon::prelude::*;

use super::history::{GROUP, History, LEAST_GROUPS, Winners};
use super::record::{Record, same_bits};
use crate::real::Real;

const NONE: u32 = u32::MAX;

/// The rows of the nodes and groups that differ.
#[derive(Debug)]
pub(super) struct Overlay<T> {
    /// Per node and group, which of the own ones it is.
    places: Vec<u32>,
    owns: Vec<Own>,
    /// Per iteration, the rows that it changed.
    rows: Vec<Vec<T>>,
    winners: Vec<Winners>,
    width: usize,
    bytes: usize,
}

/// A node or group that differs.
#[derive(Debug)]
struct Own {
    id: u32,
    /// Until before this iteration it was as in the history.
    joined: u32,
    /// Since then, the iterations that changed it, and where their rows are.
    changes: Vec<(u32, u32)>,
}

/// Where the row of a node or group is.
pub(super) enum Place<'a, T> {
    /// In the history, after this iteration.
    Base(usize),
    Own(&'a [T]),
}

impl<T: Real> Overlay<T> {
    /// Nothing differs.
    pub(super) fn new(base: &History<T>) -> Self {
        let all = base.ids();
        Self {
            places: vec![NONE; all],
            owns: Vec::new(),
            rows: Vec::new(),
            winners: Vec::new(),
            width: base.width,
            bytes: all * size_of::<u32>(),
        }
    }

    /// Iterations that are known.
    pub(super) fn steps(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// Whether the last iteration changed nothing that differs.
    pub(super) fn rests(&self) -> bool {
        self.steps() > 0 && self.rows.last().is_some_and(Vec::is_empty)
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn winners(&self) -> &Vec<Winners> {
        &self.winners
    }

    fn own(&self, id: usize) -> Option<&Own> {
        self.owns.get(self.places[id] as usize)
    }

    fn row(&self, (step, row): (u32, u32)) -> &[T] {
        &self.rows[step as usize][row as usize * self.width..][..self.width]
    }

    /// Where a row after an iteration is.
    pub(super) fn find(&self, id: usize, step: usize) -> Place<'_, T> {
        let Some(own) = self.own(id).filter(|own| own.joined as usize <= step) else { return Place::Base(step) };
        let after = own.changes.partition_point(|change| change.0 as usize <= step);
        match after.checked_sub(1) {
            Some(last) => Place::Own(self.row(own.changes[last])),
            None => Place::Base(own.joined as usize - 1),
        }
    }

    /// Whether an iteration changed a row; `None` if the history tells.
    pub(super) fn changed(&self, id: usize, step: usize) -> Option<bool> {
        let own = self.own(id).filter(|own| own.joined as usize <= step)?;
        Some(own.changes.binary_search_by_key(&(step as u32), |change| change.0).is_ok())
    }

    /// The iteration since which a row differs, and its own rows since then.
    pub(super) fn since(&self, id: usize) -> Option<(usize, impl Iterator<Item = (usize, &[T])>)> {
        let own = self.own(id)?;
        Some((own.joined as usize, own.changes.iter().map(|&change| (change.0 as usize, self.row(change)))))
    }

    /// Notes the rows of all nodes that differ after one more iteration, or initially.
    pub(super) fn record(&mut self, base: &History<T>, nodes: &[u32], states: &[T]) {
        let step = self.rows.len();
        self.rows.push(Vec::with_capacity(states.len() + states.len() / 8));
        let mut before = vec![T::ZERO; base.width];
        for (&node, row) in nodes.iter().zip(states.chunks_exact(base.width)) {
            self.note(base, node as usize, row, &mut before);
        }
        for level in 1..base.levels.len() {
            let (inner, outer) = (&base.levels[level - 1], &base.levels[level]);
            let inside = self.owns.iter().map(|own| own.id as usize).filter(|id| inner.contains(id));
            let mut groups: Vec<usize> = inside.map(|id| outer.start + (id - inner.start) / GROUP).collect();
            groups.sort_unstable();
            groups.dedup();
            let record = Record { base, own: Some(self) };
            let largest = |&group: &usize| record.largest(group, level, step);
            let rows: Vec<Vec<T>> = groups.par_iter().with_min_len(LEAST_GROUPS).map(largest).collect();
            for (group, row) in groups.into_iter().zip(rows) {
                self.note(base, group, &row, &mut before);
            }
        }
        let winners = Record { base, own: Some(self) }.find_winners(step);
        self.winners.push(winners);
        self.bytes += size_of_val(self.rows[step].as_slice());
    }

    /// Notes the row of a node (or group) in the present iteration.
    fn note(&mut self, base: &History<T>, id: usize, row: &[T], before: &mut [T]) {
        let step = (self.rows.len() - 1) as u32;
        if self.places[id] == NONE {
            self.places[id] = self.owns.len() as u32;
            self.owns.push(Own { id: id as u32, joined: step, changes: Vec::new() });
        }
        let own = &self.owns[self.places[id] as usize];
        let is_new = match (own.changes.last(), own.joined) {
            (Some(&last), _) => !same_bits(self.row(last), row),
            (None, 0) => true,
            (None, joined) => {
                base.read(id, joined as usize - 1, before);
                !same_bits(before, row)
            }
        };
        if is_new {
            let rows = &mut self.rows[step as usize];
            let place = (rows.len() / base.width) as u32;
            rows.extend_from_slice(row);
            self.owns[self.places[id] as usize].changes.push((step, place));
        }
    }
}
