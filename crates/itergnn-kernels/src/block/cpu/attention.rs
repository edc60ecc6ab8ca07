//! Weights of attention from the scores, and the gradient of the scores.

use super::active::ActiveSet;
use super::packed::Shapes;
use super::plan::GraphPlan;
use super::softmax::{range_backward, softmax};
use crate::real::Real;

/// The parts of the scores of one graph and layer.
pub(super) struct Scores<'a, T> {
    pub(super) plan: &'a GraphPlan,
    pub(super) shapes: &'a Shapes,
    pub(super) scale_invariant: bool,
    /// `[nodes, prepared_row]`.
    pub(super) prepared: &'a [T],
    /// `[edges, edge]`.
    pub(super) features: &'a [T],
    /// `[edge]`.
    pub(super) edge_weight: &'a [T],
}

impl<T: Real> Scores<'_, T> {
    /// The score of one edge of a receiver.
    fn score(&self, receiver: usize, edge: usize) -> T {
        let (row, column) = (self.shapes.prepared_row, self.shapes.score_column());
        let sender = self.plan.senders()[edge] as usize;
        let mut score = self.prepared[sender * row + column] + self.prepared[receiver * row + column + 1];
        let features = &self.features[edge * self.shapes.edge..(edge + 1) * self.shapes.edge];
        for (&feature, &weight) in features.iter().zip(self.edge_weight) {
            score += feature * weight;
        }
        score
    }

    fn incoming(&self, receiver: usize) -> std::ops::Range<usize> {
        let offsets = self.plan.offsets();
        offsets[receiver] as usize..offsets[receiver + 1] as usize
    }

    /// Fills `weights`, which are those of the edges to the given receivers, where they are reached; returns whether
    /// all their scores are finite.
    pub(super) fn weights(&self, active: &ActiveSet, receivers: std::ops::Range<usize>, weights: &mut [T]) -> bool {
        let mut finite = true;
        let first = self.plan.offsets()[receivers.start] as usize;
        for receiver in receivers {
            let incoming = self.incoming(receiver);
            if incoming.is_empty() || !active.is_reached(receiver) {
                continue;
            }
            let slots = &mut weights[incoming.start - first..incoming.end - first];
            for (slot, edge) in slots.iter_mut().zip(incoming) {
                *slot = self.score(receiver, edge);
                finite &= slot.is_finite();
            }
            softmax(self.scale_invariant, slots);
        }
        finite
    }

    /// Turns `products`, the weight of each edge times the gradient of that weight, into the gradient of its score.
    ///
    /// Receivers that are not active have no gradient; their products are not read, and become zero.
    pub(super) fn backward(&self, weights: &[T], active: &[u8], products: &mut [T]) {
        let mut scores = Vec::new();
        for (receiver, &active) in active.iter().enumerate() {
            let incoming = self.incoming(receiver);
            let (weights, products) = (&weights[incoming.clone()], &mut products[incoming.clone()]);
            if active == 0 {
                products.fill(T::ZERO);
                continue;
            }
            let sum = products.iter().fold(T::ZERO, |sum, &product| sum + product);
            products.iter_mut().zip(weights).for_each(|(product, &weight)| *product -= weight * sum);
            if !self.scale_invariant {
                continue;
            }
            scores.clear();
            scores.extend(incoming.map(|edge| self.score(receiver, edge)));
            range_backward(&scores, products);
        }
    }
}
