//! Convolutions on grids, for models that see an image instead of a graph.

use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::activation::{Activation, activate};
use crate::error::Error;
use crate::init::InitRng;

/// The settings of a [`GridCnn`]. The paper's grid models have kernels of 3, 5 or 7 and 1, 3, 5, 7 or 9 layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridCnnConfig {
    /// Channels of the image.
    pub input_channels: usize,
    /// Channels of every layer's output.
    pub hidden_channels: usize,
    /// Side of the kernels; odd, so that the image keeps its size.
    pub kernel: usize,
    /// Number of convolutions.
    pub depth: usize,
    /// The activation after every convolution.
    #[serde(default)]
    pub activation: Activation,
    /// No biases.
    #[serde(default)]
    pub homogeneous: bool,
}

impl GridCnnConfig {
    /// `depth` convolutions with biases, LeakyReLU after each.
    pub fn new(input_channels: usize, hidden_channels: usize, kernel: usize, depth: usize) -> Self {
        let (activation, homogeneous) = (Activation::LeakyRelu, false);
        Self { input_channels, hidden_channels, kernel, depth, activation, homogeneous }
    }

    /// The network with weights drawn from `rng` as `torch.nn.Conv2d` starts.
    ///
    /// # Errors
    ///
    /// When the kernel is even or there is no layer or channel.
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> Result<GridCnn, Error> {
        if self.kernel.is_multiple_of(2) {
            return Err(Error::config("cnn", format!("the kernel must be odd, found {}", self.kernel)));
        }
        if self.depth == 0 || self.input_channels == 0 || self.hidden_channels == 0 {
            return Err(Error::config("cnn", "depth and channels must be at least 1"));
        }
        let convolutions = (0..self.depth)
            .map(|layer| if layer == 0 { self.input_channels } else { self.hidden_channels })
            .map(|channels| self.convolution(channels, device, rng))
            .collect();
        Ok(GridCnn { convolutions, activation: self.activation })
    }

    fn convolution(&self, channels: usize, device: &Device, rng: &mut InitRng) -> Conv2d {
        let (outputs, kernel) = (self.hidden_channels, self.kernel);
        let bound = 1.0 / ((channels * kernel * kernel) as f64).sqrt();
        let mut convolution = Conv2dConfig::new([channels, outputs], [kernel, kernel])
            .with_padding(PaddingConfig2d::Same)
            .with_bias(false)
            .init(device);
        convolution.weight = rng.uniform([outputs, channels, kernel, kernel], bound, device);
        convolution.bias = (!self.homogeneous).then(|| rng.uniform([outputs], bound, device));
        convolution
    }
}

/// Convolutions that keep the size of the image, an activation after each.
///
/// # Shapes
///
/// - input: `[batch, input channels, height, width]`
/// - output: `[batch, hidden channels, height, width]`
///
/// Positively homogeneous of degree 1 without biases (`tests/layers/homogeneity.rs`).
#[derive(Module, Debug)]
pub struct GridCnn {
    /// The convolutions.
    pub convolutions: Vec<Conv2d>,
    #[module(skip)]
    activation: Activation,
}

impl GridCnn {
    /// Applies the convolutions to every image.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<4> {
        let step = |images, convolution: &Conv2d| activate(self.activation, convolution.forward(images));
        self.convolutions.iter().fold(images, step)
    }
}
