//! The states of all nodes and what they owe to the output.

use rayon::prelude::*;

use super::PARALLEL_NODES;
use super::graph::LargeGraph;
use crate::kernels::{LazyOutput, UNTOUCHED};
use crate::memory::Buffer;
use crate::real::Real;

/// Rows of one node each, in the order of the graph.
#[derive(Debug)]
pub(super) struct Storage<T> {
    /// Values per row.
    pub(super) width: usize,
    /// `[nodes, width]`.
    pub(super) states: Buffer<T>,
    /// `[nodes, width]`; empty where no weighted sum is asked for.
    pub(super) outputs: Buffer<T>,
    /// `[nodes]`, or none: the weight up to which each row of the output is complete.
    pub(super) settled: Vec<f64>,
    /// `[nodes]`: 1 where the last iteration changed the state.
    pub(super) changed: Vec<u8>,
}

/// Pointers to all rows, for threads that work on different ones.
#[derive(Clone, Copy)]
pub(super) struct Places<T> {
    pub(super) states: *mut T,
    pub(super) changed: *mut u8,
    pub(super) output: LazyOutput<T>,
}

// SAFETY: whoever uses the pointers on several threads gives each thread rows of its own.
unsafe impl<T: Real> Send for Places<T> {}
// SAFETY: as above.
unsafe impl<T: Real> Sync for Places<T> {}

impl<T: Real> Storage<T> {
    /// Room for `nodes` rows of no particular state.
    pub(super) fn new(nodes: usize, width: usize, weighted: bool) -> Self {
        let kept = if weighted { nodes } else { 0 };
        Self {
            width,
            states: Buffer::new(nodes * width),
            outputs: Buffer::new(kept * width),
            settled: vec![UNTOUCHED; kept],
            changed: vec![0; nodes],
        }
    }

    /// Pointers to the rows; `totals` holds the weight given so far, one value or one per node.
    pub(super) fn places(&mut self, totals: &[f64]) -> Places<T> {
        let output = if self.settled.is_empty() {
            LazyOutput::none()
        } else {
            LazyOutput {
                rows: self.outputs.as_mut_ptr(),
                totals: totals.as_ptr(),
                total_step: usize::from(totals.len() > 1),
                settled: self.settled.as_mut_ptr(),
            }
        };
        Places { states: self.states.as_mut_ptr(), changed: self.changed.as_mut_ptr(), output }
    }

    pub(super) fn state(&self, node: usize) -> &[T] {
        &self.states.as_slice()[node * self.width..(node + 1) * self.width]
    }

    pub(super) fn state_mut(&mut self, node: usize) -> &mut [T] {
        &mut self.states.as_mut_slice()[node * self.width..(node + 1) * self.width]
    }

    /// Fills the states of all nodes from the caller's, `[nodes, hidden]`.
    pub(super) fn load(&mut self, graph: &LargeGraph, hidden: usize, source: &[T]) {
        let width = self.width;
        let fill = |(node, row): (usize, &mut [T])| {
            row[..hidden].copy_from_slice(&source[graph.original(node) * hidden..][..hidden]);
            row[hidden..].fill(T::ZERO);
        };
        let rows = &mut self.states.as_mut_slice()[..graph.nodes * width];
        if graph.nodes < PARALLEL_NODES {
            rows.chunks_exact_mut(width).enumerate().for_each(fill);
        } else {
            rows.par_chunks_exact_mut(width).enumerate().for_each(fill);
        }
    }

    /// The same rows in another order (new to present). One matrix at a time, so that only one exists twice.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        let width = self.width;
        let permuted = |source: &Buffer<T>| {
            let mut target = Buffer::new(order.len() * width);
            let rows = target.as_mut_slice().par_chunks_exact_mut(width).zip(order);
            rows.for_each(|(row, &node)| row.copy_from_slice(&source.as_slice()[node as usize * width..][..width]));
            target
        };
        self.states = permuted(&self.states);
        if !self.settled.is_empty() {
            self.outputs = permuted(&self.outputs);
            self.settled = order.iter().map(|&node| self.settled[node as usize]).collect();
        }
        self.changed = order.iter().map(|&node| self.changed[node as usize]).collect();
    }
}
