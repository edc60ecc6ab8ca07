//! Prediction on the host, one graph at a time, in memory that does not grow with the number of steps.

use std::ops::Range;

use burn::tensor::{Tensor, TensorData};
use itergnn_kernels::block::Stops;

use super::gate::GateRule;
use super::model::ABSENT;
use super::rule::{Rule, classes_and_scales};
use crate::controllers::{ControllerOutput, GraphStep, NodeStates, RunOptions, SAFETY_CAP, STOP_EPSILON, Scope, Trace};
use crate::fused::EngineUse;
use crate::{GraphTensors, ModelOutput, ReadoutKind};

/// Edges grouped by the node they leave.
struct Leaving {
    offsets: Vec<u32>,
    ends: Vec<u32>,
    weights: Vec<f64>,
}

/// What the steps of one graph came to.
pub(super) struct Ended {
    /// Blended states, `[nodes, channels]`.
    pub(super) state: Vec<f64>,
    pub(super) steps: usize,
    confidence: f64,
    remaining: f64,
    pub(super) capped: bool,
    /// Step, largest change, confidence and what remains.
    trace: Vec<TraceLine>,
}

/// A batch as the walk of the waves needs it.
pub(super) struct Ground {
    along: Leaving,
    against: Option<Leaving>,
    classes: Vec<u32>,
    scales: Vec<f64>,
    /// What it costs to enter or leave each node; empty without a gate.
    tolls: Vec<f64>,
}

/// Runs every graph until it stops.
pub(super) fn infer(rule: &Rule, graph: &GraphTensors, options: &RunOptions) -> ModelOutput {
    let ground = Ground::new(rule, graph);
    let rows = if rule.readout == ReadoutKind::Node { graph.nodes() } else { graph.graphs() };
    let (mut values, mut hidden) = (Vec::with_capacity(rows * rule.outputs), Vec::new());
    let mut ended = Vec::with_capacity(graph.graphs());
    for (index, nodes) in graph.node_segments().iter().enumerate() {
        let mut end = ground.run(rule, index, nodes, options);
        values.extend(rule.predict(&end.state));
        hidden.append(&mut end.state);
        ended.push(end);
    }
    let device = graph.device();
    let hidden = Tensor::from_data(TensorData::new(hidden, [graph.nodes(), rule.channels]), &device);
    let block = ControllerOutput {
        hidden: hidden.clone(),
        scope: Scope::Graph,
        stops: Stops {
            steps: ended.iter().map(|end| end.steps).collect(),
            confidences: ended.iter().map(|end| end.confidence).collect(),
            remaining: ended.iter().map(|end| end.remaining).collect(),
            capped: ended.iter().map(|end| end.capped).collect(),
            ..Stops::before_the_first(ended.len())
        },
        auxiliary_loss: None,
        trace: options.trace.then(|| merged(&ended)),
        engine: EngineUse::plain(),
    };
    let values = Tensor::from_data(TensorData::new(values, [rows, rule.outputs]), &device);
    ModelOutput { values, hidden: Some(hidden), blocks: vec![block], auxiliary_loss: None }
}

/// One graph at one step.
#[derive(Clone)]
struct TraceLine {
    step: usize,
    change: f64,
    changed: f64,
    confidence: f64,
    remaining: f64,
    nodes: Option<NodeStates>,
}

/// The traces of all graphs, step by step.
fn merged(ended: &[Ended]) -> Trace {
    let rows = ended.iter().enumerate().flat_map(|(graph, end)| {
        let row = move |line: &TraceLine| GraphStep {
            graph,
            step: line.step,
            change: line.change,
            changed: line.changed,
            confidence: line.confidence,
            remaining: line.remaining,
            nodes: line.nodes.clone(),
        };
        end.trace.iter().map(row)
    });
    Trace::of_graphs(rows)
}

impl Rule {
    /// Predictions from the blended states of a graph: one row, or one per node.
    pub(super) fn predict(&self, state: &[f64]) -> Vec<f64> {
        let heads = self.head.len() / self.outputs;
        let row = |heads: &[f64]| -> Vec<f64> {
            let output = |output| heads.iter().enumerate().map(|(j, z)| z * self.head[j * self.outputs + output]).sum();
            (0..self.outputs).map(output).collect()
        };
        if self.readout == ReadoutKind::Node {
            let alone = |node| row(&(0..heads).map(|head| self.pooled(head, node)).collect::<Vec<_>>());
            return state.chunks_exact(self.channels).flat_map(alone).collect();
        }
        row(&(0..heads).map(|head| self.pooled(head, state)).collect::<Vec<_>>())
    }

