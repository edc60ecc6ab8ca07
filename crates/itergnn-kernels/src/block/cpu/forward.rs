//! One graph from its initial states to its output.

use super::active::ActiveSet;
use super::convolution::ConvolutionEdges;
use super::layer_forward::BlockScratch;
use super::packed::{PackedWeights, Shapes};
use super::plan::GraphPlan;
use super::tape::{GraphTape, History, Memory};
use crate::block::batch::BlockInputs;
use crate::block::confidence::Confidence;
use crate::block::config::BlockConfig;
use crate::block::output::Wanted;
use crate::block::parameters::{ParameterKind, ParameterLayout};
use crate::block::schedule::Schedule;
use crate::block::stops::Stops;
use crate::error::KernelError;
use crate::kernels::{ColumnSum, Gemm, Kernels, PoolMax, Start, WINNER_ALIGNMENT, WeightedAdd};
use crate::memory::Buffer;
use crate::real::{Real, sigmoid};
use crate::settings::{IterConfig, ReadoutKind};
use crate::simd::ROW_ALIGNMENT;

/// Everything the graphs of a batch share.
pub(super) struct Job<'a, T: 'static> {
    pub(super) kernels: &'static Kernels<T>,
    pub(super) config: &'a BlockConfig,
    pub(super) layout: &'a ParameterLayout,
    pub(super) inputs: &'a BlockInputs<'a, T>,
    pub(super) weights: &'a PackedWeights<T>,
    pub(super) wanted: Wanted,
}

/// Memory of one thread that the graphs it works on use one after the other.
#[derive(Debug)]
pub(super) struct ForwardScratch<T> {
    /// `[nodes, prepared_row]`: the part of the prepared rows that comes from the inputs.
    pub(super) constants: Buffer<T>,
    /// `[nodes, hidden_row]`: messages that belong to senders, where they need not be kept.
    pub(super) shared: Buffer<T>,
    /// `[nodes, hidden_row]`.
    output: Buffer<T>,
    pub(super) block: BlockScratch<T>,
    /// One per unit: the weight of its state, and what its output is multiplied by.
    weights: Vec<T>,
    keeps: Vec<T>,
    /// Share of nodes that were active, per iteration of the last graph.
    pub(super) active_shares: Vec<f32>,
    pub(super) active: ActiveSet,
}

impl<T> Default for ForwardScratch<T> {
    fn default() -> Self {
        Self {
            constants: Buffer::default(),
            shared: Buffer::default(),
            output: Buffer::default(),
            block: BlockScratch::default(),
            weights: Vec::new(),
            keeps: Vec::new(),
            active_shares: Vec::new(),
            active: ActiveSet::default(),
        }
    }
}

