//! What can be wrong with a checkpoint.

use std::path::PathBuf;

/// Why a checkpoint could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Not one of the authors' model strings.
    #[error(
        "model string `{name}`: {why} (expected <architecture><iterations>-<Homo|SHomo|><layer>[-<readout>[-<modules>]])"
    )]
    Name {
        /// The string.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The file cannot be read.
    #[error("{path}: {why}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A tensor that the model string calls for is not there.
    #[error("tensor `{tensor}` is missing: the checkpoint does not fit the model string")]
    MissingTensor {
        /// Its name in the checkpoint.
        tensor: String,
    },
    /// A tensor that does not belong to the authors' models.
    #[error("tensor `{tensor}` is not part of the model that the string names")]
    UnexpectedTensor {
        /// Its name in the checkpoint.
        tensor: String,
    },
    /// A tensor has the wrong shape.
    #[error("tensor `{tensor}` has shape {found:?}, expected {expected}")]
    Shape {
        /// Its name in the checkpoint.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// What was expected.
        expected: String,
    },
    /// A tensor cannot be used as weights.
    #[error("tensor `{tensor}`: {why}")]
    Values {
        /// Its name in the checkpoint.
        tensor: String,
        /// Why not.
        why: String,
    },
    /// The widths do not make a model.
    #[error(transparent)]
    Config(#[from] crate::Error),
}
