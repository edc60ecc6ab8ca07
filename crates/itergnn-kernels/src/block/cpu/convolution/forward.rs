//! One step of a convolution forwards.

use super::attention::EdgeScores;
use super::edges::ConvolutionEdges;
use crate::block::cpu::forward::{ForwardScratch, Job};
use crate::block::cpu::packed::Shapes;
use crate::block::cpu::tape::GraphTape;
use crate::kernels::{Convolve, Gemm, Start};
use crate::real::Real;
use crate::settings::LayerKind;

impl<T: Real> Job<'_, T> {
    /// Whether the way back does not need the prepared rows of every iteration.
    pub(in crate::block::cpu) fn forgets_prepared(&self) -> bool {
        self.config.layer.kind == LayerKind::Gcn && !self.weighs_backward()
    }

    /// The scores of GAT from prepared rows.
    pub(super) fn edge_scores<'a>(
        &'a self,
        edges: &'a ConvolutionEdges<T>,
        layer: usize,
        prepared: &'a [T],
    ) -> Option<EdgeScores<'a, T>> {
        if self.config.layer.kind != LayerKind::Gat {
            return None;
        }
        let shapes = &self.weights.shapes;
        let edge_weight = &self.weights.layer(layer)[self.weights.sections.score_edge..];
        Some(EdgeScores {
            edges,
            scale_invariant: self.config.scale_invariant(),
            slope: T::from_f64(self.config.layer.negative_slope),
            prepared,
            row: shapes.prepared_row,
            column: shapes.score_column(),
            edge_weight: &edge_weight[..if self.config.convolves_edges() { shapes.edge } else { 0 }],
        })
    }

    /// `rectify(b + sum of weights_k p_s)` of all nodes; returns whether all sums are finite.
    ///
    /// # Safety
    /// `prepared` is `nodes x prepared_row`, there is a weight for every edge, and `target` has `nodes x message_row`
    /// places.
    pub(super) unsafe fn sum_rows(
        &self,
        edges: &ConvolutionEdges<T>,
        layer: usize,
        (prepared, weights): (*const T, *const T),
        target: *mut T,
    ) -> bool {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        // SAFETY: the kernels table belongs to this processor; edges name nodes of the graph; the rest is the contract
        // of this function.
        unsafe {
            (self.kernels.convolve)(&Convolve {
                nodes: edges.nodes(),
                width: shapes.message_row,
                offsets: edges.offsets.as_ptr(),
                senders: edges.senders.as_ptr(),
                weights,
                source: prepared,
                source_row: shapes.prepared_row,
                start: self.weights.layer(layer)[sections.sum_bias..].as_ptr(),
                slope: T::from_f64(self.config.layer.output_activation.negative_slope()),
                target,
            })
        }
    }

    /// One step; returns whether all its values are finite.
    pub(in crate::block::cpu) fn convolve(&self, tape: &mut GraphTape<T>, scratch: &mut ForwardScratch<T>) -> bool {
        let Some(edges) = &tape.convolution else { return true };
        let Shapes { hidden, hidden_row, prepared_row, .. } = self.weights.shapes;
        let sections = &self.weights.sections;
        let (step, nodes) = (tape.steps, tape.plan.nodes);
        let layer = self.layer_of(step);
        let packed = self.weights.layer(layer);
        let prepared = tape.prepared.record_mut(step);
        // SAFETY: the kernels table belongs to this processor; states are nodes x hidden_row, prepared rows and
        // constants nodes x prepared_row.
        unsafe {
            (self.kernels.gemm)(&Gemm {
                rows: nodes,
                columns: prepared_row,
                depth: hidden,
                a: tape.hidden.record(step).as_ptr(),
                a_row: hidden_row,
                a_column: 1,
                b: packed[sections.prepare..].as_ptr(),
                b_row: prepared_row,
                c: prepared,
                c_row: prepared_row,
                start: Start::Matrix(scratch.constants.as_ptr(), prepared_row),
                leaky: false,
                a_rows: std::ptr::null(),
                c_rows: std::ptr::null(),
                depths: std::ptr::null(),
            });
        }
        let (mut finite, mut weights) = (true, edges.weights.as_ptr());
        // SAFETY: the prepared rows were just written, all of them.
        let rows = unsafe { std::slice::from_raw_parts(prepared, nodes * prepared_row) };
        if let Some(scores) = self.edge_scores(edges, layer, rows) {
            // SAFETY: a record holds one weight per edge, of a type that any bits are values of.
            let record = unsafe { std::slice::from_raw_parts_mut(tape.weights.record_mut(step), edges.len()) };
            finite = scores.weights(record);
            weights = record.as_ptr();
        }
        let after = tape.hidden.record_mut(step + 1);
        // SAFETY: a state has nodes x hidden_row values, and rows of sums are as wide.
        finite & unsafe { self.sum_rows(edges, layer, (prepared, weights), after) }
    }
}
