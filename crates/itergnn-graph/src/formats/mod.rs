//! Reading and writing graphs, instances and samples as files.
//!
//! | what | read | write |
//! |---|---|---|
//! | a graph in whatever format | [`read_graph`], [`parse_graph`] | |
//! | DIMACS `.gr` | [`parse_dimacs`] | [`write_dimacs`] |
//! | edge list `.csv`, `.tsv`, `.edges`, `.cedge`, `.txt` | [`parse_edge_list`] | [`write_edge_list`] |
//! | moving-AI `.map` | [`read_map`], [`parse_map`] | |
//! | moving-AI `.scen` | [`read_scenarios`], [`parse_scenarios`] | |
//! | TSPLIB `.tsp` | [`read_tsp`], [`parse_tsp`] | |
//! | TSPLIB `.tour` | [`read_tour`], [`parse_tour`] | [`write_tour`] |
//! | GIN text format | [`read_gin`], [`parse_gin`], [`read_folds`] | |
//! | JSON, JSON lines | [`SampleReader`], [`read_sample`], [`parse_sample`] | [`write_sample`] |
//!
//! `read_..` takes a path, `parse_..` any [`BufRead`](std::io::BufRead) and a name for messages.
//!
//! # Bad input
//! No input makes these functions panic. What is wrong is a [`FormatError`] of one line with file and line number: a truncated file, a count that
//! does not hold, a weight that is negative or not finite or too large for `f32`, an id out of range, no nodes at all, bytes that are not UTF-8.
//! Windows line ends, blank lines and a byte order mark are fine.
//!
//! Memory is bounded by what a file really holds, not by what it declares: nothing is reserved for a declared count before the lines are there, and a
//! line is at most [`LINE_LIMIT`] bytes ([`JSON_LIMIT`] for a JSON object, [`CELL_LIMIT`] cells for a map).

mod dimacs;
mod edge_columns;
mod edge_list;
mod edge_rows;
mod error;
mod gin;
mod graph_file;
mod grid_map;
mod json_graph;
mod json_values;
mod lines;
mod node_names;
mod sample_record;
mod scenario;
mod tsplib;

pub use dimacs::{parse_dimacs, write_dimacs};
pub use edge_list::{parse_edge_list, write_edge_list};
pub use error::FormatError;
pub use gin::{Fold, GinDataset, GinGraph, NodeFeature, parse_fold_indices, parse_gin, read_folds, read_gin};
pub use graph_file::{GraphFile, ReadOptions, parse_graph, read_graph};
pub use grid_map::{CELL_LIMIT, GridMap, Neighbours, parse_map, read_map};
pub use json_graph::{JSON_LIMIT, SampleReader, parse_sample, read_sample, write_sample};
pub use lines::LINE_LIMIT;
pub use node_names::NodeNames;
pub use sample_record::SampleRecord;
pub use scenario::{Scenario, parse_scenarios, read_scenarios};
pub use tsplib::{DistanceKind, TspInstance, parse_tour, parse_tsp, read_tour, read_tsp, write_tour};
