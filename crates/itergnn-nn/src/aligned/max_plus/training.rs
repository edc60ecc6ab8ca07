//! The forward pass as tensor operations, to be differentiated.

use std::ops::Range;

use burn::tensor::activation::{relu, sigmoid};
use burn::tensor::{Device, Int, Tensor, TensorData};
use itergnn_kernels::block::Stops;

use super::model::{FLOOR, MaxPlusModel};
use super::rule::{STRETCH, classes_and_scales};
use crate::controllers::{ControllerOutput, STOP_EPSILON, Scope};
use crate::fused::EngineUse;
use crate::index::index_tensor;
use crate::ops::{Segments, keep_max, segment_max};
use crate::{GraphTensors, ModelOutput, ReadoutKind};

/// Edges that a group of channels travels along, in that direction.
struct Course {
    starts: Tensor<1, Int>,
    arriving: Segments,
    /// What each edge adds to each channel, `[edges, channels]`.
    drift: Tensor<2>,
}

/// What edges cost.
struct Ways {
    /// What a unit of weight adds to each channel, `[1, channels]`.
    rates: Tensor<2>,
    /// What it costs to enter or leave a node, `[nodes, 1]`; nothing without a gate.
    tolls: Option<Tensor<2>>,
}

impl Ways {
    /// What each edge adds to each of some channels, `[edges, channels]`.
    fn drift(
        &self,
        weights: Tensor<2>,
        channels: Range<usize>,
        starts: Tensor<1, Int>,
        ends: Tensor<1, Int>,
    ) -> Tensor<2> {
        let drift = weights * self.rates.clone().narrow(1, channels.start, channels.len());
        match &self.tolls {
            Some(tolls) => drift - (tolls.clone().select(0, starts) + tolls.clone().select(0, ends)),
            None => drift,
        }
    }
}

/// Takes `cap` steps and reads them.
pub(super) fn train_pass(model: &MaxPlusModel, graph: &GraphTensors, cap: usize) -> ModelOutput {
    let (config, stage, device) = (&model.config, model.stage(), graph.device());
    let (nodes, graphs, channels) = (graph.nodes(), graph.graphs(), config.channels);
    let (classes, scales) = classes_and_scales(graph, config.node_width);
    let scale = column(scales.clone(), &device);

    let embedding = effective_embedding(model).transpose();
    let start = embedding.select(0, index_tensor(classes, &device)) * graph.at_nodes(scale.clone());
    let rates = model.rate.val().clamp_max(0.0) * model.drifting.val();
    let tolls = model.gate.as_ref().map(|gate| {
        let attributes = graph.node_attributes().narrow(1, 0, config.attributes);
        gate.tolls(attributes, graph.at_nodes(scale.clone()), stage)
    });
    let states = trajectory(model, graph, start.clone(), &Ways { rates, tolls }, cap);
    let all = Tensor::cat(states.clone(), 0);

    let read = relu(model.confidence_read.val()) * (model.drifting.val().neg() + 1.0);
    let lengths = graph.node_segments().iter().map(|nodes| nodes.len()).collect::<Vec<_>>();
    let segments = Segments::from_lengths((0..cap).flat_map(|_| lengths.iter().copied()));
    let units = column(scales.repeat(cap), &device) * FLOOR;
    let features = segment_max(all.clone().matmul(read.transpose()), &segments) / units;
    let mut logits = features.matmul(relu(model.confidence_weight.val())) + model.confidence_bias.val();
    if config.residual {
        logits = logits - model.confidence_changed.val() * changes(start, states, graph);
    }
    let mut confidences = sigmoid(logits * stage.gain).reshape([cap, graphs]);
    if stage.hard {
        confidences = (confidences * (1.0 + 2.0 * STRETCH) - STRETCH).clamp(0.0, 1.0);
    }

    let mut left = Tensor::ones([1, graphs], &device);
    let mut spent = Vec::with_capacity(cap);
    for step in 0..cap {
        let confidence = confidences.clone().narrow(0, step, 1);
        spent.push(left.clone() * confidence.clone());
        left = left * (confidence.neg() + 1.0);
    }
    // Unspent probability goes to the last step; `cap` is at least 1.
    let last = spent.pop().map(|last| last + left.clone());
    spent.extend(last);
    let spent = Tensor::cat(spent, 0);
    let steps = column((1..=cap).map(|step| step as f64).collect(), &device);
    let expected = (spent.clone() * steps).sum_dim(0).mean();

    let owner = graph.node_segments().ids();
    let rows = (0..cap as u32).flat_map(|step| owner.iter().map(move |&graph| step * graphs as u32 + graph));
    let shares = spent.reshape([cap * graphs, 1]).select(0, index_tensor(rows, &device));
    let blended = (all * shares).reshape([cap, nodes, channels]).sum_dim(0).reshape([nodes, channels]);
    let weights = relu(model.read.val());
    let mut heads = blended.clone().matmul(weights.clone().transpose());
    if config.readout != ReadoutKind::Node {
        heads = segment_max(heads, graph.node_segments());
    }
    let values = heads.matmul(model.head.val());

    let mut charge = left.clone().mean() * config.settle + expected * config.ponder;
    if stage.sparse && config.sparsity > 0.0 {
        charge = charge + (weights.sum() + model.head.val().abs().sum()) * config.sparsity;
    }
    let block = report(blended.clone(), confidences, charge.clone(), cap);
    ModelOutput { values, hidden: Some(blended), blocks: vec![block], auxiliary_loss: Some(charge) }
}

