//! Any network made homogeneous by its input's norm.

use burn::module::Module;
use burn::tensor::Tensor;

use crate::mlp::Mlp;

/// `G(x) = |x|_1 MLP(x / |x|_1)`, and 0 for `x = 0`.
///
/// Positively homogeneous of degree 1 whatever the network (`norm_wrapped_is_homogeneous` in `tests/homogeneous.rs`).
///
/// # Paper
///
/// Appendix, `G_MLP` in the proof of the universal approximation theorem of HomoMLP.
#[derive(Module, Debug)]
pub struct NormWrapped {
    /// The wrapped network.
    pub mlp: Mlp,
}

impl NormWrapped {
    /// Wraps a network.
    pub fn new(mlp: Mlp) -> Self {
        Self { mlp }
    }

    /// Applies the wrapped network to every row.
    ///
    /// # Shapes
    ///
    /// - input: `[rows, input width]`
    /// - output: `[rows, output width]`
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        let norm = input.clone().abs().sum_dim(1);
        let zero = norm.clone().equal_elem(0.0);
        let scaled = input / norm.clone().mask_fill(zero, 1.0);
        self.mlp.forward(scaled) * norm
    }
}
