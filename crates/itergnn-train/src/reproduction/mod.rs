//! The experiments of the paper: which trainings and evaluations every cell of its tables needs, a queue that runs
//! them, and their results on disk.
//!
//! A [`Table`] is data: rows, columns, the paper's number of each cell and the [`Experiment`] and evaluation it is
//! measured by. An experiment that several cells share (one training, evaluated at many sizes) runs once per seed.
//! Results are one small JSON file per experiment and seed, and a file whose settings are those of the plan is not made
//! again: that is how a reproduction resumes, also from results that somebody else committed.
//!
//! | file | what |
//! |---|---|
//! | `budget` | how much is spent: quick or full |
//! | `experiment` | a training and its evaluations; what came of it |
//! | `table` | tables, cells and what they measure |
//! | `summary`, `lobsters`, `ablation`, `regular` | the paper's tables, with its numbers |
//! | `aligned`, `families` | the task-aligned families, and how much of them is learned |
//! | `catalogue` | all of them by name |
//! | `clrs` | algorithms, beside published numbers |
//! | `store` | results on disk |
//! | `queue` | experiments over the cores |
//!
//! # Example
//! ```
//! use itergnn_train::reproduction::{Budget, catalogue};
//! let plan = catalogue(&Budget::quick())?;
//! let lobsters = plan.iter().find(|section| section.table.id == "lobsters").unwrap();
//! assert_eq!(lobsters.table.rows[0].label, "GCN");
//! assert!(lobsters.experiments.iter().all(|experiment| experiment.config.resolve().is_ok()));
//! # Ok::<(), itergnn_train::TrainError>(())
//! ```

mod ablation;
mod aligned;
mod beyond;
mod budget;
mod catalogue;
mod clrs;
mod experiment;
mod families;
mod lobsters;
mod queue;
mod regular;
mod store;
mod summary;
mod table;

pub use budget::Budget;
pub use catalogue::{Section, catalogue, section_names};
pub use clrs::{ClrsCell, ClrsJob, ClrsResult, PUBLISHED, Published, run_clrs};
pub use experiment::{Curve, Evaluation, Experiment, ExperimentResult, Measured, TrainingResult};
pub use queue::{Job, QueueObserver, TrainingPlace, run_queue};
pub use store::ResultStore;
pub use table::{Cell, Column, Quantity, Row, Spread, Table};
