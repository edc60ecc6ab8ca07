//! What can go wrong when a task is set up or a sample is drawn.

use std::path::PathBuf;

use itergnn_graph::{GraphError, formats::FormatError};

use crate::Task;

/// Why a task could not be set up, or a sample could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No task has this name.
    #[error("unknown task '{name}'; did you mean '{nearest}'? The tasks are {}", Task::NAMES.join(", "))]
    UnknownTask {
        /// What was asked for.
        name: String,
        /// The existing name that is closest to it.
        nearest: Task,
    },
    /// Text that does not describe what it should.
    #[error("{what} '{text}': expected {expected}")]
    Parse {
        /// What was being read.
        what: &'static str,
        /// The text as given.
        text: String,
        /// The accepted forms.
        expected: &'static str,
    },
    /// A setting that the task cannot work with.
    #[error("{task}: {what} {why}")]
    Setting {
        /// The task.
        task: Task,
        /// The setting and its value.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// Drawing was repeated as often as is sensible and never gave a usable sample.
    #[error("{task}: no usable sample after {attempts} attempts: {why}")]
    Exhausted {
        /// The task.
        task: Task,
        /// How often a draw was rejected.
        attempts: u32,
        /// What every draw lacked.
        why: String,
    },
    /// A sample that the data set does not have.
    #[error("{task}: there is no sample {index}, the data set has {count}")]
    NoSuchSample {
        /// The task.
        task: Task,
        /// The sample asked for.
        index: u64,
        /// How many there are.
        count: usize,
    },
    /// A data set is not where it was looked for.
    #[error(
        "{name} is not at {}; put it at DIRECTORY/{name}/{name}.txt in the text format of the GIN paper: its repository powerful-gnns has the sets in \
         dataset.zip (pytorch_DGCNN has them in its data folder; TUDataset publishes the same graphs in another format), and give --data DIRECTORY",
        path.display()
    )]
    MissingDataSet {
        /// The data set.
        name: String,
        /// The file that was looked for.
        path: PathBuf,
    },
    /// A data set could not be read.
    #[error(transparent)]
    DataSet(#[from] FormatError),
    /// A prediction does not have the shape of the target.
    #[error("{task}: the prediction has {found} numbers, the target {expected}")]
    PredictionShape {
        /// The task.
        task: Task,
        /// Numbers in the target.
        expected: usize,
        /// Numbers in the prediction.
        found: usize,
    },
    /// The optimal tour could not be proven.
    #[error("tsp: cannot label an instance of {points} points: {why}")]
    Tour {
        /// How many points it has.
        points: usize,
        /// What the solver said.
        why: String,
    },
    /// A graph could not be built or solved.
    #[error(transparent)]
    Graph(#[from] GraphError),
}
