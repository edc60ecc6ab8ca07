//! TSPLIB instances.

#![no_main]

use itergnn_graph::formats::parse_tsp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(instance) = parse_tsp(bytes, "fuzz") {
        let tour: Vec<u32> = (0..instance.dimension as u32).collect();
        assert!(instance.tour_length(&tour) >= 0);
    }
});
