//! Reading a model file.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use burn::tensor::Device;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::{FORMAT, FORMAT_VERSION, MAX_FILE_BYTES, ModelCard, StoreError};
use crate::{GnnConfig, GnnModel, InitRng, NamedTensor, named_tensors, replace_tensors};

/// Reads a model and its card.
///
/// # Errors
/// Any [`StoreError`]: a file that is too large, not ours, newer, or whose tensors are missing, superfluous, misshapen or not finite.
pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<(GnnModel, ModelCard), StoreError> {
    let path = path.as_ref();
    let failed = |source| StoreError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    check_size(bytes)?;
    let mut buffer = Vec::with_capacity(bytes as usize);
    // A pipe or device tells no length; reading stops at the limit whatever the file turns out to be.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut buffer).map_err(failed)?;
    load_bytes(&buffer, device)
}

/// Reads a model and its card from the bytes of a model file.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(bytes: &[u8], device: &Device) -> Result<(GnnModel, ModelCard), StoreError> {
    check_size(bytes.len() as u64)?;
    let (_, header) = SafeTensors::read_metadata(bytes)?;
    let metadata = header.metadata().clone().unwrap_or_default();
    check_format(&metadata)?;
    let config: GnnConfig = parse("config", entry(&metadata, "config")?)?;
    let card: ModelCard = parse("card", entry(&metadata, "card")?)?;
    // Refuses absurd widths, so that a few bytes of metadata cannot ask for gigabytes of weights.
    config.validate()?;
    let model = config.init(device, &mut InitRng::new(0))?;
    let tensors = checked_tensors(&SafeTensors::deserialize(bytes)?, &named_tensors(&model))?;
    Ok((replace_tensors(model, &tensors), card))
}

fn check_size(bytes: u64) -> Result<(), StoreError> {
    if bytes > MAX_FILE_BYTES { Err(StoreError::TooLarge { bytes, limit: MAX_FILE_BYTES }) } else { Ok(()) }
}

fn entry<'a>(metadata: &'a HashMap<String, String>, key: &'static str) -> Result<&'a str, StoreError> {
    metadata.get(key).map(String::as_str).ok_or(StoreError::MissingMetadata { key })
}

fn parse<T: serde::de::DeserializeOwned>(key: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Metadata { key, why: error.to_string() })
}

fn check_format(metadata: &HashMap<String, String>) -> Result<(), StoreError> {
    let format = entry(metadata, "format")?;
    if format != FORMAT {
        return Err(StoreError::Metadata { key: "format", why: format!("`{format}`, expected `{FORMAT}`") });
    }
    let found: u32 = parse("format_version", entry(metadata, "format_version")?)?;
    if found > FORMAT_VERSION { Err(StoreError::Newer { found, newest: FORMAT_VERSION }) } else { Ok(()) }
}

/// The tensors of the file, if they are exactly those of the model.
fn checked_tensors(
    file: &SafeTensors<'_>,
    expected: &BTreeMap<String, NamedTensor>,
) -> Result<BTreeMap<String, NamedTensor>, StoreError> {
    if let Some(name) = file.names().into_iter().filter(|name| !expected.contains_key(*name)).min() {
        return Err(StoreError::ExtraTensor { name: name.to_owned() });
    }
    let mut tensors = BTreeMap::new();
    for (name, parameter) in expected {
        let view = file.tensor(name).map_err(|_| StoreError::MissingTensor { name: name.clone() })?;
        if view.shape() != parameter.shape {
            let (found, expected) = (view.shape().to_vec(), parameter.shape.clone());
            return Err(StoreError::Shape { name: name.clone(), found, expected });
        }
        let values = float_values(name, &view)?;
        check_finite(name, &values)?;
        tensors.insert(name.clone(), NamedTensor { shape: parameter.shape.clone(), values });
    }
    Ok(tensors)
}

fn float_values(name: &str, view: &TensorView<'_>) -> Result<Vec<f64>, StoreError> {
    match view.dtype() {
        Dtype::F32 => {
            let (numbers, _) = view.data().as_chunks::<4>();
            Ok(numbers.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect())
        }
        Dtype::F64 => {
            let (numbers, _) = view.data().as_chunks::<8>();
            Ok(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
        }
        other => Err(StoreError::Type { name: name.to_owned(), found: format!("{other:?}") }),
    }
}

pub(super) fn check_finite(name: &str, values: &[f64]) -> Result<(), StoreError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(position) => Err(StoreError::NotFinite { name: name.to_owned(), position, value: values[position] }),
        None => Ok(()),
    }
}
