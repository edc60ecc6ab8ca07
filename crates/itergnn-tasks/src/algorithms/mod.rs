//! Classical algorithms as data sets: what a network should learn to do, without hints.
//!
//! The graphs are those of SALSA-CLRS: small connected Erdos-Renyi graphs for training, Erdos-Renyi, Watts-Strogatz and
//! Delaunay graphs of up to 1,600 nodes for tests. Labels come from exact solvers. A sample is a
//! [`SampleRecord`](itergnn_graph::formats::SampleRecord), the form that `train --data` reads:
//!
//! | member | meaning |
//! |---|---|
//! | `node_attributes` | source, other (one-hot), position: place in the order that breaks ties, or priority |
//! | `edge_attributes` | weight in [0, 1); 1 where the algorithm has none |
//! | `target` | by [`Algorithm::level`]: one number, one per node, or per node the number of an incoming edge in `edges` (-1: itself) |
//! | `level`, `source` | the level, and the marked node |
//!
//! # Example
//! ```
//! use itergnn_tasks::{Split, algorithms::{Algorithm, AlgorithmSpec}};
//! let spec = AlgorithmSpec::training(Algorithm::Bfs);
//! let sample = spec.sample(Split::Train.seed(0), 0)?;
//! assert_eq!((sample.target.len(), sample.fields["level"].as_str()), (sample.node_attributes.len(), Some("pointer")));
//! # Ok::<(), itergnn_tasks::TaskError>(())
//! ```

mod algorithm;
mod family;
mod labels;
mod sampler;

pub use algorithm::Algorithm;
pub use family::GraphFamily;
pub use sampler::AlgorithmSpec;
