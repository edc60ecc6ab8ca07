//! Sums and means.

use super::Segments;
use crate::real::Real;

/// Adds the rows of each segment: `[rows, width] -> [segments, width]`.
pub fn sum<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = vec![F::ZERO; segments.len() * width];
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
pub fn broadcast<F: Real>(per_segment: &[F], segments: &Segments, width: usize, scale: impl Fn(usize) -> F) -> Vec<F> {
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
pub fn mean<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = sum(values, segments, width);
    for (segment, range) in segments.iter().enumerate() {
        if !range.is_empty() {
            let count = F::from_f64(range.len() as f64);
            for value in &mut output[segment * width..(segment + 1) * width] {
                *value = *value / count;
            }
        }
    }
    output
}
