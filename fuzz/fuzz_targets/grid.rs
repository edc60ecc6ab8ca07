//! Moving-AI maps.

#![no_main]

use itergnn_graph::formats::{Neighbours, parse_map};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(map) = parse_map(bytes, "fuzz") {
        let graph = map.graph(Neighbours::Eight).expect("a map that was read has a graph");
        assert_eq!(graph.nodes(), map.nodes());
    }
});
