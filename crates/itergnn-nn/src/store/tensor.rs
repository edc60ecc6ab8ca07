//! Numbers as the bytes of a tensor in a file, and back.

use std::borrow::Cow;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, View};

/// A tensor as a file has it.
pub struct StoredTensor {
    shape: Vec<usize>,
    dtype: Dtype,
    bytes: Vec<u8>,
}

impl StoredTensor {
    /// Numbers as F32, or as F64 where an F32 would not hold them exactly.
    pub fn new(shape: &[usize], values: &[f64]) -> Self {
        let exact = values.iter().all(|&value| f64::from(value as f32) == value);
        let (dtype, bytes) = if exact {
            (Dtype::F32, values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect())
        } else {
            (Dtype::F64, values.iter().flat_map(|value| value.to_le_bytes()).collect())
        };
        Self { shape: shape.to_vec(), dtype, bytes }
    }

    /// Bytes that are no numbers.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self { shape: vec![bytes.len()], dtype: Dtype::U8, bytes }
    }

    /// The numbers of a tensor in a file; `None` if it is of a type that [`StoredTensor::new`] does not write.
    pub fn values(view: &TensorView<'_>) -> Option<Vec<f64>> {
        match view.dtype() {
            Dtype::F32 => {
                Some(view.data().as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect())
            }
            Dtype::F64 => Some(view.data().as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()),
            _ => None,
        }
    }
}

impl View for StoredTensor {
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
