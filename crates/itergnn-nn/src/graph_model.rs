//! Embedding, controllers, readout, head.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use crate::architecture::{Architecture, Settings};
use crate::config::{GraphModelConfig, Prior};
use crate::controllers::{Controller, ControllerOutput, RunOptions, Scope};
use crate::fused;
use crate::readout::{Readout, ReadoutKind};
use crate::{Error, GraphTensors, InitRng, Mlp, NodeVariants};

/// The model of the paper's experiments.
///
/// ```text
/// h_v = MLP(x_v)                        embedding, 2 layers
/// h   = controller_i(x, h)              for every block i in turn
/// y   = linear(readout_v h_v)           head, 1 layer without activation
/// ```
/// With the head-tail readout the head comes first and predicts the first and the last node each for itself, so that no
/// information passes between the two ends except by messages. With the node readout there is one prediction per node,
/// with the edge readout one per edge, with the pointer readout one score per choice of a node
/// ([`pointer`](crate::pointer)).
///
/// With prior `full` and a stack, shared or scale-free controller it is positively homogeneous of degree 1 in node and
/// edge attributes together (`full_prior_models_are_homogeneous` in `tests/model_laws.rs`).
///
/// # Shapes
/// Node attributes `[nodes, node width]`, edge attributes `[edges, edge width]`, output `[graphs, output]`, or `[nodes,
/// output]`, `[edges, output]`, `[edges + nodes, 1]` as the readout's level says.
#[derive(Module, Debug)]
pub struct GraphModel {
    embedding: Mlp,
    blocks: Vec<Controller>,
    readout: Readout,
    head: Mlp,
    #[module(skip)]
    unit: f64,
}

/// What a model computed, still on the device.
#[derive(Debug, Clone)]
pub struct ModelOutput {
    /// Predictions, `[rows, output]`, with one row per graph, node, edge or choice as the [`Level`](crate::Level) says.
    pub values: Tensor<2>,
    /// Node states before the readout, `[nodes, hidden]`; `None` for models without nodes, and where a fused step of
    /// training keeps them to itself (GIN).
    pub hidden: Option<Tensor<2>>,
    /// What every controller block did, in order.
    pub blocks: Vec<ControllerOutput>,
    /// What the controllers add to the loss, summed over blocks.
    pub auxiliary_loss: Option<Tensor<1>>,
}

impl Architecture for GraphModel {
    type Settings = GraphModelConfig;

    fn new(config: &GraphModelConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        config.validate()?;
        let homogeneous = config.prior != Prior::None;
        let embedding = config.embedding().init(device, rng);
        let blocks = config
            .blocks
            .iter()
            .map(|block| Controller::new(&block.controller, &block.layer, config.prior != Prior::Full, device, rng))
            .collect::<Result<_, _>>()?;
        let (input, hidden) = (config.node_width, config.hidden_width);
        let readout = Readout::new(config.readout, input, hidden, homogeneous, device, rng);
        let readout = readout.with_edges(hidden, config.edge_width, config.prior != Prior::Full, device, rng);
        let head = config.head().init(device, rng);
        Ok(Self { embedding, blocks, readout, head, unit: config.unit })
    }

    fn forward(&self, graph: &GraphTensors, options: &RunOptions) -> Result<ModelOutput, Error> {
        let graph = &self.measured(graph);
        let input = graph.node_attributes();
        let mut hidden = self.embedding.forward(input.clone());
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let output = block.forward(graph, input.clone(), hidden, options)?;
            hidden = output.hidden.clone();
            blocks.push(output);
        }
        let values = if self.readout.kind() == ReadoutKind::HeadTail {
            self.readout.forward(graph, input, self.head.forward(hidden.clone()))
        } else {
            self.head.forward(self.readout.forward(graph, input, hidden.clone()))
        };
        let values = if self.unit == 1.0 { values } else { values * self.unit };
        Ok(ModelOutput { values, hidden: Some(hidden), auxiliary_loss: total_charge(&blocks), blocks })
    }
}

impl GraphModel {
    /// The graph in the model's unit.
    fn measured(&self, graph: &GraphTensors) -> GraphTensors {
        if self.unit == 1.0 {
            return graph.clone();
        }
        let (nodes, edges) = (graph.node_attributes() / self.unit, graph.edge_attributes() / self.unit);
        graph.clone().with_node_attributes(nodes).with_edge_attributes(edges)
    }

    /// The model on one graph, ready to be asked what other attributes of single nodes would give; `None` for models of
    /// several blocks, other readouts than the maximum, and what the kernels do not cover. `memory` bounds what is kept
    /// of the graph's iterations, in bytes.
    pub(crate) fn variants(
        &self,
        graph: &GraphTensors,
        options: &RunOptions,
        memory: u64,
    ) -> Result<Option<NodeVariants>, Error> {
        let ([block], ReadoutKind::Max) = (self.blocks.as_slice(), self.readout.kind()) else { return Ok(None) };
        let graph = self.measured(graph);
        let hidden = self.embedding.forward(graph.node_attributes());
        let block = fused::record(&block.parts(), &graph, hidden, options, memory)?;
        let (embedding, head, unit, device) = (self.embedding.clone(), self.head.clone(), self.unit, graph.device());
        Ok(block.map(|block| NodeVariants { block, embedding, head, unit, device }))
    }

    /// What they keep of an iteration, at most.
    pub(crate) fn record_bytes(&self, nodes: usize) -> Option<u64> {
        let ([block], ReadoutKind::Max) = (self.blocks.as_slice(), self.readout.kind()) else { return None };
        fused::record_bytes(block.parts().config, nodes)
    }
}

/// The sum of what the controllers add to the loss.
pub(crate) fn total_charge(blocks: &[ControllerOutput]) -> Option<Tensor<1>> {
    blocks.iter().filter_map(|block| block.auxiliary_loss.clone()).reduce(|total, loss| total + loss)
}

impl ModelOutput {
    /// Steps used for each graph: the sum over blocks, of the slowest node where nodes stop on their own.
    pub fn iterations(&self, graph: &GraphTensors) -> Vec<usize> {
        let mut iterations = vec![0; graph.graphs()];
        for block in &self.blocks {
            let steps = per_graph(block, graph, &block.stops.steps, |steps| steps.iter().copied().max().unwrap_or(0));
            iterations.iter_mut().zip(steps).for_each(|(total, steps)| *total += steps);
        }
        iterations
    }

    /// Whether a cap, rather than the model, ended a loop of each graph.
    pub fn capped(&self, graph: &GraphTensors) -> Vec<bool> {
        let mut capped = vec![false; graph.graphs()];
        for block in &self.blocks {
            let any = per_graph(block, graph, &block.stops.capped, |nodes| nodes.contains(&true));
            capped.iter_mut().zip(any).for_each(|(total, block)| *total |= block);
        }
        capped
    }
}

/// Values of a block's elements folded into one value per graph.
fn per_graph<T: Copy>(
    block: &ControllerOutput,
    graph: &GraphTensors,
    values: &[T],
    fold: impl Fn(&[T]) -> T,
) -> Vec<T> {
    match block.scope {
        Scope::Graph => values.to_vec(),
        Scope::Node => graph.node_segments().iter().map(|nodes| fold(&values[nodes])).collect(),
    }
}
