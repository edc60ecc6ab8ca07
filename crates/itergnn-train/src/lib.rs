//! Training and evaluation of iterative homogeneous graph neural networks.
//!
//! A [`RunConfig`] says everything a run depends on; [`train`] carries it out, in a run directory from which it can be
//! resumed to the bit; [`evaluation`] judges a model at any size. There are three methods to learn by, and one loop
//! around them: from labelled samples, by playing ([`rl`]) and in cross-validation ([`classification`]). This crate
//! draws no graphs, defines no layers and prints nothing: an [`Observer`] is told what happens.
//!
//! # Example
//! ```
//! use burn::tensor::Device;
//! use itergnn_train::evaluation::{EvalOptions, ModelPredictor, evaluate};
//! use itergnn_train::{RunConfig, Silent, TrainOptions, train};
//!
//! let config = RunConfig::from_toml(
//!     r#"
//!     epochs = 1
//!     task = { task = "shortest-path", size = "4..8" }
//!     model = { name = "iter-homo-path", hidden_width = 4 }
//!     data = { train = 8, validation = 4 }
//!     "#,
//! )?;
//! let outcome = train(&config, None, &TrainOptions::default(), &mut Silent)?;
//! let predictor = ModelPredictor::new(&outcome.model, &Device::flex());
//! let options = EvalOptions { cap: Some(50), ..EvalOptions::default() };
//! let report = evaluate(&predictor, config.task.built_in().expect("a task"), 4, 0, &options, &mut |_| {})?;
//! assert!(report.relative_loss.is_some());
//! # Ok::<(), itergnn_train::TrainError>(())
//! ```

mod card;
pub mod classification;
pub mod config;
pub mod data;
mod error;
pub mod evaluation;
pub mod learning;
mod options;
mod outcome;
pub mod records;
pub mod reproduction;
pub mod rl;
pub mod run;
mod session;
mod supervised;
mod train;

pub use card::{CardPredictor, CardRun, find_card, time_steps_on_card, train_on_card};
pub use config::{
    Cap, CheckpointConfig, CrossValidationConfig, DataConfig, DqnConfig, Finishing, Holdout, LossKind, MaxPlusChanges,
    Measure, MethodConfig, ModelConfig, NamesVersion, OptimiserConfig, OwnTask, ResolvedRun, RunConfig, RunTask,
    Schedule, SelectionConfig, SupervisedConfig, TaskShape,
};
pub use error::TrainError;
pub use itergnn_cuda::CudaError;
pub use options::TrainOptions;
pub use outcome::{Outcome, Status};
pub use records::{EpochRecord, Observer, Plan, Record, Silent, StepRecord, Validation};
pub use run::{Best, RunDirectory, Start};
pub use supervised::{Validations, Validator};
pub use train::{SeedOutcome, seed_directory, train, train_on, train_seeds, train_seeds_on};
