//! One iteration over all nodes, chunk by chunk.

use rayon::prelude::*;

use super::super::TILE_ROWS;
use super::PARALLEL_NODES;
use super::chunks::Chunks;
use super::fold::Edges;
use super::graph::LargeGraph;
use super::kinds::{MessageList, Sharing};
use super::rows::{RowMaker, Sources, TileScratch};
use super::storage::Places;
use crate::kernels::PoolMax;
use crate::memory::Buffer;
use crate::real::Real;

/// Exported rows that one thread computes at a time.
const EXPORT_BLOCK: usize = 8 * TILE_ROWS;

/// What an iteration over all nodes reads and writes.
pub(super) struct DenseStep<'a, T: 'static> {
    pub(super) maker: &'a RowMaker<'a, T>,
    pub(super) graph: &'a LargeGraph,
    pub(super) chunks: &'a Chunks,
    /// `[nodes, input]`.
    pub(super) inputs: *const T,
    pub(super) places: Places<T>,
    /// `[exported, row]`.
    pub(super) exported: *mut T,
    /// `[chunks, hidden_row]`: receives the maximum over the states of each chunk; null where nobody asks.
    pub(super) pools: *mut T,
}

// SAFETY: chunks write rows of their own, and read only those and what was exported before any of them began.
unsafe impl<T: Real> Sync for DenseStep<'_, T> {}

/// What came of an iteration, or of a part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOutcome {
    pub(super) finite: bool,
    /// Nodes whose state changed.
    pub(super) changed: usize,
}

impl StepOutcome {
    pub(super) const NOTHING: Self = Self { finite: true, changed: 0 };

    pub(super) fn and(self, other: Self) -> Self {
        Self { finite: self.finite && other.finite, changed: self.changed + other.changed }
    }
}

/// Calls `work` for `0..count`, on all threads with memory of their own where that is worth while.
pub(super) fn for_blocks<T: Real>(
    parallel: bool,
    count: usize,
    scratch: &mut TileScratch<T>,
    work: impl Fn(usize, &mut TileScratch<T>) -> StepOutcome + Sync,
) -> StepOutcome {
    if !parallel || count <= 1 {
        return (0..count).fold(StepOutcome::NOTHING, |outcome, block| outcome.and(work(block, scratch)));
    }
    (0..count)
        .into_par_iter()
        .map_init(TileScratch::default, |scratch, block| work(block, scratch))
        .reduce(|| StepOutcome::NOTHING, StepOutcome::and)
}

impl<T: Real> DenseStep<'_, T> {
    /// Runs the iteration.
    ///
    /// # Safety
    /// The pointers are valid for the graph, and nobody else uses them.
    pub(super) unsafe fn run(&self, scratch: &mut TileScratch<T>) -> StepOutcome {
        let parallel = self.graph.nodes >= PARALLEL_NODES;
        let exported = &self.chunks.exported;
        for_blocks(parallel, exported.len().div_ceil(EXPORT_BLOCK), scratch, |block, scratch| {
            let first = block * EXPORT_BLOCK;
            let list = &exported[first..exported.len().min(first + EXPORT_BLOCK)];
            let sources =
                Sources { count: list.len(), states: self.places.states, inputs: self.inputs, list: list.as_ptr() };
            // SAFETY: the list holds nodes of the graph, and blocks have rows of their own.
            unsafe {
                let target = self.exported.add(first * self.maker.width());
                self.maker.compute(sources, target, std::ptr::null(), scratch);
            }
            StepOutcome::NOTHING
        });
        // SAFETY: every chunk is visited once.
        for_blocks(parallel, self.chunks.len(), scratch, |chunk, scratch| unsafe { self.chunk(chunk, scratch) })
    }

    /// # Safety
    /// As [`run`](Self::run), for the rows of one chunk.
    unsafe fn chunk(&self, chunk: usize, scratch: &mut TileScratch<T>) -> StepOutcome {
        let nodes = self.chunks.nodes(chunk, self.graph);
        let shapes = &self.maker.job.weights.shapes;
        let width = self.maker.width();
        let mut rows = std::mem::take(&mut scratch.rows);
        rows.ensure(self.chunks.rows(chunk) * width);
        let edges = self.graph.offsets[nodes.start] as usize..self.graph.offsets[nodes.end] as usize;
        let receivers = &self.graph.receivers[edges.clone()];
        let local: Vec<u32> = match shapes.receiver_column {
            Some(_) => receivers.iter().map(|&receiver| receiver - nodes.start as u32).collect(),
            None => Vec::new(),
        };
        // SAFETY: the buffer has a row for each of the chunk's places; lists hold places of the chunk and rows that
        // were exported.
        unsafe {
            for &(from, to) in self.chunks.copied(chunk) {
                let source = self.exported.add(from as usize * width);
                std::ptr::copy_nonoverlapping(source, rows.as_mut_ptr().add(to as usize * width), width);
            }
            let computed = self.chunks.computed(chunk);
            let sources = Sources {
                count: computed.len(),
                states: self.places.states.add(nodes.start * shapes.hidden_row),
                inputs: self.inputs.add(nodes.start * shapes.input),
                list: computed.as_ptr(),
            };
            self.maker.compute(sources, rows.as_mut_ptr(), computed.as_ptr(), scratch);
            let changed = std::slice::from_raw_parts_mut(self.places.changed.add(nodes.start), nodes.len());
            changed.fill(0);
            let (sender_rows, numbers) =
                (&self.chunks.sender_rows[edges.clone()], &self.graph.edge_numbers[edges.clone()]);
            let messages = match &self.maker.sharing {
                Sharing::Kinds(kinds) => {
                    Some(self.chunks.messages[chunk].get_or_init(|| MessageList::lasting(kinds, sender_rows, numbers)))
                }
                _ => None,
            };
            let edges = Edges {
                count: edges.len(),
                sender_rows: sender_rows.as_ptr(),
                receiver_rows: local.as_ptr(),
                numbers: numbers.as_ptr(),
                receivers: receivers.as_ptr(),
                messages,
            };
            let finite = self.maker.fold(edges, rows.as_ptr(), self.places, scratch);
            if !self.pools.is_null() {
                self.pool(chunk, nodes.start, nodes.len());
            }
            scratch.rows = rows;
            StepOutcome { finite, changed: changed.iter().filter(|&&flag| flag == 1).count() }
        }
    }

    /// The maximum over the states of a chunk.
    ///
    /// # Safety
    /// As [`chunk`](Self::chunk).
    unsafe fn pool(&self, chunk: usize, first: usize, rows: usize) {
        let width = self.maker.job.weights.shapes.hidden_row;
        let mut positions = Buffer::<u32>::new(width);
        // SAFETY: a chunk has at least one node; the pool has a row per chunk.
        unsafe {
            (self.maker.job.kernels.pool_max)(&PoolMax {
                rows,
                width,
                source: self.places.states.add(first * width),
                target: self.pools.add(chunk * width),
                positions: positions.as_mut_ptr(),
                changed: std::ptr::null(),
            });
        }
    }
}
