//! Gradients: against finite differences, against references of basic operations, and on ties.

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};
use itergnn_nn::ops::{self, Segments};

use crate::fixtures::{assert_close, assert_gradient, device, gradient, matrix, random, values};
use crate::reference;

/// Custom operation and reference round differently in the last digits only.
const SAME: f64 = 1e-12;

/// A hub, an empty segment in the middle, one row, and an empty segment at the end.
fn segments() -> Segments {
    Segments::from_lengths([5, 0, 1, 2, 0])
}

type SegmentFunction = fn(Tensor<2>, &Segments) -> Tensor<2>;

#[test]
fn every_operation_agrees_with_finite_differences() {
    let operations: [(&str, SegmentFunction); 9] = [
        ("sum", ops::segment_sum),
        ("mean", ops::segment_mean),
        ("max", ops::segment_max),
        ("min", ops::segment_min),
        ("softmax", ops::segment_softmax),
        ("range normalise", ops::segment_range_normalise),
        ("scale-invariant softmax", ops::segment_scale_invariant_softmax),
        ("sparsemax", ops::segment_sparsemax),
        ("scale-invariant sparsemax", ops::segment_scale_invariant_sparsemax),
    ];
    for (name, operation) in operations {
        for seed in 0..3 {
            assert_gradient(&random(8, 3, seed), |values| operation(values, &segments()), name);
        }
    }
}

#[test]
fn elementwise_operations_agree_with_finite_differences() {
    let other = random(5, 3, 5);
    let point = random(5, 3, 6);
    assert_gradient(&point, |kept| ops::keep_max(kept, other.clone(), &segments()), "keep_max, kept");
    assert_gradient(&point, |candidate| ops::keep_max(other.clone(), candidate, &segments()), "keep_max, candidate");
    assert_gradient(&point, |values| ops::leaky_relu(values, 0.01), "leaky_relu");
}

#[test]
fn gradients_agree_with_those_of_the_references() {
    let operations: [(&str, SegmentFunction, SegmentFunction); 6] = [
        ("sum", ops::segment_sum, reference::segment_sum),
        ("mean", ops::segment_mean, reference::segment_mean),
        ("max", ops::segment_max, reference::segment_max),
        ("min", ops::segment_min, reference::segment_min),
        ("softmax", ops::segment_softmax, reference::segment_softmax),
        ("scale-invariant softmax", ops::segment_scale_invariant_softmax, reference::segment_scale_invariant_softmax),
    ];
    for (name, operation, reference) in operations {
        let point = random(8, 3, 7);
        let found = gradient(&point, |values| operation(values, &segments()));
        let expected = gradient(&point, |values| reference(values, &segments()));
        assert_close(&found, &expected, SAME, name);
    }
    let (point, other) = (random(5, 3, 8), random(5, 3, 9));
    let found = gradient(&point, |kept| ops::keep_max(kept, other.clone(), &segments()));
    let expected = gradient(&point, |kept| reference::keep_max(kept, other.clone(), &segments()));
    assert_close(&found, &expected, SAME, "keep_max");
    let found = gradient(&point, |values| ops::leaky_relu(values, 0.2));
    let expected = gradient(&point, |values| reference::leaky_relu(values, 0.2));
    assert_close(&found, &expected, SAME, "leaky_relu");
}

/// The gradient of the sum of all outputs.
fn plain_gradient(point: Tensor<2>, function: impl Fn(Tensor<2>) -> Tensor<2>) -> Vec<f64> {
    let point = point.require_grad();
    let gradients = function(point.clone()).sum().backward();
    values(point.grad(&gradients).expect("the function uses its argument"))
}

#[test]
fn on_ties_the_first_row_of_a_maximum_takes_the_gradient() {
    let segments = Segments::from_lengths([4]);
    let tied = matrix(&[1.0, 3.0, 3.0, 3.0], 4);
    assert_eq!(plain_gradient(tied.clone(), |x| ops::segment_max(x, &segments)), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(plain_gradient(tied.neg(), |x| ops::segment_min(x, &segments)), [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn on_ties_the_old_state_takes_the_gradient() {
    let segments = Segments::from_lengths([1, 1, 1, 0]);
    let (kept, candidate) = (matrix(&[2.0, 2.0, 2.0, 2.0], 4), matrix(&[1.0, 2.0, 3.0, 9.0], 4));
    let to_kept = plain_gradient(kept.clone(), |x| ops::keep_max(x, candidate.clone(), &segments));
    let to_candidate = plain_gradient(candidate, |x| ops::keep_max(kept.clone(), x, &segments));
    assert_eq!(to_kept, [1.0, 1.0, 0.0, 1.0]);
    assert_eq!(to_candidate, [0.0, 0.0, 1.0, 0.0]);
}

/// Burn 0.22.1 accumulates a maximum correctly but hands the gradient to every row that was scattered, winner or not.
/// This test says so, so that nobody replaces the custom operation by the built-in one; when it fails, Burn may have
/// been repaired.
#[test]
fn the_built_in_scatter_maximum_is_still_wrong_backward_and_ours_is_right() {
    let segments = Segments::from_lengths([2, 2]);
    let point = matrix(&[1.0, 2.0, 3.0, 4.0], 4);
    let built_in = |values: Tensor<2>| {
        let ids = Tensor::<1, Int>::from_data(TensorData::new(vec![0_i64, 0, 1, 1], [4]), &device());
        Tensor::full([2, 1], -1e30, &device()).select_assign(0, ids, values, IndexingUpdateOp::Max)
    };
    assert_eq!(values(built_in(point.clone())), values(ops::segment_max(point.clone(), &segments)));
    assert_eq!(plain_gradient(point.clone(), |x| ops::segment_max(x, &segments)), [0.0, 1.0, 0.0, 1.0]);
    assert_ne!(plain_gradient(point, built_in), [0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn nothing_is_recorded_for_inputs_without_gradient() {
    let segments = segments();
    let constant = random(8, 2, 1);
    let tracked = random(8, 2, 2).require_grad();
    let output = ops::segment_softmax(constant, &segments) * tracked.clone();
    let gradients = output.sum().backward();
    assert!(tracked.grad(&gradients).is_some());
}
