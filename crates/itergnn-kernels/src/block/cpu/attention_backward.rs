//! The messages of one step with attention backwards: from the states' gradient to that of the prepared rows.

use super::TILE_ROWS;
use super::attention::Scores;
use super::backward::{BackwardScratch, Targets};
use super::forward::Job;
use super::packed::Shapes;
use super::tape::GraphTape;
use crate::kernels::{
    Activate, ActivateBackward, ColumnSum, Gemm, MessageGradient, MessageRows, SharedMessageGradient, SplitGradient,
    Start,
};
use crate::real::Real;

/// Some message rows, the gradient of their messages in front of LeakyReLU, and where the product of each row with it
/// goes (null for nowhere).
#[derive(Clone, Copy)]
struct Tile<T> {
    rows: MessageRows<T>,
    first: usize,
    count: usize,
    messages: *const T,
    products: *mut T,
}

impl<T: Real> Job<'_, T> {
    pub(super) fn attention_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let shapes = &self.weights.shapes;
        let (plan, layer) = (&tape.plan, self.layer_of(step));
        // SAFETY: all matrices are nodes x hidden_row, `active` has one byte per node.
        unsafe {
            (self.kernels.split_gradient)(&SplitGradient {
                nodes: plan.nodes,
                width: shapes.hidden_row,
                before: tape.hidden.record(step).as_ptr(),
                after: tape.hidden.record(step + 1).as_ptr(),
                gradient: scratch.hidden.as_mut_ptr(),
                sent: scratch.sent.as_mut_ptr(),
                active: scratch.active.as_mut_ptr(),
            });
        }
        let rows = plan.message_rows(self.inputs, self.weights, layer, tape.prepared.record(step).as_ptr());
        if plan.shared_messages {
            // SAFETY: messages, their gradient and `sent` are nodes x hidden_row, weights and products have one value
            // per edge.
            unsafe {
                (self.kernels.shared_message_gradient)(&SharedMessageGradient {
                    nodes: plan.nodes,
                    offsets: plan.offsets().as_ptr(),
                    senders: plan.senders().as_ptr(),
                    width: shapes.hidden_row,
                    weights: tape.weights.record(step).as_ptr(),
                    sent: scratch.sent.as_ptr(),
                    active: scratch.active.as_ptr(),
                    messages: tape.messages.record(step).as_ptr(),
                    target: scratch.messages.as_mut_ptr(),
                    products: scratch.products.as_mut_ptr(),
                    touched: scratch.touched.as_mut_ptr(),
                });
            }
            let (rows, touched) = self.touched_senders(tape, rows, scratch);
            for first in (0..touched).step_by(TILE_ROWS) {
                let count = TILE_ROWS.min(touched - first);
                let messages = scratch.messages.as_slice()[first * shapes.hidden_row..].as_ptr();
                let tile = Tile { rows, first, count, messages, products: std::ptr::null_mut() };
                self.tile_backward(tape, step, tile, scratch, targets);
            }
        } else {
            let (rows, active) = self.active_rows(tape, rows, scratch);
            for first in (0..active).step_by(TILE_ROWS) {
                self.edge_tile_backward(tape, step, rows, first, TILE_ROWS.min(active - first), scratch, targets);
            }
        }
        self.scores_backward(tape, step, scratch, targets);
    }

    /// The message rows of senders that got a gradient, and their number; moves the gradients of those rows together.
    fn touched_senders(
        &self,
        tape: &GraphTape<T>,
        rows: MessageRows<T>,
        scratch: &mut BackwardScratch<T>,
    ) -> (MessageRows<T>, usize) {
        let width = self.weights.shapes.hidden_row;
        let count = scratch.list_touched(tape.plan.nodes);
        let senders = scratch.touched_nodes.as_slice();
        for (row, &sender) in senders[..count].iter().enumerate() {
            let start = sender as usize * width;
            scratch.messages.as_mut_slice().copy_within(start..start + width, row * width);
        }
        (MessageRows { senders: senders.as_ptr(), ..rows }, count)
    }

    /// The message rows of edges that reach active nodes, and their number.
    fn active_rows(
        &self,
        tape: &GraphTape<T>,
        rows: MessageRows<T>,
        scratch: &mut BackwardScratch<T>,
    ) -> (MessageRows<T>, usize) {
        let plan = &tape.plan;
        let active = scratch.active.as_slice();
        let (senders, rest) = scratch.active_edges.as_mut_slice().split_at_mut(plan.edges);
        let (receivers, numbers) = rest.split_at_mut(plan.edges);
        let mut count = 0;
        for (edge, (&sender, &receiver)) in plan.senders().iter().zip(plan.receivers()).enumerate() {
            if active[receiver as usize] == 1 {
                (senders[count], receivers[count], numbers[count]) = (sender, receiver, edge as u32);
                count += 1;
            }
        }
        let (senders, receivers, edges) = (senders.as_ptr(), receivers.as_ptr(), numbers.as_ptr());
        (MessageRows { senders, receivers, edges, ..rows }, count)
    }

    /// A tile of edges that reach active nodes.
    #[allow(clippy::too_many_arguments)]
    fn edge_tile_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        rows: MessageRows<T>,
        first: usize,
        count: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let sections = &self.weights.sections;
        let packed = self.weights.layer(self.layer_of(step));
        let bias = if self.config.biased() { packed[sections.second_bias..].as_ptr() } else { std::ptr::null() };
        let mut bias_products = [T::ZERO; TILE_ROWS];
        // SAFETY: the rows were listed by `active_rows`; weights and signs belong to all edges; the tile has room for
        // `count` rows.
        unsafe {
            (self.kernels.message_gradient)(&MessageGradient {
                first,
                count,
                width: self.weights.shapes.hidden_row,
                receivers: rows.receivers,
                edges: rows.edges,
                weights: tape.weights.record(step).as_ptr(),
                sent: scratch.sent.as_ptr(),
                signs: tape.signs.record(step).as_ptr(),
                target: scratch.messages.as_mut_ptr(),
                bias,
                products: bias_products.as_mut_ptr(),
            });
        }
        let (messages, products) = (scratch.messages.as_ptr(), scratch.tile_products.as_mut_ptr());
        self.tile_backward(tape, step, Tile { rows, first, count, messages, products }, scratch, targets);
        let numbers = &scratch.active_edges.as_slice()[2 * tape.plan.edges + first..][..count];
        let tile_products = scratch.tile_products.as_slice();
        for (row, &edge) in numbers.iter().enumerate() {
            scratch.products.as_mut_slice()[edge as usize] = tile_products[row] + bias_products[row];
        }
    }

    /// From the gradient of a tile of messages to weights and prepared rows.
    fn tile_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        tile: Tile<T>,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let Shapes { hidden, hidden_row, message, message_row, edge, .. } = self.weights.shapes;
        let (sections, layer) = (&self.weights.sections, self.layer_of(step));
        let packed = self.weights.layer(layer);
        let gradient = targets.layers[layer * sections.gradient_len..].as_mut_ptr();
        let Tile { rows, first, count, messages, products } = tile;
        let (output, first_gradient) = (scratch.first.as_mut_ptr(), scratch.first_gradient.as_mut_ptr());
        let features = scratch.features.as_mut_ptr();
        // SAFETY: the tile buffers have TILE_ROWS rows; the packed sections have the shapes they are documented with
        // and are disjoint; the row lists hold `first + count` entries, and their edges lie within the features.
        unsafe {
            (self.kernels.activate)(&Activate { rows, first, count, target: output });
            (self.kernels.gemm)(&Gemm {
                rows: count,
                columns: message_row,
                depth: hidden,
                a: messages,
                a_row: hidden_row,
                a_column: 1,
                b: packed[sections.second_transposed..].as_ptr(),
                b_row: message_row,
                c: first_gradient,
                c_row: message_row,
                start: Start::Zero,
                leaky: false,
                a_rows: std::ptr::null(),
                c_rows: std::ptr::null(),
                depths: std::ptr::null(),
            });
            let second_gradient = gradient.add(sections.second);
            (self.kernels.gemm)(&Gemm {
                rows: message,
                columns: hidden_row,
                depth: count,
                a: output,
                a_row: 1,
                a_column: message_row,
                b: messages,
                b_row: hidden_row,
                c: second_gradient,
                c_row: hidden_row,
                start: Start::Matrix(second_gradient, hidden_row),
                leaky: false,
                a_rows: std::ptr::null(),
                c_rows: std::ptr::null(),
                depths: std::ptr::null(),
            });
            if self.config.biased() {
                (self.kernels.column_sum)(&ColumnSum {
                    rows: count,
                    columns: hidden_row,
                    source: messages,
                    source_row: hidden_row,
                    target: gradient.add(sections.second_bias),
                });
            }
            (self.kernels.activate_backward)(&ActivateBackward {
                rows,
                first,
                count,
                output,
                gradient: first_gradient,
                prepared_gradient: scratch.prepared.as_mut_ptr().add(self.slot(tape, step)),
                products,
                touched: scratch.touched.as_mut_ptr(),
            });
            for row in 0..count {
                let source = rows.features.add(*rows.edges.add(first + row) as usize * edge);
                std::ptr::copy_nonoverlapping(source, features.add(row * edge), edge);
            }
            let edge_gradient = gradient.add(sections.edge);
            (self.kernels.gemm)(&Gemm {
                rows: edge,
                columns: message_row,
                depth: count,
                a: features,
                a_row: 1,
                a_column: edge,
                b: first_gradient,
                b_row: message_row,
                c: edge_gradient,
                c_row: message_row,
                start: Start::Matrix(edge_gradient, message_row),
                leaky: false,
                a_rows: std::ptr::null(),
                c_rows: std::ptr::null(),
                depths: std::ptr::null(),
            });
        }
        if self.wanted.edge_features {
            let weight = &packed[sections.edge..][..edge * message_row];
            for row in 0..count {
                // SAFETY: as above.
                let number = unsafe { *rows.edges.add(first + row) } as usize;
                let change = &scratch.first_gradient.as_slice()[row * message_row..][..message_row];
                for (feature, weight) in weight.chunks_exact(message_row).enumerate() {
                    let pairs = weight.iter().zip(change);
                    targets.edge_features[number * edge + feature] +=
                        pairs.fold(T::ZERO, |sum, (&weight, &change)| sum + weight * change);
                }
            }
        }
    }

    /// From the products of weights with their gradients to the scores' parts.
    fn scores_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let (plan, layer) = (&tape.plan, self.layer_of(step));
        let scores = Scores {
            plan,
            shapes,
            scale_invariant: self.config.scale_invariant(),
            prepared: tape.prepared.record(step),
            features: plan.features(self.inputs, shapes.edge),
            edge_weight: &self.weights.layer(layer)[sections.score_edge..][..shapes.edge],
        };
        let products = &mut scratch.products.as_mut_slice()[..plan.edges];
        scores.backward(tape.weights.record(step), &scratch.active.as_slice()[..plan.nodes], products);
        let slot = self.slot(tape, step);
        let prepared_gradient = &mut scratch.prepared.as_mut_slice()[slot..];
        let edge_gradient = &mut targets.layers[layer * sections.gradient_len + sections.score_edge..][..shapes.edge];
        for (edge, (&gradient, &sender)) in products.iter().zip(plan.senders()).enumerate() {
            // The receiver's part and the bias cancel: the gradients of a receiver's scores sum to zero.
            prepared_gradient[sender as usize * shapes.prepared_row + shapes.score_column()] += gradient;
            for (feature, target) in edge_gradient.iter_mut().enumerate() {
                let position = edge * shapes.edge + feature;
                *target += gradient * scores.features[position];
                if self.wanted.edge_features {
                    targets.edge_features[position] += gradient * scores.edge_weight[feature];
                }
            }
        }
    }
}
