//! Models as data.

use burn::tensor::Device;
pub use itergnn_kernels::block::BlockConfig;
use itergnn_kernels::settings::HIDDEN_WIDTH;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

use crate::architecture::{GnnConfig, ROWS_PER_NODE, Settings, rows};
use crate::controllers::{ControllerConfig, Mode};
use crate::fused::Engine;
use crate::layers::{Aggregation, LayerKind};
use crate::mlp::MlpConfig;
use crate::presets::TaskWidths;
use crate::readout::ReadoutKind;
use crate::{Error, GnnModel, InitRng};

/// Most parameters a model may have; far above any of the paper's (about 1 million), far below what fits in memory.
pub const MAX_PARAMETERS: u64 = 1 << 27;

/// Where the homogeneous prior holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Display, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Prior {
    /// Nowhere.
    #[default]
    None,
    /// Every module is free of biases, so the model is homogeneous.
    Full,
    /// Only the message-passing part; embedding, confidence and head keep biases. For targets that are not homogeneous,
    /// such as counts.
    Core,
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
    /// What attributes and predictions are measured in: node and edge attributes are divided by it on their way in,
    /// predictions multiplied on their way out, and the loss is that of divided labels. 1,000 for tours, whose
    /// coordinates would saturate the confidence otherwise; 1 in files of older versions.
    #[serde(default = "unit", skip_serializing_if = "is_unit")]
    pub unit: f64,
}

fn unit() -> f64 {
    1.0
}

fn is_unit(unit: &f64) -> bool {
    *unit == 1.0
}

