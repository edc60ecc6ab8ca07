//! Graph neural networks that learn on small graphs and work on graphs of any size.
//!
//! This crate is a facade: it holds no logic, only the crates below it under short names.
//!
//! - [`graph`]: graphs, generators, exact solvers, file formats. No tensors.
//! - [`nn`]: layers, the homogeneous prior, controllers, models, and their files.
//! - [`tasks`]: the eight tasks of the paper: samplers, labels, metrics, simulators. No tensors.
//! - [`train`]: training, run directories, evaluation.
//!
//! # Example
//! ```
//! use itergnn::prelude::*;
//!
//! let sampler = TaskSpec::paper(Task::ShortestPath).sampler()?;
//! let sample = sampler.sample(Split::Train.seed(0), 0)?;
//! assert_eq!(sample.target.len(), 1); // the length of the shortest path
//! # Ok::<(), itergnn::tasks::TaskError>(())
//! ```

pub use itergnn_graph as graph;
pub use itergnn_nn as nn;
pub use itergnn_tasks as tasks;
pub use itergnn_train as train;

/// What most programs need.
pub mod prelude {
    pub use itergnn_graph::{Attributes, EdgeWeights, Graph, GraphBatch, GraphError, Path, generators::Generator};
    pub use itergnn_tasks::{Sample, Sampler, Samples, Score, Scores, SizeRange, Split, Task, TaskError, TaskSpec};
}
