//! One message-passing step of one graph and its gradient.

use super::softmax;
use crate::block::batch::BlockInputs;
use crate::block::config::BlockConfig;
use crate::block::output::BlockGradients;
use crate::block::parameters::{ParameterKind, ParameterLayout};
use crate::real::{Real, leaky_relu, leaky_slope};
use crate::settings::LayerConfig;

/// Which numbers a step works with.
#[derive(Clone, Copy)]
pub(super) struct Context<'a, T> {
    pub(super) config: &'a BlockConfig,
    pub(super) layout: &'a ParameterLayout,
    pub(super) inputs: &'a BlockInputs<'a, T>,
    pub(super) graph: usize,
    /// Which layer of a stack.
    pub(super) layer: usize,
}

/// Everything a step computed that its gradient needs.
#[derive(Debug, Clone)]
pub(super) struct Step<T> {
    /// States before and after, `[nodes of the graph, hidden]`.
    pub(super) before: Vec<T>,
    pub(super) after: Vec<T>,
    /// Output of the first message layer, `[edges of the graph, message]`; empty for a convolution.
    pub(super) first: Vec<T>,
    /// Messages, `[edges of the graph, hidden]`; `[nodes of the graph, message]` for a convolution, whose messages
    /// belong to senders.
    pub(super) messages: Vec<T>,
    /// Scores and their weights, `[edges of the graph]`, loops included.
    pub(super) scores: Vec<T>,
    pub(super) weights: Vec<T>,
    /// Whether all messages are finite (a maximum would swallow an undefined one).
    pub(super) finite: bool,
}

