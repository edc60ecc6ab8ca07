//! Maxima and minima.

use super::real::Real;
use crate::ops::segments::Segments;

/// Which end of a segment an extremum takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The largest value.
    Max,
    /// The smallest value.
    Min,
}

impl Extreme {
    fn beats<F: Real>(self, candidate: F, best: F) -> bool {
        match self {
            Self::Max => candidate > best,
            Self::Min => candidate < best,
        }
    }
}

/// Largest or smallest row entry of each segment and channel; an empty segment gives 0, a NaN wins.
pub(crate) fn extreme<F: Real>(values: &[F], segments: &Segments, width: usize, which: Extreme) -> Vec<F> {
    let mut output = vec![F::default(); segments.len() * width];
    for (segment, range) in segments.iter().enumerate() {
        let best = &mut output[segment * width..(segment + 1) * width];
        for (position, row) in range.enumerate() {
            for (best, &value) in best.iter_mut().zip(&values[row * width..(row + 1) * width]) {
                if position == 0 || which.beats(value, *best) || value.is_nan() {
                    *best = value;
                }
            }
        }
    }
    output
}

/// Backward of [`extreme`]: the gradient goes to the first row that attains the extreme value, and nowhere else.
pub(crate) fn extreme_backward<F: Real>(
    values: &[F],
    output: &[F],
    gradient: &[F],
    segments: &Segments,
    width: usize,
) -> Vec<F> {
    let mut result = vec![F::default(); segments.rows() * width];
    let mut open = vec![true; width];
    for (segment, range) in segments.iter().enumerate() {
        open.fill(true);
        let base = segment * width;
        for row in range {
            for (channel, open) in open.iter_mut().enumerate() {
                if *open && values[row * width + channel] == output[base + channel] {
                    result[row * width + channel] = gradient[base + channel];
                    *open = false;
                }
            }
        }
    }
    result
}
