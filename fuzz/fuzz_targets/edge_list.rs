//! Edge lists.

#![no_main]

use itergnn_graph::formats::{ReadOptions, parse_edge_list};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_edge_list(bytes, "fuzz", &ReadOptions::default());
});
