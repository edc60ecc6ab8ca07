//! A run that differs from a recorded one in the row of one node.
//!
//! After k iterations the difference has come at most k edges far, and less far where what it sends is not the
//! maximum. Only the nodes it has reached, the *members*, have states of their own; all others are as recorded.

use super::dense::{StepOutcome, for_blocks};
use super::fold::{Edges, LEAST_PARALLEL, PARALLEL_ROWS, Shared};
use super::graph::LargeGraph;
use super::record::{Record, Weights, finish_sum, is_larger, same_bits, settle};
use super::rows::{RowMaker, Sources, TileScratch};
use super::run::raise;
use super::storage::Places;
use super::units::Units;
use crate::block::stops::Stops;
use crate::kernels::{LazyOutput, UNTOUCHED};
use crate::memory::Buffer;
use crate::real::{Real, sigmoid};
use crate::settings::IterConfig;

const NONE: u32 = u32::MAX;

/// Iterations in which more than half of the nodes may differ.
const CROWDED_STEPS: usize = 32;

/// What all variants of a run read.
pub(super) struct Ground<'a, T: 'static> {
    pub(super) maker: RowMaker<'a, T>,
    pub(super) graph: &'a LargeGraph,
    /// The run that variants differ from.
    pub(super) record: Record<'a, T>,
    pub(super) options: &'a IterConfig,
    /// `[nodes, input]`.
    pub(super) inputs: &'a [T],
}

/// How far a variant has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// The record ends before the run does.
    Waits,
    /// All units stopped.
    Done,
    /// A value is not finite after this many iterations.
    Overflowed(usize),
    /// Most nodes have differed for so long that the whole graph is less work.
    Crowded,
}

/// One variant; its memory serves one after the other.
#[derive(Debug)]
pub(super) struct Variant<T: 'static> {
    /// The node that is different from the beginning, and its input.
    node: usize,
    input: Vec<T>,
    units: Units<T>,
    /// The weight given before the first iteration, after the first, and so on.
    totals: Vec<f64>,
    steps: usize,
    crowded: usize,
    /// `[nodes]`: the row of each member.
    slots: Vec<u32>,
    /// Per row: which node it is, its state, whether the last iteration changed it, and what it owed to the output when
    /// it last changed, up to which weight. A run that only is followed has no output.
    members: Vec<u32>,
    states: Vec<T>,
    changed: Vec<u8>,
    sums: Vec<T>,
    settled: Vec<f64>,
    /// The maximum over the states of the members.
    largest: Vec<T>,
    /// Nodes whose rows an iteration needs, and `[nodes]`: which row.
    needed: Vec<u32>,
    places: Vec<u32>,
    gathered: Buffer<T>,
    gathered_inputs: Buffer<T>,
    rows: Buffer<T>,
    edges: EdgeList,
    scratch: TileScratch<T>,
}

/// Edges of an iteration, those of a receiver next to each other.
#[derive(Debug, Default)]
struct EdgeList {
    sender_rows: Vec<u32>,
    receiver_rows: Vec<u32>,
    numbers: Vec<u32>,
    receivers: Vec<u32>,
}

impl EdgeList {
    fn clear(&mut self) {
        for list in [&mut self.sender_rows, &mut self.receiver_rows, &mut self.numbers, &mut self.receivers] {
            list.clear();
        }
    }

    fn view(&self) -> Edges<'_> {
        Edges {
            count: self.receivers.len(),
            sender_rows: self.sender_rows.as_ptr(),
            receiver_rows: self.receiver_rows.as_ptr(),
            numbers: self.numbers.as_ptr(),
            receivers: self.receivers.as_ptr(),
            messages: None,
        }
    }
}

