//! Activations on tensors.

use burn::tensor::Tensor;
pub use itergnn_kernels::settings::{Activation, LEAKY_SLOPE};

use crate::ops::leaky_relu;

/// Applies an activation element by element.
pub(crate) fn activate<const D: usize>(activation: Activation, values: Tensor<D>) -> Tensor<D> {
    match activation {
        Activation::Identity => values,
        Activation::Relu => burn::tensor::activation::relu(values),
        Activation::LeakyRelu => leaky_relu(values, activation.negative_slope()),
    }
}
