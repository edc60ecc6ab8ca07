//! Edge lists, as they are and with columns that the user chose.

#![no_main]

use itergnn_graph::formats::{ColumnChoice, ReadOptions, parse_edge_list};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_edge_list(bytes, "fuzz", &ReadOptions::default());
    let word = |text: &str| Some(text.to_owned());
    for weight in [word("4"), word("none"), word("km"), None] {
        let columns = ColumnChoice { source: word("2"), target: word("3"), weight };
        let _ = parse_edge_list(bytes, "fuzz", &ReadOptions { columns, ..ReadOptions::default() });
    }
});
