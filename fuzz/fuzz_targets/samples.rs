//! JSON lines: what is read can be written and read again.

#![no_main]

use itergnn_graph::formats::{SampleReader, parse_sample, write_sample};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for record in SampleReader::new(bytes, "fuzz").flatten() {
        let mut text = Vec::new();
        write_sample(&mut text, &record).expect("what was read can be written");
        assert_eq!(parse_sample(&text[..], "again").as_ref().map(|again| again.graph()), Ok(record.graph()));
    }
});
