//! Element by element: the maximum with an old state, and LeakyReLU.

use super::real::Real;
use crate::ops::segments::Segments;

/// `max(kept, candidate)` for every row whose segment is not empty, `kept` for the others.
pub(crate) fn keep_max<F: Real>(kept: &[F], candidate: &[F], segments: &Segments, width: usize) -> Vec<F> {
    let mut output = kept.to_vec();
    for at in replaced(kept, candidate, segments, width) {
        output[at] = candidate[at];
    }
    output
}

/// Backward of [`keep_max`]: gradients for `kept` and `candidate`. On a tie `kept` takes all of it.
pub(crate) fn keep_max_backward<F: Real>(
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
pub(crate) fn leaky_relu<F: Real>(values: &[F], slope: F) -> Vec<F> {
    values.iter().map(|&value| if value > F::default() { value } else { slope * value }).collect()
}

/// Backward of [`leaky_relu`]; the derivative at 0 is `slope`.
pub(crate) fn leaky_relu_backward<F: Real>(values: &[F], gradient: &[F], slope: F) -> Vec<F> {
    let derive = |(&value, &gradient): (&F, &F)| if value > F::default() { gradient } else { slope * gradient };
    values.iter().zip(gradient).map(derive).collect()
}
