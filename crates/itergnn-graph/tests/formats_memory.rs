//! A few bytes cannot make a parser ask for much memory.
//!
//! The only test of its process, because it watches the address space of the whole process. That also sees memory which
//! is reserved and never touched. Where the platform does not tell, the test still shows that nothing panics or runs
//! out of memory.

use std::io::{BufReader, Read};

use itergnn_graph::formats::{
    JSON_LIMIT, NodeFeature, ReadOptions, parse_edge_list, parse_gin, parse_graph, parse_sample, parse_tsp,
};

/// What the parsers may take for an input of a few hundred bytes: buffers and the allocator's own needs.
const ALLOWED_SMALL: usize = 32 << 20;

/// What reading a JSON object up to its limit may take: the buffer, and its predecessor while it grows.
const ALLOWED_JSON: usize = 2 * JSON_LIMIT + ALLOWED_SMALL;

/// The most address space this process has had, in bytes.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmPeak:"))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

fn assert_takes_at_most(allowed: usize, what: &str, run: impl FnOnce()) {
    let before = peak_memory();
    run();
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before <= allowed, "{what}: {} MiB", (after - before) >> 20);
    }
}

#[test]
fn declared_sizes_and_endless_objects_take_little_memory() {
    // Each declares at least a gigabyte and holds nothing.
    let graphs = [
        "p sp 4000000000 4000000000\na 1 2 3\n",
        "p sp 4294967294 1\na 1 4294967294 3\n",
        "a 0 4294967295 1\n",
        "%%MatrixMarket matrix coordinate pattern general\n4294967294 4294967294 1\n1 2\n",
        "<graphml><graph/></graphml>",
        "0 18446744073709551615\n",
        "type octile\nheight 4096\nwidth 4096\nmap\n..\n",
        "type octile\nheight 18446744073709551615\nwidth 18446744073709551615\nmap\n",
        "{\"nodes\":4294967294,\"edges\":[[0,1]]}",
        "{\"nodes\":18446744073709551615,\"edges\":[[0,1]]}",
    ];
    let instances = [
        "DIMENSION: 1000000\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n1 2 3\n",
        "DIMENSION: 1000000\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 2 3\n",
    ];
    for text in graphs {
        assert_takes_at_most(ALLOWED_SMALL, text, || {
            let _ = parse_graph(text.as_bytes(), "f", &ReadOptions::default());
            let _ = parse_edge_list(text.as_bytes(), "f", &ReadOptions::default());
        });
    }
    for text in instances {
        assert_takes_at_most(ALLOWED_SMALL, text, || assert!(parse_tsp(text.as_bytes(), "f").is_err()));
    }
    assert_takes_at_most(ALLOWED_SMALL, "classification set", || {
        assert!(parse_gin(&b"4294967294\n4294967294 0\n0 4294967294 0\n"[..], "f").is_err());
    });
    // 20,000 nodes whose tags all differ: one-hot attributes would take 1.6 GB.
    let mut tags = String::from("1\n20000 0\n");
    (0..20_000).for_each(|tag| tags.push_str(&format!("{tag} 0\n")));
    assert_takes_at_most(ALLOWED_SMALL, "one-hot tags", || {
        assert!(parse_gin(tags.as_bytes(), "f").unwrap().one_hot(0, NodeFeature::Tag).is_err());
    });
    assert_takes_at_most(ALLOWED_JSON, "endless JSON", || {
        let endless = BufReader::with_capacity(1 << 20, std::io::repeat(b'7').take(1 << 30));
        let error = parse_sample(endless, "f").unwrap_err().to_string();
        assert_eq!(error, format!("f:1: line length: expected at most {JSON_LIMIT} bytes, found more"));
    });
}
