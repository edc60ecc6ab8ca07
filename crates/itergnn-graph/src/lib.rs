//! Graphs, generators, exact solvers and file formats: the ground truth of itergnn.
//!
//! This crate is for making graphs, reading them and knowing the exact answer about them. It has no tensor dependency
//! and does no learning: whatever judges a model lives here and cannot share a bug with it. It compiles to WebAssembly.
//!
//! - [`Graph`] is a directed graph in CSR form, sorted by receiver; [`GraphBatch`] is a disjoint union of several.
//! - [`generators`] draw random and regular graphs from a seed ([`rng`] names the random number generator).
//! - [`solvers`] are exact: shortest paths, components, diameters, optimal tours with proof.
//! - [`formats`] read and write DIMACS, edge lists, moving-AI maps, TSPLIB, the GIN text format and JSON lines.
//!
//! # Example
//! ```
//! use itergnn_graph::{EdgeWeights, generators, rng, solvers::dijkstra};
//!
//! let graph = generators::lobster(100, 0.2, 0.2, &mut rng::seeded(7))?;
//! let weights = EdgeWeights::unit(&graph);
//! let path = dijkstra::shortest_path(&graph, &weights, 0, 99)?.expect("a lobster is connected");
//! assert_eq!(path.length, 99.0); // the first hundred nodes are the line
//! # Ok::<(), itergnn_graph::GraphError>(())
//! ```

pub mod adjacency;
mod attributes;
mod batch;
mod error;
pub mod formats;
pub mod generators;
mod graph;
mod induced;
mod interop;
mod output_file;
mod path;
pub mod rng;
pub mod solvers;
mod spelling;
mod weights;

pub use adjacency::{Adjacency, AdjacencyView};
pub use attributes::Attributes;
pub use batch::GraphBatch;
pub use error::GraphError;
pub use graph::Graph;
pub use output_file::{OutputFile, check_output, write_file, write_file_keeping};
pub use path::Path;
pub use spelling::nearest_name;
pub use weights::EdgeWeights;
