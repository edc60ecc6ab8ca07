//! The numbers of a tensor, on the host.
//!
//! Parameters and gradients of a step are small and many. So these functions go to the memory of CPU tensors directly:
//! the framework's own way to read one is a future and, where it is shared, two copies.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, DispatchAutodiffContext, DispatchKindConversion, DispatchTensor, Flex};
use burn::tensor::{DType, Tensor, TensorData};

/// The values of a tensor, row-major, in single precision.
///
/// # Panics
/// If the tensor is not on the CPU, or part of a graph with checkpoints; the same holds for [`update_values`].
///
/// # Example
/// ```
/// use burn::tensor::{Device, Tensor};
/// let tensor = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0]], &Device::flex().autodiff());
/// assert_eq!(itergnn_nn::host_values(tensor.clone()), [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(itergnn_nn::host_values(tensor.transpose()), [1.0, 3.0, 2.0, 4.0]);
/// ```
pub fn host_values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    values(&primitive(tensor).0)
}

/// A tensor with other values: `update` is given the old ones, row-major and in single precision, and changes them. The
/// result is a leaf of its own, which learns if the old tensor did.
pub fn update_values<const D: usize>(tensor: Tensor<D>, update: impl FnOnce(&mut [f32])) -> Tensor<D> {
    let (learns, float) = (tensor.is_require_grad(), tensor.dtype());
    let (old, autodiff) = primitive(tensor);
    let mut changed = values(&old);
    update(&mut changed);
    let data = TensorData::new(changed, old.layout().shape().clone()).convert_dtype(float);
    let new = FloatTensor::<Flex>::from_data(data);
    if !autodiff {
        return Tensor::from_primitive::<Flex>(new);
    }
    let new = Autodiff::<Flex>::from_inner(new);
    Tensor::from_primitive::<Autodiff<Flex>>(if learns { new.require_grad() } else { new })
}

/// The tensor of the CPU backend, and whether it was under autodiff.
fn primitive<const D: usize>(tensor: Tensor<D>) -> (FloatTensor<Flex>, bool) {
    let tensor = tensor.into_dispatch();
    let place = "tensors of models are on the CPU, without checkpoints";
    if tensor.autodiff == DispatchAutodiffContext::Disabled {
        let tensor = <DispatchTensor as DispatchKindConversion<Flex>>::try_into_backend(tensor).expect(place);
        return (tensor.float(), false);
    }
    let tensor = <DispatchTensor as DispatchKindConversion<Autodiff<Flex>>>::try_into_backend(tensor).expect(place);
    (tensor.float().into_primitive(), true)
}

fn values(tensor: &FloatTensor<Flex>) -> Vec<f32> {
    if let Some(values) = tensor.as_slice::<f32>() {
        return values.to_vec();
    }
    let data = tensor.to_contiguous().into_data();
    data.convert_dtype(DType::F32).try_into_vec().expect("the values were converted to this type")
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn values_of_either_precision_are_row_major() {
        for float in [DType::F32, DType::F64] {
            let data = TensorData::from([[1.0_f64, 2.0, 3.0], [4.0, 5.0, 6.0]]);
            let tensor = Tensor::<2>::from_data(data, (&Device::flex().autodiff(), float)).require_grad();
            assert_eq!(host_values(tensor.clone()), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
            assert_eq!(host_values(tensor.transpose().narrow(0, 1, 2)), [2.0, 5.0, 3.0, 6.0]);
        }
    }

    #[test]
    fn updated_tensors_keep_shape_precision_and_whether_they_learn() {
        for (device, float, learns) in [
            (Device::flex().autodiff(), DType::F32, true),
            (Device::flex().autodiff(), DType::F64, true),
            (Device::flex().autodiff(), DType::F32, false),
            (Device::flex(), DType::F32, false),
        ] {
            let data = TensorData::from([[1.0_f64, 2.0, 3.0], [4.0, 5.0, 6.0]]);
            let tensor = Tensor::<2>::from_data(data, (&device, float)).set_require_grad(learns);
            let tensor = if learns { tensor } else { tensor.transpose() };
            let dims = tensor.dims();
            let updated = update_values(tensor, |values| values[1] += 10.0);
            assert_eq!((updated.dims(), updated.dtype(), updated.is_require_grad()), (dims, float, learns));
            assert_eq!(updated.device(), device);
            assert_eq!(host_values(updated.clone())[1], if learns { 12.0 } else { 14.0 });
            if learns {
                let gradient = updated.grad(&updated.clone().square().sum().backward()).unwrap();
                assert_eq!(host_values(gradient), [2.0, 24.0, 6.0, 8.0, 10.0, 12.0]);
            }
        }
    }
}
