//! The eight tasks of the IterGNN paper: samplers, labels, metrics, simulators.
//!
//! This crate says what is to be learned and judges what was learned. It draws labelled graphs from a seed, plays
//! Pacman, lets balls collide and measures predictions. It has no tensor dependency and learns nothing.
//!
//! - [`Task`] names the tasks, [`TaskSpec`] holds their settings, [`Sampler`] draws one [`Sample`], [`Samples`] streams
//!   many in parallel.
//! - [`Split`] gives train, validation and test their own random streams; sample `i` is the same whoever draws it.
//! - [`Score`] judges a prediction and [`Scores`] summarises; [`shortest_path::Walk`] turns predicted lengths into a
//!   path.
//! - One module per task has its settings, its sampler and what else it needs.
//!
//! # Example
//! ```
//! use itergnn_tasks::{Samples, Score, Scores, Split, Task, TaskSpec};
//!
//! let sampler = TaskSpec::paper(Task::ShortestPath).sampler()?;
//! let mut scores = Vec::new();
//! for sample in Samples::new(&*sampler, Split::Test.seed(0), 0..100) {
//!     let sample = sample?;
//!     let prediction = [0.5 * sample.graph.nodes() as f32]; // a poor model
//!     scores.push(Score::of(&sample, &prediction)?);
//! }
//! let loss = Scores::of(&scores).relative_loss.expect("shortest paths have one");
//! assert!(loss.mean > 0.1);
//! # Ok::<(), itergnn_tasks::TaskError>(())
//! ```

pub mod algorithms;
pub mod component_count;
mod error;
mod generator_setting;
pub mod graph_classification;
pub mod metric;
pub mod navigation;
pub mod newton_balls;
pub mod pacman;
pub mod regular_graphs;
mod sample;
mod sampler;
pub mod shortest_path;
mod size;
mod split;
mod task;
mod task_spec;
pub mod tsp;

pub use error::TaskError;
pub use metric::{Score, Scores, Summary};
pub use sample::{Fields, Sample};
pub use sampler::{Sampler, Samples};
pub use size::SizeRange;
pub use split::Split;
pub use task::Task;
pub use task_spec::TaskSpec;
