//! Softmax of the scores that reach one node, plain and scale-invariant.

use crate::block::config::RANGE_TOLERANCE;
use crate::real::Real;

/// Position of the first largest (`sign = 1`) or first smallest (`sign = -1`) score.
fn extreme<T: Real>(scores: &[T], sign: T) -> usize {
    (1..scores.len()).fold(0, |best, index| if sign * scores[index] > sign * scores[best] { index } else { best })
}

/// The range to divide by: `None` for a plain softmax, `Some(None)` when the range counts as zero.
fn range<T: Real>(scale_invariant: bool, scores: &[T]) -> Option<Option<T>> {
    if !scale_invariant {
        return None;
    }
    let range = scores[extreme(scores, T::ONE)] - scores[extreme(scores, -T::ONE)];
    let largest =
        scores.iter().fold(T::ZERO, |largest, score| if score.abs() > largest { score.abs() } else { largest });
    Some((range > T::from_f64(RANGE_TOLERANCE) * largest).then_some(range))
}

/// The weights of the scores (at least one) of one receiver.
pub(super) fn weights<T: Real>(scale_invariant: bool, scores: &[T]) -> Vec<T> {
    let top = scores[extreme(scores, T::ONE)];
    let divisor = range(scale_invariant, scores);
    let powers: Vec<T> = scores
        .iter()
        .map(|&score| match divisor {
            None => (score - top).exp(),
            Some(Some(range)) => ((score - top) / range).exp(),
            Some(None) => T::ONE,
        })
        .collect();
    let sum = powers.iter().fold(T::ZERO, |sum, &power| sum + power);
    powers.into_iter().map(|power| power / sum).collect()
}

/// Gradient of the scores from the gradient of the weights.
pub(super) fn backward<T: Real>(scale_invariant: bool, scores: &[T], weights: &[T], gradient: &[T]) -> Vec<T> {
    let mean = weights.iter().zip(gradient).fold(T::ZERO, |sum, (&weight, &gradient)| sum + weight * gradient);
    let plain: Vec<T> = weights.iter().zip(gradient).map(|(&weight, &gradient)| weight * (gradient - mean)).collect();
    match range(scale_invariant, scores) {
        None => plain,
        Some(None) => vec![T::ZERO; scores.len()],
        Some(Some(range)) => {
            let mut result: Vec<T> = plain.iter().map(|&gradient| gradient / range).collect();
            // y = s / (max - min), so the range gets -sum(dy s) / range^2 and hands it to the largest and the smallest
            // score.
            let product = plain.iter().zip(scores).fold(T::ZERO, |sum, (&gradient, &score)| sum + gradient * score);
            let pull = product / (range * range);
            result[extreme(scores, T::ONE)] -= pull;
            result[extreme(scores, -T::ONE)] += pull;
            result
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_counts_as_equal_and_scaling_changes_nothing() {
        let noisy = [0.2_f32, 0.200_000_02, 0.2];
        assert_eq!(weights(true, &noisy), vec![1.0 / 3.0; 3]);
        assert_eq!(backward(true, &noisy, &[1.0 / 3.0; 3], &[1.0, 2.0, 3.0]), vec![0.0; 3]);
        // A power of two scales without rounding, so the weights must be the same bits.
        let scores = [0.3_f32, -1.7, 0.9, 0.25];
        let scaled = scores.map(|score| 1024.0 * score);
        let weigh = |scores: &[f32]| weights(true, scores);
        assert_eq!(weigh(&scores), weigh(&scaled));
    }
}