/// `E`, `[channels, classes]`: every row relative to its largest entry, hardened entries at their level.
fn effective_embedding(model: &MaxPlusModel) -> Tensor<2> {
    let raw = model.embedding.val();
    let embedding = (raw.clone() - raw.max_dim(1)).clamp_min(-FLOOR);
    let stage = model.stage();
    if !stage.hard {
        return embedding;
    }
    let absent = model.absent.val();
    embedding * (absent.clone().neg() + 1.0) + absent * stage.level
}

/// The states after each step, `[nodes, channels]`.
fn trajectory(model: &MaxPlusModel, graph: &GraphTensors, start: Tensor<2>, ways: &Ways, cap: usize) -> Vec<Tensor<2>> {
    if graph.edges() == 0 {
        return vec![start; cap];
    }
    let weights = graph.edge_attributes().narrow(1, 0, 1);
    let (channels, first_against) = (model.config.channels, model.config.first_against());
    let along = Course {
        starts: graph.senders(),
        arriving: graph.incoming().clone(),
        drift: ways.drift(weights.clone(), 0..first_against, graph.senders(), graph.receivers()),
    };
    if first_against == channels {
        return along.states(start, cap);
    }
    let against = Course::against(graph, weights, ways, first_against..channels);
    let states = along.states(start.clone().narrow(1, 0, first_against), cap);
    let others = against.states(start.narrow(1, first_against, channels - first_against), cap);
    states.into_iter().zip(others).map(|(along, against)| Tensor::cat(vec![along, against], 1)).collect()
}

impl Course {
    /// The edges turned round, sorted by their new receiver.
    fn against(graph: &GraphTensors, weights: Tensor<2>, ways: &Ways, channels: Range<usize>) -> Self {
        let device = graph.device();
        let (senders, receivers) = (graph.structure().senders(), graph.incoming().ids());
        let mut order: Vec<u32> = (0..senders.len() as u32).collect();
        order.sort_by_key(|&edge| senders[edge as usize]);
        let mut degrees = vec![0; graph.nodes()];
        senders.iter().for_each(|&sender| degrees[sender as usize] += 1);
        let starts = index_tensor(order.iter().map(|&edge| receivers[edge as usize]), &device);
        let ends = index_tensor(order.iter().map(|&edge| senders[edge as usize]), &device);
        let weights = weights.select(0, index_tensor(order, &device));
        Self {
            drift: ways.drift(weights, channels, starts.clone(), ends),
            starts,
            arriving: Segments::from_lengths(degrees),
        }
    }

    fn states(&self, start: Tensor<2>, cap: usize) -> Vec<Tensor<2>> {
        let mut state = start;
        let mut states = Vec::with_capacity(cap);
        for _ in 0..cap {
            let messages = state.clone().select(0, self.starts.clone()) + self.drift.clone();
            state = keep_max(state, segment_max(messages, &self.arriving), &self.arriving);
            states.push(state.clone());
        }
        states
    }
}

/// 1 for every step and graph in which a state changed, `[steps * graphs, 1]`.
fn changes(start: Tensor<2>, states: Vec<Tensor<2>>, graph: &GraphTensors) -> Tensor<2> {
    let mut before = start.detach();
    let mut changes = Vec::with_capacity(states.len());
    for state in states {
        let state = state.detach();
        // A state only grows, so the largest difference is positive if anything changed.
        let largest = (state.clone() - before).max_dim(1);
        changes.push(segment_max(largest, graph.node_segments()).greater_elem(0.0).float());
        before = state;
    }
    Tensor::cat(changes, 0)
}

fn report(hidden: Tensor<2>, confidences: Tensor<2>, charge: Tensor<1>, cap: usize) -> ControllerOutput {
    let graphs = confidences.dims()[1];
    let host: Vec<f64> = confidences.detach().try_into_vec_as().expect("the device gives its tensors back");
    let mut stops = Stops { steps: vec![cap; graphs], ..Stops::before_the_first(graphs) };
    for (step, row) in host.chunks_exact(graphs.max(1)).enumerate() {
        for (index, &confidence) in row.iter().enumerate() {
            if stops.remaining[index] > STOP_EPSILON {
                stops.remaining[index] *= 1.0 - confidence;
                (stops.confidences[index], stops.steps[index]) = (confidence, step + 1);
            }
        }
    }
    stops.capped = stops.remaining.iter().map(|&remaining| remaining > STOP_EPSILON).collect();
    ControllerOutput {
        hidden,
        scope: Scope::Graph,
        stops,
        auxiliary_loss: Some(charge),
        trace: None,
        engine: EngineUse::plain(),
    }
}

fn column(values: Vec<f64>, device: &Device) -> Tensor<2> {
    let rows = values.len();
    Tensor::from_data(TensorData::new(values, [rows, 1]), device)
}
