//! GIN and Iter-GIN with jumping knowledge, for graph classification.

use burn::module::{Module, Param};
use burn::nn::{BatchNormConfig, Linear};
use burn::tensor::{Device, Tensor, TensorData};
pub use itergnn_kernels::settings::JumpingKnowledgeConfig;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::activation::Activation;
use crate::architecture::{Architecture, Settings};
use crate::config::{at_least_one, check_parameters};
use crate::controllers::{Controller, ControllerConfig, Mode, RunOptions};
use crate::fused::{EngineChoice, FusedGin, Unsupported, choose, run_gin};
use crate::graph_model::{ModelOutput, total_charge};
use crate::layers::{GinConv, Layer, LayerConfig, LayerKind};
use crate::presets::TaskWidths;
use crate::readout::{Readout, ReadoutKind};
use crate::{Error, GraphTensors, InitRng, Mlp, MlpConfig};

impl Settings for JumpingKnowledgeConfig {
    fn validate(&self) -> Result<(), Error> {
        at_least_one("node_width", self.node_width)?;
        at_least_one("output_width", self.output_width)?;
        at_least_one("hidden_width", self.hidden_width)?;
        at_least_one("blocks", self.blocks)?;
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(Error::config("model", format!("dropout {} is not in [0, 1)", self.dropout)));
        }
        if !matches!(self.pooling, ReadoutKind::Max | ReadoutKind::Min | ReadoutKind::Mean | ReadoutKind::Sum) {
            return Err(Error::config(
                "model",
                format!("pooling {:?} is not one of max, min, mean, sum", self.pooling),
            ));
        }
        if let Some((field, why)) = self.controller.as_ref().and_then(ControllerConfig::fault) {
            return Err(Error::config("model", format!("controller {field}: {why}")));
        }
        let (node, hidden, outputs) = (self.node_width as f64, self.hidden_width as f64, self.output_width as f64);
        let layers = match &self.controller {
            Some(ControllerConfig::Stack(config)) => config.layers as f64,
            _ => 1.0,
        };
        let block = layers * (2.0 * (hidden + 8.0) * (hidden + 1.0)) + (hidden + 1.0) * outputs;
        check_parameters(self.blocks as f64 * block + (node + 1.0) * (hidden + outputs))
    }

    fn widths(&self) -> TaskWidths {
        TaskWidths::graph(self.node_width, 0, self.output_width).with_readout(self.pooling)
    }

    fn line(&self) -> String {
        let iterated = self.controller.as_ref().map_or(String::new(), |controller| format!(", each {controller}"));
        let (blocks, hidden, pooling) = (self.blocks, self.hidden_width, self.pooling);
        format!("GIN classifier with jumping knowledge: {blocks} blocks{iterated}, hidden {hidden}, pooling {pooling}")
    }

    fn hidden_width(&self) -> usize {
        self.hidden_width
    }

    fn set_hidden_width(&mut self, width: usize) -> Result<(), Error> {
        self.hidden_width = width;
        Ok(())
    }

    fn has_engines(&self) -> bool {
        true
    }
}

/// GIN blocks whose pooled states all vote.
///
/// ```text
/// h^0 = x,  h^l = GIN_l(h^(l-1))                     each GIN_l: sum, 2-layer MLP with batch norm and ReLU
/// y   = sum_{l=0..L} dropout(linear_l(pool_v h^l_v))
/// ```
/// With a controller (Iter-GIN) x is first brought to the hidden width by one affine map and ReLU, and every block is
/// iterated by the controller, since an iterated block must keep its width.
///
/// # Shapes
/// Node attributes `[nodes, node width]`, output `[graphs, classes]`.
///
/// # Paper
/// Xu et al., "How Powerful are Graph Neural Networks?"; Iter-GIN: appendix on graph classification.
#[derive(Module, Debug)]
pub struct JumpingKnowledgeModel {
    embedding: Option<Mlp>,
    blocks: Vec<GinConv>,
    iterated: Vec<Controller>,
    votes: Vec<Linear>,
    pooling: Readout,
    #[module(skip)]
    config: JumpingKnowledgeConfig,
}

impl Architecture for JumpingKnowledgeModel {
    type Settings = JumpingKnowledgeConfig;

    fn new(config: &JumpingKnowledgeConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        config.validate()?;
        let hidden = config.hidden_width;
        let (mut embedding, mut blocks, mut iterated) = (None, Vec::new(), Vec::new());
        match &config.controller {
            None => {
                let width = |index| if index == 0 { config.node_width } else { hidden };
                blocks.extend((0..config.blocks).map(|index| gin(width(index), config, device, rng)));
            }
            Some(controller) => {
                let embed = MlpConfig::new(config.node_width, hidden, 1).with_activation(Activation::Relu);
                embedding = Some(embed.init(device, rng));
                let layer = LayerConfig {
                    activation: Activation::Relu,
                    batch_norm: true,
                    train_eps: config.train_eps,
                    norm_steps: match controller {
                        ControllerConfig::Iter(iter) | ControllerConfig::IterDecay(iter) => iter.training_cap,
                        _ => 1,
                    },
                    ..LayerConfig::new(LayerKind::Gin, 0, hidden, 0)
                };
                for _ in 0..config.blocks {
                    iterated.push(Controller::new(controller, &layer, true, device, rng)?);
                }
            }
        }
        let widths = std::iter::once(config.node_width).chain(std::iter::repeat_n(hidden, config.blocks));
        let votes = widths.map(|width| rng.linear(width, config.output_width, true, device)).collect();
        let pooling = Readout::new(config.pooling, 0, hidden, false, device, rng);
        Ok(Self { embedding, blocks, iterated, votes, pooling, config: *config })
    }

