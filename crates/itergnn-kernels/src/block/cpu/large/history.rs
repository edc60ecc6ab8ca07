//! The states of all nodes after every iteration, kept for runs that differ from this one in a few places.
//!
//! Over the nodes stands a tree of groups. The row of a group is the elementwise maximum of its members. Of an iteration
//! those rows are kept that it changed, and of large graphs only the channels that it changed in any row: in trained
//! networks these are few, and fresh memory costs more than the iteration.

use std::ops::Range;

use rayon::prelude::*;

use super::record::{Record, bytes, same_bits};
use super::run::raise;
use crate::memory::prefer_large_pages;
use crate::real::Real;

/// Members of a group.
pub(super) const GROUP: usize = 32;

/// Nodes that one thread compares at a time, whole words of marks.
const BLOCK: usize = 16 * WORD;

/// Groups that one thread looks at, at least.
pub(super) const LEAST_GROUPS: usize = 32;

/// Marks per word.
const WORD: usize = u64::BITS as usize;

/// Rows of smaller graphs are kept whole: they are little memory, and quicker to read.
const COMPACT_NODES: usize = 1 << 14;

/// All states of one run.
#[derive(Debug)]
pub(super) struct History<T> {
    pub(super) nodes: usize,
    /// Values per row, and a list of them.
    pub(super) width: usize,
    channels: Vec<u32>,
    /// Nodes, groups of nodes, groups of these, and so on up to at most [`GROUP`].
    pub(super) levels: Vec<Range<usize>>,
    /// What each iteration changed; the first are the initial states.
    planes: Vec<Plane<T>>,
    /// `[nodes and groups, width]`: the last rows.
    latest: Vec<T>,
    /// Per iteration, the nodes with the largest values.
    pub(super) winners: Vec<Winners>,
    bytes: usize,
}

/// Nodes, and the channels of which each has the largest value.
pub(super) type Winners = Vec<(u32, Vec<u32>)>;

/// What one iteration changed.
#[derive(Debug)]
struct Plane<T> {
    /// A mark per node and then per group: whether its row changed. Per word of marks, how many there are before it.
    marks: Vec<u64>,
    before: Vec<u32>,
    /// The channels that are kept.
    channels: Vec<u32>,
    /// `[changed, channels]`, of nodes and of groups; one row where all are the same.
    node_rows: Vec<T>,
    group_rows: Vec<T>,
    changed_nodes: usize,
    nodes: usize,
    /// Whether all nodes and so all groups have one row, as they often begin.
    is_uniform: bool,
    /// Per channel, the iteration that last kept it, up to this one, and its column there.
    places: Vec<(u32, u32)>,
    /// The same by iterations: columns and channels.
    parts: Vec<(u32, Vec<(u32, u32)>)>,
}

impl<T> Plane<T> {
    /// What is kept of a row, if it changed.
    fn row(&self, id: usize) -> Option<&[T]> {
        let (marks, mark) = (self.marks[id / WORD], 1 << (id % WORD));
        if marks & mark == 0 {
            return None;
        }
        let row = self.before[id / WORD] as usize + (marks & (mark - 1)).count_ones() as usize;
        let (rows, row) = match id < self.nodes {
            _ if self.is_uniform => (&self.node_rows, 0),
            true => (&self.node_rows, row),
            false => (&self.group_rows, row - self.changed_nodes),
        };
        Some(&rows[row * self.channels.len()..][..self.channels.len()])
    }
}

impl<T: Real> History<T> {
    /// No state is known yet.
    pub(super) fn new(nodes: usize, width: usize) -> Self {
        let mut levels: Vec<Range<usize>> = std::iter::once(0..nodes).collect();
        while let Some(below) = levels.last().filter(|below| below.len() > GROUP).cloned() {
            levels.push(below.end..below.end + below.len().div_ceil(GROUP));
        }
        let all = levels.last().map_or(0, |level| level.end);
        let latest = large_vec(all * width);
        let bytes = size_of_val(latest.as_slice());
        let channels = (0..width as u32).collect();
        Self { nodes, width, channels, levels, planes: Vec::new(), latest, winners: Vec::new(), bytes }
    }

    pub(super) fn all_channels(&self) -> &[u32] {
        &self.channels
    }

    /// Nodes and groups.
    pub(super) fn ids(&self) -> usize {
        self.levels.last().map_or(0, |level| level.end)
    }

