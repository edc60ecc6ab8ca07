//! Messages of edges, folded into the states of their receivers.

use std::ops::Range;

use rayon::prelude::*;

use super::super::TILE_ROWS;
use super::super::packed::Shapes;
use super::dense::{StepOutcome, for_blocks};
use super::kinds::{Kinds, MessageList, Sharing};
use super::rows::{RowMaker, TileScratch};
use super::storage::Places;
use crate::kernels::{Activate, FoldMax, MessageRows};
use crate::memory::Buffer;
use crate::real::Real;

/// Messages that one thread takes at a time, where they are shared.
pub(super) const PARALLEL_ROWS: usize = 2 * TILE_ROWS;

/// Fewer than this many are not shared: waking another thread takes as long.
pub(super) const LEAST_PARALLEL: usize = 2 * PARALLEL_ROWS;

/// Fewer messages than this many are folded by one thread, once they are computed.
const LEAST_FOLDED: usize = 4096;

/// Edges whose messages are folded into their receivers.
#[derive(Clone, Copy)]
pub(super) struct Edges<'a> {
    pub(super) count: usize,
    /// `[count]`: row of the sender, and of the receiver where messages depend on it.
    pub(super) sender_rows: *const u32,
    pub(super) receiver_rows: *const u32,
    /// `[count]`: edges of the caller's graph.
    pub(super) numbers: *const u32,
    /// `[count]`: nodes whose states change.
    pub(super) receivers: *const u32,
    /// Which messages are equal, if that is known already.
    pub(super) messages: Option<&'a MessageList>,
}

/// Pointers for threads that work on different rows.
pub(super) struct Shared<P>(P);

// SAFETY: whoever uses the pointers on several threads gives each thread rows of its own.
unsafe impl<P> Sync for Shared<P> {}

impl<P: Copy> Shared<P> {
    pub(super) fn new(pointers: P) -> Self {
        Self(pointers)
    }

    pub(super) fn get(&self) -> P {
        self.0
    }
}

