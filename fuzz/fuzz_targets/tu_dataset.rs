//! TUDataset folders: the input is cut at `@` into the files of one, in a fixed order.

#![no_main]

use std::{env, fs, path::PathBuf, process, sync::LazyLock};

use itergnn_graph::formats::read_tu_dataset;
use libfuzzer_sys::fuzz_target;

/// The files, in the order of the parts; an input with fewer parts has fewer files.
const FILES: [&str; 8] = [
    "A",
    "graph_indicator",
    "graph_labels",
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
    "graph_attributes",
];

/// One folder per process, written anew for each input; in memory where `TMPDIR` says so.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = env::temp_dir().join(format!("itergnn-fuzz-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder for the parts");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.split(|&byte| byte == b'@');
    for name in FILES {
        let file = FOLDER.join(format!("SET_{name}.txt"));
        match parts.next() {
            Some(part) => fs::write(file, part).expect("a part is written"),
            None => drop(fs::remove_file(file)),
        }
    }
    for record in read_tu_dataset(&FOLDER).into_iter().flatten() {
        let _ = record.graph();
    }
});