impl<T: Real> Variant<T> {
    /// Memory for graphs of so many nodes.
    pub(super) fn new(nodes: usize, options: &IterConfig) -> Self {
        Self {
            node: 0,
            input: Vec::new(),
            units: Units::new(options, 1),
            totals: Vec::new(),
            steps: 0,
            crowded: 0,
            slots: vec![NONE; nodes],
            members: Vec::new(),
            states: Vec::new(),
            changed: Vec::new(),
            sums: Vec::new(),
            settled: Vec::new(),
            largest: Vec::new(),
            needed: Vec::new(),
            places: vec![NONE; nodes],
            gathered: Buffer::default(),
            gathered_inputs: Buffer::default(),
            rows: Buffer::default(),
            edges: EdgeList::default(),
            scratch: TileScratch::default(),
        }
    }

    /// Begins with another input and another state, `[hidden_row]`, of one node.
    pub(super) fn start(&mut self, node: usize, input: &[T], state: Vec<T>, options: &IterConfig) {
        self.members.drain(..).for_each(|member| self.slots[member as usize] = NONE);
        self.node = node;
        self.input = input.to_vec();
        self.units = Units::new(options, 1);
        self.totals = vec![0.0];
        self.steps = 0;
        self.crowded = 0;
        self.slots[node] = 0;
        self.members.push(node as u32);
        self.states.clear();
        self.states.extend_from_slice(&state);
        self.changed = vec![1];
        self.sums.clear();
        self.sums.resize(state.len(), T::ZERO);
        self.settled = vec![UNTOUCHED];
        self.largest = state;
    }

    /// Goes on until the units stop or the record ends.
    pub(super) fn advance(&mut self, ground: &Ground<'_, T>) -> Progress {
        while self.units.is_running() {
            if !ground.record.knows(self.steps + 1) {
                return Progress::Waits;
            }
            self.crowded += usize::from(self.members.len() > ground.graph.nodes / 2);
            if self.crowded > CROWDED_STEPS {
                return Progress::Crowded;
            }
            let rests = ground.record.rests() && self.steps >= ground.record.steps() && !self.changed.contains(&1);
            let mut finite = rests || self.step(ground, true);
            self.steps += 1;
            let confidence = self.confidence(ground);
            finite &= self.units.push(|_| Some(confidence));
            self.totals.push(self.units.totals()[0]);
            if !finite {
                return Progress::Overflowed(self.steps);
            }
            // Nothing changes any more: neither does the confidence.
            while rests && self.units.is_running() {
                self.units.push(|_| Some(confidence));
                self.steps += 1;
            }
        }
        Progress::Done
    }

    /// One iteration of which nothing but the states is asked; returns whether all messages are finite.
    pub(super) fn follow(&mut self, ground: &Ground<'_, T>) -> bool {
        let finite = self.step(ground, false);
        self.steps += 1;
        finite
    }

    /// The nodes that differ, and their states.
    pub(super) fn different(&self) -> (&[u32], &[T]) {
        (&self.members, &self.states)
    }

    fn confidence(&self, ground: &Ground<'_, T>) -> T {
        let mut pooled = self.largest.clone();
        ground.record.raise_by_states(self.steps, |node| self.slots[node] != NONE, &mut pooled);
        let job = ground.maker.job;
        sigmoid(job.confidence(ground.options).logit(&pooled[..job.weights.shapes.hidden]))
    }

    /// The elementwise maximum over the outputs of all nodes, and when the units stopped.
    pub(super) fn finish(&self, ground: &Ground<'_, T>) -> (Vec<T>, Stops) {
        let job = ground.maker.job;
        let width = job.weights.shapes.hidden_row;
        let weights = Weights {
            totals: &self.totals,
            total: self.units.totals()[0],
            steps: self.steps,
            factor: self.units.factor(0),
        };
        let mut most = vec![T::from_f64(f64::NEG_INFINITY); width];
        ground.record.raise_by_sums(job.kernels, weights, |node| self.slots[node] != NONE, &mut most);
        let mut output = vec![T::ZERO; width];
        for (slot, state) in self.states.chunks_exact(width).enumerate() {
            // The same bound as that of the others.
            finish_sum(&mut output, state, UNTOUCHED, weights);
            if is_larger(&output, &most) {
                output.copy_from_slice(&self.sums[slot * width..(slot + 1) * width]);
                finish_sum(&mut output, state, self.settled[slot], weights);
                raise(&mut most, &output);
            }
        }
        most.truncate(job.weights.shapes.hidden);
        (most, self.units.clone().results(None))
    }

