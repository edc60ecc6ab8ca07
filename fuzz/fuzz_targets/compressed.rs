//! Compressed files: whatever the bytes, unpacking ends.

#![no_main]

use std::io::{Cursor, Read};

use itergnn_graph::formats::unpack;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(source) = unpack(Cursor::new(bytes.to_vec())) {
        let _ = source.take(1 << 20).read_to_end(&mut Vec::new());
    }
});
