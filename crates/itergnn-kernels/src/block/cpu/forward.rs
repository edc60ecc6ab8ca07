//! One graph from its initial states to its output.

use super::TILE_ROWS;
use super::active::ActiveSet;
use super::attention::Scores;
use super::packed::{PackedWeights, Shapes};
use super::plan::GraphPlan;
use super::tape::{GraphTape, History, Memory};
use crate::block::batch::BlockInputs;
use crate::block::confidence::Confidence;
use crate::block::config::{Aggregation, BlockConfig, ConfidenceReadout, Controller, Iterative};
use crate::block::output::{UnitResults, Wanted};
use crate::block::parameters::{ParameterKind, ParameterLayout};
use crate::block::schedule::Schedule;
use crate::error::KernelError;
use crate::kernels::{
    Activate, ColumnSum, Gemm, Kernels, MaxForward, PoolMax, Signs, Start, WINNER_ALIGNMENT, WeightedAdd,
    WeightedForward, Winners,
};
use crate::memory::Buffer;
use crate::real::{Real, sigmoid};
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
    constants: Buffer<T>,
    /// `[TILE_ROWS, message_row]`.
    first: Buffer<T>,
    /// `[rows, hidden_row]`.
    messages: Buffer<T>,
    /// `[nodes, hidden_row]`.
    output: Buffer<T>,
    /// One per unit: the weight of its state, and what its output is multiplied by.
    weights: Vec<T>,
    keeps: Vec<T>,
    active: ActiveSet,
}

impl<T> Default for ForwardScratch<T> {
    fn default() -> Self {
        Self {
            constants: Buffer::default(),
            first: Buffer::default(),
            messages: Buffer::default(),
            output: Buffer::default(),
            weights: Vec::new(),
            keeps: Vec::new(),
            active: ActiveSet::default(),
        }
    }
}

