//! Numbers of parameters on the host.

use burn::module::Param;
use burn::tensor::{Tensor, TensorData};

/// The numbers of a parameter.
pub(super) fn host<const D: usize>(param: &Param<Tensor<D>>) -> Vec<f64> {
    param.val().try_into_vec_as::<f64>().expect("the device gives its tensors back")
}

/// The parameter with other numbers; it learns if it did before.
pub(super) fn replaced<const D: usize>(param: Param<Tensor<D>>, values: Vec<f64>) -> Param<Tensor<D>> {
    param.map(|old| {
        let (shape, learns) = (old.shape(), old.is_require_grad());
        let data = TensorData::new(values, shape).convert_dtype(old.dtype());
        Tensor::from_data(data, (&old.device(), old.dtype())).set_require_grad(learns)
    })
}