impl<T: Real> Context<'_, T> {
    pub(super) fn get(&self, kind: ParameterKind) -> &[T] {
        self.layout.get(self.inputs.parameters, self.layer, kind)
    }

    /// `[x_s ; h_s ; x_r ; h_r ; e]`, or without the receiver's part.
    fn concatenated(&self, before: &[T], edge: usize, receiver: usize, with_receiver: bool) -> Vec<T> {
        let LayerConfig { input_width, hidden_width, edge_width, .. } = self.config.layer;
        let nodes = self.inputs.batch.node_range(self.graph);
        let mut row = Vec::new();
        let mut push_node = |node: usize| {
            row.extend_from_slice(&self.inputs.node_inputs[node * input_width..(node + 1) * input_width]);
            let local = node - nodes.start;
            row.extend_from_slice(&before[local * hidden_width..(local + 1) * hidden_width]);
        };
        push_node(self.inputs.batch.senders[edge] as usize);
        if with_receiver {
            push_node(receiver);
        }
        row.extend_from_slice(&self.inputs.edge_features[edge * edge_width..(edge + 1) * edge_width]);
        row
    }

    /// Adds the gradient of a concatenated row to the places it was taken from.
    fn scatter(
        &self,
        gradient: &[T],
        edge: usize,
        receiver: usize,
        with_receiver: bool,
        before: &mut [T],
        result: &mut BlockGradients<T>,
    ) {
        let LayerConfig { input_width, hidden_width, edge_width, .. } = self.config.layer;
        let start = self.inputs.batch.node_range(self.graph).start;
        let sender = self.inputs.batch.senders[edge] as usize;
        let mut rest = gradient;
        for node in [Some(sender), with_receiver.then_some(receiver)].into_iter().flatten() {
            let (input, tail) = rest.split_at(input_width);
            let (hidden, tail) = tail.split_at(hidden_width);
            add(&mut result.node_inputs[node * input_width..(node + 1) * input_width], input);
            let local = node - start;
            add(&mut before[local * hidden_width..(local + 1) * hidden_width], hidden);
            rest = tail;
        }
        add(&mut result.edge_features[edge * edge_width..(edge + 1) * edge_width], rest);
    }

    /// The step from the states `before`.
    pub(super) fn forward(&self, before: Vec<T>) -> Step<T> {
        if self.config.is_convolution() {
            return self.convolve(before);
        }
        let hidden = self.config.hidden_width();
        let (nodes, edges) = (self.inputs.batch.node_range(self.graph), self.inputs.batch.edge_range(self.graph));
        let mut step = Step {
            after: before.clone(),
            before,
            first: Vec::new(),
            messages: Vec::new(),
            scores: Vec::new(),
            weights: Vec::new(),
            finite: true,
        };
        for receiver in nodes.clone() {
            for edge in self.inputs.batch.incoming(receiver) {
                let row = self.concatenated(&step.before, edge, receiver, self.config.uses_receiver());
                let first = linear(&row, self.get(ParameterKind::FirstWeight), self.get(ParameterKind::FirstBias));
                let first: Vec<T> = first.into_iter().map(leaky_relu).collect();
                let second = linear(&first, self.get(ParameterKind::SecondWeight), self.get(ParameterKind::SecondBias));
                step.first.extend(first);
                step.messages.extend(second.into_iter().map(leaky_relu));
                if self.config.has_score() {
                    let row = self.concatenated(&step.before, edge, receiver, true);
                    let score = linear(&row, self.get(ParameterKind::ScoreWeight), self.get(ParameterKind::ScoreBias));
                    step.scores.extend(score);
                }
            }
            let incoming = self.inputs.batch.incoming(receiver);
            let local = incoming.start - edges.start..incoming.end - edges.start;
            if self.config.has_score() && !local.is_empty() {
                step.weights.extend(softmax::weights(self.config.scale_invariant(), &step.scores[local.clone()]));
            }
            for channel in 0..hidden {
                let position = (receiver - nodes.start) * hidden + channel;
                if let Some(aggregate) = step.aggregate(self.config.aggregates_by_max(), local.clone(), channel, hidden)
                    && aggregate > step.before[position]
                {
                    step.after[position] = aggregate;
                }
            }
        }
        step.finite = step.messages.iter().chain(&step.scores).all(|value| value.is_finite());
        step
    }

    /// Gradient of the states before the step from that of the states after it; adds to the other gradients.
    pub(super) fn backward(&self, step: &Step<T>, after: &[T], result: &mut BlockGradients<T>) -> Vec<T> {
        if self.config.is_convolution() {
            return self.convolve_backward(step, after, result);
        }
        let (hidden, by_max) = (self.config.hidden_width(), self.config.aggregates_by_max());
        let message = self.config.message_width();
        let (nodes, edges) = (self.inputs.batch.node_range(self.graph), self.inputs.batch.edge_range(self.graph));
        let mut before = vec![T::ZERO; after.len()];
        for receiver in nodes.clone() {
            let incoming = self.inputs.batch.incoming(receiver);
            let local = incoming.start - edges.start..incoming.end - edges.start;
            let mut messages = vec![T::ZERO; local.len() * hidden];
            let mut weights = vec![T::ZERO; local.len()];
            for channel in 0..hidden {
                let position = (receiver - nodes.start) * hidden + channel;
                let gradient = after[position];
                match step.aggregate(by_max, local.clone(), channel, hidden) {
                    Some(aggregate) if aggregate > step.before[position] => {
                        if by_max {
                            let winner =
                                local.clone().position(|edge| step.messages[edge * hidden + channel] == aggregate);
                            messages[winner.unwrap_or(0) * hidden + channel] = gradient;
                        } else {
                            for (index, edge) in local.clone().enumerate() {
                                messages[index * hidden + channel] = step.weights[edge] * gradient;
                                weights[index] += step.messages[edge * hidden + channel] * gradient;
                            }
                        }
                    }
                    _ => before[position] += gradient,
                }
            }
            if self.config.has_score() && !local.is_empty() {
                let scores = softmax::backward(
                    self.config.scale_invariant(),
                    &step.scores[local.clone()],
                    &step.weights[local.clone()],
                    &weights,
                );
                for (gradient, edge) in scores.into_iter().zip(incoming.clone()) {
                    let row = self.concatenated(&step.before, edge, receiver, true);
                    let row_gradient = self.linear_backward(
                        &row,
                        &[gradient],
                        ParameterKind::ScoreWeight,
                        ParameterKind::ScoreBias,
                        result,
                    );
                    self.scatter(&row_gradient, edge, receiver, true, &mut before, result);
                }
            }
            for (index, edge) in incoming.enumerate() {
                let local = edge - edges.start;
                let second: Vec<T> = (0..hidden)
                    .map(|channel| {
                        messages[index * hidden + channel] * leaky_slope(step.messages[local * hidden + channel])
                    })
                    .collect();
                let first = &step.first[local * message..(local + 1) * message];
                let gradient = self.linear_backward(
                    first,
                    &second,
                    ParameterKind::SecondWeight,
                    ParameterKind::SecondBias,
                    result,
                );
                let gradient: Vec<T> =
                    gradient.iter().zip(first).map(|(&gradient, &value)| gradient * leaky_slope(value)).collect();
                let row = self.concatenated(&step.before, edge, receiver, self.config.uses_receiver());
                let row_gradient =
                    self.linear_backward(&row, &gradient, ParameterKind::FirstWeight, ParameterKind::FirstBias, result);
                self.scatter(&row_gradient, edge, receiver, self.config.uses_receiver(), &mut before, result);
            }
        }
        before
    }

    /// Gradient of the input of a linear map; adds to those of its weight and bias.
    pub(super) fn linear_backward(
        &self,
        input: &[T],
        output: &[T],
        weight: ParameterKind,
        bias: ParameterKind,
        result: &mut BlockGradients<T>,
    ) -> Vec<T> {
        let values = self.get(weight);
        if let Some(range) = self.layout.range(self.layer, bias) {
            add(&mut result.parameters[range], output);
        }
        let offset = self.layout.range(self.layer, weight).map_or(0, |range| range.start);
        let mut gradient = vec![T::ZERO; input.len()];
        for (row, &value) in input.iter().enumerate() {
            for (column, &output) in output.iter().enumerate() {
                let position = row * output_width(values, input) + column;
                gradient[row] += values[position] * output;
                result.parameters[offset + position] += value * output;
            }
        }
        gradient
    }
}

impl<T: Real> Step<T> {
    /// One channel of what reaches a receiver, or `None` without incoming edges.
    fn aggregate(&self, by_max: bool, edges: std::ops::Range<usize>, channel: usize, hidden: usize) -> Option<T> {
        let message = |edge: usize| self.messages[edge * hidden + channel];
        let first = edges.clone().next()?;
        Some(match by_max {
            true => edges.fold(message(first), |best, edge| if message(edge) > best { message(edge) } else { best }),
            false => edges.fold(T::ZERO, |sum, edge| sum + self.weights[edge] * message(edge)),
        })
    }
}

fn output_width<T>(weight: &[T], input: &[T]) -> usize {
    weight.len() / input.len().max(1)
}

/// `input W + b`, with an empty `b` for none.
pub(super) fn linear<T: Real>(input: &[T], weight: &[T], bias: &[T]) -> Vec<T> {
    let width = output_width(weight, input);
    let mut output = if bias.is_empty() { vec![T::ZERO; width] } else { bias.to_vec() };
    for (row, &value) in input.iter().enumerate() {
        for (column, output) in output.iter_mut().enumerate() {
            *output += value * weight[row * width + column];
        }
    }
    output
}

pub(super) fn add<T: Real>(target: &mut [T], source: &[T]) {
    target.iter_mut().zip(source).for_each(|(target, &source)| *target += source);
}
