//! METIS graphs.

#![no_main]

use itergnn_graph::formats::{ReadOptions, parse_metis};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_metis(bytes, "fuzz", &ReadOptions::default());
});
