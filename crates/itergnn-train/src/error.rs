//! What can go wrong in training and evaluation.

use std::path::PathBuf;

use itergnn_graph::GraphError;
use itergnn_nn::store::StoreError;
use itergnn_tasks::TaskError;

/// Why a run could not start, go on or be judged; one line for the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A setting makes no sense.
    #[error("config: {field}: {why}")]
    Config {
        /// The setting, with the path that leads to it.
        field: &'static str,
        /// What is wrong with its value.
        why: String,
    },
    /// A configuration file is not TOML, or has fields that do not exist.
    #[error("config: {0}")]
    ConfigText(String),
    /// A value overflowed while a path was looked for.
    #[error("from node {from} to node {to}: a value of the model is not finite at iteration {iteration}")]
    PathNotFinite {
        /// The node marked as source.
        from: u32,
        /// The node marked as target.
        to: u32,
        /// The first iteration with such a value.
        iteration: usize,
    },
    /// A setting that was given by its name cannot be changed so.
    #[error("{setting}: {why}")]
    Setting {
        /// What was given.
        setting: String,
        /// What is wrong with it.
        why: String,
    },
    /// A line of a file is no labelled graph.
    #[error("{name}, line {line}: {why}")]
    Data {
        /// The file.
        name: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The operating system refused to read or write.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The run directory already holds a run that was not asked for.
    #[error("{} already holds a run; resume it or choose another directory", path.display())]
    RunExists {
        /// The directory.
        path: PathBuf,
    },
    /// There is nothing to resume.
    #[error("{} holds no run to resume", path.display())]
    NoRun {
        /// The directory.
        path: PathBuf,
    },
    /// Another process trains in the directory.
    #[error("{} is in use by another process", path.display())]
    RunInUse {
        /// The directory.
        path: PathBuf,
    },
    /// The run was started with other settings.
    #[error("{} was started with another configuration ({what} differs); resume with the one it holds", path.display())]
    OtherConfig {
        /// The directory.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A run that ended has lost the states it could go on from.
    #[error(
        "{} holds the result of a run without its checkpoints; put them back, or choose another directory",
        path.display()
    )]
    NoCheckpoint {
        /// The directory.
        path: PathBuf,
    },
    /// A checkpoint is damaged or of another kind.
    #[error("checkpoint {}: {why}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The loss or the gradient is no longer a number: training has diverged.
    #[error("{what} is {value} at step {step} (epoch {epoch}); the last good checkpoint is kept")]
    NotFinite {
        /// What was looked at.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The step, counted from 1.
        step: u64,
        /// The epoch, counted from 1.
        epoch: u64,
    },
    /// The task is not learned from one set of labelled samples.
    #[error("{task} {why}")]
    NotSupervised {
        /// The task.
        task: String,
        /// How it is learned instead.
        why: &'static str,
    },
    /// The model does not fit the task.
    #[error("the model does not fit {task}: {why}")]
    ModelMismatch {
        /// The task.
        task: String,
        /// What does not fit.
        why: String,
    },
    /// A thread of a run panicked.
    #[error("a worker thread stopped unexpectedly: {0}")]
    Worker(String),
    /// There is no card, or it cannot run the model.
    #[error(transparent)]
    Cuda(#[from] itergnn_cuda::CudaError),
    /// A sample could not be drawn or judged.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A graph could not be batched.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A file that cannot be read.
    #[error(transparent)]
    Format(#[from] itergnn_graph::formats::FormatError),
    /// A model could not be made or run.
    #[error(transparent)]
    Model(#[from] itergnn_nn::Error),
    /// A model file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TrainError {
    pub(crate) fn config(field: &'static str, why: impl Into<String>) -> Self {
        Self::Config { field, why: why.into() }
    }

    /// For `map_err` on an input or output operation on `path`.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
