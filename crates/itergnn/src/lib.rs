//! Graph neural networks that learn on small graphs and work on graphs of any size.
//!
//! The front door: [`Model`] loads, predicts, solves, traces, evaluates and saves; [`prelude`] has what most programs
//! need, training included. Everything else is in the crates below, under short names:
//!
//! - [`graph`]: graphs, generators, exact solvers, file formats. No tensors.
//! - [`tasks`]: the eight tasks of the paper: samplers, labels, metrics, simulators. No tensors.
//! - [`nn`]: layers, the homogeneous prior, controllers, models, task-aligned families, and their files.
//! - [`train`]: training, run directories, evaluation, the paper's tables.
//!
//! # Example
//! ```no_run
//! use itergnn::prelude::*;
//!
//! let model = Model::load("models/shortest-path-lobster.safetensors")?;
//! let line = Graph::undirected(5, &[[0, 1], [1, 2], [2, 3], [3, 4]])?;
//! assert_eq!(model.solve(&line, 0, 3)?.path.map(|path| path.nodes), Some(vec![0, 1, 2, 3]));
//! # Ok::<(), itergnn::Error>(())
//! ```

mod error;
mod model;

pub use error::Error;
pub use itergnn_graph as graph;
pub use itergnn_nn as nn;
pub use itergnn_tasks as tasks;
pub use itergnn_train as train;
pub use model::{Answer, Model};

/// What most programs need.
pub mod prelude {
    pub use crate::{Answer, Error, Model};
    pub use itergnn_graph::{Attributes, EdgeWeights, Graph, GraphBatch, GraphError, Path, generators::Generator};
    pub use itergnn_nn::RunOptions;
    pub use itergnn_tasks::{Sample, Sampler, Samples, Score, Scores, SizeRange, Split, Task, TaskError, TaskSpec};
    pub use itergnn_train::evaluation::{EvalOptions, EvalReport, Found};
    pub use itergnn_train::{ModelConfig, Outcome, Silent, TrainError, TrainOptions, train};
}