impl<T: Real> Job<'_, T> {
    /// Which layer's weights an iteration uses.
    pub(super) fn layer_of(&self, step: usize) -> usize {
        if matches!(self.config.controller, Controller::Stack { .. }) { step } else { 0 }
    }

    pub(super) fn confidence(&self, options: &Iterative) -> Confidence<'_, T> {
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

    /// Runs one graph; `output` and `last_hidden` are its rows of the batch's results. The tape is of use for the way back only if it remembers
    /// everything.
    pub(super) fn forward(
        &self,
        graph: usize,
        scratch: &mut ForwardScratch<T>,
        memory: Memory,
        output: &mut [T],
        last_hidden: &mut [T],
    ) -> Result<(GraphTape<T>, UnitResults<T>), KernelError> {
        let plan = GraphPlan::new(self.config, self.inputs, graph, self.wanted);
        let Shapes { hidden, hidden_row, prepared_row, message_row, .. } = self.weights.shapes;
        let nodes = plan.nodes;
        scratch.constants.ensure(nodes * prepared_row);
        scratch.first.ensure(TILE_ROWS * message_row);
        scratch.messages.ensure(plan.rows() * hidden_row);
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
        while self.is_running(&tape) {
            let step = tape.steps;
            if step == 0 || self.layer_of(step) != 0 {
                self.constants(&tape.plan, self.layer_of(step), scratch);
                scratch.active.select_everything();
            } else {
                scratch.active.select_changed(&tape.plan, self.config);
            }
            let mut finite = self.step(&mut tape, scratch);
            tape.steps += 1;
            if let Some(options) = self.config.iterative() {
                finite &= self.push_confidences(&mut tape, options, scratch);
            }
            if !finite {
                return Err(KernelError::NonFinite { graph, iteration: tape.steps });
            }
        }
        let units = self.results(&mut tape, scratch, output);
        for (row, values) in last_hidden.chunks_exact_mut(hidden).enumerate() {
            values.copy_from_slice(&tape.hidden.record(tape.steps)[row * hidden_row..][..hidden]);
        }
        Ok((tape, units))
    }

    fn new_tape(&self, plan: GraphPlan, memory: Memory) -> GraphTape<T> {
        let Shapes { hidden_row, prepared_row, .. } = self.weights.shapes;
        let nodes = plan.nodes;
        let units = match self.config.iterative() {
            Some(options) if options.node_wise => nodes,
            Some(_) if nodes > 0 => 1,
            _ => 0,
        };
        GraphTape {
            memory,
            steps: 0,
            hidden: History::new(nodes * hidden_row, memory),
            prepared: History::new(nodes * prepared_row, memory),
            byte_winners: History::new(nodes * self.winner_row(), memory),
            word_winners: History::new(nodes * self.winner_row(), memory),
            weights: History::new(plan.edges, memory),
            signs: History::new(plan.rows() * hidden_row / ROW_ALIGNMENT, memory),
            messages: History::new(nodes * hidden_row, memory),
            pooled_positions: History::new(hidden_row, memory),
            pooled: History::new(hidden_row, memory),
            schedules: vec![Schedule::new(memory == Memory::Everything); units],
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
        // SAFETY: the kernels table belongs to this processor; `constants` holds nodes x prepared_row values, the inputs nodes x input, and the packed
        // sections have the shapes they are documented with.
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

    /// One message-passing step; returns whether all its values are finite.
    fn step(&self, tape: &mut GraphTape<T>, scratch: &mut ForwardScratch<T>) -> bool {
        self.prepare(tape, scratch);
        let messages = self.messages(tape, scratch);
        match self.config.aggregation {
            Aggregation::Max => self.max_forward(tape, messages, scratch),
            aggregation => self.attention_forward(tape, messages, aggregation, scratch),
        }
    }

    /// The prepared rows of one step: computed for nodes that changed, copied for the others.
    fn prepare(&self, tape: &mut GraphTape<T>, scratch: &ForwardScratch<T>) {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let (step, nodes) = (tape.steps, tape.plan.nodes);
        let packed = self.weights.layer(self.layer_of(step));
        let prepared = tape.prepared.record_mut(step);
        let changed = scratch.active.changed_nodes();
        let list = changed.map_or(std::ptr::null(), <[u32]>::as_ptr);
        // SAFETY: the kernels table belongs to this processor; states are nodes x hidden_row, prepared rows and constants nodes x prepared_row; the list
        // holds nodes of the graph.
        unsafe {
            (self.kernels.gemm)(&Gemm {
                rows: changed.map_or(nodes, <[u32]>::len),
                columns: shapes.prepared_row,
                depth: shapes.hidden,
                a: tape.hidden.record(step).as_ptr(),
                a_row: shapes.hidden_row,
                a_column: 1,
                b: packed[sections.prepare..].as_ptr(),
                b_row: shapes.prepared_row,
                c: prepared,
                c_row: shapes.prepared_row,
                start: Start::Matrix(scratch.constants.as_ptr(), shapes.prepared_row),
                leaky: false,
                a_rows: list,
                c_rows: list,
                depths: std::ptr::null(),
            });
        }
        if let Some(changed) = changed {
            let previous = tape.prepared.record(step - 1).as_ptr();
            // SAFETY: two different records of nodes x prepared_row.
            unsafe { copy_other_rows(previous, prepared, nodes, shapes.prepared_row, changed) }
        }
    }

    /// Computes the messages of active rows and returns where they are, `[rows, hidden_row]`.
    fn messages(&self, tape: &mut GraphTape<T>, scratch: &mut ForwardScratch<T>) -> *const T {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let (step, nodes) = (tape.steps, tape.plan.nodes);
        let layer = self.layer_of(step);
        let packed = self.weights.layer(layer);
        let kept = shapes.has_score && tape.plan.shared_messages;
        let messages = if kept { tape.messages.record_mut(step) } else { scratch.messages.as_mut_ptr() };
        let plan = &tape.plan;
        let prepared = tape.prepared.record(step).as_ptr();
        let all = plan.message_rows(self.inputs, self.weights, layer, prepared);
        let (rows, count) = scratch.active.message_rows(plan, all);
        for first in (0..count).step_by(TILE_ROWS) {
            let count = TILE_ROWS.min(count - first);
            // SAFETY: `first` has TILE_ROWS rows of message_row, `messages` rows x hidden_row; the lists hold nodes and edges of the graph. A shared
            // message lies in the row of its sender.
            unsafe {
                (self.kernels.activate)(&Activate { rows, first, count, target: scratch.first.as_mut_ptr() });
                let (c, c_rows) = if plan.shared_messages {
                    (messages, rows.senders.add(first))
                } else {
                    (messages.add(first * shapes.hidden_row), std::ptr::null())
                };
                (self.kernels.gemm)(&Gemm {
                    rows: count,
                    columns: shapes.hidden_row,
                    depth: shapes.message,
                    a: scratch.first.as_ptr(),
                    a_row: shapes.message_row,
                    a_column: 1,
                    b: packed[sections.second..].as_ptr(),
                    b_row: shapes.hidden_row,
                    c,
                    c_row: shapes.hidden_row,
                    start: Start::Row(packed[sections.second_bias..].as_ptr()),
                    leaky: true,
                    a_rows: std::ptr::null(),
                    c_rows,
                    depths: std::ptr::null(),
                });
            }
        }
        if let Some(changed) = scratch.active.changed_nodes().filter(|_| kept) {
            let previous = tape.messages.record(step - 1).as_ptr();
            // SAFETY: two different records of nodes x hidden_row.
            unsafe { copy_other_rows(previous, messages, nodes, shapes.hidden_row, changed) }
        }
        messages
    }

    fn max_forward(&self, tape: &mut GraphTape<T>, messages: *const T, scratch: &mut ForwardScratch<T>) -> bool {
        let step = tape.steps;
        let winners = if tape.plan.byte_winners {
            Winners::Bytes(tape.byte_winners.record_mut(step))
        } else {
            Winners::Words(tape.word_winners.record_mut(step))
        };
        // SAFETY: states are two different records of nodes x hidden_row, messages lie where the active edges say; winners have nodes x winner_row places
        // and `changed` one per node.
        unsafe {
            (self.kernels.max_forward)(&MaxForward {
                edges: scratch.active.edges(&tape.plan),
                messages,
                width: self.weights.shapes.hidden_row,
                before: tape.hidden.record(step).as_ptr(),
                after: tape.hidden.record_mut(step + 1),
                changed: scratch.active.changed_mut(),
                winners,
                winner_row: self.winner_row(),
            })
        }
    }

    fn attention_forward(
        &self,
        tape: &mut GraphTape<T>,
        messages: *const T,
        aggregation: Aggregation,
        scratch: &mut ForwardScratch<T>,
    ) -> bool {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let (step, edges) = (tape.steps, tape.plan.edges);
        let packed = self.weights.layer(self.layer_of(step));
        let active = scratch.active.edges(&tape.plan);
        // SAFETY: the record holds one weight per edge, of initialised memory.
        let weights = unsafe { std::slice::from_raw_parts_mut(tape.weights.record_mut(step), edges) };
        let scores = Scores {
            plan: &tape.plan,
            shapes,
            aggregation,
            prepared: tape.prepared.record(step),
            features: tape.plan.features(self.inputs, shapes.edge),
            edge_weight: &packed[sections.score_edge..][..shapes.edge],
        };
        let finite = scores.weights(&scratch.active, weights);
        // SAFETY: as for the maximum; there is one weight per edge, and one half-word of signs per 16 values of a message.
        unsafe {
            if !tape.plan.shared_messages {
                (self.kernels.signs)(&Signs {
                    rows: *active.offsets.add(tape.plan.nodes) as usize,
                    width: shapes.hidden_row,
                    values: messages,
                    edges: active.edges,
                    signs: tape.signs.record_mut(step),
                });
            }
            let messages_finite = (self.kernels.weighted_forward)(&WeightedForward {
                edges: active,
                messages,
                width: shapes.hidden_row,
                weights: weights.as_ptr(),
                before: tape.hidden.record(step).as_ptr(),
                after: tape.hidden.record_mut(step + 1),
                changed: scratch.active.changed_mut(),
            });
            finite && messages_finite
        }
    }

    /// Predicts the confidences of the units that are still running and, without a memory, adds their states to the output; returns whether all
    /// confidences are finite.
    fn push_confidences(&self, tape: &mut GraphTape<T>, options: &Iterative, scratch: &mut ForwardScratch<T>) -> bool {
        let Shapes { hidden, hidden_row, .. } = self.weights.shapes;
        let confidence = self.confidence(options);
        if !options.node_wise {
            self.pool(tape, options);
        }
        let vectors =
            if options.node_wise { tape.hidden.record(tape.steps) } else { tape.pooled.record(tape.steps - 1) };
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
        if tape.memory == Memory::LastTwo {
            self.add_to_output(tape, tape.steps, options, scratch.keeps.as_ptr(), scratch);
        }
        finite
    }

    /// Adds the states after `steps` iterations to the output, with the weights in the scratch.
    fn add_to_output(
        &self,
        tape: &GraphTape<T>,
        steps: usize,
        options: &Iterative,
        keeps: *const T,
        scratch: &mut ForwardScratch<T>,
    ) {
        // SAFETY: source and target are nodes x hidden_row; there is one weight, or one per node, and as many values to keep.
        unsafe {
            (self.kernels.weighted_add)(&WeightedAdd {
                rows: tape.plan.nodes,
                width: self.weights.shapes.hidden_row,
                source: tape.hidden.record(steps).as_ptr(),
                target: scratch.output.as_mut_ptr(),
                weights: scratch.weights.as_ptr(),
                weight_step: usize::from(options.node_wise),
                keeps,
                factor: std::ptr::null(),
                products: std::ptr::null_mut(),
            });
        }
    }

    /// Pools the states after the last iteration.
    fn pool(&self, tape: &mut GraphTape<T>, options: &Iterative) {
        let (nodes, width) = (tape.plan.nodes, self.weights.shapes.hidden_row);
        let target = tape.pooled.record_mut(tape.steps - 1);
        let source = tape.hidden.record(tape.steps).as_ptr();
        if options.readout == ConfidenceReadout::Max {
            let positions = tape.pooled_positions.record_mut(tape.steps - 1);
            // SAFETY: the records hold one padded row each; a graph with a schedule has at least one node.
            unsafe { (self.kernels.pool_max)(&PoolMax { rows: nodes, width, source, target, positions }) }
            return;
        }
        // SAFETY: the record holds one padded row of initialised memory.
        let pooled = unsafe { std::slice::from_raw_parts_mut(target, width) };
        pooled.fill(T::ZERO);
        // SAFETY: as above.
        unsafe {
            (self.kernels.column_sum)(&ColumnSum { rows: nodes, columns: width, source, source_row: width, target })
        }
        if options.readout == ConfidenceReadout::Mean {
            let share = T::ONE / T::from_f64(nodes as f64);
            pooled.iter_mut().for_each(|value| *value *= share);
        }
    }

    /// Weighs the states into the output and tells what became of the units.
    fn results(&self, tape: &mut GraphTape<T>, scratch: &mut ForwardScratch<T>, output: &mut [T]) -> UnitResults<T> {
        let Shapes { hidden, hidden_row, .. } = self.weights.shapes;
        let nodes = tape.plan.nodes;
        let mut units = UnitResults::default();
        let source = if let Some(options) = self.config.iterative() {
            tape.schedules.iter_mut().for_each(|schedule| schedule.finish(options));
            if tape.memory == Memory::Everything {
                for step in 0..tape.steps {
                    scratch.weights.clear();
                    scratch.weights.extend(tape.schedules.iter().map(|schedule| schedule.weight(step)));
                    units.confidences.extend(tape.schedules.iter().map(|schedule| {
                        if step < schedule.iterations() { schedule.confidence(step) } else { T::ZERO }
                    }));
                    self.add_to_output(tape, step + 1, options, std::ptr::null(), scratch);
                }
            } else {
                for (node, row) in scratch.output.as_mut_slice().chunks_exact_mut(hidden_row).take(nodes).enumerate() {
                    let unit = if options.node_wise { node } else { 0 };
                    let divisor = tape.schedules[unit].divisor(options);
                    row.iter_mut().for_each(|value| *value = *value / divisor);
                }
            }
            for schedule in &tape.schedules {
                units.iterations.push(schedule.iterations() as u32);
                units.remaining.push(schedule.remaining());
                units.unspent.push(schedule.unspent());
                units.capped.push(schedule.capped());
            }
            if tape.schedules.is_empty() && !options.node_wise {
                // A graph without nodes has nothing to be confident of.
                units = UnitResults { remaining: vec![T::ONE], ..UnitResults::fixed(0) };
            }
            scratch.output.as_slice()
        } else {
            units = UnitResults::fixed(tape.steps);
            tape.hidden.record(tape.steps)
        };
        for (row, values) in output.chunks_exact_mut(hidden).enumerate() {
            values.copy_from_slice(&source[row * hidden_row..][..hidden]);
        }
        units
    }
}

/// Copies the rows whose numbers are not in the ascending list.
///
/// # Safety
/// Both matrices are `rows x width` and do not overlap.
unsafe fn copy_other_rows<T: Real>(source: *const T, target: *mut T, rows: usize, width: usize, listed: &[u32]) {
    let mut start = 0;
    for end in listed.iter().map(|&row| row as usize).chain([rows]) {
        // SAFETY: rows `start..end` lie within both matrices.
        unsafe {
            std::ptr::copy_nonoverlapping(source.add(start * width), target.add(start * width), (end - start) * width)
        }
        start = end + 1;
    }
}
