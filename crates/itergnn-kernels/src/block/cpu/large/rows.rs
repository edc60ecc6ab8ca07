//! What nodes send, as rows: complete messages where all edges are alike, else their parts of the first message layer.

use super::super::TILE_ROWS;
use super::super::forward::Job;
use super::super::packed::Shapes;
use super::graph::LargeGraph;
use super::kinds::{MessageList, Sharing};
use crate::kernels::{Gemm, Start};
use crate::memory::Buffer;
use crate::real::Real;

/// Memory of one thread for one tile.
#[derive(Debug)]
pub(super) struct TileScratch<T> {
    /// `[TILE_ROWS, message_row]`.
    pub(super) first: Buffer<T>,
    /// `[TILE_ROWS, hidden_row]`.
    pub(super) messages: Buffer<T>,
    /// Messages of edges that share them: which, and `[messages, hidden_row]`.
    pub(super) shared: MessageList,
    pub(super) shared_rows: Buffer<T>,
    /// Rows of a chunk.
    pub(super) rows: Buffer<T>,
}

impl<T> Default for TileScratch<T> {
    fn default() -> Self {
        Self {
            first: Buffer::default(),
            messages: Buffer::default(),
            shared: MessageList::default(),
            shared_rows: Buffer::default(),
            rows: Buffer::default(),
        }
    }
}

/// Nodes to compute rows of.
#[derive(Clone, Copy)]
pub(super) struct Sources<T> {
    pub(super) count: usize,
    /// `[nodes, hidden_row]`, `[nodes, input]`.
    pub(super) states: *const T,
    pub(super) inputs: *const T,
    /// `[count]`: which of these nodes; null for all in order.
    pub(super) list: *const u32,
}

/// One layer on one graph.
pub(super) struct RowMaker<'a, T: 'static> {
    pub(super) job: &'a Job<'a, T>,
    pub(super) layer: usize,
    /// Whether a row is the whole message of its sender.
    pub(super) whole: bool,
    pub(super) sharing: Sharing,
    /// Whether many rows are shared between the threads that are free.
    pub(super) on_threads: bool,
    /// `[prepared_row]`: what every row begins with.
    start: Buffer<T>,
    pub(super) features: &'a [T],
}

impl<'a, T: Real> RowMaker<'a, T> {
    pub(super) fn new(job: &'a Job<'a, T>, graph: &LargeGraph, layer: usize, sharing: Sharing) -> Self {
        let whole = matches!(sharing, Sharing::Senders);
        let Shapes { edge, message_row, prepared_row, .. } = job.weights.shapes;
        let (packed, sections) = (job.weights.layer(layer), &job.weights.sections);
        let edges = graph.senders.len();
        let features = &job.inputs.edge_features[graph.first_edge * edge..(graph.first_edge + edges) * edge];
        let mut start = Buffer::new(prepared_row);
        start.as_mut_slice().copy_from_slice(&packed[sections.prepare_bias..][..prepared_row]);
        if whole {
            for (feature, weights) in features[..edge].iter().zip(packed[sections.edge..].chunks_exact(message_row)) {
                let values = start.as_mut_slice().iter_mut();
                values.zip(weights).for_each(|(value, &weight)| *value += *feature * weight);
            }
        }
        Self { job, layer, whole, sharing, on_threads: false, start, features }
    }

    /// Values of a row.
    pub(super) fn width(&self) -> usize {
        let Shapes { hidden_row, prepared_row, .. } = self.job.weights.shapes;
        if self.whole { hidden_row } else { prepared_row }
    }

    /// Computes rows into `target`, one after the other or where the list says.
    ///
    /// # Safety
    /// Sources and target are valid for their shapes, lists included, and do not overlap.
    pub(super) unsafe fn compute(
        &self,
        sources: Sources<T>,
        target: *mut T,
        target_list: *const u32,
        scratch: &mut TileScratch<T>,
    ) {
        let Shapes { input, hidden, hidden_row, message, message_row, prepared_row, .. } = self.job.weights.shapes;
        let (packed, sections) = (self.job.weights.layer(self.layer), &self.job.weights.sections);
        scratch.first.ensure(TILE_ROWS * message_row);
        for first in (0..sources.count).step_by(TILE_ROWS) {
            let rows = TILE_ROWS.min(sources.count - first);
            // SAFETY: the contract of this function; a tile has room for its rows.
            unsafe {
                let (a_rows, a_first) =
                    if sources.list.is_null() { (sources.list, first) } else { (sources.list.add(first), 0) };
                let place = |width: usize| {
                    if target_list.is_null() {
                        (target.add(first * width), target_list)
                    } else {
                        (target, target_list.add(first))
                    }
                };
                let (c, c_rows) =
                    if self.whole { (scratch.first.as_mut_ptr(), std::ptr::null()) } else { place(prepared_row) };
                let part = Gemm {
                    rows,
                    columns: prepared_row,
                    depth: input,
                    a: sources.inputs.add(a_first * input),
                    a_row: input,
                    a_column: 1,
                    b: packed[sections.prepare_input..].as_ptr(),
                    b_row: prepared_row,
                    c,
                    c_row: prepared_row,
                    start: Start::Row(self.start.as_ptr()),
                    leaky: false,
                    a_rows,
                    c_rows,
                    depths: std::ptr::null(),
                };
                if input > 0 {
                    (self.job.kernels.gemm)(&part);
                }
                (self.job.kernels.gemm)(&Gemm {
                    depth: hidden,
                    a: sources.states.add(a_first * hidden_row),
                    a_row: hidden_row,
                    b: packed[sections.prepare..].as_ptr(),
                    start: if input > 0 { Start::Matrix(c, prepared_row) } else { part.start },
                    leaky: self.whole,
                    ..part
                });
                if self.whole {
                    let (c, c_rows) = place(hidden_row);
                    self.second(rows, message, scratch.first.as_ptr(), c, c_rows);
                }
            }
        }
    }

    /// The second message layer.
    ///
    /// # Safety
    /// As [`compute`](Self::compute).
    pub(super) unsafe fn second(&self, rows: usize, depth: usize, a: *const T, c: *mut T, c_rows: *const u32) {
        let Shapes { hidden_row, message_row, .. } = self.job.weights.shapes;
        let (packed, sections) = (self.job.weights.layer(self.layer), &self.job.weights.sections);
        // SAFETY: the contract of this function.
        unsafe {
            (self.job.kernels.gemm)(&Gemm {
                rows,
                columns: hidden_row,
                depth,
                a,
                a_row: message_row,
                a_column: 1,
                b: packed[sections.second..].as_ptr(),
                b_row: hidden_row,
                c,
                c_row: hidden_row,
                start: Start::Row(packed[sections.second_bias..].as_ptr()),
                leaky: true,
                a_rows: std::ptr::null(),
                c_rows,
                depths: std::ptr::null(),
            });
        }
    }
}

// SAFETY: the buffer is only read once it is made.
unsafe impl<T: Real> Sync for RowMaker<'_, T> {}
