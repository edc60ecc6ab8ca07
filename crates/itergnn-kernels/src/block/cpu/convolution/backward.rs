//! One step of a convolution backwards.

use super::edges::ConvolutionEdges;
use crate::block::convolution::Convolution;
use crate::block::cpu::backward::{BackwardScratch, Targets};
use crate::block::cpu::forward::Job;
use crate::block::cpu::packed::Shapes;
use crate::block::cpu::tape::GraphTape;
use crate::kernels::{AddAssign, ColumnSum, ConvolveBackward, Gemm, RectifyBackward, Start};
use crate::real::Real;

impl<T: Real> Job<'_, T> {
    /// Makes room for what only a convolution needs.
    pub(in crate::block::cpu) fn reserve_convolution(
        &self,
        edges: &ConvolutionEdges<T>,
        nodes: usize,
        scratch: &mut BackwardScratch<T>,
    ) {
        let message_row = self.weights.shapes.message_row;
        if self.weights.shapes.has_second {
            scratch.first.ensure(nodes * message_row);
            scratch.first_gradient.ensure(nodes * message_row);
        }
        // The gradients of the weights of one iteration, and their sum over the iterations; padded for whole vectors.
        let padded = crate::simd::padded(edges.len());
        scratch.products.ensure(2 * padded);
        scratch.products.as_mut_slice()[..2 * padded].fill(T::ZERO);
    }

    /// Whether the gradients of GCN's weights are wanted.
    fn weighs_backward(&self, convolution: &Convolution) -> bool {
        convolution.weighs_edges() && self.wanted.edge_features
    }

    /// From the gradient of the states after an iteration, which becomes zero, to that of the prepared rows.
    pub(in crate::block::cpu) fn convolve_backward(
        &self,
        convolution: &Convolution,
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

        let is_gat = matches!(convolution, Convolution::Gat { .. });
        let learns_eps = matches!(convolution, Convolution::Gin { learns_eps: true, .. });
        let weights = if is_gat { tape.weights.record(step).as_ptr() } else { edges.weights.as_ptr() };
        let sums = self.second_backward(convolution, edges, tape, step, scratch, targets);
        let gradient = targets.layers[layer * sections.gradient_len..].as_mut_ptr();
        let wants_weights = is_gat || learns_eps || self.weighs_backward(convolution);
        // SAFETY: the gradient of the sums is nodes x message_row; the prepared rows of this iteration and their gradient are nodes x prepared_row; there
        // is room for one product per edge and per node; sections of the packed gradient are disjoint.
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
                own: self.own_weight(convolution, layer),
                gradient: sums,
                source_gradient: scratch.prepared.as_mut_ptr().add(start),
                source_row: prepared_row,
                source: if wants_weights { tape.prepared.record(step).as_ptr() } else { std::ptr::null() },
                weight_gradient: scratch.products.as_mut_ptr(),
                own_gradient: scratch.values.as_mut_ptr(),
            });
        }
        if learns_eps {
            let sum = scratch.values.as_slice()[..nodes].iter().fold(T::ZERO, |sum, &value| sum + value);
            targets.layers[layer * sections.gradient_len + sections.eps] += sum;
        }
        if self.weighs_backward(convolution) {
            let len = crate::simd::padded(edges.len());
            let source = scratch.products.as_mut_ptr();
            // SAFETY: both halves of the products have `len` values.
            unsafe { (self.kernels.add_assign)(&AddAssign { len, source, target: source.add(len) }) }
        }
        if let Some(scores) = self.edge_scores(convolution, edges, layer, tape.prepared.record(step)) {
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

    /// From the gradient of the states to that of the sums, `[nodes, message_row]`, through the activation and GIN's second map.
    fn second_backward(
        &self,
        convolution: &Convolution,
        edges: &ConvolutionEdges<T>,
        tape: &GraphTape<T>,
        step: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) -> *const T {
        let Shapes { hidden, hidden_row, message, message_row, .. } = self.weights.shapes;
        let sections = &self.weights.sections;
        let (nodes, layer) = (tape.plan.nodes, self.layer_of(step));
        let states = scratch.hidden.as_mut_ptr();
        let slope = match *convolution {
            Convolution::Gcn { output_slope, .. } | Convolution::Gat { output_slope, .. } => T::from_f64(output_slope),
            Convolution::Gin { .. } => T::LEAKY_SLOPE,
        };
        if slope != T::ONE {
            let values = tape.hidden.record(step + 1).as_ptr();
            // SAFETY: states and their gradient are nodes x hidden_row.
            unsafe {
                (self.kernels.rectify_backward)(&RectifyBackward {
                    len: nodes * hidden_row,
                    values,
                    slope,
                    gradient: states,
                });
            }
        }
        if !self.weights.shapes.has_second {
            return states;
        }
        let (first, first_gradient) = (scratch.first.as_mut_ptr(), scratch.first_gradient.as_mut_ptr());
        let (packed, prepared) = (self.weights.layer(layer), tape.prepared.record(step).as_ptr());
        // SAFETY: as above; `first` and its gradient are nodes x message_row, and sections of the packed gradient are disjoint.
        unsafe {
            let gradient = targets.layers[layer * sections.gradient_len..].as_mut_ptr();
            self.sum_rows(convolution, edges, layer, (prepared, edges.weights.as_ptr()), first);
            (self.kernels.column_sum)(&ColumnSum {
                rows: nodes,
                columns: hidden_row,
                source: states,
                source_row: hidden_row,
                target: gradient.add(sections.second_bias),
            });
            let target = gradient.add(sections.second);
            let product = Gemm {
                rows: message,
                columns: hidden_row,
                depth: nodes,
                a: first,
                a_row: 1,
                a_column: message_row,
                b: states,
                b_row: hidden_row,
                c: target,
                c_row: hidden_row,
                start: Start::Matrix(target, hidden_row),
                leaky: false,
                a_rows: std::ptr::null(),
                c_rows: std::ptr::null(),
                depths: std::ptr::null(),
            };
            (self.kernels.gemm)(&product);
            (self.kernels.gemm)(&Gemm {
                rows: nodes,
                columns: message_row,
                depth: hidden,
                a: states,
                a_row: hidden_row,
                a_column: 1,
                b: packed[sections.second_transposed..].as_ptr(),
                b_row: message_row,
                c: first_gradient,
                c_row: message_row,
                start: Start::Zero,
                ..product
            });
            (self.kernels.rectify_backward)(&RectifyBackward {
                len: nodes * message_row,
                values: first,
                slope: T::LEAKY_SLOPE,
                gradient: first_gradient,
            });
        }
        first_gradient
    }

    /// What is left when all iterations are done: the gradient of edge features that weigh.
    pub(in crate::block::cpu) fn finish_convolution(
        &self,
        convolution: &Convolution,
        tape: &GraphTape<T>,
        scratch: &BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        if let (Some(edges), true) = (&tape.convolution, self.weighs_backward(convolution)) {
            let sums = &scratch.products.as_slice()[crate::simd::padded(edges.len())..];
            edges.normalise_backward(tape.plan.features(self.inputs, 1), sums, targets.edge_features);
        }
    }
}
