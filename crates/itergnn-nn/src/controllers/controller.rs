//! Any controller, with its layers.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::stack::{Shared, Stack};
use super::{Confidence, ControllerConfig, ControllerOutput, Halting, RunOptions, Scope, run_loop};
use crate::fused::{self, EngineChoice, FusedBlock, engine_for};
use crate::layers::{Layer, LayerConfig};
use crate::readout::{Readout, ReadoutKind};
use crate::{BlockConfig, Error, GraphTensors, InitRng};

/// One controller block: layers and the rule that composes them.
#[derive(Module, Debug)]
// A model has a block or two, so a kilobyte that small ones do not use is nothing to save.
#[allow(clippy::large_enum_variant)]
pub enum Controller {
    /// `stack`.
    Stack(Stack),
    /// `shared`.
    Shared(Shared),
    /// `iter`, `iter-decay` and `act`.
    Loop(Loop),
}

/// A layer iterated by a [`Halting`] rule.
#[derive(Module, Debug)]
pub struct Loop {
    layer: Layer,
    confidence: Confidence,
    #[module(skip)]
    block: BlockConfig,
}

impl Controller {
    /// A controller with weights drawn from `rng`.
    ///
    /// `confidence_bias` is what the prior says about the bias of the confidence; the controller's own setting goes
    /// first.
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
        let mut block = BlockConfig { layer: *layer, controller: *config };
        if let ControllerConfig::Stack(stack) = config {
            let first = rng.clone();
            let draw = |_| {
                if stack.copies {
                    *rng = first.clone();
                }
                Layer::new(layer, device, rng)
            };
            let layers = (0..stack.layers).map(draw).collect::<Result<_, _>>()?;
            return Ok(Self::Stack(Stack::new(layers, block)));
        }
        let body = Layer::new(layer, device, rng)?;
        let (scope, pooling, scale_free, bias) = match &mut block.controller {
            ControllerConfig::Iter(config) | ControllerConfig::IterDecay(config) => {
                (config.scope, config.pooling, config.scale_free, &mut config.confidence_bias)
            }
            ControllerConfig::Act(config) => {
                (config.scope, config.pooling, config.scale_free, &mut config.confidence_bias)
            }
            ControllerConfig::Stack(_) | ControllerConfig::Shared(_) => {
                return Ok(Self::Shared(Shared::new(body, block)));
            }
        };
        let bias = *bias.get_or_insert(confidence_bias);
        let readout = (scope == Scope::Graph).then_some(pooling);
        let confidence = new_confidence(readout, scale_free, bias, layer, device, rng);
        Ok(Self::Loop(Loop { layer: body, confidence, block }))
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
    pub(crate) fn parts(&self) -> FusedBlock<'_> {
        let (config, layers, confidence) = match self {
            Self::Stack(stack) => (&stack.block, stack.layers.as_slice(), None),
            Self::Shared(shared) => (&shared.block, std::slice::from_ref(&shared.layer), None),
            Self::Loop(run) => (&run.block, std::slice::from_ref(&run.layer), Some(run.confidence.linear())),
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
        let Loop { layer, confidence, block } = match self {
            Self::Stack(stack) => return stack.forward(graph, input, hidden, options),
            Self::Shared(shared) => return shared.forward(graph, input, hidden, options),
            Self::Loop(run) => run,
        };
        let cap = block.controller.most_steps(options.mode, options.cap);
        let run = |rule: &dyn Halting, decay_finished: bool| {
            run_loop(layer, confidence, rule, decay_finished, graph, input, hidden, cap, options)
        };
        match &block.controller {
            ControllerConfig::Iter(config) | ControllerConfig::IterDecay(config) => run(config, config.decay_finished),
            ControllerConfig::Act(config) => run(config, false),
            other => unreachable!("{other:?} has no confidence"),
        }
    }
}

/// A confidence that pools with `readout`, or one per node if there is none.
fn new_confidence(
    readout: Option<ReadoutKind>,
    scale_free: bool,
    bias: bool,
    layer: &LayerConfig,
    device: &Device,
    rng: &mut InitRng,
) -> Confidence {
    let (input, hidden) = (layer.input_width, layer.hidden_width);
    let readout = readout.map(|kind| Readout::new(kind, input, hidden, layer.homogeneous, device, rng));
    let features = readout.as_ref().map_or(hidden, |readout| readout.kind().output_width(hidden));
    Confidence::new(readout, rng.linear(features, 1, bias, device), scale_free)
}
