//! Sums and means.

use super::real::Real;
use crate::ops::segments::Segments;

/// Adds the rows of each segment: `[rows, width] -> [segments, width]`.
pub(crate) fn sum<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = vec![F::default(); segments.len() * width];
    for (segment, range) in segments.iter().enumerate() {
        let total = &mut output[segment * width..(segment + 1) * width];
        for row in range {
            for (sum, &value) in total.iter_mut().zip(&values[row * width..(row + 1) * width]) {
                *sum += value;
            }
        }
    }
    output
}

/// Copies each segment's row to all rows of the segment, times `scale(segment length)`.
pub(crate) fn broadcast<F: Real>(
    per_segment: &[F],
    segments: &Segments,
    width: usize,
    scale: impl Fn(usize) -> F,
) -> Vec<F> {
    let mut output = Vec::with_capacity(segments.rows() * width);
    for (segment, range) in segments.iter().enumerate() {
        let factor = scale(range.len());
        for _ in range {
            output.extend(per_segment[segment * width..(segment + 1) * width].iter().map(|&value| value * factor));
        }
    }
    output
}

/// Means of the rows of each segment; an empty segment gives 0.
pub(crate) fn mean<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = sum(values, segments, width);
    for (segment, range) in segments.iter().enumerate() {
        if !range.is_empty() {
            let count = F::of(range.len() as f64);
            for value in &mut output[segment * width..(segment + 1) * width] {
                *value = *value / count;
            }
        }
    }
    output
}
