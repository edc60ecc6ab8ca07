//! Single precision: scores that differ by rounding only, and numbers that are not numbers.

use burn::tensor::{DType, Tensor, TensorData};
use itergnn_kernels::block::RANGE_TOLERANCE;
use itergnn_nn::ops::{self, Segments};

use crate::fixtures::{device, matrix, values};

/// A few roundings of `f32` numbers of order 1.
const SINGLE_ROUNDING: f64 = 1e-6;

/// An `f32` column, although the device's floats are `f64`.
fn single(scores: &[f32]) -> Tensor<2> {
    Tensor::from_data(TensorData::new(scores.to_vec(), [scores.len(), 1]), (&device(), DType::F32))
}

/// The gradient of `sum of (output * (1, 2, 3, ..))`.
fn gradient(scores: &Tensor<2>, function: impl Fn(Tensor<2>) -> Tensor<2>) -> Vec<f64> {
    let scores = scores.clone().require_grad();
    let output = function(scores.clone());
    let weights: Vec<f32> = (1..=output.dims()[0]).map(|index| index as f32).collect();
    let gradients = (output * single(&weights)).sum().backward();
    values(scores.grad(&gradients).expect("scores are used"))
}

#[test]
fn a_range_of_rounding_noise_gives_uniform_weights_and_finite_gradients() {
    let noise = f32::EPSILON * 0.2;
    let scores = single(&[0.2, 0.2 + noise, 0.2, 0.2 - noise]);
    let segments = Segments::from_lengths([4]);
    let weights = values(ops::segment_scale_invariant_softmax(scores.clone(), &segments));
    assert_eq!(weights, [0.25; 4]);
    let found = gradient(&scores, |scores| ops::segment_scale_invariant_softmax(scores, &segments));
    assert_eq!(found, [0.0; 4]);
}

#[test]
fn the_zero_range_test_is_relative() {
    let segments = Segments::from_lengths([2]);
    for scale in [1e-3, 1.0, 1e3] {
        let column = |range: f64| matrix(&[scale, scale * (1.0 - range)], 2);
        let below = values(ops::segment_scale_invariant_softmax(column(0.5 * RANGE_TOLERANCE), &segments));
        assert_eq!(below, [0.5, 0.5]);
        let above = values(ops::segment_scale_invariant_softmax(column(2.0 * RANGE_TOLERANCE), &segments));
        let larger = 1.0 / (1.0 + (-1.0_f64).exp());
        assert!((above[0] - larger).abs() < 1e-9, "scale {scale}: {above:?}");
    }
}

#[test]
fn gradients_stay_finite_down_to_the_smallest_range_that_counts() {
    for magnitude in [1e-6_f32, 1.0, 1e6] {
        for range in [2e-4_f32, 1e-2, 1.0] {
            let scores = single(&[magnitude, magnitude * (1.0 - range), magnitude * (1.0 - 0.4 * range)]);
            let segments = Segments::from_lengths([3]);
            let found = gradient(&scores, |scores| ops::segment_scale_invariant_softmax(scores, &segments));
            assert!(found.iter().all(|value| value.is_finite()), "{magnitude} {range}: {found:?}");
            // Degree 0: no change along the scores themselves (Euler), relative to the gradient's own size.
            let along: f64 = found.iter().zip(values(scores)).map(|(gradient, score)| gradient * score).sum();
            let size: f64 = found.iter().map(|value| value.abs()).sum::<f64>() * f64::from(magnitude);
            assert!(along.abs() <= SINGLE_ROUNDING * size.max(1.0), "{magnitude} {range}: {along}");
        }
    }
}

#[test]
fn single_and_double_precision_agree() {
    let numbers = [0.3_f32, -1.2, 0.8, 0.1, 2.5, -0.4];
    let segments = Segments::from_lengths([4, 0, 2]);
    let double = matrix(&numbers.map(f64::from), 6);
    for function in [ops::segment_softmax, ops::segment_scale_invariant_softmax, ops::segment_sparsemax] {
        let pairs =
            values(function(single(&numbers), &segments)).into_iter().zip(values(function(double.clone(), &segments)));
        for (found, expected) in pairs {
            assert!((found - expected).abs() < SINGLE_ROUNDING);
        }
    }
}

#[test]
fn a_score_that_is_no_number_is_not_hidden() {
    let segments = Segments::from_lengths([3]);
    for position in 0..3 {
        let mut scores = [0.1, 0.7, 0.4];
        scores[position] = f64::NAN;
        let input = matrix(&scores, 3);
        assert!(values(ops::segment_max(input.clone(), &segments))[0].is_nan());
        assert!(values(ops::segment_softmax(input.clone(), &segments)).iter().all(|weight| weight.is_nan()));
        let weights = values(ops::segment_scale_invariant_softmax(input.clone(), &segments));
        assert!(weights.iter().any(|weight| weight.is_nan()));
        let kept = ops::keep_max(matrix(&[5.0; 3], 3), input, &Segments::from_lengths([1, 1, 1]));
        assert!(values(kept)[position].is_nan());
    }
}

#[test]
fn leaky_relu_is_exact_for_positive_inputs() {
    let input = single(&[1.1, 3.3e-7, 0.0, -2.0]);
    assert_eq!(values(ops::leaky_relu(input.clone(), 0.01))[..3], values(input)[..3]);
}
