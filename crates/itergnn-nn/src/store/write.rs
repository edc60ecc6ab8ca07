//! Writing a model file.

use std::collections::HashMap;
use std::path::Path;

use super::{FORMAT_VERSION, METADATA_KEY, ModelCard, StoreError, StoredTensor};
use crate::{GnnModel, named_tensors};

/// Writes a model and its card to `path`, atomically ([`itergnn_graph::OutputFile`]).
///
/// # Errors
/// [`StoreError::Io`], or [`StoreError::NotFinite`] for a weight that could not be read back.
pub fn save(model: &GnnModel, card: &ModelCard, path: impl AsRef<Path>) -> Result<(), StoreError> {
    let path = path.as_ref();
    let bytes = to_bytes(model, card)?;
    itergnn_graph::write_file(path, &bytes).map_err(|source| StoreError::Io { path: path.to_owned(), source })
}

/// The bytes of a model file.
///
/// Parameters are written as F32, or as F64 where an F32 would not hold them exactly.
///
/// # Errors
/// [`StoreError::NotFinite`] names the tensor: such a file could not be read back.
pub fn to_bytes(model: &GnnModel, card: &ModelCard) -> Result<Vec<u8>, StoreError> {
    let mut description = serde_json::json!({
        "format_version": FORMAT_VERSION,
        "config": model.config(),
        "card": card,
    });
    description["card"]["architecture"] = model.config().architecture_line().into();
    let metadata = HashMap::from([(METADATA_KEY.to_owned(), description.to_string())]);
    let mut views = Vec::new();
    for (name, tensor) in named_tensors(model) {
        super::read::check_finite(&name, &tensor.values)?;
        views.push((name, StoredTensor::new(&tensor.shape, &tensor.values)));
    }
    Ok(safetensors::serialize(views, Some(metadata))?)
}
