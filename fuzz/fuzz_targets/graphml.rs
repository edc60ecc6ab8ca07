//! GraphML.

#![no_main]

use itergnn_graph::formats::{ReadOptions, parse_graphml};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_graphml(bytes, "fuzz", &ReadOptions::default());
});
