//! Softmax.

use super::extreme::{Extreme, extreme};
use super::real::Real;
use super::sum::sum;
use crate::ops::segments::Segments;

/// Softmax over each segment and channel, shifted by the maximum.
pub(crate) fn softmax<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let maximum = extreme(values, segments, width, Extreme::Max);
    let mut output = values.to_vec();
    let mut total = vec![F::default(); width];
    for (segment, rows) in segments.iter().enumerate() {
        let shift = &maximum[segment * width..(segment + 1) * width];
        let block = &mut output[rows.start * width..rows.end * width];
        total.fill(F::default());
        for row in block.chunks_exact_mut(width) {
            for ((value, &shift), total) in row.iter_mut().zip(shift).zip(&mut total) {
                *value = (*value - shift).exp();
                *total += *value;
            }
        }
        for row in block.chunks_exact_mut(width) {
            for (value, &total) in row.iter_mut().zip(&total) {
                *value = *value / total;
            }
        }
    }
    output
}

/// Backward of [`softmax`] from its output: `p (g - sum p g)` within each segment.
pub(crate) fn softmax_backward<F: Real>(output: &[F], gradient: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let products: Vec<F> = output.iter().zip(gradient).map(|(&weight, &gradient)| weight * gradient).collect();
    let means = sum(&products, segments, width);
    let mut result = products;
    for (segment, rows) in segments.iter().enumerate() {
        let means = &means[segment * width..(segment + 1) * width];
        let block = rows.start * width..rows.end * width;
        for (row, weights) in result[block.clone()].chunks_exact_mut(width).zip(output[block].chunks_exact(width)) {
            for ((value, &weight), &mean) in row.iter_mut().zip(weights).zip(means) {
                *value -= weight * mean;
            }
        }
    }
    result
}
