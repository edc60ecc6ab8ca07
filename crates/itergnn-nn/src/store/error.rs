//! What can be wrong with a model file.

use std::path::PathBuf;

/// Why a model could not be written or read; one line that names the tensor or field.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system said no.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// The file is larger than any model.
    #[error("{bytes} bytes is more than the {limit} that a model file may have")]
    TooLarge {
        /// Size of the file.
        bytes: u64,
        /// Largest size that is read.
        limit: u64,
    },
    /// The bytes are not a safetensors file.
    #[error("not a safetensors file: {0}")]
    NotSafetensors(#[from] safetensors::SafeTensorError),
    /// A safetensors file that this project did not write.
    #[error("not an itergnn model: the metadata has no `itergnn`")]
    NotOurs,
    /// Metadata that cannot be read.
    #[error("metadata `{field}`: {why}")]
    Metadata {
        /// The field.
        field: &'static str,
        /// What is wrong with its value.
        why: String,
    },
    /// Written by a later version.
    #[error("model file of format version {found}, but this build reads versions up to {newest}")]
    Newer {
        /// Version of the file.
        found: u32,
        /// Newest version that is read.
        newest: u32,
    },
    /// The configuration in the file makes no sense.
    #[error(transparent)]
    Config(#[from] crate::Error),
    /// A parameter of the model is not in the file.
    #[error("tensor `{name}` is missing")]
    MissingTensor {
        /// Its name.
        name: String,
    },
    /// The file has a tensor that the model has not.
    #[error("tensor `{name}` does not belong to this model")]
    ExtraTensor {
        /// Its name.
        name: String,
    },
    /// A tensor has the wrong shape.
    #[error("tensor `{name}` has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape in the model.
        expected: Vec<usize>,
    },
    /// A tensor is of a type that weights do not have.
    #[error("tensor `{name}` has type {found}, expected F32 or F64")]
    Type {
        /// Its name.
        name: String,
        /// Type in the file.
        found: String,
    },
    /// A weight is NaN or infinite.
    #[error("tensor `{name}` holds {value} at position {position}, expected finite numbers")]
    NotFinite {
        /// Its name.
        name: String,
        /// Position in row-major order.
        position: usize,
        /// The number.
        value: f64,
    },
}
