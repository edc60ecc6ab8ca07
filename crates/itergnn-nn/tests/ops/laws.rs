//! Laws of the segment operations on random segments, and their agreement with the references.

use burn::tensor::Tensor;
use itergnn_nn::ops::{self, Segments};
use proptest::prelude::*;

use crate::fixtures::{assert_close, matrix, values};
use crate::reference;

/// Sums of at most a few hundred terms of order 1 in `f64`.
const ROUNDING: f64 = 1e-12;

const WIDTH: usize = 2;

/// Segments of 0 to 6 rows, sometimes a hub of 40, and scores for them.
fn scored_segments() -> impl Strategy<Value = (Segments, Vec<f64>)> {
    let length = prop_oneof![9 => 0..7_usize, 1 => Just(40)];
    let lengths = prop::collection::vec(length, 1..6)
        .prop_filter("some rows", |lengths| lengths.iter().any(|&length| length > 0));
    lengths.prop_flat_map(|lengths| {
        let segments = Segments::from_lengths(lengths);
        let count = segments.rows() * WIDTH;
        (Just(segments), prop::collection::vec(-3.0..3.0_f64, count))
    })
}

type SegmentFunction = fn(Tensor<2>, &Segments) -> Tensor<2>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn operations_agree_with_their_references((segments, scores) in scored_segments()) {
        let input = matrix(&scores, segments.rows());
        let operations: [(&str, SegmentFunction, SegmentFunction); 7] = [
            ("sum", ops::segment_sum, reference::segment_sum),
            ("mean", ops::segment_mean, reference::segment_mean),
            ("max", ops::segment_max, reference::segment_max),
            ("min", ops::segment_min, reference::segment_min),
            ("softmax", ops::segment_softmax, reference::segment_softmax),
            ("scale-invariant softmax", ops::segment_scale_invariant_softmax, reference::segment_scale_invariant_softmax),
            ("sparsemax", ops::segment_sparsemax, reference::segment_sparsemax),
        ];
        for (name, operation, reference) in operations {
            let found = values(operation(input.clone(), &segments));
            assert_close(&found, &values(reference(input.clone(), &segments)), ROUNDING, name);
        }
    }

    #[test]
    fn weights_are_a_distribution_over_each_segment((segments, scores) in scored_segments()) {
        let input = matrix(&scores, segments.rows());
        let functions: [SegmentFunction; 4] = [
            ops::segment_softmax,
            ops::segment_scale_invariant_softmax,
            ops::segment_sparsemax,
            ops::segment_scale_invariant_sparsemax,
        ];
        for function in functions {
            let weights = function(input.clone(), &segments);
            let totals = values(ops::segment_sum(weights.clone(), &segments));
            prop_assert!(values(weights).iter().all(|&weight| (0.0..=1.0 + ROUNDING).contains(&weight)));
            for (segment, rows) in segments.iter().enumerate() {
                let expected = if rows.is_empty() { 0.0 } else { 1.0 };
                for channel in 0..WIDTH {
                    prop_assert!((totals[segment * WIDTH + channel] - expected).abs() < ROUNDING);
                }
            }
        }
    }

    #[test]
    fn softmax_ignores_the_offset((segments, scores) in scored_segments(), offset in -50.0..50.0_f64) {
        let input = matrix(&scores, segments.rows());
        // The offset costs digits of the scores: 50 / 3 of them.
        let tolerance = 100.0 * ROUNDING;
        for function in [ops::segment_softmax, ops::segment_sparsemax] {
            let shifted = values(function(input.clone() + offset, &segments));
            assert_close(&shifted, &values(function(input.clone(), &segments)), tolerance, "offset");
        }
    }

    #[test]
    fn scale_invariant_softmax_ignores_the_scale((segments, scores) in scored_segments(), power in -3.0..3.0_f64) {
        let input = matrix(&scores, segments.rows());
        let scale = 10_f64.powf(power);
        for function in [ops::segment_scale_invariant_softmax, ops::segment_scale_invariant_sparsemax] {
            let scaled = values(function(input.clone() * scale, &segments));
            assert_close(&scaled, &values(function(input.clone(), &segments)), ROUNDING, "scale");
        }
    }
}

#[test]
fn plain_softmax_does_change_with_the_scale() {
    let segments = Segments::from_lengths([3]);
    let input = matrix(&[0.0, 1.0, 2.0], 3);
    let plain = values(ops::segment_softmax(input.clone(), &segments));
    assert!((values(ops::segment_softmax(input * 2.0, &segments))[0] - plain[0]).abs() > 0.01);
}

#[test]
fn a_hub_of_ten_thousand_rows_is_handled() {
    let segments = Segments::from_lengths([0, 10_000, 1]);
    let scores: Vec<f64> = (0..10_001).map(|row| f64::from(row % 97) * 0.01).collect();
    let input = matrix(&scores, 10_001);
    for function in [ops::segment_softmax, ops::segment_scale_invariant_softmax, ops::segment_sparsemax] {
        let totals = values(ops::segment_sum(function(input.clone(), &segments), &segments));
        assert_close(&totals, &[0.0, 1.0, 1.0], ROUNDING, "hub");
    }
    assert_eq!(values(ops::segment_max(input, &segments))[1], 0.96);
}

#[test]
fn sparsemax_is_sparse_and_known_on_two_scores() {
    let segments = Segments::from_lengths([2, 2]);
    let weights = values(ops::segment_sparsemax(matrix(&[0.5, 0.1, 3.0, 1.0], 4), &segments));
    assert_close(&weights, &[0.7, 0.3, 1.0, 0.0], ROUNDING, "sparsemax");
}

#[test]
fn no_rows_at_all_give_empty_aggregates() {
    let segments = Segments::from_lengths([0, 0]);
    let input = matrix(&[], 0).reshape([0, 2]);
    assert_eq!(values(ops::segment_max(input.clone(), &segments)), [0.0; 4]);
    assert_eq!(values(ops::segment_sum(input.clone(), &segments)), [0.0; 4]);
    assert_eq!(ops::segment_softmax(input, &segments).dims(), [0, 2]);
}
