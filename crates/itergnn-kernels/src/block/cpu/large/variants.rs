//! What a block would give if one node were different, for many nodes one after the other.

use rayon::prelude::*;

use super::super::engine::Engine;
use super::super::forward::Job;
use super::super::packed::{PackedWeights, WayBack};
use super::graph::LargeGraph;
use super::history::{GROUP, History};
use super::kinds::Sharing;
use super::overlay::Overlay;
use super::record::Record;
use super::rows::RowMaker;
use super::run::LargeRun;
use super::variant::{Ground, Progress, Variant};
use super::{LARGE_NODES, PARALLEL_NODES, Strategy};
use crate::block::batch::{BlockInputs, expect_length};
use crate::block::config::BlockConfig;
use crate::block::output::Wanted;
use crate::block::parameters::ParameterLayout;
use crate::block::stops::Stops;
use crate::error::KernelError;
use crate::real::Real;
use crate::settings::{IterConfig, ReadoutKind};
use crate::simd::padded;
use crate::structure::GraphStructure;

/// A block on one large graph, recorded, and what it would give with another input and initial state of one node.
///
/// What differs spreads by at most one edge per iteration, so that a variant costs what the nodes do that it reaches.
/// With aggregation by maximum, one confidence per graph and its maximum over the nodes, a variant has the states,
/// confidences and steps of [`infer`](crate::block::infer) to the bit; its outputs may differ in the last ones.
#[derive(Debug)]
pub struct Variants<T: 'static> {
    parts: Parts<T>,
    run: LargeRun<T>,
    history: History<T>,
    /// The change that all variants have.
    fixed: Option<Fixed<T>>,
    /// Whether more iterations can be recorded: no value overflowed, and there is memory.
    grows: bool,
    /// Bytes that the record may take.
    memory: usize,
    idle: Vec<Variant<T>>,
}

/// What is the same for all.
#[derive(Debug)]
struct Parts<T> {
    engine: Engine,
    config: BlockConfig,
    options: IterConfig,
    structure: GraphStructure,
    node_inputs: Vec<T>,
    edge_features: Vec<T>,
    parameters: Vec<T>,
    layout: ParameterLayout,
    weights: PackedWeights<T>,
    graph: LargeGraph,
    sharing: Sharing,
}

#[derive(Debug)]
struct Fixed<T: 'static> {
    variant: Variant<T>,
    overlay: Overlay<T>,
    /// As [`Variants::grows`].
    grows: bool,
    /// `[nodes, input]` with the change.
    node_inputs: Vec<T>,
}

/// Another row for a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Change<T> {
    /// Which node.
    pub node: usize,
    /// `[input width]`.
    pub input: Vec<T>,
    /// `[hidden width]`.
    pub hidden: Vec<T>,
}

/// What a block gives with a change.
#[derive(Debug, Clone, PartialEq)]
pub enum VariantOutput<T> {
    /// The elementwise maximum over the output rows of all nodes, `[hidden width]`, and when the graph stopped.
    Pooled(Vec<T>, Stops),
    /// A value is not finite after this many iterations.
    Overflow(usize),
    /// Running the changed graph as a whole is the way: the record does not go far enough, for want of memory or
    /// because a value in it overflowed, or the change has reached most nodes for a long time.
    Unknown,
}

impl<T: Real> Variants<T> {
    /// Whether [`Variants::new`] covers a block on a graph of this many nodes.
    pub fn covers(config: &BlockConfig, nodes: usize) -> bool {
        let pools = |options: &IterConfig| !options.node_wise() && options.pooling == ReadoutKind::Max;
        nodes >= LARGE_NODES && config.aggregates_by_max() && config.iterative().is_some_and(pools)
    }

    /// Bytes that one iteration adds to the record of a graph of so many nodes, at most: a row per node and group.
    pub fn bytes_per_step(config: &BlockConfig, nodes: usize) -> u64 {
        let row = padded(config.hidden_width()) * size_of::<T>();
        let ids = nodes + nodes.div_ceil(GROUP - 1);
        (ids as u64).saturating_mul(row as u64)
    }

