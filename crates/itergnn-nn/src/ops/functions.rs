//! The operations on tensors.

use burn::backend::Dispatch;
use burn::tensor::Tensor;
use itergnn_kernels::segments::{Extreme, Segments};

use super::backend::{GraphBackend, UnaryOperation};

fn unary(values: Tensor<2>, operation: UnaryOperation) -> Tensor<2> {
    Tensor::from_dispatch(Dispatch::unary(values.into_dispatch(), operation))
}

/// Checks that `values` has one row per segment row.
fn over(values: Tensor<2>, segments: &Segments, operation: impl Fn(Segments) -> UnaryOperation) -> Tensor<2> {
    assert_eq!(values.dims()[0], segments.rows(), "one row per segment row");
    unary(values, operation(segments.clone()))
}

/// Sum of the rows of each segment: `y_i = sum over k in segment i of x_k`. An empty segment gives 0.
///
/// # Shapes
///
/// - values: `[rows, width]`, usually one row per edge
/// - output: `[segments, width]`, usually one row per receiver
///
/// # Panics
///
/// When `values` does not have `segments.rows()` rows; the same holds for the other segment operations.
pub fn segment_sum(values: Tensor<2>, segments: &Segments) -> Tensor<2> {
    over(values, segments, UnaryOperation::Sum)
}

/// Mean of the rows of each segment. An empty segment gives 0.
///
/// # Shapes
///
/// - values: `[rows, width]`
/// - output: `[segments, width]`
pub fn segment_mean(values: Tensor<2>, segments: &Segments) -> Tensor<2> {
    over(values, segments, UnaryOperation::Mean)
}

/// Largest entry of each segment and channel. An empty segment gives 0.
///
/// The gradient goes to the first row that attains the maximum. (Burn's own scatter with maximum is right forward, but
/// gives the gradient to every duplicate index; `tests/ops/gradients.rs` guards the difference.)
///
/// # Shapes
///
/// - values: `[rows, width]`
/// - output: `[segments, width]`
pub fn segment_max(values: Tensor<2>, segments: &Segments) -> Tensor<2> {
    over(values, segments, |segments| UnaryOperation::Extreme(segments, Extreme::Max))
}

/// Smallest entry of each segment and channel. An empty segment gives 0; the gradient goes to the first minimum.
///
/// # Shapes
///
/// - values: `[rows, width]`
/// - output: `[segments, width]`
pub fn segment_min(values: Tensor<2>, segments: &Segments) -> Tensor<2> {
    over(values, segments, |segments| UnaryOperation::Extreme(segments, Extreme::Min))
}

/// Softmax within each segment and channel: `y_k = exp(x_k) / sum over the segment of exp(x)`.
///
/// # Shapes
///
/// - scores: `[rows, heads]`
/// - output: `[rows, heads]`, summing to 1 over each segment
pub fn segment_softmax(scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
    over(scores, segments, UnaryOperation::Softmax)
}

/// Scores with their scale and offset removed: `y_k = (x_k - max) / (max - min)` within each segment and channel, so
/// `y` lies in `[-1, 0]`.
///
/// Where the range is below [`RANGE_TOLERANCE`](itergnn_kernels::block::RANGE_TOLERANCE) of the largest `|x|` of the
/// segment it counts as zero: `y = 0` and no gradient. The output does not change under `x -> c x`, `c > 0`. The
/// gradient flows through the maximum and the minimum.
///
/// # Shapes
///
/// - scores: `[rows, heads]`
/// - output: `[rows, heads]`
pub fn segment_range_normalise(scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
    over(scores, segments, UnaryOperation::RangeNormalise)
}

/// Scale-invariant softmax: `softmax(x / (max x - min x))` within each segment and channel.
///
/// Positively homogeneous of degree 0: `c x` gives the same weights for every `c > 0` (proved by
/// `scale_invariant_softmax_ignores_the_scale` in `tests/ops/laws.rs`). Where the range counts as zero
/// (see [`segment_range_normalise`]) the weights are uniform.
///
/// # Shapes
///
/// - scores: `[rows, heads]`
/// - output: `[rows, heads]`, summing to 1 over each segment
///
/// # Paper
///
/// The attention of HomoGNN. Departure: the relative test for a zero range, without which `f32` training ends in NaN.
pub fn segment_scale_invariant_softmax(scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
    // Softmax does not see the offset that range normalisation takes away.
    segment_softmax(segment_range_normalise(scores, segments), segments)
}