    /// `z[head]`: the largest combination over the nodes of a graph, 0 for a graph without nodes.
    fn pooled(&self, head: usize, state: &[f64]) -> f64 {
        largest(&self.read[head * self.channels..(head + 1) * self.channels], state)
    }
}

/// The largest combination of channels over the rows of a state; 0 without rows.
pub(super) fn largest(weights: &[f64], state: &[f64]) -> f64 {
    let best =
        state.chunks_exact(weights.len().max(1)).map(|node| dot(weights, node)).fold(f64::NEG_INFINITY, f64::max);
    if best == f64::NEG_INFINITY { 0.0 } else { best }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

impl Leaving {
    /// The edges by sender, or by receiver and turned round.
    fn new(graph: &GraphTensors, weights: &[f64], reversed: bool) -> Self {
        let (senders, incoming) = (graph.structure().senders(), graph.incoming());
        if reversed {
            return Self { offsets: incoming.offsets().to_vec(), ends: senders.to_vec(), weights: weights.to_vec() };
        }
        let mut offsets = vec![0_u32; graph.nodes() + 1];
        senders.iter().for_each(|&sender| offsets[sender as usize + 1] += 1);
        for node in 0..graph.nodes() {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let (mut ends, mut sorted) = (vec![0; senders.len()], vec![0.0; senders.len()]);
        for (receiver, edges) in incoming.iter().enumerate() {
            for edge in edges {
                let place = &mut next[senders[edge] as usize];
                ends[*place as usize] = receiver as u32;
                sorted[*place as usize] = weights[edge];
                *place += 1;
            }
        }
        Self { offsets, ends, weights: sorted }
    }

    fn of(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[node] as usize..self.offsets[node + 1] as usize;
        self.ends[range.clone()].iter().map(|&end| end as usize).zip(self.weights[range].iter().copied())
    }
}

impl Ground {
    pub(super) fn new(rule: &Rule, graph: &GraphTensors) -> Self {
        let attributes = graph.edge_attributes();
        let width = attributes.dims()[1].max(1);
        let weights: Vec<f64> = attributes.detach().try_into_vec_as().expect("the device gives its tensors back");
        let weights: Vec<f64> = weights.into_iter().step_by(width).collect();
        let (classes, scales) = classes_and_scales(graph, rule.classes);
        let along = Leaving::new(graph, &weights, false);
        let against = (rule.first_against < rule.channels).then(|| Leaving::new(graph, &weights, true));
        let mut ground = Self { along, against, classes, scales, tolls: Vec::new() };
        if let Some(gate) = &rule.gate {
            ground.tolls = ground.each_node(gate, graph, GateRule::toll);
        }
        ground
    }

    /// What a gate compares with its threshold, for every node.
    pub(super) fn scores(&self, gate: &GateRule, graph: &GraphTensors) -> Vec<f64> {
        self.each_node(gate, graph, GateRule::score)
    }

    /// Closes some nodes of a graph, at a toll, and opens the rest of it.
    pub(super) fn close(&mut self, graph: usize, nodes: Range<usize>, toll: f64, is_closed: impl Fn(usize) -> bool) {
        let toll = toll * self.scales[graph];
        nodes.for_each(|node| self.tolls[node] = if is_closed(node) { toll } else { 0.0 });
    }

    fn each_node(&self, gate: &GateRule, graph: &GraphTensors, of: fn(&GateRule, &[f64], f64) -> f64) -> Vec<f64> {
        let attributes = graph.node_attributes();
        let width = attributes.dims()[1].max(1);
        let attributes: Vec<f64> = attributes.detach().try_into_vec_as().expect("the device gives its tensors back");
        let owner = graph.node_segments().ids();
        let rows = attributes.chunks_exact(width).map(|row| &row[..gate.attributes()]);
        rows.zip(owner).map(|(row, graph)| of(gate, row, self.scales[graph as usize])).collect()
    }

    /// Gives every node the same class.
    pub(super) fn mark_all(&mut self, class: u32) {
        self.classes.fill(class);
    }

    /// Gives a node a class.
    pub(super) fn mark(&mut self, node: usize, class: u32) {
        self.classes[node] = class;
    }

    /// The states of a graph before the first step.
    pub(super) fn start(&self, rule: &Rule, graph: usize, nodes: Range<usize>) -> Vec<f64> {
        let (width, scale) = (rule.channels, self.scales[graph]);
        let mut state = Vec::with_capacity(nodes.len() * width);
        for node in nodes {
            let class = self.classes[node] as usize;
            state.extend(rule.start[class * width..(class + 1) * width].iter().map(|entry| scale * entry));
        }
        state
    }

    /// The states of the only graph before the first step, with two classes of its nodes chosen anew.
    pub(super) fn start_between(&self, rule: &Rule, others: u32, marked: [(usize, u32); 2]) -> Vec<f64> {
        let (width, scale) = (rule.channels, self.scales[0]);
        let row = |class: u32| rule.start[class as usize * width..][..width].iter().map(move |entry| scale * entry);
        let mut state = row(others).collect::<Vec<f64>>().repeat(self.classes.len());
        for (node, class) in marked {
            state[node * width..(node + 1) * width].iter_mut().zip(row(class)).for_each(|(old, new)| *old = new);
        }
        state
    }

    fn toll(&self, node: usize) -> f64 {
        self.tolls.get(node).copied().unwrap_or(0.0)
    }

    /// Runs one graph until it stops or the options' cap ends it.
    ///
    /// A node sends only if it changed in the step before: what it sent earlier is in the maxima already, and they
    /// never fall. So the work is that of the waves, not of steps times edges. The largest features never fall either
    /// and are updated from the nodes that changed.
    pub(super) fn run(&self, rule: &Rule, graph: usize, nodes: Range<usize>, options: &RunOptions) -> Ended {
        let waves = Waves::new(nodes.len());
        self.run_from(self.start(rule, graph, nodes.clone()), waves, rule, graph, nodes, options)
    }

    /// As [`Ground::run`], from given states, of which only some nodes may have something to say.
    pub(super) fn run_from(
        &self,
        mut state: Vec<f64>,
        mut waves: Waves,
        rule: &Rule,
        graph: usize,
        nodes: Range<usize>,
        options: &RunOptions,
    ) -> Ended {
        let (width, first, scale) = (rule.channels, nodes.start, self.scales[graph]);
        let heads: Vec<&[f64]> = rule.confidence_read.chunks_exact(width.max(1)).collect();
        let mut features: Vec<f64> = heads.iter().map(|head| largest(head, &state)).collect();
        // Weights that are not negative settle after at most as many steps as there are nodes; the rest is left to the
        // cap for safety.
        let cap = options.cap.unwrap_or(SAFETY_CAP.max(nodes.len() + 1));
        let mut blend = Blend { left: 1.0, mass: 0.0, sum: Vec::new() };
        let (mut steps, mut confidence, mut lines) = (0, 0.0, Vec::<TraceLine>::new());
        while blend.left > STOP_EPSILON && steps < cap {
            let before = options.watch.map(|_| state.clone());
            let change = waves.step(rule, self, first, &mut state);
            for &node in &waves.changed {
                let row = &state[node as usize * width..(node as usize + 1) * width];
                features.iter_mut().zip(&heads).for_each(|(feature, head)| *feature = feature.max(dot(head, row)));
            }
            let settled = waves.changed.is_empty();
            confidence = rule.confidence(&features, scale, !settled);
            let repeated = if settled { repetitions(confidence, blend.left).min(cap - steps) } else { 1 };
            steps += repeated;
            blend.spend(confidence, repeated, &state);
            if options.trace {
                let changed = waves.changed.len() as f64 / nodes.len().max(1) as f64;
                if let (Some(watch), Some(last)) = (options.watch, lines.last_mut()) {
                    watch.thin(last.step, &mut last.nodes);
                }
                let nodes = options
                    .watch
                    .zip(before)
                    .map(|(watch, before)| watch.look(&without_absent(&before), &without_absent(&state), width));
                lines.push(TraceLine { step: steps, change, changed, confidence, remaining: blend.left, nodes });
            }
        }
        let capped = blend.left > STOP_EPSILON;
        let remaining = blend.left;
        Ended { state: blend.into_state(state), steps, confidence, remaining, capped, trace: lines }
    }
}

/// The state with 0 for what no wave has reached, as it is shown.
fn without_absent(state: &[f64]) -> Vec<f64> {
    state.iter().map(|&value| if value <= ABSENT / 2.0 { 0.0 } else { value }).collect()
}

/// How often a step that changes nothing has to be taken until no more than [`STOP_EPSILON`] of `left` remains.
fn repetitions(confidence: f64, left: f64) -> usize {
    let count = (STOP_EPSILON / left).ln() / (-confidence).ln_1p();
    // A confidence of 0 gives infinity (never), one of 1 gives 0 (at once).
    if count.is_finite() { (count.ceil() as usize).max(1) } else { usize::MAX }
}

/// The nodes that changed, and what they send.
pub(super) struct Waves {
    changed: Vec<u32>,
    next: Vec<u32>,
    is_next: Vec<bool>,
    rows: Vec<f64>,
}

impl Waves {
    /// Before the first step every node has something to say.
    pub(super) fn new(nodes: usize) -> Self {
        Self { changed: (0..nodes as u32).collect(), next: Vec::new(), is_next: vec![false; nodes], rows: Vec::new() }
    }

    /// Before the first step, where only two nodes have something to say that is not known everywhere.
    pub(super) fn from_two(nodes: usize, first: usize, second: usize) -> Self {
        Self { changed: vec![first as u32, second as u32], ..Self::new(nodes) }
    }

    /// The nodes that the last step changed.
    pub(super) fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Whether the last step changed nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        self.changed.is_empty()
    }

    /// One step for all nodes at once; returns the largest change of a value.
    pub(super) fn step(&mut self, rule: &Rule, ground: &Ground, first: usize, state: &mut [f64]) -> f64 {
        let width = rule.channels;
        self.rows.clear();
        // What is sent is the state before the step, whatever arrives meanwhile.
        for &node in &self.changed {
            self.rows.extend_from_slice(&state[node as usize * width..(node as usize + 1) * width]);
        }
        let mut largest_change = 0.0_f64;
        let ways = [(Some(&ground.along), 0..rule.first_against), (ground.against.as_ref(), rule.first_against..width)];
        for (way, channels) in ways {
            let (Some(leaving), false) = (way, channels.is_empty()) else { continue };
            let rates = &rule.rates[channels.clone()];
            for (&node, row) in self.changed.iter().zip(self.rows.chunks_exact(width)) {
                let sent = &row[channels.clone()];
                let leaving_toll = ground.toll(first + node as usize);
                if leaving_toll == f64::INFINITY {
                    continue;
                }
                for (end, weight) in leaving.of(first + node as usize) {
                    let toll = leaving_toll + ground.toll(end);
                    if toll == f64::INFINITY {
                        continue;
                    }
                    let end = end - first;
                    let mut change = 0.0_f64;
                    let received = &mut state[end * width..(end + 1) * width][channels.clone()];
                    for ((value, &sent), &rate) in received.iter_mut().zip(sent).zip(rates) {
                        let candidate = sent + rate * weight - toll;
                        if candidate > *value {
                            change = change.max(candidate - *value);
                            *value = candidate;
                        }
                    }
                    if change > 0.0 {
                        largest_change = largest_change.max(change);
                        if !std::mem::replace(&mut self.is_next[end], true) {
                            self.next.push(end as u32);
                        }
                    }
                }
            }
        }
        std::mem::swap(&mut self.changed, &mut self.next);
        self.next.clear();
        self.changed.iter().for_each(|&node| self.is_next[node as usize] = false);
        largest_change
    }
}

/// The mean of the states, weighted with the probability of stopping at each.
struct Blend {
    left: f64,
    mass: f64,
    sum: Vec<f64>,
}

impl Blend {
    /// Spends what a confidence takes in `count` steps with one and the same state.
    fn spend(&mut self, confidence: f64, count: usize, state: &[f64]) {
        let after = if count == 1 {
            self.left * (1.0 - confidence)
        } else {
            self.left * ((-confidence).ln_1p() * count as f64).exp()
        };
        let share = self.left - after;
        if share > 0.0 {
            if self.sum.is_empty() {
                self.sum = vec![0.0; state.len()];
            }
            self.sum.iter_mut().zip(state).for_each(|(sum, value)| *sum += share * value);
            self.mass += share;
        }
        self.left = after;
    }

    /// The blended state; the last one if nothing was spent.
    fn into_state(mut self, last: Vec<f64>) -> Vec<f64> {
        if self.mass == 0.0 {
            return last;
        }
        let mass = self.mass;
        self.sum.iter_mut().for_each(|sum| *sum /= mass);
        self.sum
    }
}
