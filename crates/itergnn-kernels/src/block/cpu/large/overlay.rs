//! What differs from a history in a run that is recorded too.

use super::history::{Change, GROUP, History};
use super::record::Record;
use crate::real::Real;

/// In a [`Change`], that its row is one of the overlay.
pub(super) const OWN: u32 = 1 << 31;

const NONE: u32 = u32::MAX;

/// The rows of the nodes and groups that differ.
#[derive(Debug)]
pub(super) struct Overlay<T> {
    /// Per node and group, where its changes are; those of others are in the history.
    places: Vec<u32>,
    ids: Vec<u32>,
    changes: Vec<Vec<Change>>,
    /// Per iteration, the rows that it changed.
    rows: Vec<Vec<T>>,
    winners: Vec<Vec<u32>>,
    bytes: usize,
}

impl<T: Real> Overlay<T> {
    /// Nothing differs.
    pub(super) fn new(base: &History<T>) -> Self {
        let all = base.changes.len();
        Self {
            places: vec![NONE; all],
            ids: Vec::new(),
            changes: Vec::new(),
            rows: Vec::new(),
            winners: Vec::new(),
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

    pub(super) fn rows(&self, step: usize) -> &[T] {
        &self.rows[step]
    }

    pub(super) fn winners(&self) -> &Vec<Vec<u32>> {
        &self.winners
    }

    /// The changes of a node (or group) that differs.
    pub(super) fn changes(&self, id: usize) -> Option<&[Change]> {
        let place = self.places[id];
        (place != NONE).then(|| self.changes[place as usize].as_slice())
    }

    /// Notes the rows of all nodes that differ after one more iteration, or initially.
    pub(super) fn record(&mut self, base: &History<T>, nodes: &[u32], states: &[T]) {
        let step = self.rows.len();
        self.rows.push(Vec::new());
        for (&node, row) in nodes.iter().zip(states.chunks_exact(base.width)) {
            self.note(base, node as usize, row);
        }
        for level in 1..base.levels.len() {
            let (inner, outer) = (&base.levels[level - 1], &base.levels[level]);
            let inside = self.ids.iter().map(|&id| id as usize).filter(|id| inner.contains(id));
            let mut groups: Vec<usize> = inside.map(|id| outer.start + (id - inner.start) / GROUP).collect();
            groups.sort_unstable();
            groups.dedup();
            for group in groups {
                let row = Record { base, own: Some(self) }.largest(group, level, step);
                self.note(base, group, &row);
            }
        }
        let winners = Record { base, own: Some(self) }.find_winners(step);
        self.winners.push(winners);
        self.bytes += size_of_val(self.rows[step].as_slice());
    }

    /// Notes the row of a node (or group) in the present iteration.
    fn note(&mut self, base: &History<T>, id: usize, row: &[T]) {
        let step = (self.rows.len() - 1) as u32;
        if self.places[id] == NONE {
            self.places[id] = self.ids.len() as u32;
            self.ids.push(id as u32);
            // Until now it was as in the history.
            let before = base.changes[id].iter().take_while(|change| change.step < step);
            self.changes.push(before.copied().collect());
        }
        let record = Record { base, own: Some(self) };
        if record.is_new(id, row) {
            let rows = &mut self.rows[step as usize];
            let place = (rows.len() / base.width) as u32;
            rows.extend_from_slice(row);
            self.changes[self.places[id] as usize].push(Change { step, row: OWN | place });
        }
    }
}
