//! No input makes a parser panic or take memory that the input does not bear out.
//!
//! Arbitrary bytes and mutated copies of the fixtures go through every parser; `formats_memory.rs` measures the memory.
//! `fuzz/` runs the same parsers under coverage guidance.

#![allow(clippy::unwrap_used, reason = "functions that only tests call")]

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
};

use itergnn_graph::formats::{
    FormatError, LINE_LIMIT, NodeFeature, ReadOptions, SampleReader, parse_dimacs, parse_edge_list, parse_fold_indices,
    parse_gin, parse_graph, parse_graphml, parse_map, parse_matrix_market, parse_metis, parse_sample, parse_tsp,
};
use proptest::prelude::*;

type Parser = fn(&mut dyn BufRead) -> Result<(), FormatError>;

/// Every parser, with whatever can be asked of its result.
const PARSERS: [(&str, Parser); 12] = [
    ("graph", |reader| {
        let read = parse_graph(reader, "f", &ReadOptions::default())?;
        let last = read.graph.nodes() as u32 - 1; // there is at least one node
        assert_eq!(read.find_node(&read.node_name(last)).unwrap(), last);
        Ok(())
    }),
    ("dimacs", |reader| parse_dimacs(reader, "f", &ReadOptions::default()).map(drop)),
    ("edge list", |reader| parse_edge_list(reader, "f", &ReadOptions::default()).map(drop)),
    ("map", |reader| parse_map(reader, "f").map(drop)),
    ("graphml", |reader| parse_graphml(reader, "f", &ReadOptions::default()).map(drop)),
    ("matrix market", |reader| parse_matrix_market(reader, "f", &ReadOptions::default()).map(drop)),
    ("metis", |reader| parse_metis(reader, "f", &ReadOptions::default()).map(drop)),
    ("tsp", |reader| {
        let instance = parse_tsp(reader, "f")?;
        let tour: Vec<u32> = (0..instance.dimension as u32).collect();
        assert!(instance.tour_length(&tour) >= 0);
        Ok(())
    }),
    ("gin", |reader| {
        let set = parse_gin(reader, "f")?;
        for index in 0..set.graphs.len() {
            let _ = set.one_hot(index, NodeFeature::Tag);
            let _ = set.one_hot(index, NodeFeature::Degree);
        }
        Ok(())
    }),
    ("fold", |reader| parse_fold_indices(reader, "f", 10).map(drop)),
    ("sample", |reader| parse_sample(reader, "f").map(drop)),
    ("samples", |reader| SampleReader::new(reader, "f").try_for_each(|record| record.map(|one| drop(one.graph())))),
];

/// Runs every parser; an error must be one line that begins with the name of the file.
fn parse_with_all(bytes: &[u8]) {
    for (name, parse) in PARSERS {
        if let Err(error) = parse(&mut &bytes[..]) {
            let message = error.to_string();
            assert!(message.starts_with("f:") && !message.contains('\n'), "{name}: {message:?}");
            assert!(message.len() < 1_000, "{name}: a message of {} bytes", message.len());
        }
    }
}

fn fixtures() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Pieces that have a meaning in some format, or are just beyond one.
const PIECES: [&str; 24] = [
    "0",
    "1",
    "-1",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "nan",
    "inf",
    "1e39",
    "1e999",
    "-0",
    "\n",
    "\r\n",
    " ",
    ",",
    ";",
    "{",
    "[[",
    "\u{feff}",
    "\0",
    "p sp 9 9\n",
    "EOF\n",
    "a 1 2 3\n",
];

#[derive(Debug, Clone)]
enum Mutation {
    Flip(usize, u8),
    Insert(usize, usize),
    Replace(usize, usize),
    Delete(usize, usize),
    Repeat(usize, usize),
    Truncate(usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<usize>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Flip(at, byte)),
        (at(), 0..PIECES.len()).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (at(), 0..PIECES.len()).prop_map(|(at, piece)| Mutation::Replace(at, piece)),
        (at(), 1_usize..40).prop_map(|(at, length)| Mutation::Delete(at, length)),
        (at(), 1_usize..40).prop_map(|(at, length)| Mutation::Repeat(at, length)),
        at().prop_map(Mutation::Truncate),
    ]
}

fn apply(bytes: &mut Vec<u8>, mutation: &Mutation) {
    let within = |at: usize| at % (bytes.len() + 1);
    match *mutation {
        Mutation::Flip(at, byte) => {
            let at = within(at);
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        Mutation::Insert(at, piece) => {
            let at = within(at);
            bytes.splice(at..at, PIECES[piece].bytes());
        }
        Mutation::Replace(at, piece) => {
            // The whole word around the place, so that numbers are replaced by numbers.
            let at = within(at);
            let word = |byte: &u8| !byte.is_ascii_whitespace() && !b",;[]:".contains(byte);
            let start = at - bytes[..at].iter().rev().take_while(|byte| word(byte)).count();
            let end = at + bytes[at..].iter().take_while(|byte| word(byte)).count();
            bytes.splice(start..end, PIECES[piece].bytes());
        }
        Mutation::Delete(at, length) => {
            let at = within(at);
            bytes.drain(at..(at + length).min(bytes.len()));
        }
        Mutation::Repeat(at, length) => {
            let at = within(at);
            let piece = bytes[at..(at + length).min(bytes.len())].to_vec();
            bytes.splice(at..at, piece);
        }
        Mutation::Truncate(at) => bytes.truncate(within(at)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        parse_with_all(&bytes);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[ a-e0-9.,;:{}\\[\\]\"\n\t-]{0,200}") {
        parse_with_all(text.as_bytes());
    }

    #[test]
    fn mutated_fixtures_never_panic(which in any::<usize>(), mutations in proptest::collection::vec(mutation(), 1..6)) {
        let mut all = fixtures();
        let index = which % all.len();
        let bytes = &mut all[index];
        mutations.iter().for_each(|mutation| apply(bytes, mutation));
        parse_with_all(bytes);
    }
}

#[test]
fn every_fixture_cut_anywhere_never_panics() {
    for bytes in fixtures() {
        (0..bytes.len()).for_each(|length| parse_with_all(&bytes[..length]));
    }
}

#[test]
fn a_line_without_end_is_refused_at_the_limit() {
    /// Counts what a parser takes from its input.
    struct Counting<R>(R, usize);
    impl<R: Read> Read for Counting<R> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let read = self.0.read(buffer)?;
            self.1 += read;
            Ok(read)
        }
    }
    for (name, parse) in PARSERS {
        if name.starts_with("sample") || name == "graphml" {
            continue; // their limit is far larger: see formats_memory.rs
        }
        let mut reader = BufReader::new(Counting(std::io::repeat(b'7').take(1 << 30), 0));
        let error = parse(&mut reader).unwrap_err().to_string();
        assert_eq!(error, format!("f:1: line length: expected at most {LINE_LIMIT} bytes, found more"), "{name}");
        assert!(reader.get_ref().1 <= 2 * LINE_LIMIT, "{name} read {} bytes", reader.get_ref().1);
    }
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let deep = "[".repeat(1 << 20);
    let error = parse_sample(format!("{{\"edges\":[],\"z\":{deep}").as_bytes(), "f").unwrap_err().to_string();
    assert!(error.contains("recursion limit"), "{error}");
}
