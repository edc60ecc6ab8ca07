//! The tensors of a PyTorch checkpoint.

use std::collections::BTreeMap;
use std::path::Path;

use pytorch_reader::{DType, PytorchError, PytorchReader, Tensor};

use super::ImportError;
use crate::NamedTensor;

/// Largest checkpoint that is read; the authors' are far below a megabyte.
pub const MAX_CHECKPOINT_BYTES: u64 = 1 << 30;

/// The key under which the authors' training script keeps the weights.
const STATE_KEY: &str = "model_state_dict";

/// The state dictionary of a checkpoint, its numbers not yet read.
pub(super) struct Checkpoint {
    tensors: BTreeMap<String, Tensor>,
}

impl Checkpoint {
    pub(super) fn open(path: &Path) -> Result<Self, ImportError> {
        let failed = |why: String| ImportError::File { path: path.to_owned(), why };
        let bytes = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
        if bytes > MAX_CHECKPOINT_BYTES {
            return Err(failed(format!("{bytes} bytes is more than a checkpoint may have")));
        }
        let reader = PytorchReader::with_top_level_key(path, STATE_KEY).map_err(|error| match error {
            PytorchError::KeyNotFound(_) => failed(format!("not the authors' checkpoint: no `{STATE_KEY}`")),
            other => failed(format!("not a PyTorch checkpoint: {other}")),
        })?;
        Ok(Self { tensors: reader.into_tensors().into_iter().collect() })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// Extents of a tensor.
    pub(super) fn shape(&self, name: &str) -> Result<&[usize], ImportError> {
        self.get(name).map(Tensor::shape)
    }

    /// The two extents of a matrix.
    pub(super) fn matrix_shape(&self, name: &str) -> Result<[usize; 2], ImportError> {
        let shape = self.shape(name)?;
        <[usize; 2]>::try_from(shape).map_err(|_| ImportError::Shape {
            tensor: name.to_owned(),
            found: shape.to_vec(),
            expected: "a matrix".to_owned(),
        })
    }

    fn get(&self, name: &str) -> Result<&Tensor, ImportError> {
        self.tensors.get(name).ok_or_else(|| ImportError::MissingTensor { tensor: name.to_owned() })
    }

    /// The numbers of a tensor, which must be finite floats and have `elements` entries.
    pub(super) fn read(&self, name: &str, elements: usize) -> Result<NamedTensor, ImportError> {
        let tensor = self.get(name)?;
        if tensor.num_elements() != elements {
            return Err(ImportError::Shape {
                tensor: name.to_owned(),
                found: tensor.shape().to_vec(),
                expected: format!("{elements} entries"),
            });
        }
        let wrong = |why: String| ImportError::Values { tensor: name.to_owned(), why };
        let bytes = tensor.read().map_err(|error| wrong(error.to_string()))?;
        let values: Vec<f64> = match tensor.dtype() {
            DType::F32 => bytes.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_ne_bytes(*bytes))).collect(),
            DType::F64 => bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect(),
            other => return Err(wrong(format!("type {other:?}, expected F32 or F64"))),
        };
        match values.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(wrong(format!("holds {value}, expected finite numbers"))),
            None => Ok(NamedTensor { shape: tensor.shape().to_vec(), values }),
        }
    }
}
