//! Models as data.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::aligned::max_plus::MaxPlusConfig;
use crate::aligned::one_tree::OneTreeConfig;
use crate::aligned::waves::WaveConfig;
use crate::controllers::ControllerConfig;
use crate::grid_model::GridModelConfig;
use crate::jumping_knowledge::JumpingKnowledgeConfig;
use crate::layers::{LayerConfig, LayerKind};
use crate::mlp::MlpConfig;
use crate::readout::ReadoutKind;
use crate::{Error, GnnModel, InitRng};

/// Most parameters a model may have; far above any of the paper's (about 1 million), far below what fits in memory.
pub const MAX_PARAMETERS: u64 = 1 << 27;

/// Where the homogeneous prior holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prior {
    /// Nowhere.
    #[default]
    None,
    /// Every module is free of biases, so the model is homogeneous.
    Full,
    /// Only the message-passing part; embedding, confidence and head keep biases. For targets that are not homogeneous, such as counts.
    Core,
}

/// A layer and the controller that composes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockConfig {
    /// The layer.
    pub layer: LayerConfig,
    /// The controller.
    pub controller: ControllerConfig,
}

/// Embedding, controller blocks, readout and head; see [`GraphModel`](crate::GraphModel) for the formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphModelConfig {
    /// Width of the node attributes.
    pub node_width: usize,
    /// Width of the edge attributes.
    pub edge_width: usize,
    /// Width of a prediction.
    pub output_width: usize,
    /// Width of the hidden state.
    #[serde(default = "paper_hidden_width")]
    pub hidden_width: usize,
    /// Where the homogeneous prior holds.
    #[serde(default)]
    pub prior: Prior,
    /// Affine maps of the node embedding.
    #[serde(default = "two")]
    pub embedding_layers: usize,
    /// Whether LeakyReLU follows the last map of the embedding.
    #[serde(default = "yes")]
    pub embedding_final_activation: bool,
    /// The blocks, in order; component counting has two.
    pub blocks: Vec<BlockConfig>,
    /// How node states become a graph's; `node` for predictions on nodes.
    #[serde(default)]
    pub readout: ReadoutKind,
    /// Affine maps of the head.
    #[serde(default = "one")]
    pub head_layers: usize,
    /// Whether LeakyReLU follows the last map of the head, as in the authors' code.
    #[serde(default)]
    pub head_final_activation: bool,
}

