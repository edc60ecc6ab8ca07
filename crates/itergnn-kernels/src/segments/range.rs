//! Scores without their scale.

use super::Segments;
use crate::block::RANGE_TOLERANCE;
use crate::real::Real;

/// Where a segment's channel is largest and smallest (first row on ties), and by how much the two differ.
struct Range<F> {
    maximum: usize,
    minimum: usize,
    width: F,
}

/// The range of one channel over a segment, or `None` where it counts as zero (see [`RANGE_TOLERANCE`]).
fn range_of<F: Real>(values: &[F], rows: std::ops::Range<usize>, width: usize, channel: usize) -> Option<Range<F>> {
    let (mut maximum, mut minimum) = (rows.start, rows.start);
    let at = |row: usize| values[row * width + channel];
    let mut magnitude = F::ZERO;
    for row in rows {
        if at(row) > at(maximum) {
            maximum = row;
        }
        if at(row) < at(minimum) {
            minimum = row;
        }
        if at(row).abs() > magnitude {
            magnitude = at(row).abs();
        }
    }
    let range = at(maximum) - at(minimum);
    // A NaN score compares false with everything; it must not pass for a zero range and be hidden as uniform weights.
    let zero = range <= F::from_f64(RANGE_TOLERANCE) * magnitude && !range.is_nan();
    (!zero).then_some(Range { maximum, minimum, width: range })
}

/// `(x - max) / (max - min)` per segment and channel, 0 where the range counts as zero: the scale of the scores is
/// removed.
pub fn range_normalise<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = vec![F::ZERO; values.len()];
    for rows in segments.iter().filter(|rows| !rows.is_empty()) {
        for channel in 0..width {
            if let Some(range) = range_of(values, rows.clone(), width, channel) {
                let maximum = values[range.maximum * width + channel];
                for row in rows.clone() {
                    output[row * width + channel] = (values[row * width + channel] - maximum) / range.width;
                }
            }
        }
    }
    output
}

/// Backward of [`range_normalise`], through the maximum and the minimum too.
///
/// With `y = (x - M) / R`, `R = M - m`: `dx_i = g_i / R - [i = M] G / R + ([i = m] - [i = M]) Y / R`, `G = sum g`, `Y =
/// sum g y`.
pub fn range_normalise_backward<F: Real>(
    values: &[F],
    output: &[F],
    gradient: &[F],
    segments: &Segments,
    width: usize,
) -> Vec<F> {
    let mut result = vec![F::ZERO; values.len()];
    for rows in segments.iter().filter(|rows| !rows.is_empty()) {
        for channel in 0..width {
            let Some(range) = range_of(values, rows.clone(), width, channel) else { continue };
            let (mut plain, mut weighted) = (F::ZERO, F::ZERO);
            for at in rows.clone().map(|row| row * width + channel) {
                result[at] = gradient[at] / range.width;
                plain += result[at];
                weighted += result[at] * output[at];
            }
            result[range.maximum * width + channel] -= plain + weighted;
            result[range.minimum * width + channel] += weighted;
        }
    }
    result
}
