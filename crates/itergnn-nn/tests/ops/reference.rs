//! The segment operations written with basic tensor operations on dense masks.
//!
//! Slow (`rows x segments` memory) and obvious: these are what the custom operations are tested against, values and
//! gradients.

use burn::tensor::{Bool, Int, Tensor, TensorData};

use itergnn_kernels::block::RANGE_TOLERANCE;
use itergnn_nn::ops::Segments;

/// Stands for minus infinity in masked maxima; finite, so that a masked difference never is `inf - inf`.
const MASKED: f64 = -1e30;

/// `[segments, rows, 1]`: whether the row belongs to the segment.
fn membership(segments: &Segments, like: &Tensor<2>) -> Tensor<3, Bool> {
    let device = like.device();
    let count = segments.len() as i64;
    let ids: Vec<i64> = segments.ids().into_iter().map(i64::from).collect();
    let rows = ids.len();
    let ids = Tensor::<1, Int>::from_data(TensorData::new(ids, [rows]), &device).reshape([1, rows, 1]);
    let index = Tensor::<1, Int>::arange(0..count, &device).reshape([segments.len(), 1, 1]);
    index.expand([segments.len(), rows, 1]).equal(ids.expand([segments.len(), rows, 1]))
}

/// Values repeated for every segment, with `fill` where the row belongs to another one: `[segments, rows, width]`.
fn spread(values: Tensor<2>, segments: &Segments, fill: f64) -> Tensor<3> {
    let [rows, width] = values.dims();
    let shape = [segments.len(), rows, width];
    let outside = membership(segments, &values).bool_not().expand(shape);
    values.unsqueeze_dim::<3>(0).expand(shape).mask_fill(outside, fill)
}

/// For every row the value of its segment: `[segments, width] -> [rows, width]`.
fn gather(per_segment: Tensor<2>, segments: &Segments) -> Tensor<2> {
    let ids: Vec<i64> = segments.ids().into_iter().map(i64::from).collect();
    let rows = ids.len();
    let device = per_segment.device();
    per_segment.select(0, Tensor::<1, Int>::from_data(TensorData::new(ids, [rows]), &device))
}

/// Reference of `segment_sum`.
pub(crate) fn segment_sum(values: Tensor<2>, segments: &Segments) -> Tensor<2> {
    spread(values, segments, 0.0).sum_dim(1).squeeze_dim(1)
}

/// Reference of `segment_mean`.
pub(crate) fn segment_mean(values: Tensor<2>, segments: &Segments) -> Tensor<2> {
    let counts: Vec<f64> = segments.iter().map(|rows| rows.len().max(1) as f64).collect();
    let counts = Tensor::<2>::from_data(TensorData::new(counts, [segments.len(), 1]), &values.device());
    segment_sum(values, segments) / counts
}

/// Reference of `segment_max`, for inputs without ties where gradients are compared.
pub(crate) fn segment_max(values: Tensor<2>, segments: &Segments) -> Tensor<2> {
    let maximum: Tensor<2> = spread(values, segments, MASKED).max_dim(1).squeeze_dim(1);
    let empty = maximum.clone().equal_elem(MASKED);
    maximum.mask_fill(empty, 0.0)
}

/// Reference of `segment_min`.
pub(crate) fn segment_min(values: Tensor<2>, segments: &Segments) -> Tensor<2> {
    segment_max(values.neg(), segments).neg()
}

/// Reference of `segment_softmax`.
pub(crate) fn segment_softmax(scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
    let shift = gather(segment_max(scores.clone().detach(), segments), segments);
    let weights = (scores - shift).exp();
    weights.clone() / gather(segment_sum(weights, segments), segments)
}

/// Reference of `segment_scale_invariant_softmax`: the formula as it stands in the
/// paper, `softmax(x / (max - min))`, with the division left out where the range counts as zero.
pub(crate) fn segment_scale_invariant_softmax(scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
    let range = segment_max(scores.clone(), segments) - segment_min(scores.clone(), segments);
    let magnitude = segment_max(scores.clone().abs(), segments);
    let zero = range.clone().lower_equal(magnitude * RANGE_TOLERANCE);
    let rows_without_range = gather(zero.clone().float(), segments).greater_elem(0.5);
    let scaled = scores / gather(range.mask_fill(zero, 1.0), segments);
    segment_softmax(scaled.mask_fill(rows_without_range, 0.0), segments)
}

/// Reference of `segment_sparsemax`: the threshold by bisection of `sum max(x - tau, 0) = 1`.
///
/// Values only: the bisection is not meant to be differentiated.
pub(crate) fn segment_sparsemax(scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
    // Halves the bracket [max - 1, max] to less than the spacing of f64 numbers.
    const HALVINGS: usize = 60;
    let mut high = segment_max(scores.clone(), segments);
    let mut low = high.clone() - 1.0;
    for _ in 0..HALVINGS {
        let middle = (low.clone() + high.clone()) * 0.5;
        let mass = segment_sum((scores.clone() - gather(middle.clone(), segments)).clamp_min(0.0), segments);
        let raise = mass.greater_elem(1.0);
        low = low.mask_where(raise.clone(), middle.clone());
        high = middle.mask_where(raise, high);
    }
    (scores - gather(high, segments)).clamp_min(0.0)
}

/// Reference of `keep_max`.
pub(crate) fn keep_max(kept: Tensor<2>, candidate: Tensor<2>, segments: &Segments) -> Tensor<2> {
    let [nodes, width] = kept.dims();
    let incoming: Vec<bool> = segments.iter().map(|rows| !rows.is_empty()).collect();
    let incoming = Tensor::<2, Bool>::from_data(TensorData::new(incoming, [nodes, 1]), &kept.device());
    let replaced = candidate.clone().greater(kept.clone()).bool_and(incoming.expand([nodes, width]));
    kept.mask_where(replaced, candidate)
}

/// Reference of `leaky_relu`.
pub(crate) fn leaky_relu<const D: usize>(values: Tensor<D>, slope: f64) -> Tensor<D> {
    let positive = values.clone().greater_elem(0.0);
    (values.clone() * slope).mask_where(positive, values)
}
