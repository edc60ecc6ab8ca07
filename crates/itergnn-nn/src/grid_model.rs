//! A convolutional network that sees an image instead of a graph.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::architecture::{Architecture, Settings};
use crate::config::{at_least_one, check_parameters};
use crate::controllers::RunOptions;
use crate::layers::{GridCnn, GridCnnConfig};
use crate::presets::TaskWidths;
use crate::{Error, GraphTensors, InitRng, Mlp, MlpConfig, ModelOutput};

/// The settings of a [`GridModel`]; the paper compares kernels 3, 5, 7 and depths 1, 3, 5, 7, 9.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridModelConfig {
    /// Channels of the image.
    pub channels: usize,
    /// Width of a prediction: the number of actions for Q-values.
    pub output_width: usize,
    /// Channels of the hidden layers.
    pub hidden_width: usize,
    /// Side of the kernels, odd.
    pub kernel: usize,
    /// Number of convolutions.
    pub depth: usize,
}

impl Settings for GridModelConfig {
    fn validate(&self) -> Result<(), Error> {
        at_least_one("channels", self.channels)?;
        at_least_one("output_width", self.output_width)?;
        at_least_one("hidden_width", self.hidden_width)?;
        let hidden = self.hidden_width as f64;
        let embedding = 2.0 * (self.channels as f64 + hidden) * (hidden + 1.0);
        let window = self.kernel as f64 * self.kernel as f64;
        let convolutions = self.depth as f64 * (hidden * hidden * window + hidden);
        check_parameters(embedding + convolutions + (hidden + 1.0) * self.output_width as f64)?;
        if self.depth == 0 || self.kernel.is_multiple_of(2) {
            let problem = format!("depth {} and kernel {}: at least 1, and odd", self.depth, self.kernel);
            return Err(Error::config("cnn", problem));
        }
        Ok(())
    }

    fn widths(&self) -> TaskWidths {
        TaskWidths::graph(self.channels, 0, self.output_width)
    }

    fn line(&self) -> String {
        let Self { depth, kernel, hidden_width, .. } = self;
        format!("convolutional network: {depth} convolutions of kernel {kernel}, hidden {hidden_width}")
    }

    fn hidden_width(&self) -> usize {
        self.hidden_width
    }

    fn set_hidden_width(&mut self, width: usize) -> Result<(), Error> {
        self.hidden_width = width;
        Ok(())
    }
}

/// Pixel embedding, convolutions, maximum over the image, linear head.
///
/// ```text
/// h = MLP(pixel)            2 layers
/// h = LeakyReLU(conv(h))    `depth` times, the image keeps its size
/// y = linear(max over pixels h)
/// ```
///
/// # Shapes
/// `[images, channels, height, width]` to `[images, output]`; any height and width.
///
/// # Paper
/// The CNN baseline of symbolic Pacman.
#[derive(Module, Debug)]
pub struct GridModel {
    embedding: Mlp,
    convolutions: GridCnn,
    head: Linear,
}

impl Architecture for GridModel {
    type Settings = GridModelConfig;

    fn new(config: &GridModelConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        config.validate()?;
        let hidden = config.hidden_width;
        Ok(Self {
            embedding: MlpConfig::new(config.channels, hidden, 2).init(device, rng),
            convolutions: GridCnnConfig::new(hidden, hidden, config.kernel, config.depth).init(device, rng)?,
            head: rng.linear(hidden, config.output_width, true, device),
        })
    }

    fn forward(&self, _graph: &GraphTensors, _options: &RunOptions) -> Result<ModelOutput, Error> {
        Err(Error::Graph("this model takes images, not graphs".to_owned()))
    }
}

impl GridModel {
    /// Predictions for images, such as Q-values.
    pub fn forward_images(&self, images: Tensor<4>) -> Tensor<2> {
        let [count, channels, height, width] = images.dims();
        let pixels = images.permute([0, 2, 3, 1]).reshape([count * height * width, channels]);
        let embedded = self.embedding.forward(pixels);
        let hidden = embedded.dims()[1];
        let embedded = embedded.reshape([count, height, width, hidden]).permute([0, 3, 1, 2]);
        let features = self.convolutions.forward(embedded).reshape([count, hidden, height * width]);
        self.head.forward(features.max_dim(2).reshape([count, hidden]))
    }
}
