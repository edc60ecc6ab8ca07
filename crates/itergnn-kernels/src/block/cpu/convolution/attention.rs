//! GAT's weights from its scores, and the gradient of the scores.

use super::edges::ConvolutionEdges;
use crate::block::cpu::softmax::{range_backward, softmax};
use crate::real::Real;

/// The scores of one graph and layer.
pub(super) struct EdgeScores<'a, T> {
    pub(super) edges: &'a ConvolutionEdges<T>,
    pub(super) scale_invariant: bool,
    /// Slope of the LeakyReLU for negative values.
    pub(super) slope: T,
    /// `[nodes, row]`: at `column` a node's part of the score as a sender, then that as a receiver.
    pub(super) prepared: &'a [T],
    pub(super) row: usize,
    pub(super) column: usize,
    /// `[edge width]`, empty where scores do not read edges.
    pub(super) edge_weight: &'a [T],
}

impl<T: Real> EdgeScores<'_, T> {
    /// The score of an edge to a node.
    fn score(&self, node: usize, edge: usize) -> T {
        let sender = self.edges.senders[edge] as usize;
        let mut score =
            self.prepared[sender * self.row + self.column] + self.prepared[node * self.row + self.column + 1];
        let width = self.edge_weight.len();
        for (&feature, &weight) in self.edges.features[edge * width..(edge + 1) * width].iter().zip(self.edge_weight) {
            score += feature * weight;
        }
        if score > T::ZERO { score } else { self.slope * score }
    }

    /// Fills the weights of all edges; returns whether all scores are finite.
    pub(super) fn weights(&self, weights: &mut [T]) -> bool {
        let mut finite = true;
        for node in 0..self.edges.nodes() {
            let incoming = self.edges.incoming(node);
            let slots = &mut weights[incoming.clone()];
            if slots.is_empty() {
                continue;
            }
            for (slot, edge) in slots.iter_mut().zip(incoming) {
                *slot = self.score(node, edge);
                finite &= slot.is_finite();
            }
            softmax(self.scale_invariant, slots);
        }
        finite
    }

    /// Turns the gradients of the weights into those of the scores in front of their LeakyReLU, and adds these to the
    /// score columns of the prepared rows' gradient.
    pub(super) fn backward(&self, weights: &[T], gradients: &mut [T], prepared_gradient: &mut [T]) {
        let mut scores: Vec<T> = Vec::new();
        for node in 0..self.edges.nodes() {
            let incoming = self.edges.incoming(node);
            if incoming.is_empty() {
                continue;
            }
            let (weights, gradients) = (&weights[incoming.clone()], &mut gradients[incoming.clone()]);
            let mean =
                weights.iter().zip(gradients.iter()).fold(T::ZERO, |sum, (&weight, &value)| sum + weight * value);
            gradients.iter_mut().zip(weights).for_each(|(value, &weight)| *value = weight * (*value - mean));
            scores.clear();
            scores.extend(incoming.clone().map(|edge| self.score(node, edge)));
            if self.scale_invariant {
                range_backward(&scores, gradients);
            }
            let mut received = T::ZERO;
            for ((gradient, &score), edge) in gradients.iter_mut().zip(&scores).zip(incoming) {
                if score <= T::ZERO {
                    *gradient *= self.slope;
                }
                prepared_gradient[self.edges.senders[edge] as usize * self.row + self.column] += *gradient;
                received += *gradient;
            }
            prepared_gradient[node * self.row + self.column + 1] += received;
        }
    }
}