fn paper_hidden_width() -> usize {
    64
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

fn two() -> usize {
    2
}

/// A model of any architecture.
///
/// # Example
/// ```
/// use itergnn_nn::{GnnConfig, TaskWidths, preset};
/// let config = preset("iter-homo-path", &TaskWidths::graph(3, 1, 1))?;
/// let text = serde_json::to_string(&config).expect("a config is plain data");
/// assert_eq!(serde_json::from_str::<GnnConfig>(&text).expect("and reads back"), config);
/// # Ok::<(), itergnn_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "architecture", rename_all = "kebab-case")]
pub enum GnnConfig {
    /// Embedding, controller blocks, readout, head.
    Graph(GraphModelConfig),
    /// GIN or Iter-GIN blocks with jumping knowledge, for graph classification.
    JumpingKnowledge(JumpingKnowledgeConfig),
    /// A convolutional network on images.
    Grid(GridModelConfig),
    /// Waves that travel by addition and maximum, for path problems.
    MaxPlus(MaxPlusConfig),
    /// Waves that run until nothing changes, for counts and chains of causes.
    Waves(WaveConfig),
    /// Prices on nodes that make a cheapest tree look like a tour, for tour lengths.
    OneTree(OneTreeConfig),
}

impl GnnConfig {
    /// Checks that a model can be made of this.
    ///
    /// # Errors
    /// [`Error::Config`] names the field and what is wrong with it.
    pub fn validate(&self) -> Result<(), Error> {
        match self {
            Self::Graph(config) => config.validate(),
            Self::JumpingKnowledge(config) => config.validate(),
            Self::Grid(config) => config.validate(),
            Self::MaxPlus(config) => config.validate(),
            Self::Waves(config) => config.validate(),
            Self::OneTree(config) => config.validate(),
        }
    }

    /// The model, with weights drawn from `rng`.
    ///
    /// # Errors
    /// As [`GnnConfig::validate`].
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> Result<GnnModel, Error> {
        GnnModel::new(self.clone(), device, rng)
    }

    /// Width of the node attributes that the model expects (of an image: its channels).
    pub fn node_width(&self) -> usize {
        match self {
            Self::Graph(config) => config.node_width,
            Self::JumpingKnowledge(config) => config.node_width,
            Self::Grid(config) => config.channels,
            Self::MaxPlus(config) => config.attributes + config.node_width,
            Self::Waves(config) => config.node_width,
            Self::OneTree(config) => config.node_width,
        }
    }

    /// Width of the edge attributes that the model expects; 0 if it reads none.
    pub fn edge_width(&self) -> usize {
        match self {
            Self::Graph(config) => config.edge_width,
            Self::JumpingKnowledge(_) | Self::Grid(_) => 0,
            Self::MaxPlus(_) | Self::OneTree(_) => 1,
            Self::Waves(config) => config.edge_width,
        }
    }

    /// Width of a prediction.
    pub fn output_width(&self) -> usize {
        match self {
            Self::Graph(config) => config.output_width,
            Self::JumpingKnowledge(config) => config.output_width,
            Self::Grid(config) => config.output_width,
            Self::MaxPlus(config) => config.output_width,
            Self::Waves(config) => config.output_width,
            Self::OneTree(config) => config.output_width,
        }
    }
}

/// Refuses a count of 0.
pub(crate) fn at_least_one(field: &str, count: usize) -> Result<(), Error> {
    if count == 0 { Err(Error::config("model", format!("{field} must be at least 1"))) } else { Ok(()) }
}

/// Refuses models with more than [`MAX_PARAMETERS`] parameters.
pub(crate) fn check_parameters(parameters: f64) -> Result<(), Error> {
    // An f64 rounds but does not overflow, whatever widths a file claims.
    if parameters > MAX_PARAMETERS as f64 {
        let problem = format!("about {parameters:.0} parameters, more than the {MAX_PARAMETERS} allowed");
        return Err(Error::config("model", problem));
    }
    Ok(())
}

impl GraphModelConfig {
    pub(crate) fn validate(&self) -> Result<(), Error> {
        at_least_one("node_width", self.node_width)?;
        at_least_one("output_width", self.output_width)?;
        at_least_one("hidden_width", self.hidden_width)?;
        at_least_one("embedding_layers", self.embedding_layers)?;
        at_least_one("head_layers", self.head_layers)?;
        at_least_one("blocks", self.blocks.len())?;
        if self.readout == ReadoutKind::HeadTail && !self.output_width.is_multiple_of(2) {
            let problem = format!("head-tail predicts two nodes, but output_width is {}", self.output_width);
            return Err(Error::config("model", problem));
        }
        check_parameters(self.parameter_bound())?;
        self.blocks.iter().enumerate().try_for_each(|(index, block)| self.validate_block(index, block))
    }

    fn validate_block(&self, index: usize, block: &BlockConfig) -> Result<(), Error> {
        let layer = &block.layer;
        let problem = |why: String| Err(Error::config("model", format!("block {index}: {why}")));
        if ![0, self.node_width].contains(&layer.input_width) {
            let (found, width) = (layer.input_width, self.node_width);
            return problem(format!("the layer's input_width is {found}, expected node_width {width} (or 0 for none)"));
        }
        if layer.hidden_width != self.hidden_width {
            let (found, width) = (layer.hidden_width, self.hidden_width);
            return problem(format!("the layer's hidden_width is {found}, expected {width}"));
        }
        if layer.edge_width != self.edge_width {
            let (found, width) = (layer.edge_width, self.edge_width);
            return problem(format!("the layer's edge_width is {found}, expected {width}"));
        }
        if layer.homogeneous != (self.prior != Prior::None) {
            return problem(format!("prior {:?} contradicts homogeneous = {}", self.prior, layer.homogeneous));
        }
        match block.controller.fault() {
            Some((field, why)) => problem(format!("controller {field}: {why}")),
            None => Ok(()),
        }
    }

    /// Not fewer parameters than the model has.
    fn parameter_bound(&self) -> f64 {
        let hidden = self.hidden_width as f64;
        let node = self.node_width as f64 + hidden;
        let embedding = self.embedding_layers as f64 * (node + 1.0) * node;
        let widest = node.max(self.output_width as f64);
        let head = self.head_layers as f64 * (2.0 * widest + 1.0) * widest;
        let blocks: f64 = self.blocks.iter().map(BlockConfig::parameter_bound).sum();
        embedding + head + blocks
    }

    /// Whether any layer reads edge attributes.
    pub fn reads_edges(&self) -> bool {
        self.blocks.iter().any(|block| match block.layer.kind {
            LayerKind::MpnnMax | LayerKind::Path | LayerKind::PathSim | LayerKind::GnBlock => true,
            LayerKind::Gcn | LayerKind::Gat => block.layer.use_edge_attributes,
            LayerKind::Gin | LayerKind::PointNet => false,
        })
    }

    /// The embedding that the settings ask for.
    pub(crate) fn embedding(&self) -> MlpConfig {
        MlpConfig::new(self.node_width, self.hidden_width, self.embedding_layers)
            .with_bias(self.prior != Prior::Full)
            .with_final_activation(self.embedding_final_activation)
    }

    /// The head that the settings ask for; with the head-tail readout it predicts one node.
    pub(crate) fn head(&self) -> MlpConfig {
        let outputs = if self.readout == ReadoutKind::HeadTail { self.output_width / 2 } else { self.output_width };
        MlpConfig::new(self.hidden_width, outputs, self.head_layers)
            .with_bias(self.prior != Prior::Full)
            .with_final_activation(self.head_final_activation)
    }
}

impl BlockConfig {
    fn parameter_bound(&self) -> f64 {
        let layer = &self.layer;
        let edge = 2.0 * (layer.input_width as f64 + layer.hidden_width as f64)
            + layer.edge_width as f64
            + layer.global_width as f64;
        // The general block has three functions; every other layer has at most one MLP, scores and a few vectors a head.
        let functions = if layer.kind == LayerKind::GnBlock { 3.0 } else { 1.0 };
        let maps = functions * layer.mlp_layers as f64 * layer.heads.max(1) as f64;
        let one = maps * (edge + 2.0) * (edge + 4.0) + 4.0 * (edge + 1.0);
        match &self.controller {
            ControllerConfig::Stack(config) => config.layers as f64 * one,
            _ => one,
        }
    }
}