    /// Iterations that are known.
    pub(super) fn steps(&self) -> usize {
        self.planes.len().saturating_sub(1)
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the last iteration changed nothing: then none will.
    pub(super) fn rests(&self) -> bool {
        self.steps() > 0 && self.planes.last().is_some_and(|plane| plane.changed_nodes == 0)
    }

    /// Whether an iteration changed a row; initial states count as changes.
    pub(super) fn changed(&self, id: usize, step: usize) -> bool {
        self.planes.get(step).is_some_and(|plane| plane.marks[id / WORD] & (1 << (id % WORD)) != 0)
    }

    /// The row of a node or group after an iteration.
    pub(super) fn read(&self, id: usize, step: usize, row: &mut [T]) {
        let mut step = step.min(self.steps());
        // Where whole rows are kept, they are looked for.
        while let [(last, columns)] = self.planes[step].parts.as_slice()
            && columns.len() == self.width
        {
            match self.planes[*last as usize].row(id) {
                Some(kept) => return row.copy_from_slice(kept),
                None => step = *last as usize - 1,
            }
        }
        for (last, columns) in &self.planes[step].parts {
            match self.planes[*last as usize].row(id) {
                Some(kept) => {
                    columns.iter().for_each(|&(column, channel)| row[channel as usize] = kept[column as usize]);
                }
                None => columns.iter().for_each(|&(_, channel)| {
                    row[channel as usize] = self.value(id, *last as usize - 1, channel as usize);
                }),
            }
        }
    }

    /// One value of that row.
    pub(super) fn value(&self, id: usize, step: usize, channel: usize) -> T {
        let mut step = step.min(self.steps());
        loop {
            let (last, column) = self.planes[step].places[channel];
            match self.planes[last as usize].row(id) {
                Some(kept) => return kept[column as usize],
                // All rows have initial states.
                None => step = last as usize - 1,
            }
        }
    }

    /// Some values of that row.
    pub(super) fn values(&self, id: usize, step: usize, channels: &[u32], values: &mut [T]) {
        if channels.len() == self.width {
            return self.read(id, step, &mut values[..self.width]);
        }
        let pairs = values.iter_mut().zip(channels);
        pairs.for_each(|(value, &channel)| *value = self.value(id, step, channel as usize));
    }

    /// Brings `values`, those of some channels, from the iteration before to this one. Where the row changed,
    /// `tell` is given what they were.
    pub(super) fn update(
        &self,
        id: usize,
        step: usize,
        channels: &[u32],
        values: &mut [T],
        mut tell: impl FnMut(&[T]),
    ) {
        let plane = &self.planes[step];
        let Some(kept) = plane.row(id) else { return };
        tell(values);
        if channels.len() == self.width && kept.len() == self.width {
            return values[..kept.len()].copy_from_slice(kept);
        }
        for (value, &channel) in values.iter_mut().zip(channels) {
            let (last, column) = plane.places[channel as usize];
            if last as usize == step {
                *value = kept[column as usize];
            }
        }
    }

    /// Notes the states after one more iteration, or the initial ones; `rested` tells nodes that surely did not change.
    pub(super) fn record<'a>(
        &mut self,
        state: impl Fn(usize) -> &'a [T] + Sync,
        rested: impl Fn(usize) -> bool + Sync,
    ) {
        let (step, width, nodes) = (self.planes.len(), self.width, self.nodes);
        let latest = &self.latest;
        let compare = |block: usize| {
            let mut marks = Vec::with_capacity(BLOCK / WORD);
            let mut differences = vec![0_u8; width * size_of::<T>()];
            for node in block * BLOCK..nodes.min((block + 1) * BLOCK) {
                if node % WORD == 0 {
                    marks.push(0_u64);
                }
                let is_new = step == 0
                    || !rested(node) && gather_differences(&mut differences, state(node), row_of(latest, node, width));
                if let Some(last) = marks.last_mut().filter(|_| is_new) {
                    *last |= 1 << (node % WORD);
                }
            }
            (marks, differences)
        };
        let blocks: Vec<(Vec<u64>, Vec<u8>)> = (0..nodes.div_ceil(BLOCK)).into_par_iter().map(compare).collect();
        let is_live = |channel: usize| {
            let bytes = channel * size_of::<T>()..(channel + 1) * size_of::<T>();
            blocks.iter().any(|(_, differences)| differences[bytes.clone()].iter().any(|&byte| byte != 0))
        };
        let changed_nodes: usize = blocks.iter().map(|(marks, _)| count(marks)).sum();
        let is_uniform = step == 0
            && nodes > 0
            && (1..nodes).into_par_iter().with_min_len(BLOCK).all(|node| same_bits(state(node), state(0)));
        let whole = step == 0 || (nodes < COMPACT_NODES && changed_nodes > 0);
        let channels: Vec<u32> = (0..width as u32).filter(|&channel| whole || is_live(channel as usize)).collect();
        let mut plane = Plane {
            marks: vec![0; self.ids().div_ceil(WORD)],
            before: Vec::new(),
            node_rows: large_vec(if is_uniform { 1 } else { changed_nodes } * channels.len()),
            group_rows: Vec::new(),
            changed_nodes,
            nodes,
            is_uniform,
            places: self.planes.last().map_or_else(|| vec![(0, 0); width], |plane| plane.places.clone()),
            parts: Vec::new(),
            channels,
        };
        self.keep_nodes(&mut plane, &blocks, state);
        for level in 1..self.levels.len() {
            self.keep_groups(&mut plane, level, step == 0);
        }
        plane.index(step);
        self.bytes += size_of_val(plane.node_rows.as_slice()) + size_of_val(plane.group_rows.as_slice());
        self.bytes += size_of_val(plane.marks.as_slice()) + size_of_val(plane.before.as_slice());
        self.planes.push(plane);
        let winners = Record { base: self, own: None }.find_winners(step);
        self.winners.push(winners);
    }