    /// One iteration; returns whether all messages are finite. `has_output` says whether sums are kept up.
    fn step(&mut self, ground: &Ground<'_, T>, has_output: bool) -> bool {
        let members = self.members.len();
        self.reach(ground);
        self.list_edges(ground, members);
        self.compute_rows(ground, members);
        self.changed.fill(0);
        let output = if has_output {
            // Those of rows that are new come when it is known which stay.
            let (width, rows) = (self.largest.len(), self.members.len());
            self.sums.resize(rows * width, T::ZERO);
            self.settled.resize(rows, UNTOUCHED);
            let (rows, settled) = (self.sums.as_mut_ptr(), self.settled.as_mut_ptr());
            LazyOutput { rows, totals: &self.totals[self.steps], total_step: 0, settled }
        } else {
            LazyOutput::none()
        };
        let places = Places { states: self.states.as_mut_ptr(), changed: self.changed.as_mut_ptr(), output };
        // SAFETY: the edges name rows that were computed and rows of members.
        let finite = unsafe { ground.maker.fold(self.edges.view(), self.rows.as_ptr(), places, &mut self.scratch) };
        self.needed.drain(..).for_each(|node| self.places[node as usize] = NONE);
        self.keep_different(ground, members, has_output);
        finite
    }

    /// Gives rows to the nodes that may become different.
    fn reach(&mut self, ground: &Ground<'_, T>) {
        let (record, width) = (ground.record, self.largest.len());
        for slot in 0..self.members.len() {
            let member = self.members[slot] as usize;
            if self.changed[slot] == 0 && !record.changed(member, self.steps) {
                continue;
            }
            for &receiver in ground.graph.outgoing(member) {
                if self.slots[receiver as usize] == NONE {
                    self.slots[receiver as usize] = self.members.len() as u32;
                    self.members.push(receiver);
                    let end = self.states.len();
                    self.states.resize(end + width, T::ZERO);
                    record.read(receiver as usize, self.steps, &mut self.states[end..]);
                }
            }
        }
        self.changed.resize(self.members.len(), 0);
    }

    /// Whether the last iteration changed a node, in this run; the first `members` rows are different from the record.
    fn has_changed(&self, record: Record<'_, T>, node: usize, members: usize) -> bool {
        match self.slots[node] {
            slot if (slot as usize) < members => self.changed[slot as usize] == 1,
            _ => record.changed(node, self.steps),
        }
    }

    fn need(&mut self, node: u32) -> u32 {
        let place = &mut self.places[node as usize];
        if *place == NONE {
            *place = self.needed.len() as u32;
            self.needed.push(node);
        }
        *place
    }

    /// Lists the edges to all rows whose messages are new.
    fn list_edges(&mut self, ground: &Ground<'_, T>, members: usize) {
        let uses_receiver = ground.maker.job.config.uses_receiver();
        let (graph, record) = (ground.graph, ground.record);
        self.edges.clear();
        for slot in 0..self.members.len() {
            let receiver = self.members[slot];
            let all = uses_receiver && self.has_changed(record, receiver as usize, members);
            for edge in graph.incoming(receiver as usize) {
                let sender = graph.senders[edge];
                if all || self.has_changed(record, sender as usize, members) {
                    let row = self.need(sender);
                    self.edges.sender_rows.push(row);
                    if uses_receiver {
                        let row = self.need(receiver);
                        self.edges.receiver_rows.push(row);
                    }
                    self.edges.numbers.push(edge as u32);
                    self.edges.receivers.push(slot as u32);
                }
            }
        }
    }

