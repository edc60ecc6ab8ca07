//! One graph from the gradient of its output back to its initial states.

use super::TILE_ROWS;
use super::forward::Job;
use super::packed::Shapes;
use super::tape::{GraphTape, SLAB};
use crate::block::output::OutputGradients;
use crate::block::schedule::ScheduleBackward;
use crate::error::KernelError;
use crate::kernels::{BLOCK_NODES, Flush, WeightedAdd, block_rows};
use crate::memory::Buffer;
use crate::real::Real;
use crate::settings::{IterConfig, ReadoutKind};

/// Memory of one thread that the graphs it works on use one after the other.
#[derive(Debug)]
pub(super) struct BackwardScratch<T> {
    /// `[nodes, hidden_row]`: gradient of the output, and of the states.
    pub(super) output: Buffer<T>,
    pub(super) hidden: Buffer<T>,
    /// `[SLAB, nodes, prepared_row]`: gradients of the prepared rows of some iterations.
    pub(super) prepared: Buffer<T>,
    /// `[nodes, prepared_row]`: their sum over the iterations.
    pub(super) constants: Buffer<T>,
    /// `[nodes, hidden_row]`: the part of the states' gradient that goes to the aggregates.
    pub(super) sent: Buffer<T>,
    /// `[TILE_ROWS, BLOCK_NODES or nodes, hidden_row]`: gradient of messages.
    pub(super) messages: Buffer<T>,
    /// `[TILE_ROWS, edge]`: edge features of the rows of a tile.
    pub(super) features: Buffer<T>,
    /// `[TILE_ROWS or more, message_row]`: the first layer's output and its gradient.
    pub(super) first: Buffer<T>,
    pub(super) first_gradient: Buffer<T>,
    /// `[BLOCK_NODES, hidden_row]`: which rows of `first` belong to the gradients of messages.
    pub(super) value_rows: Buffer<u16>,
    /// `[edges]`, `[TILE_ROWS]`, `[nodes]`.
    pub(super) products: Buffer<T>,
    pub(super) tile_products: Buffer<T>,
    pub(super) values: Buffer<T>,
    /// `[nodes]`: whether any gradient goes to a node's aggregate.
    pub(super) active: Buffer<u8>,
    /// `[nodes]`: whether a node's prepared row got a gradient, and which did.
    pub(super) touched: Buffer<u8>,
    pub(super) touched_nodes: Buffer<u32>,
    /// `[SLAB * nodes]`: the same for all rows of a slab.
    pub(super) slab_rows: Buffer<u32>,
    pub(super) slab_count: usize,
    /// `[3, edges]`: senders, receivers and numbers of the edges that reach active nodes.
    pub(super) active_edges: Buffer<u32>,
}

impl<T> Default for BackwardScratch<T> {
    fn default() -> Self {
        Self {
            output: Buffer::default(),
            hidden: Buffer::default(),
            prepared: Buffer::default(),
            constants: Buffer::default(),
            sent: Buffer::default(),
            messages: Buffer::default(),
            features: Buffer::default(),
            first: Buffer::default(),
            first_gradient: Buffer::default(),
            value_rows: Buffer::default(),
            products: Buffer::default(),
            tile_products: Buffer::default(),
            values: Buffer::default(),
            active: Buffer::default(),
            touched: Buffer::default(),
            touched_nodes: Buffer::default(),
            slab_rows: Buffer::default(),
            slab_count: 0,
            active_edges: Buffer::default(),
        }
    }
}

/// Where the gradients of one graph go.
pub(super) struct Targets<'a, T> {
    /// Packed gradients of all layers, added to.
    pub(super) layers: &'a mut [T],
    /// Gradients of the confidence's weight and, last, its bias, added to.
    pub(super) confidence: &'a mut [T],
    /// The graph's rows; empty where not wanted.
    pub(super) hidden: &'a mut [T],
    pub(super) node_inputs: &'a mut [T],
    pub(super) edge_features: &'a mut [T],
}