    /// The block on the only graph of a batch; `inputs.batch` is not read, `memory` bounds the bytes of the record.
    ///
    /// # Errors
    /// As [`infer`](crate::block::infer).
    ///
    /// # Panics
    /// If the block is not one that this [covers](Self::covers), or there is not one graph.
    pub fn new(
        engine: Engine,
        config: BlockConfig,
        structure: GraphStructure,
        inputs: &BlockInputs<'_, T>,
        memory: usize,
    ) -> Result<Self, KernelError> {
        let inputs = BlockInputs { batch: structure.view(), ..*inputs };
        inputs.validate(&config)?;
        let options = config.iterative().filter(|_| Self::covers(&config, inputs.batch.nodes())).copied();
        let options = options.filter(|_| inputs.batch.graphs() == 1).expect("a block and a graph that are covered");
        let layout = ParameterLayout::new(&config);
        let weights = PackedWeights::new(&config, &layout, inputs.parameters, WayBack::No);
        let mut graph = LargeGraph::new(&inputs, 0);
        graph.index_outgoing();
        let mut parts = Parts {
            engine,
            config,
            options,
            node_inputs: inputs.node_inputs.to_vec(),
            edge_features: inputs.edge_features.to_vec(),
            parameters: inputs.parameters.to_vec(),
            layout,
            weights,
            graph,
            sharing: Sharing::Nothing,
            structure: structure.clone(),
        };
        let own = parts.inputs(inputs.hidden);
        let job = parts.job(&own);
        let run = LargeRun::new(&job, 0, Strategy::default(), false)?;
        let mut history = History::new(parts.graph.nodes, parts.weights.shapes.hidden_row);
        run.record(&mut history);
        parts.sharing = Sharing::of(&job, &parts.graph);
        Ok(Self { parts, run, history, fixed: None, grows: true, memory, idle: Vec::new() })
    }

    /// Makes a change that all variants have from now on, in place of the one before.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// If the node does not exist.
    pub fn fix(&mut self, change: &Change<T>) -> Result<(), KernelError> {
        let variant = self.start(change)?;
        let mut overlay = Overlay::new(&self.history);
        let (nodes, states) = variant.different();
        overlay.record(&self.history, nodes, states);
        let mut node_inputs = self.parts.node_inputs.clone();
        let width = self.parts.config.input_width();
        node_inputs[change.node * width..][..width].copy_from_slice(&change.input);
        self.idle.extend(self.fixed.take().map(|before| before.variant));
        self.fixed = Some(Fixed { variant, overlay, grows: true, node_inputs });
        Ok(())
    }

    /// What the block gives with each of these changes alone, of another node than the fixed one.
    ///
    /// # Errors
    /// [`KernelError::Length`] if a row does not have its width.
    ///
    /// # Panics
    /// If a node does not exist.
    pub fn run(&mut self, changes: &[Change<T>]) -> Result<Vec<VariantOutput<T>>, KernelError> {
        let start = |(number, change)| Ok((number, self.start(change)?));
        let mut running = changes.iter().enumerate().map(start).collect::<Result<Vec<_>, KernelError>>()?;
        let mut outputs = vec![VariantOutput::Unknown; changes.len()];
        while !running.is_empty() {
            let ended = self.advance(running);
            running = Vec::new();
            for (number, variant, output) in ended {
                match output {
                    Some(output) => outputs[number] = output,
                    None if self.can_grow() => {
                        running.push((number, variant));
                        continue;
                    }
                    None => {}
                }
                self.idle.push(variant);
            }
            if !running.is_empty() {
                self.grow();
            }
        }
        Ok(outputs)
    }

    fn start(&mut self, change: &Change<T>) -> Result<Variant<T>, KernelError> {
        let Parts { config, options, graph, weights, .. } = &self.parts;
        expect_length("input", &change.input, config.input_width())?;
        expect_length("hidden", &change.hidden, config.hidden_width())?;
        let mut variant = self.idle.pop().unwrap_or_else(|| Variant::new(graph.nodes, options));
        let mut state = change.hidden.clone();
        state.resize(weights.shapes.hidden_row, T::ZERO);
        variant.start(change.node, &change.input, state, options);
        Ok(variant)
    }