    /// Computes the rows of the nodes that are needed, on the threads that are free.
    fn compute_rows(&mut self, ground: &Ground<'_, T>, members: usize) {
        let shapes = &ground.maker.job.weights.shapes;
        let (width, input, row) = (shapes.hidden_row, shapes.input, ground.maker.width());
        let needed = &self.needed;
        self.gathered.ensure(needed.len() * width);
        self.gathered_inputs.ensure(needed.len() * input);
        self.rows.ensure(needed.len() * row);
        let (slots, own, own_input) = (&self.slots, &self.states, (self.node, &self.input));
        let states =
            Shared::new((self.gathered.as_mut_ptr(), self.gathered_inputs.as_mut_ptr(), self.rows.as_mut_ptr()));
        let (steps, parts) = (self.steps, needed.len().div_ceil(PARALLEL_ROWS));
        for_blocks(needed.len() >= LEAST_PARALLEL, parts, &mut self.scratch, |part, scratch| {
            let first = part * PARALLEL_ROWS;
            let nodes = &needed[first..needed.len().min(first + PARALLEL_ROWS)];
            let (states, inputs, rows) = states.get();
            // SAFETY: the buffers have a row for each node that is needed, and a part has rows of its own.
            unsafe {
                let (states, inputs) = (states.add(first * width), inputs.add(first * input));
                for (place, &node) in nodes.iter().enumerate() {
                    let (node, slot) = (node as usize, slots[node as usize] as usize);
                    let state = std::slice::from_raw_parts_mut(states.add(place * width), width);
                    match slot < members {
                        true => state.copy_from_slice(&own[slot * width..(slot + 1) * width]),
                        false => ground.record.read(node, steps, state),
                    }
                    let target = std::slice::from_raw_parts_mut(inputs.add(place * input), input);
                    let is_own = node == own_input.0;
                    target.copy_from_slice(if is_own { own_input.1 } else { &ground.inputs[node * input..][..input] });
                }
                let sources = Sources { count: nodes.len(), states, inputs, list: std::ptr::null() };
                ground.maker.compute(sources, rows.add(first * row), std::ptr::null(), scratch);
            }
            StepOutcome::NOTHING
        });
    }

    /// After an iteration: of the rows behind the first `members`, those stay that are not as recorded.
    fn keep_different(&mut self, ground: &Ground<'_, T>, members: usize, has_output: bool) {
        let (record, width) = (ground.record, ground.maker.job.weights.shapes.hidden_row);
        let mut recorded = vec![T::ZERO; width];
        let mut kept = members;
        for slot in members..self.members.len() {
            let node = self.members[slot] as usize;
            let row = slot * width..(slot + 1) * width;
            record.read(node, self.steps + 1, &mut recorded);
            if same_bits(&self.states[row.clone()], &recorded) {
                self.slots[node] = NONE;
                continue;
            }
            self.members[kept] = node as u32;
            self.slots[node] = kept as u32;
            self.changed[kept] = self.changed[slot];
            self.states.copy_within(row, kept * width);
            raise(&mut self.largest, &self.states[kept * width..(kept + 1) * width]);
            if has_output {
                self.settle_new(ground, kept, &mut recorded);
            }
            kept += 1;
        }
        for slot in (0..members).filter(|&slot| self.changed[slot] == 1) {
            raise(&mut self.largest, &self.states[slot * width..(slot + 1) * width]);
        }
        self.members.truncate(kept);
        self.states.truncate(kept * width);
        self.changed.truncate(kept);
        if has_output {
            self.sums.truncate(kept * width);
            self.settled.truncate(kept);
        }
    }

    /// What a row that differs for the first time owes: until the iteration before what the recorded one would, with the
    /// weights of this run. `state` is overwritten.
    fn settle_new(&mut self, ground: &Ground<'_, T>, slot: usize, state: &mut [T]) {
        let (kernels, width) = (ground.maker.job.kernels, state.len());
        let (node, sum) = (self.members[slot] as usize, &mut self.sums[slot * width..(slot + 1) * width]);
        sum.fill(T::ZERO);
        let all = ground.record.base.all_channels();
        let mut settled = ground.record.settle(kernels, node, self.steps, &self.totals, all, sum, state);
        if self.changed[slot] == 1 {
            settled = settle(kernels, state, self.totals[self.steps], settled, sum);
        }
        self.settled[slot] = settled;
    }
}
