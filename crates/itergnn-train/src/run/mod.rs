//! A run on disk: configuration, records and checkpoints.
//!
//! | file | what |
//! |---|---|
//! | `config.toml` | the resolved [`RunConfig`](crate::RunConfig) |
//! | `model.json` | the whole configuration of the model |
//! | `run.json` | versions, device and machine, one entry for every start |
//! | `metrics.jsonl` | one [`Record`](crate::Record) per line, in order |
//! | `events.out.tfevents.itergnn` | the same numbers for TensorBoard |
//! | `checkpoints/last.ckpt`, `checkpoints/previous.ckpt` | the state to resume from, and the one before it |
//! | `model.safetensors` | the model of the best state; older versions wrote `checkpoints/best.safetensors` |
//! | `result.json` | how the run ended |
//!
//! Every file but the two logs is written atomically. A resumed run cuts the logs back to where its checkpoint was
//! taken, so that they read as if it had never stopped.

mod atomic_file;
mod checkpoint;
mod crc32c;
mod directory;
mod files;
mod log;
mod progress;
mod tensorboard;

pub use atomic_file::{write_atomically, write_keeping_previous};
pub use checkpoint::{Checkpoint, LogLengths, MethodState};
pub(crate) use directory::{METRICS, RESULT, lock_directory, write_json};
pub use directory::{RunDirectory, Start};
pub(crate) use files::RunFiles;
pub use log::RunLog;
pub(crate) use progress::float_bits;
pub use progress::{Best, EpochTotals, Progress};
pub use tensorboard::EventWriter;