    fn forward(&self, graph: &GraphTensors, options: &RunOptions) -> Result<ModelOutput, Error> {
        let input = graph.node_attributes();
        let embedded = self.embedding.as_ref().map(|embedding| embedding.forward(input.clone()));
        let factors = match options.mode {
            Mode::Training => vote_dropout(&self.config, graph.graphs(), options.seed),
            Mode::Inference => Vec::new(),
        };
        if choose(|| self.uncovered(graph, options), graph, options)? == EngineChoice::Fused {
            return run_gin(&self.fused(), graph, embedded, factors, options);
        }
        let mut hidden = embedded.unwrap_or_else(|| input.clone());
        let mut states = vec![input.clone()];
        let mut outputs = Vec::new();
        for layer in &self.blocks {
            hidden = layer.convolve(graph, hidden);
            states.push(hidden.clone());
        }
        // An iterated block reads its own state only: an input of width 0.
        let nothing = Tensor::zeros([graph.nodes(), 0], (&input.device(), input.dtype()));
        for block in &self.iterated {
            let output = block.forward(graph, nothing.clone(), hidden, options)?;
            hidden = output.hidden.clone();
            states.push(hidden.clone());
            outputs.push(output);
        }
        let count = graph.graphs() * self.config.output_width;
        let votes = states.into_iter().zip(&self.votes).enumerate().map(|(layer, (state, vote))| {
            let pooled = self.pooling.forward(graph, input.clone(), state);
            let scores = vote.forward(pooled);
            match factors.get(layer * count..(layer + 1) * count) {
                Some(factors) if count > 0 => {
                    let shape = scores.dims();
                    scores.clone() * Tensor::from_data(TensorData::new(factors.to_vec(), shape), &scores.device())
                }
                _ => scores,
            }
        });
        let values = votes.reduce(|total, vote| total + vote).expect("the input votes");
        Ok(ModelOutput { values, hidden: Some(hidden), auxiliary_loss: total_charge(&outputs), blocks: outputs })
    }
}

impl JumpingKnowledgeModel {
    /// Why the kernels do not cover the blocks on this batch, if they do not.
    fn uncovered(&self, graph: &GraphTensors, options: &RunOptions) -> Option<Unsupported> {
        if let Some(reason) = self.config.uncovered() {
            return Some(Unsupported::Block(reason));
        }
        if graph.node_segments().iter().any(|nodes| nodes.is_empty()) {
            return Some(Unsupported::Block("a graph has no nodes".to_owned()));
        }
        let controller = self.config.controller.as_ref()?;
        let cap = controller.most_steps(options.mode, options.cap);
        let trained = self.config.iteration().map(|iteration| iteration.training_cap);
        (trained != Some(cap)).then(|| Unsupported::Block("another cap than that of training".to_owned()))
    }

    /// The parts that the kernels run; [`uncovered`](Self::uncovered) says that they are all there is.
    fn fused(&self) -> FusedGin<'_> {
        let once = self.blocks.iter().map(|layer| (layer, None));
        let iterated = self.iterated.iter().flat_map(|block| {
            let parts = block.parts();
            parts.layers.iter().filter_map(move |layer| match layer {
                Layer::Gin(layer) => Some((layer, parts.confidence)),
                _ => None,
            })
        });
        FusedGin { config: &self.config, blocks: once.chain(iterated).collect(), votes: &self.votes }
    }
}

/// sum, then MLP with batch norm and ReLU after both maps; the widths are inputs -> hidden -> hidden as in the GIN
/// paper, not interpolated.
fn gin(inputs: usize, config: &JumpingKnowledgeConfig, device: &Device, rng: &mut InitRng) -> GinConv {
    let hidden = config.hidden_width;
    let maps = vec![rng.linear(inputs, hidden, true, device), rng.linear(hidden, hidden, true, device)];
    GinConv {
        mlp: Mlp { layers: maps, activation: Activation::Relu, final_activation: true },
        norms: (0..2).map(|_| BatchNormConfig::new(hidden).init(device)).collect(),
        later_statistics: Vec::new(),
        learned_eps: config.train_eps.then(|| Param::from_tensor(Tensor::zeros([1], device))),
        eps: 0.0,
    }
}

/// The factors on the votes of every layer in a training step, `[layers, graphs, classes]`: zero with the probability
/// of dropout, else what keeps the mean. Empty without dropout. Drawn on the host, so that a seed fixes them on every
/// device.
fn vote_dropout(config: &JumpingKnowledgeConfig, graphs: usize, seed: u64) -> Vec<f32> {
    let probability = config.dropout;
    if probability == 0.0 {
        return Vec::new();
    }
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let scale = (1.0 / (1.0 - probability)) as f32;
    let mut draw = || if f64::from(generator.next_u32()) < probability * 2_f64.powi(32) { 0.0 } else { scale };
    (0..(config.blocks + 1) * graphs * config.output_width).map(|_| draw()).collect()
}
