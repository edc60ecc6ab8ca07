//! Writing a model file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use safetensors::{Dtype, View};

use super::{FORMAT_VERSION, METADATA_KEY, ModelCard, StoreError};
use crate::{GnnModel, NamedTensor, named_tensors};

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
        views.push((name, Written::new(tensor)));
    }
    Ok(safetensors::serialize(views, Some(metadata))?)
}

struct Written {
    shape: Vec<usize>,
    dtype: Dtype,
    bytes: Vec<u8>,
}

impl Written {
    fn new(tensor: NamedTensor) -> Self {
        let exact = tensor.values.iter().all(|&value| f64::from(value as f32) == value);
        let (dtype, bytes) = if exact {
            (Dtype::F32, tensor.values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect())
        } else {
            (Dtype::F64, tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect())
        };
        Self { shape: tensor.shape, dtype, bytes }
    }
}

impl View for Written {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}