impl<T: Real> RowMaker<'_, T> {
    /// Folds the messages of edges into the states of their receivers; returns whether all messages are finite. Edges of
    /// a receiver stand next to each other.
    ///
    /// # Safety
    /// `rows` holds the rows the edges name; nobody else uses the receivers.
    pub(super) unsafe fn fold(
        &self,
        edges: Edges<'_>,
        rows: *const T,
        places: Places<T>,
        scratch: &mut TileScratch<T>,
    ) -> bool {
        let Shapes { hidden_row, message_row, edge, prepared_row, receiver_column, .. } = self.job.weights.shapes;
        let fold = FoldMax {
            count: edges.count,
            rows: edges.sender_rows,
            receivers: edges.receivers,
            messages: rows,
            width: hidden_row,
            states: places.states,
            changed: places.changed,
            output: places.output,
        };
        let message_rows = MessageRows {
            senders: edges.sender_rows,
            receivers: edges.receiver_rows,
            edges: edges.numbers,
            prepared: rows,
            prepared_row,
            receiver_column,
            features: self.features.as_ptr(),
            feature_width: edge,
            edge_weight: self.job.weights.layer(self.layer)[self.job.weights.sections.edge..].as_ptr(),
            width: message_row,
        };
        // SAFETY: the contract of this function.
        unsafe {
            match &self.sharing {
                _ if self.whole => self.fold_rows(fold),
                Sharing::Kinds(kinds) => self.fold_shared(kinds, edges, message_rows, fold, scratch),
                _ if self.on_threads && edges.count >= LEAST_PARALLEL => {
                    self.fold_parts(edges, message_rows, fold, scratch)
                }
                _ => self.fold_edges(0..edges.count, message_rows, fold, scratch),
            }
        }
    }

    /// A message per edge.
    ///
    /// # Safety
    /// As [`fold`](Self::fold), for the receivers of these edges.
    unsafe fn fold_edges(
        &self,
        edges: Range<usize>,
        rows: MessageRows<T>,
        fold: FoldMax<T>,
        scratch: &mut TileScratch<T>,
    ) -> bool {
        let Shapes { hidden_row, message, message_row, .. } = self.job.weights.shapes;
        scratch.first.ensure(TILE_ROWS * message_row);
        scratch.messages.ensure(TILE_ROWS * hidden_row);
        let mut finite = true;
        for first in edges.clone().step_by(TILE_ROWS) {
            let count = TILE_ROWS.min(edges.end - first);
            // SAFETY: the contract of this function; a tile has room for its rows.
            unsafe {
                let target = scratch.first.as_mut_ptr();
                (self.job.kernels.activate)(&Activate { rows, first, count, target });
                self.second(count, message, target, scratch.messages.as_mut_ptr(), std::ptr::null());
                finite &= (self.job.kernels.fold_max)(&FoldMax {
                    count,
                    rows: std::ptr::null(),
                    receivers: fold.receivers.add(first),
                    messages: scratch.messages.as_ptr(),
                    ..fold
                });
            }
        }
        finite
    }

    /// The same in parts, on the threads that are free.
    ///
    /// # Safety
    /// As [`fold`](Self::fold).
    unsafe fn fold_parts(
        &self,
        edges: Edges<'_>,
        rows: MessageRows<T>,
        fold: FoldMax<T>,
        scratch: &mut TileScratch<T>,
    ) -> bool {
        // SAFETY: the list is as long as the count.
        let cuts = cuts(unsafe { std::slice::from_raw_parts(edges.receivers, edges.count) }, PARALLEL_ROWS);
        let shared = Shared::new((rows, fold));
        let work = |part: usize, scratch: &mut TileScratch<T>| {
            let (rows, fold) = shared.get();
            // SAFETY: the contract of this function; a part has receivers of its own.
            let finite = unsafe { self.fold_edges(cuts[part]..cuts[part + 1], rows, fold, scratch) };
            StepOutcome { finite, changed: 0 }
        };
        for_blocks(true, cuts.len() - 1, scratch, work).finite
    }

    /// The same, where every message is computed once per sender and kind of edge.
    ///
    /// # Safety
    /// As [`fold`](Self::fold).
    unsafe fn fold_shared(
        &self,
        kinds: &Kinds,
        edges: Edges<'_>,
        message_rows: MessageRows<T>,
        fold: FoldMax<T>,
        scratch: &mut TileScratch<T>,
    ) -> bool {
        let Shapes { hidden_row, message, message_row, .. } = self.job.weights.shapes;
        let TileScratch { first, shared, shared_rows, .. } = scratch;
        // SAFETY: the lists are as long as the count.
        let list = |start: *const u32| unsafe { std::slice::from_raw_parts(start, edges.count) };
        if edges.count == 0 {
            return true;
        }
        let shared = edges.messages.unwrap_or_else(|| {
            shared.fill(kinds, list(edges.sender_rows), list(edges.numbers));
            shared
        });
        let count = shared.numbers.len();
        shared_rows.ensure(count * hidden_row);
        let rows = MessageRows { senders: shared.sender_rows.as_ptr(), edges: shared.numbers.as_ptr(), ..message_rows };
        let pointers = Shared::new((rows, shared_rows.as_mut_ptr()));
        let work = |part: usize, buffer: &mut Buffer<T>| {
            let (rows, messages) = pointers.get();
            buffer.ensure(TILE_ROWS * message_row);
            let end = count.min((part + 1) * PARALLEL_ROWS);
            for first in (part * PARALLEL_ROWS..end).step_by(TILE_ROWS) {
                let (count, target) = (TILE_ROWS.min(end - first), buffer.as_mut_ptr());
                // SAFETY: the contract of this function; a tile has room for its rows, and the buffer for all messages.
                unsafe {
                    (self.job.kernels.activate)(&Activate { rows, first, count, target });
                    self.second(count, message, target, messages.add(first * hidden_row), std::ptr::null());
                }
            }
        };
        let parts = 0..count.div_ceil(PARALLEL_ROWS);
        if self.on_threads && count >= LEAST_PARALLEL {
            parts.into_par_iter().for_each_init(Buffer::default, |buffer, part| work(part, buffer));
        } else {
            parts.for_each(|part| work(part, first));
        }
        // SAFETY: every edge has a message.
        unsafe { self.fold_rows(FoldMax { rows: shared.of_edges.as_ptr(), messages: shared_rows.as_ptr(), ..fold }) }
    }

    /// Folds messages that were computed.
    ///
    /// # Safety
    /// As [`fold`](Self::fold); there is a row for every edge.
    unsafe fn fold_rows(&self, fold: FoldMax<T>) -> bool {
        if !self.on_threads || fold.count < LEAST_FOLDED {
            // SAFETY: the contract of this function.
            return unsafe { (self.job.kernels.fold_max)(&fold) };
        }
        // SAFETY: the list is as long as the count.
        let cuts = cuts(unsafe { std::slice::from_raw_parts(fold.receivers, fold.count) }, LEAST_FOLDED / 2);
        let shared = Shared::new(fold);
        let part = |part: usize| {
            let (fold, first) = (shared.get(), cuts[part]);
            let (rows, receivers) = (fold.rows.wrapping_add(first), fold.receivers.wrapping_add(first));
            // SAFETY: the contract of this function; a part has receivers of its own.
            unsafe { (self.job.kernels.fold_max)(&FoldMax { count: cuts[part + 1] - first, rows, receivers, ..fold }) }
        };
        (0..cuts.len() - 1).into_par_iter().map(part).reduce(|| true, |left, right| left && right)
    }
}

/// Cuts a list of edges into parts of at least this many, and the edges of a receiver nowhere.
fn cuts(receivers: &[u32], least: usize) -> Vec<usize> {
    let mut cuts = vec![0];
    while let Some(&last) = cuts.last().filter(|&&last| last < receivers.len()) {
        let next = receivers.len().min(last + least);
        let same = receivers[next..].iter().take_while(|&&receiver| receiver == receivers[next - 1]);
        cuts.push(next + same.count());
    }
    cuts
}
