//! Indices on a device.

use burn::tensor::{Device, Int, Tensor, TensorData};

/// Indices as an integer tensor.
pub(crate) fn index_tensor(indices: impl IntoIterator<Item = u32>, device: &Device) -> Tensor<1, Int> {
    let indices: Vec<i64> = indices.into_iter().map(i64::from).collect();
    let length = indices.len();
    Tensor::from_data(TensorData::new(indices, [length]), device)
}