/// Sparsemax within each segment and channel: the probability vector nearest to the scores, `argmin |p - x|_2`.
///
/// Unlike softmax it gives exact zeros.
///
/// # Shapes
///
/// - scores: `[rows, heads]`
/// - output: `[rows, heads]`, non-negative and summing to 1 over each segment
///
/// # Complexity
///
/// `O(d log d)` for a segment of `d` rows.
pub fn segment_sparsemax(scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
    over(scores, segments, UnaryOperation::Sparsemax)
}

/// Sparsemax of scores whose scale was removed by [`segment_range_normalise`]: the scale-invariant form of
/// [`segment_sparsemax`].
pub fn segment_scale_invariant_sparsemax(scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
    segment_sparsemax(segment_range_normalise(scores, segments), segments)
}

/// `max(kept, candidate)` element by element for nodes with incoming edges; a node without any keeps its row.
///
/// The comparison is strict: on a tie the old state wins and takes the whole gradient. So a state that did not change
/// is bitwise the old one.
///
/// # Shapes
///
/// - kept, candidate, output: `[nodes, width]`; `segments` are the incoming edges of each node
///
/// # Panics
///
/// When the shapes differ or there is not one segment per row.
pub fn keep_max(kept: Tensor<2>, candidate: Tensor<2>, segments: &Segments) -> Tensor<2> {
    assert_eq!(kept.dims(), candidate.dims(), "kept and candidate states have one shape");
    assert_eq!(kept.dims()[0], segments.len(), "one segment per node");
    Tensor::from_dispatch(Dispatch::keep_max(kept.into_dispatch(), candidate.into_dispatch(), segments.clone()))
}

/// LeakyReLU: `x` where positive, `slope x` elsewhere, the derivative at 0 being `slope` as in PyTorch.
///
/// One pass over the values, where the built-in one is a composite of masks (8 times slower on Flex); exact for
/// positive `x`, which the faster `(1 - slope) relu(x) + slope x` is not.
///
/// # Shapes
///
/// - values, output: any shape
pub fn leaky_relu<const D: usize>(values: Tensor<D>, slope: f64) -> Tensor<D> {
    let shape = values.shape();
    let rows = shape.num_elements();
    unary(values.reshape([rows, 1]), UnaryOperation::LeakyRelu(slope)).reshape(shape)
}

/// The mean over rows of `-log softmax(scores)[class]`, as one operation: a loss is a handful of numbers, for which the
/// ten operations that it is made of cost more than the arithmetic.
///
/// # Shapes
///
/// - scores: `[rows, classes]`; `classes` has one entry per row
/// - output: `[1]`
///
/// # Panics
///
/// When there is not one class per row, or a class has no column.
pub fn cross_entropy(scores: Tensor<2>, classes: &[u32]) -> Tensor<1> {
    let [rows, width] = scores.dims();
    assert_eq!(rows, classes.len(), "one class per row");
    assert!(classes.iter().all(|&class| (class as usize) < width), "every class has a column");
    Tensor::from_dispatch(Dispatch::unary(scores.into_dispatch(), UnaryOperation::CrossEntropy(classes.into(), width)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use burn::tensor::activation::log_softmax;

    /// f32 exponentials and logarithms of numbers near 1.
    const ROUNDING: f64 = 1e-6;

    #[test]
    fn cross_entropy_is_that_of_the_logarithm_of_softmax() {
        let device = Device::flex().autodiff();
        let scores = Tensor::<2>::from_floats([[0.3, -1.0, 2.0], [0.5, 0.1, -0.7]], &device).require_grad();
        let chosen = Tensor::<2>::from_floats([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], &device);
        let ours = cross_entropy(scores.clone(), &[2, 0]);
        let theirs = (log_softmax(scores.clone(), 1) * chosen).sum().div_scalar(-2.0);
        assert!((ours.clone().into_scalar::<f64>() - theirs.clone().into_scalar::<f64>()).abs() < ROUNDING);
        let gradient = |loss: Tensor<1>| scores.grad(&loss.mul_scalar(3.0).backward()).unwrap();
        let difference = (gradient(ours) - gradient(theirs)).abs().max().into_scalar::<f64>();
        assert!(difference < ROUNDING, "{difference}");
    }
}
