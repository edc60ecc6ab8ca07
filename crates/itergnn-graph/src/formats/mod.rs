//! Reading and writing graphs, instances and samples as files.
//!
//! | what | read | write |
//! |---|---|---|
//! | a graph in whatever format | [`read_graph`], [`parse_graph`] | |
//! | DIMACS `.gr` | [`parse_dimacs`] | |
//! | edge list `.csv`, `.tsv`, `.edges`, `.cedge`, `.txt` | [`parse_edge_list`] | |
//! | GraphML | [`parse_graphml`] | |
//! | Matrix Market `.mtx` | [`parse_matrix_market`] | |
//! | METIS `.graph` | [`parse_metis`] | |
//! | moving-AI `.map` | [`read_map`], [`parse_map`] | |
//! | TSPLIB `.tsp` | [`read_tsp`], [`parse_tsp`] | |
//! | GIN text format | [`read_gin`], [`parse_gin`], [`read_folds`] | |
//! | TUDataset folder | [`read_tu_dataset`] | |
//! | JSON, JSON lines | [`SampleReader`], [`read_sample`], [`parse_sample`] | [`write_sample`] |
//!
//! `read_..` takes a path, `parse_..` any [`BufRead`](std::io::BufRead) and a name for messages. A file may be
//! compressed by gzip, xz or zstd, which its content tells; `-` is standard input. What is unpacked is bounded
//! ([`open`]).
//!
//! # Bad input
//! No input makes these functions panic. What is wrong is a [`FormatError`] of one line with file and line number: a
//! truncated file, a count that does not hold, a weight that is negative or not finite or too large for `f32`, an id
//! out of range, no nodes at all, bytes that are not UTF-8. Windows line ends, blank lines and a byte order mark are
//! fine.
//!
//! Memory is bounded by what a file really holds, not by what it declares: nothing is reserved for a declared count
//! before the lines are there, and a line is at most [`LINE_LIMIT`] bytes ([`JSON_LIMIT`] for a JSON object,
//! [`CELL_LIMIT`] cells for a map).

mod compressed;
mod dimacs;
mod edge_columns;
mod edge_list;
mod edge_rows;
mod error;
mod exact_decimals;
mod gin;
mod graph_file;
mod graphml;
mod grid_map;
mod json_graph;
mod json_links;
mod json_values;
mod lines;
mod matrix_market;
mod metis;
mod node_names;
mod sample_record;
mod tsplib;
mod tu_dataset;

pub use compressed::{Source, open, unpack};
pub use dimacs::parse_dimacs;
pub use edge_columns::ColumnChoice;
pub use edge_list::parse_edge_list;
pub use error::FormatError;
pub use gin::{Fold, GinDataset, GinGraph, NodeFeature, parse_fold_indices, parse_gin, read_folds, read_gin};
pub use graph_file::{GraphFile, ReadOptions, parse_graph, read_graph};
pub use graphml::parse_graphml;
pub use grid_map::{CELL_LIMIT, GridMap, Neighbours, parse_map, read_map};
pub use json_graph::{JSON_LIMIT, SampleReader, parse_sample, read_sample, write_sample};
pub use lines::LINE_LIMIT;
pub use matrix_market::parse_matrix_market;
pub use metis::parse_metis;
pub use node_names::NodeNames;
pub use sample_record::SampleRecord;
pub use tsplib::{DistanceKind, TspInstance, parse_tsp, read_tsp};
pub use tu_dataset::read_tu_dataset;
