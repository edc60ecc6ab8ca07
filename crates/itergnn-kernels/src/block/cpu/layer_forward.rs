//! One message-passing step forwards.
//!
//! A small graph is one block. A large one is cut into blocks of receivers, on all threads of the pool; the messages of
//! a block stay in the second-level cache until they are aggregated. Every row is computed alone, so neither blocks nor
//! threads change a bit.

use std::ops::Range;

use rayon::prelude::*;

use super::TILE_ROWS;
use super::active::ActiveSet;
use super::attention::Scores;
use super::forward::{ForwardScratch, Job};
use super::plan::GraphPlan;
use super::tape::{GraphTape, Memory};
use crate::kernels::{Activate, Gemm, MaxForward, MessageRows, Signs, Start, WeightedForward, Winners};
use crate::memory::Buffer;
use crate::real::Real;

/// Graphs with at least this many message rows are cut into blocks.
const LARGE_ROWS: usize = 4096;

/// Receivers (or rows) per block.
const BLOCK_ROWS: usize = 256;

/// Memory of one block.
#[derive(Debug)]
pub(super) struct BlockScratch<T> {
    /// `[TILE_ROWS, message_row]`.
    pub(super) first: Buffer<T>,
    /// `[rows, hidden_row]`.
    pub(super) messages: Buffer<T>,
}

impl<T> Default for BlockScratch<T> {
    fn default() -> Self {
        Self { first: Buffer::default(), messages: Buffer::default() }
    }
}

/// Where a step reads and writes. With nothing remembered, `before` and `after` are the same.
#[derive(Clone, Copy)]
struct Places<T> {
    layer: usize,
    before: *const T,
    after: *mut T,
    constants: *const T,
    prepared: *mut T,
    /// Messages of all senders, where they are shared.
    shared: *mut T,
    winners: Winners,
    weights: *mut T,
    /// Null where the signs are not needed.
    signs: *mut u16,
    changed: *mut u8,
}

/// The parts of a graph that blocks work on at the same time.
struct Step<'a, T> {
    plan: &'a GraphPlan,
    active: &'a ActiveSet,
    places: Places<T>,
}

// SAFETY: blocks write disjoint rows, and read only what an earlier phase of the step wrote.
unsafe impl<T: Real> Sync for Step<'_, T> {}

/// Whether a graph is worth being cut into blocks.
pub(super) fn is_large(plan: &GraphPlan) -> bool {
    plan.rows() >= LARGE_ROWS
}

/// Calls `work` for `0..count` at once or, for large graphs, in blocks on all threads; returns whether all calls
/// returned true.
fn in_blocks<T: Real>(
    large: bool,
    count: usize,
    scratch: &mut BlockScratch<T>,
    work: impl Fn(Range<usize>, &mut BlockScratch<T>) -> bool + Sync,
) -> bool {
    if !large {
        return work(0..count, scratch);
    }
    (0..count.div_ceil(BLOCK_ROWS))
        .into_par_iter()
        .map_init(BlockScratch::default, |scratch, block| {
            work(block * BLOCK_ROWS..count.min((block + 1) * BLOCK_ROWS), scratch)
        })
        .reduce(|| true, |left, right| left && right)
}

