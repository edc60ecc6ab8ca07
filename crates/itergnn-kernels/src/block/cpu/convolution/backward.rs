//! One step of a convolution backwards.

use super::edges::ConvolutionEdges;
use crate::block::cpu::backward::{BackwardScratch, Targets};
use crate::block::cpu::forward::Job;
use crate::block::cpu::packed::Shapes;
use crate::block::cpu::tape::GraphTape;
use crate::kernels::{AddAssign, ColumnSum, ConvolveBackward, RectifyBackward};
use crate::real::Real;
use crate::settings::LayerKind;

impl<T: Real> Job<'_, T> {
    /// Makes room for what only a convolution needs.
    pub(in crate::block::cpu) fn reserve_convolution(
        &self,
        edges: &ConvolutionEdges<T>,
        scratch: &mut BackwardScratch<T>,
    ) {
        // The gradients of the weights of one iteration, and their sum over the iterations; padded for whole vectors.
        let padded = crate::simd::padded(edges.len());
        scratch.products.ensure(2 * padded);
        scratch.products.as_mut_slice()[..2 * padded].fill(T::ZERO);
    }

    /// Whether the gradients of GCN's weights are wanted.
    pub(super) fn weighs_backward(&self) -> bool {
        self.config.layer.kind == LayerKind::Gcn && self.config.convolves_edges() && self.wanted.edge_features
    }

    /// From the gradient of the states after an iteration, which becomes zero, to that of the prepared rows.
    pub(in crate::block::cpu) fn convolve_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let Some(edges) = &tape.convolution else { return };
        let Shapes { hidden_row, message_row, prepared_row, .. } = self.weights.shapes;
        let sections = &self.weights.sections;
        let (nodes, layer) = (tape.plan.nodes, self.layer_of(step));
        let start = self.slot(tape, step);
        scratch.prepared.as_mut_slice()[start..start + nodes * prepared_row].fill(T::ZERO);
        scratch.touched.as_mut_slice()[..nodes].fill(1);

        let is_gat = self.config.layer.kind == LayerKind::Gat;
        let weights = if is_gat { tape.weights.record(step).as_ptr() } else { edges.weights.as_ptr() };
        let sums = self.rectify_backward(tape, step, scratch);
        let gradient = targets.layers[layer * sections.gradient_len..].as_mut_ptr();
        let wants_weights = is_gat || self.weighs_backward();
        // SAFETY: the gradient of the sums is nodes x message_row; the prepared rows of this iteration and their
        // gradient are nodes x prepared_row; there is room for one product per edge; sections of the packed gradient
        // are disjoint.
        unsafe {
            (self.kernels.column_sum)(&ColumnSum {
                rows: nodes,
                columns: message_row,
                source: sums,
                source_row: message_row,
                target: gradient.add(sections.sum_bias),
            });
            (self.kernels.convolve_backward)(&ConvolveBackward {
                nodes,
                width: message_row,
                offsets: edges.offsets.as_ptr(),
                senders: edges.senders.as_ptr(),
                weights,
                gradient: sums,
                source_gradient: scratch.prepared.as_mut_ptr().add(start),
                source_row: prepared_row,
                source: if wants_weights { tape.prepared.record(step).as_ptr() } else { std::ptr::null() },
                weight_gradient: scratch.products.as_mut_ptr(),
            });
        }
        if self.weighs_backward() {
            let len = crate::simd::padded(edges.len());
            let source = scratch.products.as_mut_ptr();
            // SAFETY: both halves of the products have `len` values.
            unsafe { (self.kernels.add_assign)(&AddAssign { len, source, target: source.add(len) }) }
        }
        if let Some(scores) = self.edge_scores(edges, layer, tape.prepared.record(step)) {
            let gradients = &mut scratch.products.as_mut_slice()[..edges.len()];
            let prepared = &mut scratch.prepared.as_mut_slice()[start..start + nodes * prepared_row];
            scores.backward(tape.weights.record(step), gradients, prepared);
            let width = scores.edge_weight.len();
            if width > 0 {
                let target = &mut targets.layers[layer * sections.gradient_len + sections.score_edge..][..width];
                for (features, &gradient) in edges.features.chunks_exact(width).zip(gradients.iter()) {
                    target.iter_mut().zip(features).for_each(|(target, &feature)| *target += gradient * feature);
                }
                if self.wanted.edge_features {
                    edges.gather_backward(gradients, scores.edge_weight, targets.edge_features);
                }
            }
        }
        // The new state replaced the old one, which lives on in the prepared rows only.
        scratch.hidden.as_mut_slice()[..nodes * hidden_row].fill(T::ZERO);
    }

    /// From the gradient of the states to that of the sums, `[nodes, message_row]`, through the activation.
    fn rectify_backward(&self, tape: &GraphTape<T>, step: usize, scratch: &mut BackwardScratch<T>) -> *const T {
        let slope = T::from_f64(self.config.layer.output_activation.negative_slope());
        let gradient = scratch.hidden.as_mut_ptr();
        if slope != T::ONE {
            let (len, values) =
                (tape.plan.nodes * self.weights.shapes.hidden_row, tape.hidden.record(step + 1).as_ptr());
            // SAFETY: states and their gradient are nodes x hidden_row.
            unsafe { (self.kernels.rectify_backward)(&RectifyBackward { len, values, slope, gradient }) }
        }
        gradient
    }

    /// What is left when all iterations are done: the gradient of edge features that weigh.
    pub(in crate::block::cpu) fn finish_convolution(
        &self,
        tape: &GraphTape<T>,
        scratch: &BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        if let (Some(edges), true) = (&tape.convolution, self.weighs_backward()) {
            let sums = &scratch.products.as_slice()[crate::simd::padded(edges.len())..];
            edges.normalise_backward(tape.plan.features(self.inputs, 1), sums, targets.edge_features);
        }
    }
}
