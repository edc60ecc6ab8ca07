//! Sparsemax.

use super::real::Real;
use crate::ops::segments::Segments;

/// Sparsemax over each segment and channel: the Euclidean projection of the scores onto the probability simplex.
pub(crate) fn sparsemax<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = vec![F::default(); values.len()];
    let mut sorted = Vec::new();
    for rows in segments.iter().filter(|rows| !rows.is_empty()) {
        for channel in 0..width {
            sorted.clear();
            sorted.extend(rows.clone().map(|row| values[row * width + channel]));
            sorted.sort_unstable_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
            let threshold = simplex_threshold(&sorted);
            for row in rows.clone() {
                let value = values[row * width + channel] - threshold;
                // Written so that a NaN score stays NaN.
                output[row * width + channel] = if value <= F::default() { F::default() } else { value };
            }
        }
    }
    output
}

/// The `tau` with `sum max(z - tau, 0) = 1`, for scores sorted from large to small.
fn simplex_threshold<F: Real>(descending: &[F]) -> F {
    let one = F::of(1.0);
    // Sums are taken relative to the largest score, so that scores of large magnitude lose no digits.
    let largest = descending[0];
    let (mut total, mut threshold) = (F::default(), F::default() - one);
    for (index, &value) in descending.iter().enumerate() {
        let (count, shifted) = (F::of((index + 1) as f64), value - largest);
        total += shifted;
        if one + count * shifted <= total {
            break;
        }
        threshold = (total - one) / count;
    }
    threshold + largest
}

/// Backward of [`sparsemax`]: `g - mean of g over the support` on the support, 0 elsewhere.
pub(crate) fn sparsemax_backward<F: Real>(output: &[F], gradient: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut result = vec![F::default(); output.len()];
    for rows in segments.iter() {
        for channel in 0..width {
            let support = || rows.clone().map(|row| row * width + channel).filter(|&at| output[at] > F::default());
            let (mut total, mut count) = (F::default(), 0_usize);
            for at in support() {
                total += gradient[at];
                count += 1;
            }
            let mean = total / F::of(count.max(1) as f64);
            for at in support() {
                result[at] = gradient[at] - mean;
            }
        }
    }
    result
}
