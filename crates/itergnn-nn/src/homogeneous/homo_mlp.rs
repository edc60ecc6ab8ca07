//! MLPs without biases.

use burn::module::Module;
use burn::tensor::Tensor;

use crate::error::Error;
use crate::mlp::Mlp;

/// An MLP without biases: positively homogeneous of degree 1, `f(a x) = a f(x)` for `a > 0`
/// (`homo_mlp_is_homogeneous` in `tests/homogeneous.rs`).
///
/// # Paper
///
/// HomoMLP, section 'Homogeneous prior'.
#[derive(Module, Debug)]
pub struct HomoMlp {
    mlp: Mlp,
}

impl HomoMlp {
    /// Wraps a network without biases.
    ///
    /// # Errors
    ///
    /// When a map has a bias.
    pub fn new(mlp: Mlp) -> Result<Self, Error> {
        match mlp.layers.iter().position(|map| map.bias.is_some()) {
            Some(index) => Err(Error::config("homo-mlp", format!("map {index} has a bias"))),
            None => Ok(Self { mlp }),
        }
    }

    /// Applies the network to every row.
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        self.mlp.forward(input)
    }

    /// The network itself.
    pub fn mlp(&self) -> &Mlp {
        &self.mlp
    }
}
