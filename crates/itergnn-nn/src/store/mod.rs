//! Trained models in one `.safetensors` file.
//!
//! The tensors are the parameters under the names of [`named_tensors`](crate::named_tensors). The metadata of the file
//! has one entry, `itergnn`, which is a JSON object (one entry, because the order of several would not be the same in
//! every run):
//!
//! | field | value |
//! |---|---|
//! | `format_version` | a whole number; a file with a newer one is refused |
//! | `config` | the model's [`GnnConfig`](crate::GnnConfig) |
//! | `card` | the [`ModelCard`]: name, task, architecture in one line, seed, training record |
//!
//! Writing is atomic: the file appears under its name complete or not at all. Reading trusts nothing: sizes are checked
//! before memory is asked for, and every tensor must be there, have its shape and hold finite numbers.

mod card;
mod error;
mod read;
mod tensor;
mod write;

pub use card::ModelCard;
pub use error::StoreError;
pub use read::{load, load_bytes};
pub use tensor::StoredTensor;
pub use write::{save, to_bytes};

/// The version this build writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Largest file that is read.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// The one entry of the metadata.
const METADATA_KEY: &str = "itergnn";
