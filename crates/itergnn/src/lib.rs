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
//! Trains on small trees, judges the network at size 1,000, finds a path in a graph made here.
//! ```
//! use itergnn::prelude::*;
//!
//! let mut task = TaskSpec::paper(Task::ShortestPath);
//! let mut config = RunConfig::new(task.clone(), ModelConfig::preset("max-plus"));
//! let method = config.supervised_mut()?;
//! (method.epochs, method.data.train, method.data.validation) = (3, 10_000, 100);
//! let model = Model::from(train(&config, None, &TrainOptions::default(), &mut Silent)?);
//!
//! task.set_size("1000".parse()?)?;
//! let report = model.evaluate(&task, 10, 0, &EvalOptions::default())?;
//! assert!(report.relative_loss < Some(1e-3));
//!
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
    pub use itergnn_train::data::{Dataset, Example, OwnData};
    pub use itergnn_train::evaluation::{EvalOptions, EvalReport, Found};
    pub use itergnn_train::{ModelConfig, Outcome, RunConfig, Silent, TrainError, TrainOptions, train, train_on};
}