impl<T: Real> Job<'_, T> {
    /// One message-passing step; returns whether all its values are finite.
    pub(super) fn step(&self, tape: &mut GraphTape<T>, scratch: &mut ForwardScratch<T>) -> bool {
        let shapes = &self.weights.shapes;
        let (step, nodes) = (tape.steps, tape.plan.nodes);
        let remembers = tape.memory == Memory::Everything;
        let shares = tape.plan.shared_messages;
        let large = is_large(&tape.plan);
        let shared = match (shares, shapes.has_score) {
            (false, _) => std::ptr::null_mut(),
            (true, true) => tape.messages.record_mut(step),
            (true, false) => {
                scratch.shared.ensure(nodes * shapes.hidden_row);
                scratch.shared.as_mut_ptr()
            }
        };
        let mut places = Places {
            layer: self.layer_of(step),
            before: tape.hidden.record(step).as_ptr(),
            after: tape.hidden.record_mut(step + 1),
            constants: scratch.constants.as_ptr(),
            prepared: tape.prepared.record_mut(step),
            shared,
            winners: Winners::Forget,
            weights: std::ptr::null_mut(),
            signs: std::ptr::null_mut(),
            changed: scratch.active.changed_mut(),
        };
        if shapes.has_score {
            places.weights = tape.weights.record_mut(step);
            if remembers && !shares {
                places.signs = tape.signs.record_mut(step);
            }
        } else if remembers && tape.plan.byte_winners {
            places.winners = Winners::Bytes(tape.byte_winners.record_mut(step));
        } else if remembers {
            places.winners = Winners::Words(tape.word_winners.record_mut(step));
        }
        let parts = Step { plan: &tape.plan, active: &scratch.active, places };

        let changed = parts.active.changed_nodes();
        let count = changed.map_or(nodes, <[u32]>::len);
        in_blocks(large, count, &mut scratch.block, |rows, _| {
            self.prepare(&parts, rows);
            true
        });
        if let Some(changed) = changed.filter(|_| remembers) {
            let previous = tape.prepared.record(step - 1).as_ptr();
            // SAFETY: two different records of nodes x prepared_row.
            unsafe { copy_other_rows(previous, parts.places.prepared, nodes, shapes.prepared_row, changed) }
        }
        if shares {
            in_blocks(large, count, &mut scratch.block, |rows, scratch| {
                self.shared_messages(&parts, rows, scratch);
                true
            });
            if let Some(changed) = changed.filter(|_| remembers && shapes.has_score) {
                let previous = tape.messages.record(step - 1).as_ptr();
                // SAFETY: two different records of nodes x hidden_row.
                unsafe { copy_other_rows(previous, parts.places.shared, nodes, shapes.hidden_row, changed) }
            }
        }
        in_blocks(large, nodes, &mut scratch.block, |receivers, scratch| self.aggregate(&parts, receivers, scratch))
    }
    /// Prepares some rows: of all nodes, or of the list of those that changed.
    fn prepare(&self, parts: &Step<'_, T>, rows: Range<usize>) {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let places = parts.places;
        let packed = self.weights.layer(places.layer);
        let list = parts.active.changed_nodes().map(|nodes| nodes[rows.clone()].as_ptr());
        // Listed rows are counted from the first node, others from the first row of the block.
        let first = if list.is_some() { 0 } else { rows.start };
        let list = list.unwrap_or(std::ptr::null());
        // SAFETY: the kernels table belongs to this processor; states are nodes x hidden_row, prepared rows and
        // constants nodes x prepared_row; the list holds nodes of the graph.
        unsafe {
            (self.kernels.gemm)(&Gemm {
                rows: rows.len(),
                columns: shapes.prepared_row,
                depth: shapes.hidden,
                a: places.before.add(first * shapes.hidden_row),
                a_row: shapes.hidden_row,
                a_column: 1,
                b: packed[sections.prepare..].as_ptr(),
                b_row: shapes.prepared_row,
                c: places.prepared.add(first * shapes.prepared_row),
                c_row: shapes.prepared_row,
                start: Start::Matrix(places.constants.add(first * shapes.prepared_row), shapes.prepared_row),
                leaky: false,
                a_rows: list,
                c_rows: list,
                depths: std::ptr::null(),
            });
        }
    }

    /// Computes some of the messages that belong to senders, each into the row of its sender.
    fn shared_messages(&self, parts: &Step<'_, T>, rows: Range<usize>, scratch: &mut BlockScratch<T>) {
        let all = self.message_rows(parts);
        // SAFETY: the senders of the range are nodes of the graph, whose messages have nodes x hidden_row values.
        unsafe { self.messages(all, rows.clone(), parts, parts.places.shared, all.senders.add(rows.start), scratch) }
    }

    fn message_rows(&self, parts: &Step<'_, T>) -> MessageRows<T> {
        let all = parts.plan.message_rows(self.inputs, self.weights, parts.places.layer, parts.places.prepared);
        parts.active.message_rows(parts.plan, all)
    }

    /// Computes the messages of some rows into `target`, one after the other or where the list says.
    ///
    /// # Safety
    /// The rows exist, and `target` has room for the messages.
    unsafe fn messages(
        &self,
        rows: MessageRows<T>,
        range: Range<usize>,
        parts: &Step<'_, T>,
        target: *mut T,
        list: *const u32,
        scratch: &mut BlockScratch<T>,
    ) {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let packed = self.weights.layer(parts.places.layer);
        scratch.first.ensure(TILE_ROWS * shapes.message_row);
        for first in range.clone().step_by(TILE_ROWS) {
            let (count, done) = (TILE_ROWS.min(range.end - first), first - range.start);
            // SAFETY: `first` has TILE_ROWS rows of message_row; the rest is the contract of this function.
            unsafe {
                (self.kernels.activate)(&Activate { rows, first, count, target: scratch.first.as_mut_ptr() });
                let (c, c_rows) = if list.is_null() {
                    (target.add(done * shapes.hidden_row), std::ptr::null())
                } else {
                    (target, list.add(done))
                };
                (self.kernels.gemm)(&Gemm {
                    rows: count,
                    columns: shapes.hidden_row,
                    depth: shapes.message,
                    a: scratch.first.as_ptr(),
                    a_row: shapes.message_row,
                    a_column: 1,
                    b: packed[sections.second..].as_ptr(),
                    b_row: shapes.hidden_row,
                    c,
                    c_row: shapes.hidden_row,
                    start: Start::Row(packed[sections.second_bias..].as_ptr()),
                    leaky: true,
                    a_rows: std::ptr::null(),
                    c_rows,
                    depths: std::ptr::null(),
                });
            }
        }
    }

    /// The new states of some receivers: their messages, unless shared, and the aggregation; returns whether all values
    /// are finite.
    fn aggregate(&self, parts: &Step<'_, T>, receivers: Range<usize>, scratch: &mut BlockScratch<T>) -> bool {
        let width = self.weights.shapes.hidden_row;
        let edges = parts.active.edges(parts.plan);
        // SAFETY: there is one offset more than there are nodes.
        let active =
            unsafe { *edges.offsets.add(receivers.start) as usize..*edges.offsets.add(receivers.end) as usize };
        let messages = if parts.plan.shared_messages {
            parts.places.shared.cast_const()
        } else {
            scratch.messages.ensure(active.len() * width);
            let target = scratch.messages.as_mut_ptr();
            // SAFETY: the range is one of active edges, and the target has a row for each.
            unsafe {
                self.messages(self.message_rows(parts), active.clone(), parts, target, std::ptr::null(), scratch);
            }
            if !parts.places.signs.is_null() {
                // SAFETY: one half-word of signs per 16 values of a message, in the row of its edge.
                unsafe {
                    (self.kernels.signs)(&Signs {
                        rows: active.len(),
                        width,
                        values: target,
                        edges: edges.edges.add(active.start),
                        signs: parts.places.signs,
                    });
                }
            }
            // Rows are counted from the graph's first active edge.
            target.cast_const().wrapping_sub(active.start * width)
        };
        let places = parts.places;
        let edges = edges.starting_at(receivers.start, receivers.len());
        if self.config.aggregates_by_max() {
            let winners = places.winners.starting_at(receivers.start * self.winner_row());
            // SAFETY: states are nodes x hidden_row, messages lie where the active edges say; winners have nodes x
            // winner_row places and `changed` one per node. All begin at the block's first receiver.
            return unsafe {
                (self.kernels.max_forward)(&MaxForward {
                    edges,
                    messages,
                    width,
                    before: places.before.add(receivers.start * width),
                    after: places.after.add(receivers.start * width),
                    changed: places.changed.add(receivers.start),
                    winners,
                    winner_row: self.winner_row(),
                })
            };
        }
        let finite = self.attention_weights(parts, receivers.clone());
        // SAFETY: as for the maximum; there is one weight per edge.
        let messages_finite = unsafe {
            (self.kernels.weighted_forward)(&WeightedForward {
                edges,
                messages,
                width,
                weights: places.weights,
                before: places.before.add(receivers.start * width),
                after: places.after.add(receivers.start * width),
                changed: places.changed.add(receivers.start),
            })
        };
        finite && messages_finite
    }

    /// The weights of the edges that reach some receivers; returns whether all scores are finite.
    fn attention_weights(&self, parts: &Step<'_, T>, receivers: Range<usize>) -> bool {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let (plan, places) = (parts.plan, parts.places);
        let offsets = plan.offsets();
        let edges = offsets[receivers.start] as usize..offsets[receivers.end] as usize;
        // SAFETY: prepared rows of the whole graph are finished; the weights of these edges belong to this block alone.
        let (prepared, weights) = unsafe {
            (
                std::slice::from_raw_parts(places.prepared, plan.nodes * shapes.prepared_row),
                std::slice::from_raw_parts_mut(places.weights.add(edges.start), edges.len()),
            )
        };
        let scores = Scores {
            plan,
            shapes,
            scale_invariant: self.config.scale_invariant(),
            prepared,
            features: plan.features(self.inputs, shapes.edge),
            edge_weight: &self.weights.layer(places.layer)[sections.score_edge..][..shapes.edge],
        };
        scores.weights(parts.active, receivers, weights)
    }
}

/// Copies the rows whose numbers are not in the ascending list.
///
/// # Safety
/// Both matrices are `rows x width` and do not overlap.
unsafe fn copy_other_rows<T: Real>(source: *const T, target: *mut T, rows: usize, width: usize, listed: &[u32]) {
    let mut start = 0;
    for end in listed.iter().map(|&row| row as usize).chain([rows]) {
        // SAFETY: rows `start..end` lie within both matrices.
        unsafe {
            std::ptr::copy_nonoverlapping(source.add(start * width), target.add(start * width), (end - start) * width);
        }
        start = end + 1;
    }
}
