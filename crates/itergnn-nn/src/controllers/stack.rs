//! Controllers that do not learn when to stop.

use burn::module::Module;
use burn::tensor::Tensor;
use itergnn_kernels::block::Stops;

use super::trace::{changes, watched};
use super::{ControllerOutput, RunOptions, Scope, Trace, TraceStep};
use crate::fused::EngineUse;
use crate::{BlockConfig, GraphTensors, Layer, MessagePassing};

/// `stack(L)`: h^k = layer_k(h^(k-1)), every layer with its own weights.
#[derive(Module, Debug)]
pub struct Stack {
    pub(super) layers: Vec<Layer>,
    #[module(skip)]
    pub(super) block: BlockConfig,
}

/// `shared(L)`: h^k = layer(h^(k-1)), one layer repeated.
#[derive(Module, Debug)]
pub struct Shared {
    pub(super) layer: Layer,
    #[module(skip)]
    pub(super) block: BlockConfig,
}

impl Stack {
    pub(super) fn new(layers: Vec<Layer>, block: BlockConfig) -> Self {
        Self { layers, block }
    }

    pub(super) fn forward(
        &self,
        graph: &GraphTensors,
        input: Tensor<2>,
        hidden: Tensor<2>,
        options: &RunOptions,
    ) -> ControllerOutput {
        apply_in_turn(self.layers.iter(), graph, input, hidden, options)
    }
}

impl Shared {
    pub(super) fn new(layer: Layer, block: BlockConfig) -> Self {
        Self { layer, block }
    }

    pub(super) fn forward(
        &self,
        graph: &GraphTensors,
        input: Tensor<2>,
        hidden: Tensor<2>,
        options: &RunOptions,
    ) -> ControllerOutput {
        let steps = self.block.controller.most_steps(options.mode, options.cap);
        apply_in_turn(std::iter::repeat_n(&self.layer, steps), graph, input, hidden, options)
    }
}

fn apply_in_turn<'a>(
    layers: impl Iterator<Item = &'a Layer>,
    graph: &GraphTensors,
    input: Tensor<2>,
    hidden: Tensor<2>,
    options: &RunOptions,
) -> ControllerOutput {
    let graphs = graph.graphs();
    let mut trace = options.trace.then(Trace::default);
    let mut hidden = hidden;
    let mut steps = 0;
    for layer in layers {
        steps += 1;
        let before = options.trace.then(|| hidden.clone());
        hidden = layer.forward(graph, input.clone(), hidden);
        if let Some((trace, before)) = trace.as_mut().zip(before) {
            let (change, changed) = changes(&before, &hidden, graph.node_segments().offsets());
            let traced = TraceStep {
                step: steps,
                graphs: (0..graphs).collect(),
                change,
                changed,
                elements: Vec::new(),
                confidence: Vec::new(),
                remaining: Vec::new(),
                nodes: watched(options.watch, &before, &hidden),
            };
            trace.push(traced, options.watch);
        }
    }
    ControllerOutput {
        hidden,
        scope: Scope::Graph,
        stops: Stops::after(graphs, steps),
        auxiliary_loss: None,
        trace,
        engine: EngineUse::plain(),
    }
}