    /// Keeps the rows of the nodes that changed.
    fn keep_nodes<'a>(
        &mut self,
        plane: &mut Plane<T>,
        blocks: &[(Vec<u64>, Vec<u8>)],
        state: impl Fn(usize) -> &'a [T] + Sync,
    ) {
        let (width, kept) = (self.width, plane.channels.len().max(1));
        let (mut rest, mut parts) = (plane.node_rows.as_mut_slice(), Vec::with_capacity(blocks.len()));
        for (block, (marks, _)) in blocks.iter().enumerate() {
            plane.marks[block * (BLOCK / WORD)..][..marks.len()].copy_from_slice(marks);
            // Where all rows are the same, the first part has the one that is kept.
            let rows = if plane.is_uniform { usize::from(block == 0) } else { count(marks) };
            let (part, after) = rest.split_at_mut(rows * plane.channels.len());
            parts.push((block * BLOCK, marks, part));
            rest = after;
        }
        let channels = &plane.channels;
        let latest = self.latest[..self.nodes * width].par_chunks_mut(BLOCK * width);
        parts.into_par_iter().zip(latest).for_each(|((first, marks, rows), latest)| {
            let mut rows = rows.chunks_exact_mut(kept);
            for (local, last) in latest.chunks_exact_mut(width).enumerate() {
                if marks[local / WORD] & (1 << (local % WORD)) == 0 {
                    continue;
                }
                let state = state(first + local);
                last.copy_from_slice(state);
                let values = rows.next().unwrap_or_default().iter_mut();
                values.zip(channels).for_each(|(value, &channel)| *value = state[channel as usize]);
            }
        });
    }

    /// Keeps the rows of the groups of a level that changed.
    fn keep_groups(&mut self, plane: &mut Plane<T>, level: usize, is_first: bool) {
        let width = self.width;
        let is_marked = |id: usize| plane.marks[id / WORD] & (1 << (id % WORD)) != 0;
        let largest = |group: usize| {
            let members = self.members(group, level);
            if !members.clone().any(is_marked) {
                return None;
            }
            let mut row = row_of(&self.latest, members.start, width).to_vec();
            members.skip(1).for_each(|member| raise(&mut row, row_of(&self.latest, member, width)));
            (is_first || !same_bits(&row, row_of(&self.latest, group, width))).then_some((group, row))
        };
        let groups: Vec<(usize, Vec<T>)> =
            self.levels[level].clone().into_par_iter().with_min_len(LEAST_GROUPS).filter_map(largest).collect();
        for (group, row) in groups {
            plane.marks[group / WORD] |= 1 << (group % WORD);
            if !plane.is_uniform {
                plane.group_rows.extend(plane.channels.iter().map(|&channel| row[channel as usize]));
            }
            self.latest[group * width..(group + 1) * width].copy_from_slice(&row);
        }
    }

    /// The members of a group, which is part of a level above the nodes.
    pub(super) fn members(&self, group: usize, level: usize) -> Range<usize> {
        let inner = &self.levels[level - 1];
        let first = inner.start + (group - self.levels[level].start) * GROUP;
        first..inner.end.min(first + GROUP)
    }
}

impl<T> Plane<T> {
    /// Makes ready to be read.
    fn index(&mut self, step: usize) {
        let mut before = 0;
        for marks in &self.marks {
            self.before.push(before);
            before += marks.count_ones();
        }
        for (column, &channel) in self.channels.iter().enumerate() {
            self.places[channel as usize] = (step as u32, column as u32);
        }
        for (channel, &(last, column)) in self.places.iter().enumerate() {
            let column = (column, channel as u32);
            match self.parts.iter_mut().find(|part| part.0 == last) {
                Some((_, columns)) => columns.push(column),
                None => self.parts.push((last, vec![column])),
            }
        }
    }
}

/// Zeros in memory that was not touched yet.
fn large_vec<T: Real>(len: usize) -> Vec<T> {
    let mut values = vec![T::ZERO; len];
    prefer_large_pages(values.as_mut_ptr(), size_of_val(values.as_slice()));
    values
}

fn row_of<T>(rows: &[T], row: usize, width: usize) -> &[T] {
    &rows[row * width..(row + 1) * width]
}

fn count(marks: &[u64]) -> usize {
    marks.iter().map(|marks| marks.count_ones() as usize).sum()
}

/// Sets the bits in which two rows differ; whether there are any.
fn gather_differences<T: Real>(differences: &mut [u8], left: &[T], right: &[T]) -> bool {
    let mut any = 0;
    let (left, right) = (bytes(left), bytes(right));
    for ((difference, left), right) in differences.iter_mut().zip(left).zip(right) {
        *difference |= left ^ right;
        any |= left ^ right;
    }
    any != 0
}
