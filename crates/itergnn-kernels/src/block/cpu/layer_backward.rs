//! One message-passing step backwards: from the gradient of the states after it to that of the states before it.

use super::backward::{BackwardScratch, Targets};
use super::forward::Job;
use super::packed::Shapes;
use super::tape::{GraphTape, SLAB};
use crate::kernels::{AddAssign, ColumnSum, Gemm, MaxBackward, Start, Winners};
use crate::real::Real;

/// Depth of one block of the products that give weight gradients: both operands of a block stay in the second-level
/// cache.
const DEPTH_BLOCK: usize = 128;

impl<T: Real> BackwardScratch<T> {
    /// Lists the touched nodes and returns their number.
    pub(super) fn list_touched(&mut self, nodes: usize) -> usize {
        let list = self.touched_nodes.as_mut_slice();
        let mut count = 0;
        for (node, &touched) in self.touched.as_slice()[..nodes].iter().enumerate() {
            if touched == 1 {
                list[count] = node as u32;
                count += 1;
            }
        }
        count
    }
}

impl<T: Real> Job<'_, T> {
    /// Where the gradient of an iteration's prepared rows begins in the scratch.
    pub(super) fn slot(&self, tape: &GraphTape<T>, step: usize) -> usize {
        step % SLAB * tape.plan.nodes * self.weights.shapes.prepared_row
    }

    /// The messages of one iteration: from the states' gradient to that of the prepared rows.
    pub(super) fn messages_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let slot = self.slot(tape, step);
        let len = tape.plan.nodes * self.weights.shapes.prepared_row;
        scratch.prepared.as_mut_slice()[slot..slot + len].fill(T::ZERO);
        scratch.touched.as_mut_slice()[..tape.plan.nodes].fill(0);
        if self.config.aggregates_by_max() {
            self.max_backward(tape, step, scratch, targets);
        } else {
            self.attention_backward(tape, step, scratch, targets);
        }
    }

    fn max_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let (plan, layer) = (&tape.plan, self.layer_of(step));
        let packed = self.weights.layer(layer);
        let gradient = targets.layers[layer * sections.gradient_len..].as_mut_ptr();
        let winners = if plan.byte_winners {
            Winners::Bytes(tape.byte_winners.record(step).as_ptr().cast_mut())
        } else {
            Winners::Words(tape.word_winners.record(step).as_ptr().cast_mut())
        };
        let feature_gradient =
            if self.wanted.edge_features { targets.edge_features.as_mut_ptr() } else { std::ptr::null_mut() };
        // SAFETY: the kernel only reads the winners. All matrices have the shapes of this graph; sections of the packed
        // gradient are disjoint.
        unsafe {
            (self.kernels.max_backward)(&MaxBackward {
                nodes: plan.nodes,
                offsets: plan.offsets().as_ptr(),
                rows: plan.edge_message_rows(self.inputs, self.weights, layer, tape.prepared.record(step).as_ptr()),
                winners,
                winner_row: self.winner_row(),
                width: shapes.hidden_row,
                channels: shapes.hidden,
                after: tape.hidden.record(step + 1).as_ptr(),
                hidden_gradient: scratch.hidden.as_mut_ptr(),
                second: packed[sections.second_transposed..].as_ptr(),
                second_gradient: gradient.add(sections.second),
                bias_gradient: gradient.add(sections.second_bias),
                prepared_gradient: scratch.prepared.as_mut_ptr().add(self.slot(tape, step)),
                edge_weight_gradient: gradient.add(sections.edge),
                feature_gradient,
                values: scratch.messages.as_mut_ptr(),
                value_rows: scratch.value_rows.as_mut_ptr(),
                first: scratch.first.as_mut_ptr(),
                touched: scratch.touched.as_mut_ptr(),
            });
        }
    }

    /// From the gradient of the prepared rows to the states, the inputs and the weights that prepared them.
    pub(super) fn prepare_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let shapes = &self.weights.shapes;
        let (nodes, layer) = (tape.plan.nodes, self.layer_of(step));
        let slot = self.slot(tape, step);
        let touched = scratch.list_touched(nodes);
        let first = (step % SLAB * nodes) as u32;
        let listed = scratch.touched_nodes.as_slice()[..touched].iter();
        let places = scratch.slab_rows.as_mut_slice()[scratch.slab_count..].iter_mut();
        places.zip(listed).for_each(|(place, &node)| *place = first + node);
        scratch.slab_count += touched;

        let transposed = &self.weights.layer(layer)[self.weights.sections.prepare_transposed..];
        let gradient = scratch.prepared.as_slice()[slot..].as_ptr();
        let hidden = scratch.hidden.as_mut_ptr();
        let list = scratch.touched_nodes.as_ptr();
        let receiver_part = shapes.receiver_column.map(|start| (start, shapes.message));
        for (start, columns) in [Some((0, shapes.sender_columns())), receiver_part].into_iter().flatten() {
            // SAFETY: the gradient is nodes x prepared_row, the states' gradient nodes x hidden_row, the columns lie
            // within a prepared row, and the list holds nodes of the graph.
            unsafe {
                (self.kernels.gemm)(&Gemm {
                    rows: touched,
                    columns: shapes.hidden_row,
                    depth: columns,
                    a: gradient.add(start),
                    a_row: shapes.prepared_row,
                    a_column: 1,
                    b: transposed[start * shapes.hidden_row..].as_ptr(),
                    b_row: shapes.hidden_row,
                    c: hidden,
                    c_row: shapes.hidden_row,
                    start: Start::Matrix(hidden, shapes.hidden_row),
                    leaky: false,
                    a_rows: list,
                    c_rows: list,
                    depths: std::ptr::null(),
                });
            }
        }
        let is_stack = self.config.is_stack();
        let constants = scratch.constants.as_mut_ptr();
        if !is_stack {
            for &node in &scratch.touched_nodes.as_slice()[..touched] {
                let start = node as usize * shapes.prepared_row;
                // SAFETY: both are nodes x prepared_row.
                unsafe {
                    let (source, target) = (gradient.add(start), constants.add(start));
                    (self.kernels.add_assign)(&AddAssign { len: shapes.prepared_row, source, target });
                }
            }
        }
        if is_stack || step.is_multiple_of(SLAB) {
            self.prepare_weight_backward(tape, step, scratch, targets);
        }
        if is_stack {
            self.input_backward(tape, layer, gradient, targets);
        } else if step == 0 {
            self.input_backward(tape, layer, constants, targets);
        }
    }

    /// Gradient of the weights that turn states into prepared rows, for the rows listed since the last call, all of the
    /// slab of `step`.
    fn prepare_weight_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let Shapes { hidden, hidden_row, prepared_row, .. } = self.weights.shapes;
        let sections = &self.weights.sections;
        let layer = self.layer_of(step);
        let target = targets.layers[layer * sections.gradient_len + sections.prepare..].as_mut_ptr();
        let listed = &scratch.slab_rows.as_slice()[..scratch.slab_count];
        for rows in listed.chunks(DEPTH_BLOCK) {
            // SAFETY: the records of a slab lie next to each other, states as well as gradients, nodes rows each; the
            // list was made of them.
            unsafe {
                (self.kernels.gemm)(&Gemm {
                    rows: hidden,
                    columns: prepared_row,
                    depth: rows.len(),
                    a: tape.hidden.slab(step),
                    a_row: 1,
                    a_column: hidden_row,
                    b: scratch.prepared.as_ptr(),
                    b_row: prepared_row,
                    c: target,
                    c_row: prepared_row,
                    start: Start::Matrix(target, prepared_row),
                    leaky: false,
                    a_rows: std::ptr::null(),
                    c_rows: std::ptr::null(),
                    depths: rows.as_ptr(),
                });
            }
        }
        scratch.slab_count = 0;
    }

    /// Gradients of the node inputs, their weights and the bias, from a gradient of prepared rows.
    fn input_backward(&self, tape: &GraphTape<T>, layer: usize, gradient: *const T, targets: &mut Targets<'_, T>) {
        let Shapes { input, prepared_row, .. } = self.weights.shapes;
        let sections = &self.weights.sections;
        let nodes = tape.plan.nodes;
        let base = targets.layers[layer * sections.gradient_len..].as_mut_ptr();
        // SAFETY: the gradient is nodes x prepared_row, the inputs are nodes x input; the sections are disjoint.
        unsafe {
            let target = base.add(sections.prepare_input);
            (self.kernels.gemm)(&Gemm {
                rows: input,
                columns: prepared_row,
                depth: nodes,
                a: tape.plan.node_inputs(self.inputs, input).as_ptr(),
                a_row: 1,
                a_column: input,
                b: gradient,
                b_row: prepared_row,
                c: target,
                c_row: prepared_row,
                start: Start::Matrix(target, prepared_row),
                leaky: false,
                a_rows: std::ptr::null(),
                c_rows: std::ptr::null(),
                depths: std::ptr::null(),
            });
            (self.kernels.column_sum)(&ColumnSum {
                rows: nodes,
                columns: prepared_row,
                source: gradient,
                source_row: prepared_row,
                target: base.add(sections.prepare_bias),
            });
        }
        if self.wanted.node_inputs && input > 0 {
            let weight = &self.weights.layer(layer)[sections.prepare_input..][..input * prepared_row];
            for (node, row) in targets.node_inputs.chunks_exact_mut(input).enumerate() {
                // SAFETY: as above.
                let gradient = unsafe { std::slice::from_raw_parts(gradient.add(node * prepared_row), prepared_row) };
                for (value, weight) in row.iter_mut().zip(weight.chunks_exact(prepared_row)) {
                    *value +=
                        weight.iter().zip(gradient).fold(T::ZERO, |sum, (&weight, &gradient)| sum + weight * gradient);
                }
            }
        }
    }
}
