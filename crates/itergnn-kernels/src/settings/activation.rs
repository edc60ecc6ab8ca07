//! Activations, all of them positively homogeneous of degree 1.

use serde::{Deserialize, Serialize};

/// The slope of LeakyReLU for negative inputs, PyTorch's default and the one of the paper.
pub const LEAKY_SLOPE: f64 = 0.01;

/// A piecewise linear activation: `f(a x) = a f(x)` for every `a > 0`, so a bias-free network of them is homogeneous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `x`.
    Identity,
    /// `max(x, 0)`.
    Relu,
    /// `x` where positive, `0.01 x` elsewhere.
    #[default]
    LeakyRelu,
}

impl Activation {
    /// The slope for negative inputs.
    pub fn negative_slope(self) -> f64 {
        match self {
            Self::Identity => 1.0,
            Self::Relu => 0.0,
            Self::LeakyRelu => LEAKY_SLOPE,
        }
    }
}
