//! What can go wrong with a model in use.

use std::path::PathBuf;

use itergnn_nn::store::StoreError;
use itergnn_train::TrainError;

/// An error of loading, saving or using a [`Model`](crate::Model).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no model at the path.
    #[error("{}: {why}", path.display())]
    NoModel {
        /// Where one was looked for.
        path: PathBuf,
        /// What was found instead, and what to do.
        why: String,
    },
    /// The file cannot be read or written, or is no model.
    #[error("{}", named(path, source))]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: StoreError,
    },
    /// The model does not take such a graph.
    #[error(transparent)]
    Model(#[from] itergnn_nn::Error),
    /// The graphs cannot be put together, or an edge or node does not exist.
    #[error(transparent)]
    Graph(#[from] itergnn_graph::GraphError),
    /// A task refuses its settings.
    #[error(transparent)]
    Task(#[from] itergnn_tasks::TaskError),
    /// Predicting, evaluating or training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A value of the network overflowed.
    #[error("a value of the model is not finite at iteration {iteration}: there is no prediction")]
    NotFinite {
        /// The first iteration with such a value; 0 is the initial state.
        iteration: usize,
    },
    /// Paths were asked of a model that does not predict their length.
    #[error(
        "this model gives {found}; a path needs one that takes nodes of width 3 (or 4, with a height), edges of width 1, and gives one number per graph"
    )]
    NotForPaths {
        /// What it takes and gives.
        found: String,
    },
}

/// The message of the store, with the file where it does not name it itself.
fn named(path: &std::path::Path, source: &StoreError) -> String {
    let (name, message) = (path.display().to_string(), source.to_string());
    if message.contains(&name) { message } else { format!("{name}: {message}") }
}
