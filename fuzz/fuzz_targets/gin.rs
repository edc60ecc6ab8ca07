//! Graph classification sets and folds.

#![no_main]

use itergnn_graph::formats::{NodeFeature, parse_fold_indices, parse_gin};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_fold_indices(bytes, "fuzz", 100);
    if let Ok(set) = parse_gin(bytes, "fuzz") {
        for index in 0..set.graphs.len() {
            let _ = set.one_hot(index, NodeFeature::Tag);
            let _ = set.one_hot(index, NodeFeature::Degree);
        }
    }
});
