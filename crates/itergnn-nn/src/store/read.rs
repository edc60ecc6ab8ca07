//! Reading a model file.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use burn::tensor::Device;
use safetensors::SafeTensors;

use super::{FORMAT_VERSION, MAX_FILE_BYTES, METADATA_KEY, ModelCard, StoreError, StoredTensor};
use crate::{GnnConfig, GnnModel, InitRng, NamedTensor, named_tensors, replace_tensors};

/// Reads a model and its card.
///
/// # Errors
/// Any [`StoreError`]: a file that is too large, not ours, newer, or whose tensors are missing, superfluous, misshapen
/// or not finite.
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
    let (config, card) = description(header.metadata().as_ref())?;
    // Refuses absurd widths, so that a few bytes of metadata cannot ask for gigabytes of weights.
    config.validate()?;
    let model = config.init(device, &mut InitRng::new(0))?;
    let tensors = checked_tensors(&SafeTensors::deserialize(bytes)?, &named_tensors(&model))?;
    Ok((replace_tensors(model, &tensors), card))
}

fn check_size(bytes: u64) -> Result<(), StoreError> {
    if bytes > MAX_FILE_BYTES { Err(StoreError::TooLarge { bytes, limit: MAX_FILE_BYTES }) } else { Ok(()) }
}

/// Configuration and card from the metadata, the version checked before either is looked at.
fn description(metadata: Option<&HashMap<String, String>>) -> Result<(GnnConfig, ModelCard), StoreError> {
    let text = metadata.and_then(|metadata| metadata.get(METADATA_KEY)).ok_or(StoreError::NotOurs)?;
    let wrong = |field, error: serde_json::Error| StoreError::Metadata { field, why: error.to_string() };
    let mut value: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(METADATA_KEY, error))?;
    let found: u32 =
        serde_json::from_value(value["format_version"].take()).map_err(|error| wrong("format_version", error))?;
    if found > FORMAT_VERSION {
        return Err(StoreError::Newer { found, newest: FORMAT_VERSION });
    }
    let config = serde_json::from_value(value["config"].take()).map_err(|error| wrong("config", error))?;
    let card = serde_json::from_value(value["card"].take()).map_err(|error| wrong("card", error))?;
    Ok((config, card))
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
        let wrong_type = || StoreError::Type { name: name.clone(), found: format!("{:?}", view.dtype()) };
        let values = StoredTensor::values(&view).ok_or_else(wrong_type)?;
        check_finite(name, &values)?;
        tensors.insert(name.clone(), NamedTensor { shape: parameter.shape.clone(), values });
    }
    Ok(tensors)
}

pub(super) fn check_finite(name: &str, values: &[f64]) -> Result<(), StoreError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(position) => Err(StoreError::NotFinite { name: name.to_owned(), position, value: values[position] }),
        None => Ok(()),
    }
}