fn paper_hidden_width() -> usize {
    HIDDEN_WIDTH
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

impl GnnConfig {
    /// Checks that a model can be made of this.
    ///
    /// # Errors
    /// [`Error::Config`] names the field and what is wrong with it.
    pub fn validate(&self) -> Result<(), Error> {
        self.settings().validate()
    }

    /// The model, with weights drawn from `rng`.
    ///
    /// # Errors
    /// As [`GnnConfig::validate`].
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> Result<GnnModel, Error> {
        GnnModel::new(self.clone(), device, rng)
    }

    /// What the model takes and gives: node attributes (of an image: its channels), edge attributes (0 if it reads
    /// none) and predictions.
    pub fn widths(&self) -> TaskWidths {
        self.settings().widths()
    }

    /// Refuses a choice of engine where there is none.
    ///
    /// # Errors
    /// [`Error::Config`] says so.
    pub fn check_engine(&self, engine: Engine) -> Result<(), Error> {
        if engine == Engine::Auto || self.settings().has_engines() {
            return Ok(());
        }
        let model = self.architecture_line();
        Err(Error::config("engine", format!("{engine} means nothing for a model with one engine, {model}")))
    }

    /// Whether the model repeats a layer until it stops by itself or meets a cap, so that a cap means something.
    pub fn iterates(&self) -> bool {
        let has_loop = |controller: &ControllerConfig| !matches!(controller, ControllerConfig::Stack(_));
        match self {
            Self::Graph(config) => config.blocks.iter().any(|block| has_loop(&block.controller)),
            Self::JumpingKnowledge(config) => config.controller.as_ref().is_some_and(has_loop),
            Self::Grid(_) => false,
            Self::MaxPlus(_) | Self::Waves(_) | Self::OneTree(_) => true,
        }
    }

    /// The architecture in one line, as cards, `eval`, `solve` and `predict` state it.
    ///
    /// # Example
    /// ```
    /// use itergnn_nn::{TaskWidths, preset};
    /// let line = preset("iter-homo-path", &TaskWidths::graph(3, 1, 1))?.architecture_line();
    /// assert_eq!(line, "graph network: path-sim layer with max, iter-decay 0.9999, prior full, hidden 64, readout max");
    /// # Ok::<(), itergnn_nn::Error>(())
    /// ```
    pub fn architecture_line(&self) -> String {
        self.settings().line()
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

/// What a step of training keeps for the gradients in the fused engine, and in the plain one. Measured with hidden 64
/// on lobsters of 500 and random graphs of 100 nodes, and rounded up (docs/reliability.md).
const FUSED_ROWS_PER_NODE: u64 = 5;
const CHOICE_BYTES: u64 = 8;
const SHARE_BYTES: u64 = 40;
const PLAIN_ROWS_PER_NODE: u64 = 4;

/// Rows of the hidden width that a step of the plain path holds for every edge: what a message is made of.
fn rows_per_edge(kind: LayerKind) -> u64 {
    match kind {
        LayerKind::Path | LayerKind::MpnnMax | LayerKind::GnBlock => 7,
        LayerKind::PathSim => 5,
        LayerKind::Gcn | LayerKind::Gat | LayerKind::Gin | LayerKind::PointNet => 2,
    }
}

impl Settings for GraphModelConfig {
    fn validate(&self) -> Result<(), Error> {
        at_least_one("node_width", self.node_width)?;
        at_least_one("output_width", self.output_width)?;
        at_least_one("hidden_width", self.hidden_width)?;
        at_least_one("embedding_layers", self.embedding_layers)?;
        at_least_one("head_layers", self.head_layers)?;
        at_least_one("blocks", self.blocks.len())?;
        if !(self.unit.is_finite() && self.unit > 0.0) {
            return Err(Error::config("model", format!("unit {} is not a positive number", self.unit)));
        }
        if self.readout == ReadoutKind::Pointer && self.output_width != 1 {
            let found = self.output_width;
            return Err(Error::config(
                "model",
                format!("a pointer has one score per choice, found output_width {found}"),
            ));
        }
        if self.readout == ReadoutKind::HeadTail && !self.output_width.is_multiple_of(2) {
            let problem = format!("head-tail predicts two nodes, but output_width is {}", self.output_width);
            return Err(Error::config("model", problem));
        }
        check_parameters(self.parameter_bound())?;
        self.blocks.iter().enumerate().try_for_each(|(index, block)| self.validate_block(index, block))
    }

    fn widths(&self) -> TaskWidths {
        let Self { node_width, edge_width, output_width, readout, .. } = *self;
        TaskWidths { node_width, edge_width, output_width, readout }
    }

    fn line(&self) -> String {
        let blocks = match &self.blocks[..] {
            [] => "no block".to_owned(),
            [block] => block_line(block),
            [first, rest @ ..] if rest.iter().all(|block| block == first) => {
                format!("{} blocks of {}", self.blocks.len(), block_line(first))
            }
            blocks => blocks.iter().map(block_line).collect::<Vec<_>>().join(", then "),
        };
        let (prior, readout) = (self.prior, self.readout);
        let unit = if is_unit(&self.unit) { String::new() } else { format!(", in units of {}", self.unit) };
        format!("graph network: {blocks}, prior {prior}, hidden {}, readout {readout}{unit}", self.hidden_width)
    }

    fn hidden_width(&self) -> usize {
        self.hidden_width
    }

    fn set_hidden_width(&mut self, width: usize) -> Result<(), Error> {
        self.hidden_width = width;
        self.blocks.iter_mut().for_each(|block| block.layer.hidden_width = width);
        Ok(())
    }

    fn reads_edges(&self) -> bool {
        let reads = |block: &BlockConfig| match block.layer.kind {
            LayerKind::MpnnMax | LayerKind::Path | LayerKind::PathSim | LayerKind::GnBlock => true,
            LayerKind::Gcn | LayerKind::Gat => block.layer.use_edge_attributes,
            LayerKind::Gin | LayerKind::PointNet => false,
        };
        matches!(self.readout, ReadoutKind::Edge | ReadoutKind::Pointer) || self.blocks.iter().any(reads)
    }

    fn is_capped_in_training(&self) -> bool {
        true
    }

    fn has_engines(&self) -> bool {
        true
    }

    fn bytes(&self, nodes: usize, edges: usize) -> u64 {
        // Blocks run one after the other.
        let of_edges = self.blocks.iter().map(|block| rows_per_edge(block.layer.kind)).max().unwrap_or(0);
        rows(self.hidden_width, (nodes, ROWS_PER_NODE), (edges, of_edges))
    }

    fn training_bytes(&self, nodes: usize, edges: usize, engine: Engine) -> u64 {
        let is_fused = |block: &BlockConfig| engine != Engine::Plain && block.uncovered().is_none();
        let of_block = |block: &BlockConfig| {
            let step = if is_fused(block) {
                // States and both layers of the messages; of an edge what was chosen, or its share.
                let of_edge = if block.layer.aggregation == Aggregation::Max { CHOICE_BYTES } else { SHARE_BYTES };
                let kept = (edges as u64).saturating_mul(of_edge);
                rows(self.hidden_width, (nodes, FUSED_ROWS_PER_NODE), (0, 0)).saturating_add(kept)
            } else {
                rows(self.hidden_width, (nodes, PLAIN_ROWS_PER_NODE), (edges, rows_per_edge(block.layer.kind)))
            };
            step.saturating_mul(block.controller.most_steps(Mode::Training, None) as u64)
        };
        let all_fused = self.blocks.iter().all(is_fused);
        let whole =
            if all_fused { rows(self.hidden_width, (nodes, ROWS_PER_NODE), (0, 0)) } else { self.bytes(nodes, edges) };
        self.blocks.iter().map(of_block).fold(whole, u64::saturating_add)
    }

    fn unit(&self) -> f64 {
        self.unit
    }
}

impl GraphModelConfig {
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
        let blocks: f64 = self.blocks.iter().map(block_parameters).sum();
        let edge = 2.0 * hidden + self.edge_width as f64 + 1.0;
        let readout = if self.readout.pools() { 0.0 } else { 4.0 * edge * edge };
        embedding + head + blocks + readout
    }

    /// The blocks as an engine runs them: caps and settling as the mode asks, and the bias of the confidence as the
    /// prior says.
    pub fn resolved_blocks(&self, mode: Mode, cap: Option<usize>) -> Vec<BlockConfig> {
        let resolve = |block: &BlockConfig| {
            let mut block = block.resolved(mode, cap);
            let bias = self.prior != Prior::Full;
            block.controller = block.controller.with_iter(|iter| {
                iter.confidence_bias.get_or_insert(bias);
            });
            block
        };
        self.blocks.iter().map(resolve).collect()
    }

    /// The embedding that the settings ask for.
    pub fn embedding(&self) -> MlpConfig {
        MlpConfig::new(self.node_width, self.hidden_width, self.embedding_layers)
            .with_bias(self.prior != Prior::Full)
            .with_final_activation(self.embedding_final_activation)
    }

    /// The head that the settings ask for; with the head-tail readout it predicts one node.
    pub fn head(&self) -> MlpConfig {
        let outputs = if self.readout == ReadoutKind::HeadTail { self.output_width / 2 } else { self.output_width };
        MlpConfig::new(self.hidden_width, outputs, self.head_layers)
            .with_bias(self.prior != Prior::Full)
            .with_final_activation(self.head_final_activation)
    }
}

/// A block in a few words.
fn block_line(block: &BlockConfig) -> String {
    let (kind, aggregation, controller) = (block.layer.kind, block.layer.aggregation, &block.controller);
    match kind {
        LayerKind::Path | LayerKind::PathSim => format!("{kind} layer with {aggregation}, {controller}"),
        _ => format!("{kind} layer, {controller}"),
    }
}

/// Not fewer parameters than a block has.
fn block_parameters(block: &BlockConfig) -> f64 {
    let layer = &block.layer;
    let edge = 2.0 * (layer.input_width as f64 + layer.hidden_width as f64)
        + layer.edge_width as f64
        + layer.global_width as f64;
    // The general block has three functions; every other layer has at most one MLP, scores and a few vectors per head.
    let functions = if layer.kind == LayerKind::GnBlock { 3.0 } else { 1.0 };
    let maps = functions * layer.mlp_layers as f64 * layer.heads.max(1) as f64;
    let one = maps * (edge + 2.0) * (edge + 4.0) + 4.0 * (edge + 1.0);
    match &block.controller {
        ControllerConfig::Stack(config) => config.layers as f64 * one,
        _ => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Peaks of the resident memory of `itergnn train`, in GiB, on batches of 32: lobsters of size 500 and random
    /// graphs.
    #[test]
    fn estimates_of_training_are_bounds_and_near_the_measured_peaks() {
        let GnnConfig::Graph(sim) = crate::preset("iter-homo-path", &TaskWidths::graph(3, 1, 1)).unwrap() else {
            panic!("a graph network");
        };
        let attention = sim.clone().with_layer(LayerKind::Path, Aggregation::Attention);
        for (model, engine, nodes, edges, peak) in [
            (&sim, Engine::Auto, 19_840, 39_616, 0.55),
            (&sim, Engine::Plain, 19_840, 39_616, 1.47),
            (&sim, Engine::Auto, 6_400, 636_800, 0.22),
            (&sim, Engine::Plain, 3_200, 158_400, 4.76),
            (&attention, Engine::Auto, 3_200, 158_400, 0.24),
            (&attention, Engine::Plain, 3_200, 158_400, 6.69),
        ] {
            let told = model.training_bytes(nodes, edges, engine) as f64 / f64::from(1 << 30);
            assert!((peak..=2.0 * peak).contains(&told), "{told} GiB told, {peak} measured");
        }
    }
}
