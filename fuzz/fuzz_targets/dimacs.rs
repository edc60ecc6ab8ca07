//! DIMACS graphs.

#![no_main]

use itergnn_graph::formats::{ReadOptions, parse_dimacs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_dimacs(bytes, "fuzz", &ReadOptions::default());
});