    /// Brings variants as far as the record goes; those that ended have an output.
    fn advance(&self, running: Vec<(usize, Variant<T>)>) -> Vec<(usize, Variant<T>, Option<VariantOutput<T>>)> {
        let inputs = self.parts.inputs(&[]);
        let job = self.parts.job(&inputs);
        let ground = match &self.fixed {
            Some(fixed) => {
                let record = Record { base: &self.history, own: Some(&fixed.overlay) };
                self.parts.ground(&job, record, &fixed.node_inputs)
            }
            None => self.parts.ground(&job, Record { base: &self.history, own: None }, &self.parts.node_inputs),
        };
        let advance = |(number, mut variant): (usize, Variant<T>)| {
            let output = match variant.advance(&ground) {
                Progress::Waits => None,
                Progress::Crowded => Some(VariantOutput::Unknown),
                Progress::Overflowed(iteration) => Some(VariantOutput::Overflow(iteration)),
                Progress::Done => {
                    let (pooled, stops) = variant.finish(&ground);
                    Some(VariantOutput::Pooled(pooled, stops))
                }
            };
            (number, variant, output)
        };
        running.into_par_iter().with_max_len(1).map(advance).collect()
    }

    fn can_grow(&self) -> bool {
        self.grows && self.fixed.as_ref().is_none_or(|fixed| fixed.grows)
    }

    /// Records some more iterations: of small graphs a few at a time, of large ones none that nobody asks for.
    fn grow(&mut self) {
        let steps = self.fixed.as_ref().map_or(self.history.steps(), |fixed| fixed.overlay.steps());
        let ahead = if self.parts.graph.nodes < PARALLEL_NODES { steps / 8 } else { 0 };
        let goal = steps + 1 + ahead;
        let inputs = self.parts.inputs(&[]);
        let job = self.parts.job(&inputs);
        while self.grows && self.history.steps() < goal && !self.history.rests() {
            self.grows = self.history.bytes() <= self.memory && self.run.step(&job).finite;
            if self.grows {
                self.run.record(&mut self.history);
            }
        }
        self.follow(if self.history.rests() { goal } else { goal.min(self.history.steps()) });
    }

    /// Brings the fixed change up to an iteration.
    fn follow(&mut self, step: usize) {
        let Some(fixed) = &mut self.fixed else { return };
        let inputs = self.parts.inputs(&[]);
        let job = self.parts.job(&inputs);
        let ground = self.parts.ground(&job, Record { base: &self.history, own: None }, &self.parts.node_inputs);
        while fixed.grows && fixed.overlay.steps() < step {
            let bytes = self.history.bytes() + fixed.overlay.bytes();
            fixed.grows = bytes <= self.memory && fixed.variant.follow(&ground);
            let (nodes, states) = fixed.variant.different();
            fixed.overlay.record(&self.history, nodes, states);
        }
    }
}

impl<T: Real> Parts<T> {
    fn inputs<'a>(&'a self, hidden: &'a [T]) -> BlockInputs<'a, T> {
        BlockInputs {
            batch: self.structure.view(),
            node_inputs: &self.node_inputs,
            hidden,
            edge_features: &self.edge_features,
            parameters: &self.parameters,
        }
    }

    fn job<'a>(&'a self, inputs: &'a BlockInputs<'a, T>) -> Job<'a, T> {
        Job {
            kernels: T::kernels(self.engine.isa()),
            config: &self.config,
            layout: &self.layout,
            inputs,
            weights: &self.weights,
            wanted: Wanted::default(),
        }
    }

    fn ground<'a>(&'a self, job: &'a Job<'a, T>, record: Record<'a, T>, inputs: &'a [T]) -> Ground<'a, T> {
        let mut maker = RowMaker::new(job, &self.graph, 0, self.sharing.clone());
        maker.on_threads = true;
        Ground { maker, graph: &self.graph, record, options: &self.options, inputs }
    }
}
