//! Any controller, with its layers.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::stack::{Shared, Stack};
use super::{
    ActConfig, ActRule, Confidence, ControllerConfig, ControllerOutput, IterConfig, IterRule, RunOptions, Scope,
    run_loop,
};
use crate::fused::{self, EngineChoice, FusedBlock, engine_for};
use crate::layers::{Layer, LayerConfig};
use crate::readout::{Readout, ReadoutKind};
use crate::{BlockConfig, Error, GraphTensors, InitRng};

/// One controller block: layers and the rule that composes them.
#[derive(Module, Debug)]
pub enum Controller {
    /// `stack`.
    Stack(Stack),
    /// `shared`.
    Shared(Shared),
    /// `iter` and `iter-decay`.
    Iter(Iter),
    /// `act`.
    Act(Act),
}

/// A layer iterated by [`IterRule`].
#[derive(Module, Debug)]
pub struct Iter {
    layer: Layer,
    confidence: Confidence,
    #[module(skip)]
    config: IterConfig,
    #[module(skip)]
    block: BlockConfig,
}

/// A layer iterated by [`ActRule`].
#[derive(Module, Debug)]
pub struct Act {
    layer: Layer,
    confidence: Confidence,
    #[module(skip)]
    config: ActConfig,
    #[module(skip)]
    block: BlockConfig,
}

impl Controller {
    /// A controller with weights drawn from `rng`.
    ///
    /// `confidence_bias` is what the prior says about the bias of the confidence; the controller's own setting goes first.
    ///
    /// # Errors
    /// [`Error::Config`] for parameters that make no sense.
    pub fn new(
        config: &ControllerConfig,
        layer: &LayerConfig,
        confidence_bias: bool,
        device: &Device,
        rng: &mut InitRng,
    ) -> Result<Self, Error> {
        if let Some((field, why)) = config.fault() {
            return Err(Error::config("controller", format!("{field}: {why}")));
        }
        let block = BlockConfig { layer: layer.clone(), controller: config.clone() };
        Ok(match config {
            ControllerConfig::Stack(config) => {
                let layers = (0..config.layers).map(|_| layer.init(device, rng)).collect::<Result<_, _>>()?;
                Self::Stack(Stack::new(layers, block))
            }
            ControllerConfig::Shared(config) => {
                Self::Shared(Shared::new(layer.init(device, rng)?, config.clone(), block))
            }
            ControllerConfig::Iter(config) | ControllerConfig::IterDecay(config) => {
                let body = layer.init(device, rng)?;
                let bias = config.confidence_bias.unwrap_or(confidence_bias);
                let wanted =
                    Wanted { scope: config.scope, pooling: config.pooling, scale_free: config.scale_free, bias };
                let confidence = new_confidence(wanted, layer, device, rng);
                Self::Iter(Iter { layer: body, confidence, config: config.clone(), block })
            }
            ControllerConfig::Act(config) => {
                let body = layer.init(device, rng)?;
                let bias = config.confidence_bias.unwrap_or(confidence_bias);
                let wanted =
                    Wanted { scope: config.scope, pooling: config.pooling, scale_free: config.scale_free, bias };
                let confidence = new_confidence(wanted, layer, device, rng);
                Self::Act(Act { layer: body, confidence, config: config.clone(), block })
            }
        })
    }

    /// Runs the layers on a batch, with the engine that [`engine_for`] chooses.
    ///
    /// # Shapes
    /// `input` is `[nodes, input]`, `hidden` and the output's state `[nodes, hidden]`.
    ///
    /// # Errors
    /// [`Error::Config`] if the fused engine is asked for and cannot run this block.
    pub fn forward(
        &self,
        graph: &GraphTensors,
        input: Tensor<2>,
        hidden: Tensor<2>,
        options: &RunOptions,
    ) -> Result<ControllerOutput, Error> {
        let block = self.parts();
        match engine_for(block.config, graph, options)? {
            EngineChoice::Fused => fused::run(&block, graph, input, hidden, options),
            choice => {
                let mut output = self.forward_plain(graph, input, hidden, options);
                output.engine.choice = choice;
                Ok(output)
            }
        }
    }

    /// The modules, in the order in which the fused engine reads them.
    fn parts(&self) -> FusedBlock<'_> {
        let (config, layers, confidence) = match self {
            Self::Stack(stack) => (&stack.block, stack.layers.as_slice(), None),
            Self::Shared(shared) => (&shared.block, std::slice::from_ref(&shared.layer), None),
            Self::Iter(iter) => (&iter.block, std::slice::from_ref(&iter.layer), Some(iter.confidence.linear())),
            Self::Act(act) => (&act.block, std::slice::from_ref(&act.layer), Some(act.confidence.linear())),
        };
        FusedBlock { config, layers, confidence }
    }

    /// Runs the layers one tensor operation after the other.
    fn forward_plain(
        &self,
        graph: &GraphTensors,
        input: Tensor<2>,
        hidden: Tensor<2>,
        options: &RunOptions,
    ) -> ControllerOutput {
        match self {
            Self::Stack(stack) => stack.forward(graph, input, hidden, options),
            Self::Shared(shared) => shared.forward(graph, input, hidden, options),
            Self::Iter(Iter { layer, confidence, config, .. }) => {
                let (rule, cap) = (IterRule::from(config), config.most_steps(options));
                run_loop(layer, confidence, &rule, config.decay_finished, graph, input, hidden, cap, options)
            }
            Self::Act(Act { layer, confidence, config, .. }) => {
                let (rule, cap) = (ActRule::from(config), config.most_steps(options));
                run_loop(layer, confidence, &rule, false, graph, input, hidden, cap, options)
            }
        }
    }
}

struct Wanted {
    scope: Scope,
    pooling: ReadoutKind,
    scale_free: bool,
    bias: bool,
}

fn new_confidence(wanted: Wanted, layer: &LayerConfig, device: &Device, rng: &mut InitRng) -> Confidence {
    let (input, hidden) = (layer.input_width, layer.hidden_width);
    let readout = (wanted.scope == Scope::Graph)
        .then(|| Readout::new(wanted.pooling, input, hidden, layer.homogeneous, device, rng));
    let features = readout.as_ref().map_or(hidden, |readout| readout.kind().output_width(hidden));
    Confidence::new(readout, rng.linear(features, 1, wanted.bias, device), wanted.scale_free)
}
