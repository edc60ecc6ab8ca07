//! Multi-layer perceptrons.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::activation::{Activation, activate};
use crate::error::Error;
use crate::init::InitRng;

/// The settings of an [`Mlp`].
///
/// # Example
///
/// ```
/// use itergnn_nn::MlpConfig;
///
/// // Widths between input and output are interpolated, integer part.
/// assert_eq!(MlpConfig::new(136, 64, 2).widths(), [136, 100, 64]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MlpConfig {
    /// Width of the input.
    pub input_width: usize,
    /// Width of the output.
    pub output_width: usize,
    /// Number of affine maps; 0 is the identity.
    pub layers: usize,
    /// Whether the maps have biases; without them the network is positively homogeneous.
    #[serde(default = "yes")]
    pub bias: bool,
    /// The activation between the maps.
    #[serde(default)]
    pub activation: Activation,
    /// Whether the activation follows the last map too.
    #[serde(default = "yes")]
    pub final_activation: bool,
}

fn yes() -> bool {
    true
}

impl MlpConfig {
    /// `layers` affine maps with biases, LeakyReLU after each.
    pub fn new(input_width: usize, output_width: usize, layers: usize) -> Self {
        Self {
            input_width,
            output_width,
            layers,
            bias: true,
            activation: Activation::LeakyRelu,
            final_activation: true,
        }
    }

    /// With or without biases.
    #[must_use]
    pub fn with_bias(mut self, bias: bool) -> Self {
        self.bias = bias;
        self
    }

    /// With this activation.
    #[must_use]
    pub fn with_activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// With or without an activation after the last map.
    #[must_use]
    pub fn with_final_activation(mut self, final_activation: bool) -> Self {
        self.final_activation = final_activation;
        self
    }

    /// The width before and after every map: the integer part of the linear interpolation between input and output.
    pub fn widths(&self) -> Vec<usize> {
        let (from, to) = (self.input_width as f64, self.output_width as f64);
        if self.layers == 0 {
            return vec![self.input_width];
        }
        // Computed as numpy's linspace does, so that widths agree with checkpoints made by it.
        let step = (to - from) / self.layers as f64;
        let mut widths: Vec<usize> = (0..=self.layers).map(|index| (index as f64 * step + from) as usize).collect();
        widths[self.layers] = self.output_width;
        widths
    }

    /// A network with weights drawn from `rng`.
    ///
    /// # Panics
    ///
    /// When there are no layers but input and output widths differ.
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> Mlp {
        assert!(self.layers > 0 || self.input_width == self.output_width, "a network without layers keeps its width");
        let maps = self.widths().windows(2).map(|pair| rng.linear(pair[0], pair[1], self.bias, device)).collect();
        Mlp { layers: maps, activation: self.activation, final_activation: self.final_activation }
    }
}

/// A multi-layer perceptron: `x -> act(... act(x W_1 + b_1) ... W_K + b_K)`.
///
/// # Shapes
///
/// - input: `[rows, input width]`
/// - output: `[rows, output width]`
///
/// Positively homogeneous of degree 1 when it has no biases (see [`HomoMlp`](crate::HomoMlp)).
#[derive(Module, Debug)]
pub struct Mlp {
    /// The affine maps, weights `[inputs, outputs]`.
    pub layers: Vec<Linear>,
    /// The activation between the maps.
    #[module(skip)]
    pub activation: Activation,
    /// Whether the activation follows the last map too.
    pub final_activation: bool,
}

impl Mlp {
    /// A network from given maps.
    ///
    /// # Errors
    ///
    /// When the output width of a map is not the input width of the next.
    pub fn from_layers(layers: Vec<Linear>, activation: Activation, final_activation: bool) -> Result<Self, Error> {
        for (index, pair) in layers.windows(2).enumerate() {
            let ([_, outputs], [inputs, _]) = (pair[0].weight.dims(), pair[1].weight.dims());
            if outputs != inputs {
                let problem = format!("map {index} gives {outputs} features, the next one takes {inputs}");
                return Err(Error::config("mlp", problem));
            }
        }
        Ok(Self { layers, activation, final_activation })
    }

    /// Applies the network to every row.
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len().saturating_sub(1);
        self.layers.iter().enumerate().fold(input, |state, (index, map)| {
            let state = map.forward(state);
            if index < last || self.final_activation { activate(self.activation, state) } else { state }
        })
    }

    /// Width of the input; `None` without layers.
    pub fn input_width(&self) -> Option<usize> {
        self.layers.first().map(|map| map.weight.dims()[0])
    }

    /// The largest width between two maps; 0 for fewer than two maps.
    pub fn hidden_width(&self) -> usize {
        self.layers.iter().skip(1).map(|map| map.weight.dims()[0]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_interpolate_between_input_and_output() {
        assert_eq!(MlpConfig::new(136, 64, 2).widths(), [136, 100, 64]);
        assert_eq!(MlpConfig::new(3, 64, 2).widths(), [3, 33, 64]);
        assert_eq!(MlpConfig::new(10, 1, 4).widths(), [10, 7, 5, 3, 1]);
    }
}
