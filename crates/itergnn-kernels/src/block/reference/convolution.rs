//! One step of a convolution and its gradient.

use super::layer::{Context, Step, add, linear};
use super::softmax;
use crate::block::output::BlockGradients;
use crate::block::parameters::ParameterKind;
use crate::real::Real;
use crate::settings::LayerKind;

/// An edge as the convolution sees it; nodes are counted from the graph's first.
#[derive(Clone, Copy)]
struct Edge {
    sender: usize,
    receiver: usize,
    is_loop: bool,
    /// The edge of the batch whose features it has; none for a new loop.
    origin: Option<usize>,
}

/// `x`, or `slope x` below zero.
fn rectify<T: Real>(x: T, slope: f64) -> T {
    if x > T::ZERO { x } else { T::from_f64(slope) * x }
}

/// The derivative of [`rectify`], told from its input or its output.
fn slope_at<T: Real>(x: T, slope: f64) -> T {
    if x > T::ZERO { T::ONE } else { T::from_f64(slope) }
}

fn dot<T: Real>(left: &[T], right: &[T]) -> T {
    left.iter().zip(right).fold(T::ZERO, |sum, (&left, &right)| sum + left * right)
}

impl<T: Real> Context<'_, T> {
    /// The edges by receiver, the loop of each node last.
    fn convolution_edges(&self) -> Vec<Edge> {
        let nodes = self.inputs.batch.node_range(self.graph);
        let mut edges = Vec::new();
        for receiver in nodes.clone() {
            let mut last_loop = None;
            for edge in self.inputs.batch.incoming(receiver) {
                let sender = self.inputs.batch.senders[edge] as usize;
                let (sender, receiver) = (sender - nodes.start, receiver - nodes.start);
                if self.config.has_loops() && sender == receiver {
                    last_loop = Some(edge);
                } else {
                    edges.push(Edge { sender, receiver, is_loop: false, origin: Some(edge) });
                }
            }
            if self.config.has_loops() {
                let node = receiver - nodes.start;
                edges.push(Edge { sender: node, receiver: node, is_loop: true, origin: last_loop });
            }
        }
        edges
    }

    /// The rows `[x ; h]` of the graph.
    fn node_rows(&self, before: &[T]) -> Vec<Vec<T>> {
        let (input, hidden) = (self.config.input_width(), self.config.hidden_width());
        let nodes = self.inputs.batch.node_range(self.graph);
        let row = |(local, node): (usize, usize)| {
            let mut row = self.inputs.node_inputs[node * input..(node + 1) * input].to_vec();
            row.extend_from_slice(&before[local * hidden..(local + 1) * hidden]);
            row
        };
        nodes.enumerate().map(row).collect()
    }

    /// The features of an edge; a loop has the mean of those of the other edges to its node, or zeros.
    fn edge_row(&self, edges: &[Edge], edge: usize) -> Vec<T> {
        let width = self.config.edge_width();
        let features = |origin: usize| &self.inputs.edge_features[origin * width..(origin + 1) * width];
        if let (false, Some(origin)) = (edges[edge].is_loop, edges[edge].origin) {
            return features(origin).to_vec();
        }
        let others: Vec<usize> = Self::others(edges, edge).collect();
        let mut mean = vec![T::ZERO; width];
        others.iter().for_each(|&origin| add(&mut mean, features(origin)));
        let count = T::from_f64(others.len().max(1) as f64);
        mean.into_iter().map(|sum| sum / count).collect()
    }

    /// The edges of the batch that reach the node of a loop, itself left out.
    fn others(edges: &[Edge], edge: usize) -> impl Iterator<Item = usize> + '_ {
        let receiver = edges[edge].receiver;
        edges.iter().filter(move |other| other.receiver == receiver && !other.is_loop).filter_map(|other| other.origin)
    }

    /// GCN: the weight of each edge, and `1 / sqrt(d)` of each node.
    fn edge_weights(&self, weighed: bool, edges: &[Edge], nodes: usize) -> (Vec<T>, Vec<T>) {
        let weight = |edge: &Edge| match edge.origin {
            Some(origin) if weighed => self.inputs.edge_features[origin],
            _ => T::ONE,
        };
        let weights: Vec<T> = edges.iter().map(weight).collect();
        let mut degrees = vec![T::ZERO; nodes];
        edges.iter().zip(&weights).for_each(|(edge, &weight)| degrees[edge.receiver] += weight);
        let scale = |degree: T| if degree == T::ZERO { T::ZERO } else { T::from_f64(1.0 / degree.to_f64().sqrt()) };
        (weights, degrees.into_iter().map(scale).collect())
    }

    /// GAT: `a_s . v_s W + a_r . v_r W + a_e . e W_e` of each edge, before the LeakyReLU.
    fn raw_scores(&self, reads_edges: bool, edges: &[Edge], messages: &[T]) -> Vec<T> {
        let width = self.config.hidden_width();
        let row = |node: usize| &messages[node * width..(node + 1) * width];
        let score = |(number, edge): (usize, &Edge)| {
            let mut score = dot(row(edge.sender), self.get(ParameterKind::SenderAttention))
                + dot(row(edge.receiver), self.get(ParameterKind::ReceiverAttention));
            if reads_edges {
                let row = linear(&self.edge_row(edges, number), self.get(ParameterKind::EdgeWeight), &[]);
                score += dot(&row, self.get(ParameterKind::EdgeAttention));
            }
            score
        };
        edges.iter().enumerate().map(score).collect()
    }

    /// Calls `visit` with the positions of the edges of each receiver.
    fn for_each_receiver(edges: &[Edge], mut visit: impl FnMut(std::ops::Range<usize>)) {
        let mut start = 0;
        for group in edges.chunk_by(|left, right| left.receiver == right.receiver) {
            visit(start..start + group.len());
            start += group.len();
        }
    }

    pub(super) fn convolve(&self, before: Vec<T>) -> Step<T> {
        let (layer, hidden) = (&self.config.layer, self.config.hidden_width());
        let edges = self.convolution_edges();
        let nodes = before.len() / hidden;
        let rows = self.node_rows(&before);
        let messages: Vec<T> =
            rows.iter().flat_map(|row| linear(row, self.get(ParameterKind::FirstWeight), &[])).collect();
        let (mut scores, mut weights) = (Vec::new(), vec![T::ONE; edges.len()]);
        if layer.kind == LayerKind::Gcn {
            let (given, scales) = self.edge_weights(layer.use_edge_attributes, &edges, nodes);
            for (number, edge) in edges.iter().enumerate() {
                weights[number] = scales[edge.sender] * given[number] * scales[edge.receiver];
            }
        } else {
            scores = self.raw_scores(layer.use_edge_attributes, &edges, &messages);
            scores.iter_mut().for_each(|score| *score = rectify(*score, layer.negative_slope));
            Self::for_each_receiver(&edges, |range| {
                let given = softmax::weights(self.config.scale_invariant(), &scores[range.clone()]);
                weights[range].copy_from_slice(&given);
            });
        }
        let bias = self.get(ParameterKind::OutputBias);
        let mut after = vec![T::ZERO; nodes * hidden];
        for (edge, &weight) in edges.iter().zip(&weights) {
            for channel in 0..hidden {
                after[edge.receiver * hidden + channel] += weight * messages[edge.sender * hidden + channel];
            }
        }
        if !bias.is_empty() {
            after.chunks_exact_mut(hidden).for_each(|row| add(row, bias));
        }
        let slope = layer.output_activation.negative_slope();
        after.iter_mut().for_each(|value| *value = rectify(*value, slope));
        let finite = after.iter().chain(&scores).all(|value| value.is_finite());
        Step { before, after, first: Vec::new(), messages, scores, weights, finite }
    }

    pub(super) fn convolve_backward(&self, step: &Step<T>, after: &[T], result: &mut BlockGradients<T>) -> Vec<T> {
        let (layer, input, hidden) = (&self.config.layer, self.config.input_width(), self.config.hidden_width());
        let edges = self.convolution_edges();
        let slope = layer.output_activation.negative_slope();
        let sums: Vec<T> =
            after.iter().zip(&step.after).map(|(&gradient, &value)| gradient * slope_at(value, slope)).collect();
        if let Some(range) = self.layout.range(self.layer, ParameterKind::OutputBias) {
            sums.chunks_exact(hidden).for_each(|row| add(&mut result.parameters[range.clone()], row));
        }
        let mut messages = vec![T::ZERO; sums.len()];
        let mut weights = vec![T::ZERO; edges.len()];
        for (number, edge) in edges.iter().enumerate() {
            for channel in 0..hidden {
                let gradient = sums[edge.receiver * hidden + channel];
                messages[edge.sender * hidden + channel] += step.weights[number] * gradient;
                weights[number] += step.messages[edge.sender * hidden + channel] * gradient;
            }
        }
        if layer.kind == LayerKind::Gat {
            let mut scores = Vec::new();
            Self::for_each_receiver(&edges, |range| {
                let (values, given) = (&step.scores[range.clone()], &step.weights[range.clone()]);
                scores.extend(softmax::backward(self.config.scale_invariant(), values, given, &weights[range]));
            });
            let slopes = step.scores.iter().map(|&score| slope_at(score, layer.negative_slope));
            let raw: Vec<T> = scores.iter().zip(slopes).map(|(&gradient, slope)| gradient * slope).collect();
            self.raw_scores_backward(layer.use_edge_attributes, &edges, step, &raw, &mut messages, result);
        } else if layer.use_edge_attributes {
            self.edge_weights_backward(&edges, &weights, result);
        }
        let first_node = self.inputs.batch.node_range(self.graph).start;
        let mut before = vec![T::ZERO; step.before.len()];
        for (node, row) in self.node_rows(&step.before).iter().enumerate() {
            let gradient = &messages[node * hidden..(node + 1) * hidden];
            // A convolution has no bias in front of the sum.
            let row = self.linear_backward(row, gradient, ParameterKind::FirstWeight, ParameterKind::ScoreBias, result);
            add(&mut result.node_inputs[(first_node + node) * input..][..input], &row[..input]);
            add(&mut before[node * hidden..(node + 1) * hidden], &row[input..]);
        }
        before
    }

    /// From the gradient of GCN's normalised weights to that of the edge features.
    fn edge_weights_backward(&self, edges: &[Edge], gradients: &[T], result: &mut BlockGradients<T>) {
        let nodes = self.inputs.batch.node_range(self.graph).len();
        let (given, scales) = self.edge_weights(true, edges, nodes);
        let mut scale_gradients = vec![T::ZERO; nodes];
        for (number, edge) in edges.iter().enumerate() {
            scale_gradients[edge.sender] += gradients[number] * given[number] * scales[edge.receiver];
            scale_gradients[edge.receiver] += gradients[number] * given[number] * scales[edge.sender];
        }
        for (number, edge) in edges.iter().enumerate() {
            // d^(-1/2) has the derivative -d^(-3/2) / 2.
            let scale = scales[edge.receiver];
            let degree = -T::from_f64(0.5) * scale * scale * scale * scale_gradients[edge.receiver];
            if let Some(origin) = edge.origin {
                result.edge_features[origin] += gradients[number] * scales[edge.sender] * scale + degree;
            }
        }
    }

    /// From the gradient of GAT's scores, before their LeakyReLU, to attention vectors, messages and edge features.
    fn raw_scores_backward(
        &self,
        reads_edges: bool,
        edges: &[Edge],
        step: &Step<T>,
        gradients: &[T],
        messages: &mut [T],
        result: &mut BlockGradients<T>,
    ) {
        let width = self.config.hidden_width();
        // The bias of a map that has none.
        let nothing = ParameterKind::ScoreBias;
        for (number, edge) in edges.iter().enumerate() {
            let gradient = [gradients[number]];
            for (kind, node) in
                [(ParameterKind::SenderAttention, edge.sender), (ParameterKind::ReceiverAttention, edge.receiver)]
            {
                let range = node * width..(node + 1) * width;
                let row = self.linear_backward(&step.messages[range.clone()], &gradient, kind, nothing, result);
                add(&mut messages[range], &row);
            }
            if !reads_edges {
                continue;
            }
            let features = self.edge_row(edges, number);
            let transformed = linear(&features, self.get(ParameterKind::EdgeWeight), &[]);
            let row = self.linear_backward(&transformed, &gradient, ParameterKind::EdgeAttention, nothing, result);
            let row = self.linear_backward(&features, &row, ParameterKind::EdgeWeight, nothing, result);
            let origins: Vec<usize> =
                if edge.is_loop { Self::others(edges, number).collect() } else { edge.origin.into_iter().collect() };
            let share = T::ONE / T::from_f64(origins.len().max(1) as f64);
            for origin in origins {
                let target = &mut result.edge_features[origin * row.len()..(origin + 1) * row.len()];
                target.iter_mut().zip(&row).for_each(|(target, &value)| *target += share * value);
            }
        }
    }
}
