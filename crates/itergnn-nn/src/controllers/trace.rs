//! A record of every step of a loop.

use std::collections::BTreeMap;

use burn::tensor::Tensor;
use serde::Serialize;

/// What a trace keeps of every node, for whoever wants to see a state and not only hear about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeWatch {
    /// The channel whose values are kept; one beyond the width counts from the beginning again.
    pub channel: usize,
    /// Nodes are kept at steps 1, 1 + every, 1 + 2 every, .. and at the last one, so that long loops fit into memory.
    pub every: usize,
}

/// The nodes after one step, in the order of the batch. Only nodes of graphs that still ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NodeStates {
    /// Euclidean norm of h^k of each node.
    pub norm: Vec<f32>,
    /// Largest |h^k - h^(k-1)| of any channel of each node.
    pub change: Vec<f32>,
    /// The watched channel of each node.
    pub channel: Vec<f32>,
}

impl NodeWatch {
    /// What is kept of the states before and after a step, rows of `width` channels.
    pub(crate) fn look(&self, before: &[f64], after: &[f64], width: usize) -> NodeStates {
        let width = width.max(1);
        let mut states = NodeStates::default();
        for (before, after) in before.chunks_exact(width).zip(after.chunks_exact(width)) {
            states.norm.push(after.iter().map(|value| value * value).sum::<f64>().sqrt() as f32);
            let change =
                before.iter().zip(after).fold(0.0, |most: f64, (before, after)| most.max((after - before).abs()));
            states.change.push(change as f32);
            states.channel.push(after[self.channel % width] as f32);
        }
        states
    }

    /// Whether the nodes of a step are kept even if it is not the last one.
    fn keeps(&self, step: usize) -> bool {
        (step - 1).is_multiple_of(self.every.max(1))
    }

    /// Forgets the nodes of what was the last step until now, unless they are to be kept.
    pub(crate) fn thin(&self, step: usize, nodes: &mut Option<NodeStates>) {
        if !self.keeps(step) {
            *nodes = None;
        }
    }
}

/// The steps of one controller, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// One entry per step.
    pub steps: Vec<TraceStep>,
}

/// One step: who was still running, how sure they were, how much the state moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceStep {
    /// Counts from 1.
    pub step: usize,
    /// The graphs still in the batch, by their position in it.
    pub graphs: Vec<usize>,
    /// For each of these graphs the largest |h^k - h^(k-1)| of any node and channel.
    pub change: Vec<f64>,
    /// For each of these graphs the share of nodes whose state the step changed: what has to be computed afresh in the
    /// next one.
    pub changed: Vec<f64>,
    /// What has a confidence: these graphs, or their nodes; empty for a stack.
    pub elements: Vec<usize>,
    /// c^k of each element.
    pub confidence: Vec<f64>,
    /// Probability that each element has not stopped after this step.
    pub remaining: Vec<f64>,
    /// The nodes, if they are watched and this step is one of those kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeStates>,
}

/// One step of one graph.
pub(crate) struct GraphStep {
    pub(crate) graph: usize,
    /// Counts from 1.
    pub(crate) step: usize,
    pub(crate) change: f64,
    pub(crate) changed: f64,
    pub(crate) confidence: f64,
    pub(crate) remaining: f64,
    pub(crate) nodes: Option<NodeStates>,
}

impl Trace {
    /// Adds a step; of the one before only what `watch` keeps stays.
    pub(crate) fn push(&mut self, step: TraceStep, watch: Option<NodeWatch>) {
        if let (Some(watch), Some(last)) = (watch, self.steps.last_mut()) {
            watch.thin(last.step, &mut last.nodes);
        }
        self.steps.push(step);
    }

    /// The traces of graphs that ran one after the other, put side by side.
    pub(crate) fn of_graphs(rows: impl IntoIterator<Item = GraphStep>) -> Self {
        let mut steps: BTreeMap<usize, TraceStep> = BTreeMap::new();
        for row in rows {
            let entry = steps.entry(row.step).or_insert_with(|| TraceStep {
                step: row.step,
                graphs: Vec::new(),
                change: Vec::new(),
                changed: Vec::new(),
                elements: Vec::new(),
                confidence: Vec::new(),
                remaining: Vec::new(),
                nodes: None,
            });
            if let Some(nodes) = row.nodes {
                let all = entry.nodes.get_or_insert_default();
                all.norm.extend(nodes.norm);
                all.change.extend(nodes.change);
                all.channel.extend(nodes.channel);
            }
            entry.graphs.push(row.graph);
            entry.elements.push(row.graph);
            entry.change.push(row.change);
            entry.changed.push(row.changed);
            entry.confidence.push(row.confidence);
            entry.remaining.push(row.remaining);
        }
        Self { steps: steps.into_values().collect() }
    }
}

/// What is watched of the nodes between two states.
pub(crate) fn watched(watch: Option<NodeWatch>, before: &Tensor<2>, after: &Tensor<2>) -> Option<NodeStates> {
    watch.map(|watch| watch.look(&host_values(before.clone()), &host_values(after.clone()), after.dims()[1]))
}

/// The largest absolute difference between two states, and the share of nodes that differ at all, for each graph of
/// `node_offsets`.
pub(crate) fn changes(before: &Tensor<2>, after: &Tensor<2>, node_offsets: &[u32]) -> (Vec<f64>, Vec<f64>) {
    let width = after.dims()[1].max(1);
    let difference = host_values(after.clone() - before.clone());
    let of_graph = |range: &[u32]| {
        let rows = &difference[range[0] as usize * width..range[1] as usize * width];
        let largest = rows.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        // A difference that is not a number is one, too.
        let changed = rows.chunks_exact(width).filter(|row| !row.iter().all(|&value| value == 0.0)).count();
        (largest, changed as f64 / (range[1] - range[0]).max(1) as f64)
    };
    node_offsets.windows(2).map(of_graph).unzip()
}

/// The numbers of a tensor, on the host.
pub(crate) fn host_values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().expect("the device gives its tensors back")
}
