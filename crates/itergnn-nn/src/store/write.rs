//! Writing a model file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use safetensors::{Dtype, View};

use super::{FORMAT_VERSION, METADATA_KEY, ModelCard, StoreError};
use crate::{GnnModel, NamedTensor, named_tensors};

/// Writes a model and its card to `path`, atomically: a temporary file beside it is written, flushed to disk and renamed.
///
/// # Errors
/// [`StoreError::Io`], or [`StoreError::NotFinite`] for a weight that could not be read back.
pub fn save(model: &GnnModel, card: &ModelCard, path: impl AsRef<Path>) -> Result<(), StoreError> {
    let path = path.as_ref();
    let bytes = to_bytes(model, card)?;
    let temporary = temporary_beside(path);
    let written = write_and_rename(&bytes, &temporary, path);
    if written.is_err() {
        // The failure to report is the first one; a file that cannot be removed either changes nothing.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_and_rename(bytes: &[u8], temporary: &Path, path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { path: path.to_owned(), source };
    let mut file = File::create(temporary).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    drop(file);
    fs::rename(temporary, path).map_err(failed)?;
    // The new name is durable once the folder is flushed; not every platform lets a folder be opened for that.
    if let Some(Ok(folder)) = path.parent().map(File::open) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// `model.safetensors` -> `.model.safetensors.1234.tmp`, in the same folder so that the rename stays on one file system.
fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
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
