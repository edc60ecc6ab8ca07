//! What the way back needs of the way there.

use super::convolution::ConvolutionEdges;
use super::packed::PackedWeights;
use super::plan::GraphPlan;
use crate::block::config::BlockConfig;
use crate::block::output::Wanted;
use crate::block::parameters::ParameterLayout;
use crate::block::schedule::Schedule;
use crate::memory::{Buffer, Plain};

/// Iterations whose records lie next to each other; weight gradients are one product per so many iterations.
pub(super) const SLAB: usize = 8;

/// What is remembered of the iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// Every iteration, for the way back.
    Everything,
    /// Nothing but the last one, which the next overwrites.
    Last,
}

/// Records of equal length, one per iteration, in slabs of [`SLAB`].
#[derive(Debug)]
pub(super) struct History<T> {
    slabs: Vec<Buffer<T>>,
    len: usize,
    memory: Memory,
}

impl<T: Plain> History<T> {
    /// No records yet, each of `len` values.
    pub(super) fn new(len: usize, memory: Memory) -> Self {
        Self { slabs: Vec::new(), len, memory }
    }

    /// Slab of a record and its first value there.
    fn place(&self, step: usize) -> (usize, usize) {
        match self.memory {
            Memory::Everything => (step / SLAB, step % SLAB * self.len),
            Memory::Last => (0, 0),
        }
    }

    /// Record `step`, writable; a new slab where it is the first of one.
    pub(super) fn record_mut(&mut self, step: usize) -> *mut T {
        let (slab, start) = self.place(step);
        let records = if self.memory == Memory::Everything { SLAB } else { 1 };
        while self.slabs.len() <= slab {
            self.slabs.push(Buffer::new(self.len * records));
        }
        // SAFETY: a slab has room for all its records. The pointer comes straight from the allocation, so that those to
        // other records stay valid.
        unsafe { self.slabs[slab].as_mut_ptr().add(start) }
    }

    /// Record `step`, which was written before and is still remembered.
    pub(super) fn record(&self, step: usize) -> &[T] {
        let (slab, start) = self.place(step);
        &self.slabs[slab].as_slice()[start..start + self.len]
    }

    /// The first record of the slab that holds record `step`; the others of the slab follow it.
    pub(super) fn slab(&self, step: usize) -> *const T {
        self.slabs[step / SLAB].as_ptr()
    }
}

/// All that is kept of one graph.
#[derive(Debug)]
pub(super) struct GraphTape<T> {
    pub(super) memory: Memory,
    pub(super) plan: GraphPlan,
    /// The edges of a convolution.
    pub(super) convolution: Option<ConvolutionEdges<T>>,
    /// Iterations done.
    pub(super) steps: usize,
    /// States, `[nodes, hidden_row]`: record `k` is the state after `k` iterations.
    pub(super) hidden: History<T>,
    /// Prepared rows, `[nodes, prepared_row]`: record `k` belongs to iteration `k + 1`, as do the following.
    pub(super) prepared: History<T>,
    /// Winners of a maximum, `[nodes, winner_row]`, in one of two widths.
    pub(super) byte_winners: History<u8>,
    pub(super) word_winners: History<u32>,
    /// Weights of attention, `[edges]`, loops included where the layer has them.
    pub(super) weights: History<T>,
    /// Signs of the messages, `[edges, hidden_row / 16]`, where there is one message per edge.
    pub(super) signs: History<u16>,
    /// Messages, `[nodes, hidden_row]`, where they belong to senders.
    pub(super) messages: History<T>,
    /// Which node had the largest value, `[hidden_row]`, and that value.
    pub(super) pooled_positions: History<u32>,
    pub(super) pooled: History<T>,
    /// One per unit.
    pub(super) schedules: Vec<Schedule<T>>,
}

/// What [`forward`](super::forward) keeps for [`backward`](super::backward).
///
/// Holds the weights as the kernels read them and, per graph and iteration, the states, the nodes' parts of the first
/// message layer, and the winners or the signs and weights of the messages. Its memory goes back to a pool when it is
/// dropped.
#[derive(Debug)]
pub struct Tape<T> {
    pub(super) config: BlockConfig,
    pub(super) wanted: Wanted,
    pub(super) layout: ParameterLayout,
    pub(super) weights: PackedWeights<T>,
    pub(super) graphs: Vec<GraphTape<T>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stay_where_they_are() {
        let mut history = History::<f32>::new(3, Memory::Everything);
        for step in 0..2 * SLAB + 1 {
            // SAFETY: a record holds three values.
            unsafe { std::slice::from_raw_parts_mut(history.record_mut(step), 3).fill(step as f32) };
        }
        assert!((0..2 * SLAB + 1).all(|step| history.record(step) == [step as f32; 3]));
    }

    #[test]
    fn tapes_can_be_kept_by_another_thread() {
        fn check<X: Send + Sync>() {}
        check::<Tape<f32>>();
    }
}
