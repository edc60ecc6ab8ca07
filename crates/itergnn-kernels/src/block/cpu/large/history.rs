//! The states of all nodes after every iteration, kept for runs that differ from this one in a few places.
//!
//! Over the nodes stands a tree of groups. The row of a group is the elementwise maximum of its members.

use std::ops::Range;

use rayon::prelude::*;

use super::record::Record;
use crate::memory::prefer_large_pages;
use crate::real::Real;

/// Members of a group.
pub(super) const GROUP: usize = 32;

/// Nodes or groups that one thread looks at, at least.
const LEAST_PARALLEL: usize = 1024;

/// A row since some iteration: its place among the rows that changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) step: u32,
    pub(super) row: u32,
}

/// All states of one run.
#[derive(Debug)]
pub(super) struct History<T> {
    pub(super) nodes: usize,
    /// Values per row.
    pub(super) width: usize,
    /// Per iteration, the rows that it changed: of nodes, and of groups. The first are the initial states.
    pub(super) node_rows: Vec<Vec<T>>,
    pub(super) group_rows: Vec<Vec<T>>,
    /// Per node and then per group, its changes in order. The first is that of step 0.
    pub(super) changes: Vec<Vec<Change>>,
    /// Nodes, groups of nodes, groups of these, and so on up to at most [`GROUP`].
    pub(super) levels: Vec<Range<usize>>,
    /// Per iteration, the nodes with the largest value of some channel.
    pub(super) winners: Vec<Vec<u32>>,
    bytes: usize,
}

impl<T: Real> History<T> {
    /// No state is known yet.
    pub(super) fn new(nodes: usize, width: usize) -> Self {
        let mut levels: Vec<Range<usize>> = std::iter::once(0..nodes).collect();
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

    /// Notes the states after one more iteration, or the initial ones; `rested` tells nodes that surely did not change.
    pub(super) fn record<'a>(
        &mut self,
        state: impl Fn(usize) -> &'a [T] + Sync,
        rested: impl Fn(usize) -> bool + Sync,
    ) {
        let step = self.node_rows.len();
        let width = self.width;
        let record = Record { base: self, own: None };
        let changed: Vec<u32> = (0..self.nodes as u32)
            .into_par_iter()
            .with_min_len(LEAST_PARALLEL)
            .filter(|&node| !rested(node as usize) && record.is_new(node as usize, state(node as usize)))
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
            let record = Record { base: self, own: None };
            let largest = |&group: &u32| {
                let row = record.largest(group as usize, level, step);
                record.is_new(group as usize, &row).then_some((group, row))
            };
            let groups: Vec<(u32, Vec<T>)> =
                groups.par_iter().with_min_len(LEAST_PARALLEL / GROUP).filter_map(largest).collect();
            below = groups.iter().map(|&(group, _)| group).collect();
            self.note_groups(&groups, step);
        }
        let winners = Record { base: self, own: None }.find_winners(step);
        self.winners.push(winners);
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
    pub(super) fn members(&self, group: usize, level: usize) -> Range<usize> {
        let inner = &self.levels[level - 1];
        let first = inner.start + (group - self.levels[level].start) * GROUP;
        first..inner.end.min(first + GROUP)
    }
}
