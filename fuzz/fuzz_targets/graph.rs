//! A graph in whatever format the data looks like.

#![no_main]

use itergnn_graph::formats::{ReadOptions, parse_graph};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Twice: as its beginning looks, and with nothing dropped.
    for options in [ReadOptions::default(), ReadOptions { simplify: false, ..ReadOptions::default() }] {
        if let Ok(read) = parse_graph(bytes, "fuzz", &options) {
            let last = read.graph.nodes() as u32 - 1;
            assert_eq!(read.find_node(&read.node_name(last)), Ok(last));
        }
    }
});
