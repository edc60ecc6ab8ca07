//! One graph from its initial states to its output.

use super::TILE_ROWS;
use super::attention::Scores;
use super::packed::{PackedWeights, Shapes};
use super::plan::GraphPlan;
use super::tape::{GraphTape, History};
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
}

impl<T> Default for ForwardScratch<T> {
    fn default() -> Self {
        Self {
            constants: Buffer::default(),
            first: Buffer::default(),
            messages: Buffer::default(),
            output: Buffer::default(),
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

    /// Runs one graph; `output` and `last_hidden` are its rows of the batch's results.
    pub(super) fn forward(
        &self,
        graph: usize,
        scratch: &mut ForwardScratch<T>,
        output: &mut [T],
        last_hidden: &mut [T],
    ) -> Result<(GraphTape<T>, UnitResults<T>), KernelError> {
        let plan = GraphPlan::new(self.config, self.inputs, graph, self.wanted);
        let Shapes { hidden, hidden_row, prepared_row, message_row, .. } = self.weights.shapes;
        let nodes = plan.nodes;
        scratch.constants.ensure(nodes * prepared_row);
        scratch.first.ensure(TILE_ROWS * message_row);
        scratch.messages.ensure(plan.rows() * hidden_row);
        let mut tape = self.new_tape(plan);
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
            }
            let mut finite = self.step(&mut tape, scratch);
            tape.steps += 1;
            if let Some(options) = self.config.iterative() {
                finite &= self.push_confidences(&mut tape, options);
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

    fn new_tape(&self, plan: GraphPlan) -> GraphTape<T> {
        let Shapes { hidden_row, prepared_row, .. } = self.weights.shapes;
        let nodes = plan.nodes;
        let units = match self.config.iterative() {
            Some(options) if options.node_wise => nodes,
            Some(_) if nodes > 0 => 1,
            _ => 0,
        };
        GraphTape {
            steps: 0,
            hidden: History::new(nodes * hidden_row),
            prepared: History::new(nodes * prepared_row),
            byte_winners: History::new(nodes * self.winner_row()),
            word_winners: History::new(nodes * self.winner_row()),
            weights: History::new(plan.edges),
            signs: History::new(plan.rows() * hidden_row / ROW_ALIGNMENT),
            messages: History::new(nodes * hidden_row),
            pooled_positions: History::new(hidden_row),
            pooled: History::new(hidden_row),
            schedules: vec![Schedule::new(); units],
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
            });
        }
    }

    /// One message-passing step; returns whether all its values are finite.
    fn step(&self, tape: &mut GraphTape<T>, scratch: &mut ForwardScratch<T>) -> bool {
        let (shapes, sections) = (&self.weights.shapes, &self.weights.sections);
        let (step, nodes) = (tape.steps, tape.plan.nodes);
        let layer = self.layer_of(step);
        let packed = self.weights.layer(layer);
        let before = tape.hidden.record(step).as_ptr();
        let after = tape.hidden.record_mut(step + 1);
        let prepared = tape.prepared.record_mut(step);
        let keeps_messages = shapes.has_score && tape.plan.shared_messages;
        let messages = if keeps_messages { tape.messages.record_mut(step) } else { scratch.messages.as_mut_ptr() };
        let plan = &tape.plan;
        let rows = plan.message_rows(self.inputs, self.weights, layer, prepared);
        // SAFETY: the kernels table belongs to this processor. Records and scratch were sized for this graph: `before` and `after` nodes x hidden_row (two
        // different records), `prepared` and `constants` nodes x prepared_row, `messages` rows x hidden_row, `first` TILE_ROWS x message_row. Indices of
        // the plan were checked with the batch.
        unsafe {
            (self.kernels.gemm)(&Gemm {
                rows: nodes,
                columns: shapes.prepared_row,
                depth: shapes.hidden,
                a: before,
                a_row: shapes.hidden_row,
                a_column: 1,
                b: packed[sections.prepare..].as_ptr(),
                b_row: shapes.prepared_row,
                c: prepared,
                c_row: shapes.prepared_row,
                start: Start::Matrix(scratch.constants.as_ptr(), shapes.prepared_row),
                leaky: false,
            });
            let mut first = 0;
            while first < plan.rows() {
                let count = TILE_ROWS.min(plan.rows() - first);
                (self.kernels.activate)(&Activate { rows, first, count, target: scratch.first.as_mut_ptr() });
                (self.kernels.gemm)(&Gemm {
                    rows: count,
                    columns: shapes.hidden_row,
                    depth: shapes.message,
                    a: scratch.first.as_ptr(),
                    a_row: shapes.message_row,
                    a_column: 1,
                    b: packed[sections.second..].as_ptr(),
                    b_row: shapes.hidden_row,
                    c: messages.add(first * shapes.hidden_row),
                    c_row: shapes.hidden_row,
                    start: Start::Row(packed[sections.second_bias..].as_ptr()),
                    leaky: true,
                });
                first += count;
            }
        }
        match self.config.aggregation {
            Aggregation::Max => {
                let winners = if tape.plan.byte_winners {
                    Winners::Bytes(tape.byte_winners.record_mut(step))
                } else {
                    Winners::Words(tape.word_winners.record_mut(step))
                };
                // SAFETY: as above; winners have nodes x winner_row places.
                unsafe {
                    (self.kernels.max_forward)(&MaxForward {
                        nodes,
                        offsets: tape.plan.offsets().as_ptr(),
                        edge_rows: tape.plan.edge_rows().as_ptr(),
                        messages,
                        width: shapes.hidden_row,
                        before,
                        after,
                        winners,
                        winner_row: self.winner_row(),
                    })
                }
            }
            aggregation => {
                let edges = tape.plan.edges;
                // SAFETY: the record holds one weight per edge, of initialised memory.
                let weights = unsafe { std::slice::from_raw_parts_mut(tape.weights.record_mut(step), edges) };
                let plan = &tape.plan;
                let scores = Scores {
                    plan,
                    shapes,
                    aggregation,
                    prepared: tape.prepared.record(step),
                    features: plan.features(self.inputs, shapes.edge),
                    edge_weight: &packed[sections.score_edge..][..shapes.edge],
                };
                let finite = scores.weights(weights);
                if !keeps_messages {
                    let signs = tape.signs.record_mut(step);
                    // SAFETY: one half-word per 16 values of the messages.
                    unsafe {
                        (self.kernels.signs)(&Signs { rows: edges, width: shapes.hidden_row, values: messages, signs });
                    }
                }
                // SAFETY: as for the maximum; weights has one value per edge.
                let messages_finite = unsafe {
                    (self.kernels.weighted_forward)(&WeightedForward {
                        nodes,
                        offsets: tape.plan.offsets().as_ptr(),
                        edge_rows: tape.plan.edge_rows().as_ptr(),
                        messages,
                        width: shapes.hidden_row,
                        weights: weights.as_ptr(),
                        before,
                        after,
                    })
                };
                finite && messages_finite
            }
        }
    }

    /// Predicts the confidences of the units that are still running; returns whether they are finite.
    fn push_confidences(&self, tape: &mut GraphTape<T>, options: &Iterative) -> bool {
        let Shapes { hidden, hidden_row, .. } = self.weights.shapes;
        let confidence = self.confidence(options);
        let mut finite = true;
        if options.node_wise {
            let states = tape.hidden.record(tape.steps);
            for (schedule, state) in tape.schedules.iter_mut().zip(states.chunks_exact(hidden_row)) {
                if schedule.is_running(options) {
                    let value = sigmoid(confidence.logit(&state[..hidden]));
                    finite &= value.is_finite();
                    schedule.push(value, options);
                }
            }
        } else {
            self.pool(tape, options);
            let value = sigmoid(confidence.logit(&tape.pooled.record(tape.steps - 1)[..hidden]));
            finite = value.is_finite();
            tape.schedules[0].push(value, options);
        }
        finite
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
        let source =
            if let Some(options) = self.config.iterative() {
                tape.schedules.iter_mut().for_each(|schedule| schedule.finish(options));
                scratch.output.ensure(nodes * hidden_row);
                scratch.output.as_mut_slice()[..nodes * hidden_row].fill(T::ZERO);
                let mut weights = Vec::new();
                for step in 0..tape.steps {
                    weights.clear();
                    weights.extend(tape.schedules.iter().map(|schedule| schedule.weight(step)));
                    units.confidences.extend(tape.schedules.iter().map(|schedule| {
                        if step < schedule.iterations() { schedule.confidence(step) } else { T::ZERO }
                    }));
                    // SAFETY: source and target are nodes x hidden_row; there is one weight, or one per node.
                    unsafe {
                        (self.kernels.weighted_add)(&WeightedAdd {
                            rows: nodes,
                            width: hidden_row,
                            source: tape.hidden.record(step + 1).as_ptr(),
                            target: scratch.output.as_mut_ptr(),
                            weights: weights.as_ptr(),
                            weight_step: usize::from(options.node_wise),
                            factor: std::ptr::null(),
                            products: std::ptr::null_mut(),
                        });
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
