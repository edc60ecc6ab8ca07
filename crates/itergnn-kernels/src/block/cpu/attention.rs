//! Weights of attention from the scores, and the gradient of the scores.

use super::active::ActiveSet;
use super::packed::Shapes;
use super::plan::GraphPlan;
use crate::block::config::{Aggregation, RANGE_TOLERANCE};
use crate::real::Real;

/// The parts of the scores of one graph and layer.
pub(super) struct Scores<'a, T> {
    pub(super) plan: &'a GraphPlan,
    pub(super) shapes: &'a Shapes,
    pub(super) aggregation: Aggregation,
    /// `[nodes, prepared_row]`.
    pub(super) prepared: &'a [T],
    /// `[edges, edge]`.
    pub(super) features: &'a [T],
    /// `[edge]`.
    pub(super) edge_weight: &'a [T],
}

/// Largest and smallest score of one receiver.
struct Extremes<T> {
    largest: T,
    smallest: T,
    /// Where they are first met, counted from the receiver's first edge.
    largest_at: usize,
    smallest_at: usize,
}

impl<T: Real> Extremes<T> {
    fn of(scores: &[T]) -> Self {
        let first = scores[0];
        let mut extremes = Self { largest: first, smallest: first, largest_at: 0, smallest_at: 0 };
        for (position, &score) in scores.iter().enumerate().skip(1) {
            if score > extremes.largest {
                (extremes.largest, extremes.largest_at) = (score, position);
            }
            if score < extremes.smallest {
                (extremes.smallest, extremes.smallest_at) = (score, position);
            }
        }
        extremes
    }

    /// The range of the scores, or `None` where it counts as zero.
    fn range(&self) -> Option<T> {
        let range = self.largest - self.smallest;
        let (above, below) = (self.largest.abs(), self.smallest.abs());
        let size = if above > below { above } else { below };
        (range > T::from_f64(RANGE_TOLERANCE) * size).then_some(range)
    }
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

    /// Fills `weights`, which are those of the edges to the given receivers, where they are reached; returns whether all their scores are finite.
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
            let extremes = Extremes::of(slots);
            let scale = match self.aggregation {
                Aggregation::ScaleInvariantAttention => extremes.range().map_or(T::ZERO, |range| T::ONE / range),
                _ => T::ONE,
            };
            let mut sum = T::ZERO;
            for slot in slots.iter_mut() {
                let exponent = (*slot - extremes.largest) * scale;
                *slot = if exponent > T::SMALLEST_EXPONENT { exponent.exp() } else { T::ZERO };
                sum += *slot;
            }
            let share = T::ONE / sum;
            slots.iter_mut().for_each(|slot| *slot *= share);
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
            if self.aggregation != Aggregation::ScaleInvariantAttention {
                continue;
            }
            scores.clear();
            scores.extend(incoming.map(|edge| self.score(receiver, edge)));
            let extremes = Extremes::of(&scores);
            let Some(range) = extremes.range() else {
                products.fill(T::ZERO);
                continue;
            };
            // y = s / (max - min): the range gets -sum(dy s) / range^2. The gradients sum to zero, so the scores may be counted from the largest.
            let scale = T::ONE / range;
            let mut pull = T::ZERO;
            for (product, &score) in products.iter_mut().zip(&scores) {
                pull += *product * ((score - extremes.largest) * scale);
                *product *= scale;
            }
            products[extremes.largest_at] -= pull * scale;
            products[extremes.smallest_at] += pull * scale;
        }
    }
}
