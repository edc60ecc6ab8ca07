//! Files of a run, complete or not there.

use std::path::Path;

use crate::TrainError;

/// Writes `bytes` to `path` as an [`itergnn_graph::OutputFile`].
///
/// # Errors
/// [`TrainError::Io`] with the path of the file.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    itergnn_graph::write_file(path, bytes).map_err(TrainError::io("write", path))
}

/// As [`write_atomically`], with the old file kept under the name `previous`; see
/// [`itergnn_graph::write_file_keeping`].
///
/// # Errors
/// As [`write_atomically`].
pub fn write_keeping_previous(path: &Path, previous: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    itergnn_graph::write_file_keeping(path, previous, bytes).map_err(TrainError::io("write", path))
}