impl<T: Real> Job<'_, T> {
    /// Which layer's weights an iteration uses.
    pub(super) fn layer_of(&self, step: usize) -> usize {
        if self.config.is_stack() { step } else { 0 }
    }

    pub(super) fn confidence(&self, options: &IterConfig) -> Confidence<'_, T> {
        Confidence {
            weight: self.layout.get(self.inputs.parameters, 0, ParameterKind::ConfidenceWeight),
            bias: self.layout.get(self.inputs.parameters, 0, ParameterKind::ConfidenceBias),
            scale_free: options.scale_free,
        }
    }

    /// Winners per node, padded.
    pub(super) fn winner_row(&self) -> usize {
        self.weights.shapes.hidden_row.next_multiple_of(WINNER_ALIGNMENT)
    }

    /// Runs one graph; `output` are its rows of the batch's result. The tape is of use for the way back only if it
    /// remembers everything.
    pub(super) fn forward(
        &self,
        graph: usize,
        scratch: &mut ForwardScratch<T>,
        memory: Memory,
        output: &mut [T],
    ) -> Result<(GraphTape<T>, Stops), KernelError> {
        let plan = GraphPlan::new(self.config, self.inputs, graph, self.wanted);
        let Shapes { hidden, hidden_row, prepared_row, .. } = self.weights.shapes;
        let nodes = plan.nodes;
        scratch.constants.ensure(nodes * prepared_row);
        scratch.active.reserve(&plan);
        scratch.output.ensure(nodes * hidden_row);
        scratch.output.as_mut_slice()[..nodes * hidden_row].fill(T::ZERO);
        let mut tape = self.new_tape(plan, memory);
        // SAFETY: a record holds `nodes` rows, all initialised memory.
        let initial = unsafe { std::slice::from_raw_parts_mut(tape.hidden.record_mut(0), nodes * hidden_row) };
        for (row, values) in initial.chunks_exact_mut(hidden_row).enumerate() {
            let start = (tape.plan.first_node + row) * hidden;
            values[..hidden].copy_from_slice(&self.inputs.hidden[start..start + hidden]);
            values[hidden..].fill(T::ZERO);
        }
        if !initial.iter().all(|value| value.is_finite()) {
            return Err(KernelError::NonFinite { graph, iteration: 0 });
        }
        scratch.active_shares.clear();
        while self.is_running(&tape) {
            let step = tape.steps;
            if step == 0 || self.layer_of(step) != 0 {
                self.constants(&tape.plan, self.layer_of(step), scratch);
                scratch.active.select_everything();
            } else if !self.config.is_convolution() {
                scratch.active.select_changed(&tape.plan, self.config);
            }
            let active = scratch.active.changed_nodes().map_or(nodes, <[u32]>::len);
            scratch.active_shares.push(active as f32 / nodes.max(1) as f32);
            let mut finite = match self.config.is_convolution() {
                true => self.convolve(&mut tape, scratch),
                false => self.step(&mut tape, scratch),
            };
            tape.steps += 1;
            if let Some(options) = self.config.iterative() {
                finite &= self.push_confidences(&mut tape, options, scratch);
            }
            if !finite {
                return Err(KernelError::NonFinite { graph, iteration: tape.steps });
            }
        }
        let units = self.results(&mut tape, scratch, output);
        Ok((tape, units))
    }

    fn new_tape(&self, plan: GraphPlan, memory: Memory) -> GraphTape<T> {
        let Shapes { hidden_row, prepared_row, .. } = self.weights.shapes;
        let nodes = plan.nodes;
        let is_convolution = self.config.is_convolution();
        let convolution = is_convolution.then(|| ConvolutionEdges::new(self.config, self.inputs, plan.graph));
        let units = match self.config.iterative() {
            Some(options) if options.node_wise() => nodes,
            Some(_) if nodes > 0 => 1,
            _ => 0,
        };
        GraphTape {
            memory,
            steps: 0,
            hidden: History::new(nodes * hidden_row, memory),
            prepared: History::new(nodes * prepared_row, if self.forgets_prepared() { Memory::Last } else { memory }),
            byte_winners: History::new(nodes * self.winner_row(), memory),
            word_winners: History::new(nodes * self.winner_row(), memory),
            weights: History::new(convolution.as_ref().map_or(plan.edges, ConvolutionEdges::len), memory),
            signs: History::new(plan.rows() * hidden_row / ROW_ALIGNMENT, memory),
            messages: History::new(nodes * hidden_row, memory),
            pooled_positions: History::new(hidden_row, memory),
            pooled: History::new(hidden_row, memory),
            schedules: vec![Schedule::new(memory == Memory::Everything); units],
            convolution,
            plan,
        }
    }

    fn is_running(&self, tape: &GraphTape<T>) -> bool {
        match self.config.iterative() {
            Some(options) => tape.schedules.iter().any(|schedule| schedule.is_running(options)),
            None => tape.steps < self.config.max_iterations(),
        }
    }

    /// What the inputs and the bias contribute to the prepared rows.
    fn constants(&self, plan: &GraphPlan, layer: usize, scratch: &mut ForwardScratch<T>) {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let packed = self.weights.layer(layer);
        // SAFETY: the kernels table belongs to this processor; `constants` holds nodes x prepared_row values, the
        // inputs nodes x input, and the packed sections have the shapes they are documented with.
        unsafe {
            (self.kernels.gemm)(&Gemm {
                rows: plan.nodes,
                columns: shapes.prepared_row,
                depth: shapes.input,
                a: plan.node_inputs(self.inputs, shapes.input).as_ptr(),
                a_row: shapes.input,
                a_column: 1,
                b: packed[sections.prepare_input..].as_ptr(),
                b_row: shapes.prepared_row,
                c: scratch.constants.as_mut_ptr(),
                c_row: shapes.prepared_row,
                start: Start::Row(packed[sections.prepare_bias..].as_ptr()),
                leaky: false,
                a_rows: std::ptr::null(),
                c_rows: std::ptr::null(),
                depths: std::ptr::null(),
            });
        }
    }

    /// Predicts the confidences of the units that are still running and, without a memory, adds their states to the
    /// output; returns whether all confidences are finite.
    fn push_confidences(&self, tape: &mut GraphTape<T>, options: &IterConfig, scratch: &mut ForwardScratch<T>) -> bool {
        let Shapes { hidden, hidden_row, .. } = self.weights.shapes;
        let confidence = self.confidence(options);
        if !options.node_wise() {
            self.pool(tape, options, &scratch.active);
        }
        let vectors =
            if options.node_wise() { tape.hidden.record(tape.steps) } else { tape.pooled.record(tape.steps - 1) };
        let mut finite = true;
        scratch.weights.clear();
        scratch.keeps.clear();
        for (schedule, vector) in tape.schedules.iter_mut().zip(vectors.chunks_exact(hidden_row)) {
            let running = schedule.is_running(options);
            let weight = if running {
                let value = sigmoid(confidence.logit(&vector[..hidden]));
                finite &= value.is_finite();
                schedule.push(value, options)
            } else {
                T::ZERO
            };
            scratch.weights.push(weight);
            scratch.keeps.push(if running { T::from_f64(options.decay) } else { T::ONE });
        }
        if tape.memory == Memory::Last {
            self.add_to_output(tape, tape.steps, options, scratch.keeps.as_ptr(), scratch);
        }
        finite
    }

    /// Adds the states after `steps` iterations to the output, with the weights in the scratch.
    fn add_to_output(
        &self,
        tape: &GraphTape<T>,
        steps: usize,
        options: &IterConfig,
        keeps: *const T,
        scratch: &mut ForwardScratch<T>,
    ) {
        // SAFETY: source and target are nodes x hidden_row; there is one weight, or one per node, and as many values to
        // keep.
        unsafe {
            (self.kernels.weighted_add)(&WeightedAdd {
                rows: tape.plan.nodes,
                width: self.weights.shapes.hidden_row,
                source: tape.hidden.record(steps).as_ptr(),
                target: scratch.output.as_mut_ptr(),
                weights: scratch.weights.as_ptr(),
                weight_step: usize::from(options.node_wise()),
                keeps,
                factor: std::ptr::null(),
                products: std::ptr::null_mut(),
            });
        }
    }

    /// Pools the states after the last iteration.
    fn pool(&self, tape: &mut GraphTape<T>, options: &IterConfig, active: &ActiveSet) {
        let (nodes, width) = (tape.plan.nodes, self.weights.shapes.hidden_row);
        let target = tape.pooled.record_mut(tape.steps - 1);
        let grows = tape.convolution.is_none() && tape.steps > 1;
        let source = tape.hidden.record(tape.steps).as_ptr();
        if options.pooling == ReadoutKind::Max {
            // States only grow, so the old maximum and the nodes that changed tell the new one; where it is, nobody
            // asks.
            let raises = tape.memory == Memory::Last && grows;
            let changed = if raises { active.changed(nodes).as_ptr() } else { std::ptr::null() };
            let positions = tape.pooled_positions.record_mut(tape.steps - 1);
            // SAFETY: the records hold one padded row each, and there is a flag per node; a graph with a schedule has
            // at least one node.
            unsafe { (self.kernels.pool_max)(&PoolMax { rows: nodes, width, source, target, positions, changed }) }
            return;
        }
        // SAFETY: the record holds one padded row of initialised memory.
        let pooled = unsafe { std::slice::from_raw_parts_mut(target, width) };
        pooled.fill(T::ZERO);
        // SAFETY: as above.
        unsafe {
            (self.kernels.column_sum)(&ColumnSum { rows: nodes, columns: width, source, source_row: width, target })
        }
        if options.pooling == ReadoutKind::Mean {
            let share = T::ONE / T::from_f64(nodes as f64);
            pooled.iter_mut().for_each(|value| *value *= share);
        }
    }

    /// Weighs the states into the output and tells what became of the units.
    fn results(&self, tape: &mut GraphTape<T>, scratch: &mut ForwardScratch<T>, output: &mut [T]) -> Stops {
        let Shapes { hidden, hidden_row, .. } = self.weights.shapes;
        let nodes = tape.plan.nodes;
        let (source, stops) = if let Some(options) = self.config.iterative() {
            tape.schedules.iter_mut().for_each(|schedule| schedule.finish(options));
            if tape.memory == Memory::Everything {
                for step in 0..tape.steps {
                    scratch.weights.clear();
                    scratch.weights.extend(tape.schedules.iter().map(|schedule| schedule.weight(step)));
                    self.add_to_output(tape, step + 1, options, std::ptr::null(), scratch);
                }
            } else {
                for (node, row) in scratch.output.as_mut_slice().chunks_exact_mut(hidden_row).take(nodes).enumerate() {
                    let unit = if options.node_wise() { node } else { 0 };
                    let divisor = tape.schedules[unit].divisor(options);
                    row.iter_mut().for_each(|value| *value = *value / divisor);
                }
            }
            (scratch.output.as_slice(), Stops::of(&tape.schedules, options.node_wise()))
        } else {
            (tape.hidden.record(tape.steps), Stops::after(1, tape.steps))
        };
        for (row, values) in output.chunks_exact_mut(hidden).enumerate() {
            values.copy_from_slice(&source[row * hidden_row..][..hidden]);
        }
        stops
    }
}
