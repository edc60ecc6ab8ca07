//! Matrix Market files.

#![no_main]

use itergnn_graph::formats::{ReadOptions, parse_matrix_market};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_matrix_market(bytes, "fuzz", &ReadOptions::default());
});