impl<T: Real> Job<'_, T> {
    pub(super) fn backward(
        &self,
        tape: &GraphTape<T>,
        gradients: &OutputGradients<'_, T>,
        output: &[T],
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) -> Result<(), KernelError> {
        let Shapes { hidden, hidden_row, prepared_row, .. } = self.weights.shapes;
        let nodes = tape.plan.nodes;
        self.reserve(tape, scratch);
        let given = &gradients.output[tape.plan.first_node * hidden..][..nodes * hidden];
        let rows = scratch.output.as_mut_slice().chunks_exact_mut(hidden_row).take(nodes);
        for (row, given) in rows.zip(given.chunks_exact(hidden)) {
            row[..hidden].copy_from_slice(given);
            row[hidden..].fill(T::ZERO);
        }
        let states = &mut scratch.hidden.as_mut_slice()[..nodes * hidden_row];
        if self.config.iterative().is_some() {
            states.fill(T::ZERO);
        } else {
            states.copy_from_slice(&scratch.output.as_slice()[..nodes * hidden_row]);
        }
        scratch.constants.as_mut_slice()[..nodes * prepared_row].fill(T::ZERO);
        let mut carried = self.start_schedules(tape, gradients, output);
        for step in (0..tape.steps).rev() {
            if let Some(options) = self.config.iterative() {
                self.confidence_backward(tape, step, options, &mut carried, scratch, targets);
            }
            // SAFETY: the buffer holds nodes x hidden_row values.
            let finite = unsafe {
                (self.kernels.flush)(&Flush { len: nodes * hidden_row, values: scratch.hidden.as_mut_ptr() })
            };
            if !finite {
                return Err(KernelError::NonFiniteGradient { graph: tape.plan.graph, iteration: step + 1 });
            }
            match self.config.is_convolution() {
                true => self.convolve_backward(tape, step, scratch, targets),
                false => self.messages_backward(tape, step, scratch, targets),
            }
            self.prepare_backward(tape, step, scratch, targets);
        }
        self.finish_convolution(tape, scratch, targets);
        for (row, values) in targets.hidden.chunks_exact_mut(hidden).enumerate() {
            values.copy_from_slice(&scratch.hidden.as_slice()[row * hidden_row..][..hidden]);
            if !values.iter().all(|value| value.is_finite()) {
                return Err(KernelError::NonFiniteGradient { graph: tape.plan.graph, iteration: 0 });
            }
        }
        Ok(())
    }

    fn reserve(&self, tape: &GraphTape<T>, scratch: &mut BackwardScratch<T>) {
        let Shapes { hidden_row, prepared_row, message_row, .. } = self.weights.shapes;
        let (nodes, edges) = (tape.plan.nodes, tape.plan.edges);
        scratch.output.ensure(nodes * hidden_row);
        scratch.hidden.ensure(nodes * hidden_row);
        scratch.prepared.ensure(SLAB * nodes * prepared_row);
        scratch.constants.ensure(nodes * prepared_row);
        scratch.touched.ensure(nodes);
        scratch.touched_nodes.ensure(nodes);
        scratch.slab_rows.ensure(SLAB * nodes);
        scratch.slab_count = 0;
        scratch.values.ensure(nodes);
        if let Some(edges) = &tape.convolution {
            return self.reserve_convolution(edges, scratch);
        }
        scratch.features.ensure(TILE_ROWS * self.weights.shapes.edge);
        scratch.first.ensure(TILE_ROWS.max(block_rows(hidden_row)) * message_row);
        scratch.first_gradient.ensure(TILE_ROWS * message_row);
        if self.weights.shapes.has_score {
            scratch.sent.ensure(nodes * hidden_row);
            scratch.messages.ensure(TILE_ROWS.max(nodes) * hidden_row);
            scratch.products.ensure(edges);
            scratch.tile_products.ensure(TILE_ROWS);
            scratch.active.ensure(nodes);
            scratch.active_edges.ensure(3 * edges);
        } else {
            scratch.messages.ensure(BLOCK_NODES * hidden_row);
            scratch.value_rows.ensure(BLOCK_NODES * hidden_row);
        }
    }

    /// The start of the way back through the schedules of the graph's units.
    fn start_schedules(
        &self,
        tape: &GraphTape<T>,
        gradients: &OutputGradients<'_, T>,
        output: &[T],
    ) -> Vec<ScheduleBackward> {
        let Some(options) = self.config.iterative() else { return Vec::new() };
        let (nodes, hidden) = (tape.plan.nodes, self.weights.shapes.hidden);
        let start = tape.plan.first_node * hidden;
        let product = |range: std::ops::Range<usize>| {
            let pairs = output[range.clone()].iter().zip(&gradients.output[range]);
            pairs.fold(T::ZERO, |sum, (&value, &gradient)| sum + value * gradient)
        };
        let unit_rows = |unit: usize| {
            if options.node_wise() {
                start + unit * hidden..start + (unit + 1) * hidden
            } else {
                start..start + nodes * hidden
            }
        };
        let first_unit = if options.node_wise() { tape.plan.first_node } else { tape.plan.graph };
        let schedules = tape.schedules.iter().enumerate();
        schedules
            .map(|(unit, schedule)| {
                let unspent = gradients.unspent.map_or(T::ZERO, |unspent| unspent[first_unit + unit]);
                // Only normalised weights need the product.
                let product = if options.normalised { product(unit_rows(unit)) } else { T::ZERO };
                schedule.backward(unspent, product, options)
            })
            .collect()
    }

    /// Adds to the states' gradient what the output and the confidences of one iteration send.
    fn confidence_backward(
        &self,
        tape: &GraphTape<T>,
        step: usize,
        options: &IterConfig,
        carried: &mut [ScheduleBackward],
        scratch: &mut BackwardScratch<T>,
        targets: &mut Targets<'_, T>,
    ) {
        let Shapes { hidden, hidden_row, .. } = self.weights.shapes;
        let nodes = tape.plan.nodes;
        let states = tape.hidden.record(step + 1);
        let weights: Vec<T> = tape.schedules.iter().map(|schedule| schedule.weight(step)).collect();
        // SAFETY: all matrices are nodes x hidden_row; there is one weight, or one per node; `values` has room for one
        // product per node.
        unsafe {
            (self.kernels.weighted_add)(&WeightedAdd {
                rows: nodes,
                width: hidden_row,
                source: scratch.output.as_ptr(),
                target: scratch.hidden.as_mut_ptr(),
                weights: weights.as_ptr(),
                weight_step: usize::from(options.node_wise()),
                keeps: std::ptr::null(),
                factor: states.as_ptr(),
                products: scratch.values.as_mut_ptr(),
            });
        }
        let products = &scratch.values.as_slice()[..nodes];
        let confidence = self.confidence(options);
        let (weight_gradient, bias_gradient) = targets.confidence.split_at_mut(hidden);
        let hidden_gradient = scratch.hidden.as_mut_slice();
        if options.node_wise() {
            for (node, schedule) in tape.schedules.iter().enumerate() {
                if step < schedule.iterations() {
                    let logit = schedule.step_backward(&mut carried[node], step, products[node], options);
                    let range = node * hidden_row..node * hidden_row + hidden;
                    confidence.backward(logit, &states[range.clone()], &mut hidden_gradient[range], weight_gradient);
                    bias_gradient[0] += logit;
                }
            }
            return;
        }
        let product = products.iter().fold(T::ZERO, |sum, &product| sum + product);
        let logit = tape.schedules[0].step_backward(&mut carried[0], step, product, options);
        let mut vector_gradient = vec![T::ZERO; hidden];
        confidence.backward(logit, &tape.pooled.record(step)[..hidden], &mut vector_gradient, weight_gradient);
        bias_gradient[0] += logit;
        match options.pooling {
            ReadoutKind::Max => {
                let positions = tape.pooled_positions.record(step);
                for (channel, &gradient) in vector_gradient.iter().enumerate() {
                    hidden_gradient[positions[channel] as usize * hidden_row + channel] += gradient;
                }
            }
            readout => {
                let mean = readout == ReadoutKind::Mean;
                let share = if mean { T::ONE / T::from_f64(nodes as f64) } else { T::ONE };
                for row in hidden_gradient.chunks_exact_mut(hidden_row).take(nodes) {
                    row.iter_mut().zip(&vector_gradient).for_each(|(value, &gradient)| *value += share * gradient);
                }
            }
        }
    }
}
