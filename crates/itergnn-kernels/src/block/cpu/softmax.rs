//! Softmax of the scores that reach one node, plain and scale-invariant.

use crate::block::config::RANGE_TOLERANCE;
use crate::real::Real;

/// Largest and smallest of some scores, at least one.
struct Extremes<T> {
    largest: T,
    smallest: T,
    /// Where they are first met.
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

/// Replaces the scores of one receiver (at least one) by their weights.
pub(super) fn softmax<T: Real>(scale_invariant: bool, scores: &mut [T]) {
    let extremes = Extremes::of(scores);
    let scale = match scale_invariant {
        true => extremes.range().map_or(T::ZERO, |range| T::ONE / range),
        false => T::ONE,
    };
    let mut sum = T::ZERO;
    for score in scores.iter_mut() {
        let exponent = (*score - extremes.largest) * scale;
        *score = if exponent > T::SMALLEST_EXPONENT { exponent.exp() } else { T::ZERO };
        sum += *score;
    }
    let share = T::ONE / sum;
    scores.iter_mut().for_each(|score| *score *= share);
}

/// From the gradient of scores that were divided by their range to that of the scores; both are of one receiver, and
/// the gradients sum to zero.
pub(super) fn range_backward<T: Real>(scores: &[T], gradients: &mut [T]) {
    let extremes = Extremes::of(scores);
    let Some(range) = extremes.range() else {
        gradients.fill(T::ZERO);
        return;
    };
    // y = s / (max - min): the range gets -sum(dy s) / range^2. The gradients sum to zero, so the scores may be counted
    // from the largest.
    let scale = T::ONE / range;
    let mut pull = T::ZERO;
    for (gradient, &score) in gradients.iter_mut().zip(scores) {
        pull += *gradient * ((score - extremes.largest) * scale);
        *gradient *= scale;
    }
    gradients[extremes.largest_at] -= pull * scale;
    gradients[extremes.smallest_at] += pull * scale;
}
