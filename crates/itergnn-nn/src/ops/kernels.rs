//! The loops behind the segment operations, on plain slices.
//!
//! Every function takes row-major `[rows, width]` slices. They run on one thread: a graph step is a few hundred thousand
//! numbers, and the fused kernels take over where speed matters.

use super::segments::Segments;

/// A range below this fraction of the largest `|score|` of its segment counts as zero.
///
/// In `f32` the scores of equal neighbours differ by rounding only, about 1e-7 of their size; dividing by such a range turns
/// noise into attention and its gradient into NaN within a few training steps. A relative bound keeps the result unchanged
/// when all scores are scaled.
pub const RELATIVE_RANGE: f64 = 1e-4;

/// The arithmetic the kernels need; implemented by `f32` and `f64`.
pub(super) trait Real:
    Copy
    + Default
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::AddAssign
    + std::ops::SubAssign
{
    /// The nearest value of this type.
    fn of(value: f64) -> Self;
    /// The exponential function.
    fn exp(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// Whether this is not a number.
    fn is_nan(self) -> bool;
}

macro_rules! real {
    ($float:ty) => {
        impl Real for $float {
            fn of(value: f64) -> Self {
                value as Self
            }
            fn exp(self) -> Self {
                self.exp()
            }
            fn abs(self) -> Self {
                self.abs()
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
        }
    };
}
real!(f32);
real!(f64);

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

/// Adds the rows of each segment: `[rows, width] -> [segments, width]`.
pub(super) fn sum<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
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
pub(super) fn broadcast<F: Real>(
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
pub(super) fn mean<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
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

/// Largest or smallest row entry of each segment and channel; an empty segment gives 0, a NaN wins.
pub(super) fn extreme<F: Real>(values: &[F], segments: &Segments, width: usize, which: Extreme) -> Vec<F> {
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
pub(super) fn extreme_backward<F: Real>(
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

/// Softmax over each segment and channel, shifted by the maximum.
pub(super) fn softmax<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let maximum = extreme(values, segments, width, Extreme::Max);
    let mut output = vec![F::default(); values.len()];
    let mut total = vec![F::default(); width];
    for (segment, range) in segments.iter().enumerate() {
        total.fill(F::default());
        for row in range.clone() {
            for channel in 0..width {
                let weight = (values[row * width + channel] - maximum[segment * width + channel]).exp();
                output[row * width + channel] = weight;
                total[channel] += weight;
            }
        }
        for row in range {
            for channel in 0..width {
                output[row * width + channel] = output[row * width + channel] / total[channel];
            }
        }
    }
    output
}

/// Backward of [`softmax`] from its output: `p (g - sum p g)` within each segment.
pub(super) fn softmax_backward<F: Real>(output: &[F], gradient: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut result = vec![F::default(); output.len()];
    let mut inner = vec![F::default(); width];
    for range in segments.iter() {
        inner.fill(F::default());
        for row in range.clone() {
            for channel in 0..width {
                inner[channel] += output[row * width + channel] * gradient[row * width + channel];
            }
        }
        for row in range {
            for channel in 0..width {
                let at = row * width + channel;
                result[at] = output[at] * (gradient[at] - inner[channel]);
            }
        }
    }
    result
}

/// Where a segment's channel is largest and smallest (first row on ties), and by how much the two differ.
struct Range<F> {
    maximum: usize,
    minimum: usize,
    width: F,
}

/// The range of one channel over a segment, or `None` where it counts as zero (see [`RELATIVE_RANGE`]).
fn range_of<F: Real>(values: &[F], rows: std::ops::Range<usize>, width: usize, channel: usize) -> Option<Range<F>> {
    let (mut maximum, mut minimum) = (rows.start, rows.start);
    let at = |row: usize| values[row * width + channel];
    let mut magnitude = F::default();
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
    let zero = range <= F::of(RELATIVE_RANGE) * magnitude && !range.is_nan();
    (!zero).then_some(Range { maximum, minimum, width: range })
}

/// `(x - max) / (max - min)` per segment and channel, 0 where the range counts as zero: the scale of the scores is removed.
pub(super) fn range_normalise<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = vec![F::default(); values.len()];
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
/// With `y = (x - M) / R`, `R = M - m`: `dx_i = g_i / R - [i = M] G / R + ([i = m] - [i = M]) Y / R`, `G = sum g`, `Y = sum g y`.
pub(super) fn range_normalise_backward<F: Real>(
    values: &[F],
    output: &[F],
    gradient: &[F],
    segments: &Segments,
    width: usize,
) -> Vec<F> {
    let mut result = vec![F::default(); values.len()];
    for rows in segments.iter().filter(|rows| !rows.is_empty()) {
        for channel in 0..width {
            let Some(range) = range_of(values, rows.clone(), width, channel) else { continue };
            let (mut plain, mut weighted) = (F::default(), F::default());
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

/// Sparsemax over each segment and channel: the Euclidean projection of the scores onto the probability simplex.
pub(super) fn sparsemax<F: Real>(values: &[F], segments: &Segments, width: usize) -> Vec<F> {
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
pub(super) fn sparsemax_backward<F: Real>(output: &[F], gradient: &[F], segments: &Segments, width: usize) -> Vec<F> {
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

/// `max(kept, candidate)` for every row whose segment is not empty, `kept` for the others.
pub(super) fn keep_max<F: Real>(kept: &[F], candidate: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = kept.to_vec();
    for at in replaced(kept, candidate, segments, width) {
        output[at] = candidate[at];
    }
    output
}

/// Backward of [`keep_max`]: gradients for `kept` and `candidate`. On a tie `kept` takes all of it.
pub(super) fn keep_max_backward<F: Real>(
    kept: &[F],
    candidate: &[F],
    gradient: &[F],
    segments: &Segments,
    width: usize,
) -> (Vec<F>, Vec<F>) {
    let (mut to_kept, mut to_candidate) = (gradient.to_vec(), vec![F::default(); gradient.len()]);
    for at in replaced(kept, candidate, segments, width) {
        to_candidate[at] = gradient[at];
        to_kept[at] = F::default();
    }
    (to_kept, to_candidate)
}

/// The positions at which the candidate is strictly larger (or NaN) and its segment has rows.
fn replaced<'a, F: Real>(
    kept: &'a [F],
    candidate: &'a [F],
    segments: &'a Segments,
    width: usize,
) -> impl Iterator<Item = usize> + 'a {
    segments
        .iter()
        .enumerate()
        .filter(|(_, rows)| !rows.is_empty())
        .flat_map(move |(segment, _)| segment * width..(segment + 1) * width)
        .filter(|&at| candidate[at] > kept[at] || candidate[at].is_nan())
}

/// `x` where positive, `slope x` elsewhere.
pub(super) fn leaky_relu<F: Real>(values: &[F], slope: F) -> Vec<F> {
    values.iter().map(|&value| if value > F::default() { value } else { slope * value }).collect()
}

/// Backward of [`leaky_relu`]; the derivative at 0 is `slope`.
pub(super) fn leaky_relu_backward<F: Real>(values: &[F], gradient: &[F], slope: F) -> Vec<F> {
    let derive = |(&value, &gradient): (&F, &F)| if value > F::default() { gradient } else { slope * gradient };
    values.iter().zip(gradient).map(derive).collect()
}
