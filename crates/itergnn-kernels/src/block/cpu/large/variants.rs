//! What a block would give if one node were different, for many nodes one after the other.

use rayon::prelude::*;

use super::super::engine::Engine;
use super::super::forward::Job;
use super::super::packed::{PackedWeights, WayBack};
use super::LARGE_NODES;
use super::graph::LargeGraph;
use super::history::History;
use super::kinds::Sharing;
use super::rows::RowMaker;
use super::variant::{Ground, Progress, Variant};
use crate::block::batch::{BlockInputs, expect_length};
use crate::block::config::BlockConfig;
use crate::block::output::Wanted;
use crate::block::parameters::ParameterLayout;
use crate::block::stops::Stops;
use crate::error::KernelError;
use crate::real::Real;
use crate::settings::ReadoutKind;
use crate::structure::GraphStructure;

/// Iterations that are recorded at first; then it is half as many again as there are, whenever a variant goes on.
const FIRST_STEPS: usize = 8;

/// A block on one large graph, recorded, and what it would give with another input and initial state of one node.
///
/// What differs spreads by at most one edge per iteration, so that a variant costs what the nodes do that it reaches.
/// With aggregation by maximum, one confidence per graph and its maximum over the nodes, a variant has the states,
/// confidences and steps of [`infer`](crate::block::infer) to the bit; its outputs may differ in the last ones.
#[derive(Debug)]
pub struct Variants<T: 'static> {
    engine: Engine,
    config: BlockConfig,
    structure: GraphStructure,
    node_inputs: Vec<T>,
    edge_features: Vec<T>,
    parameters: Vec<T>,
    layout: ParameterLayout,
    weights: PackedWeights<T>,
    graph: LargeGraph,
    sharing: Sharing,
    history: History<T>,
    /// Whether more iterations can be recorded: no value overflowed, and there is memory.
    grows: bool,
    /// Bytes that the record may take.
    memory: usize,
    idle: Vec<Variant<T>>,
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
    /// The record does not go far enough, for want of memory or because a value in it overflowed.
    Unknown,
}

impl<T: Real> Variants<T> {
    /// Whether [`Variants::new`] covers a block on a graph of this many nodes.
    pub fn covers(config: &BlockConfig, nodes: usize) -> bool {
        let pools = |options: &crate::settings::IterConfig| !options.node_wise() && options.pooling == ReadoutKind::Max;
        nodes >= LARGE_NODES && config.aggregates_by_max() && config.iterative().is_some_and(pools)
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
        assert!(inputs.batch.graphs() == 1 && Self::covers(&config, inputs.batch.nodes()), "a block that is covered");
        let layout = ParameterLayout::new(&config);
        let weights = PackedWeights::new(&config, &layout, inputs.parameters, WayBack::No);
        let mut graph = LargeGraph::new(&inputs, 0);
        graph.index_outgoing();
        let mut variants = Self {
            engine,
            config,
            node_inputs: inputs.node_inputs.to_vec(),
            edge_features: inputs.edge_features.to_vec(),
            parameters: inputs.parameters.to_vec(),
            layout,
            history: History::new(graph.nodes, weights.shapes.hidden_row),
            weights,
            graph,
            sharing: Sharing::Nothing,
            grows: true,
            memory,
            idle: Vec::new(),
            structure: structure.clone(),
        };
        variants.record(Some(inputs.hidden))?;
        Ok(variants)
    }

    /// What the block gives with each of these changes alone.
    ///
    /// # Errors
    /// [`KernelError::Length`] if a row does not have its width.
    ///
    /// # Panics
    /// If a node does not exist.
    pub fn run(&mut self, changes: &[Change<T>]) -> Result<Vec<VariantOutput<T>>, KernelError> {
        let Some(options) = self.config.iterative().copied() else { return Ok(Vec::new()) };
        let mut running = Vec::with_capacity(changes.len());
        for (number, change) in changes.iter().enumerate() {
            expect_length("input", &change.input, self.config.input_width())?;
            expect_length("hidden", &change.hidden, self.config.hidden_width())?;
            let mut variant = self.idle.pop().unwrap_or_else(|| Variant::new(self.graph.nodes, &options));
            let mut state = change.hidden.clone();
            state.resize(self.weights.shapes.hidden_row, T::ZERO);
            variant.start(change.node, &change.input, state, &options);
            running.push((number, variant));
        }
        let mut outputs = vec![VariantOutput::Unknown; changes.len()];
        while !running.is_empty() {
            let ended = self.with_job(&[], |variants, job| {
                let ground = variants.ground(job);
                let advance = |(number, mut variant): (usize, Variant<T>)| {
                    let output = match variant.advance(&ground) {
                        Progress::Waits => None,
                        Progress::Overflowed(iteration) => Some(VariantOutput::Overflow(iteration)),
                        Progress::Done => {
                            let (pooled, stops) = variant.finish(&ground);
                            Some(VariantOutput::Pooled(pooled, stops))
                        }
                    };
                    (number, variant, output)
                };
                running.into_par_iter().with_max_len(1).map(advance).collect::<Vec<_>>()
            });
            running = Vec::new();
            for (number, variant, output) in ended {
                match output {
                    Some(output) => {
                        outputs[number] = output;
                        self.idle.push(variant);
                    }
                    None if self.grows => running.push((number, variant)),
                    None => self.idle.push(variant),
                }
            }
            if !running.is_empty() {
                self.record(None)?;
            }
        }
        Ok(outputs)
    }

    /// Records the initial states and some iterations, or some more.
    fn record(&mut self, initial: Option<&[T]>) -> Result<(), KernelError> {
        let (hidden, width) = (self.config.hidden_width(), self.weights.shapes.hidden_row);
        let steps = self.history.steps();
        let states: Vec<T> = match initial {
            Some(states) => states.to_vec(),
            None => (0..self.graph.nodes).flat_map(|node| &self.history.row(node, steps)[..hidden]).copied().collect(),
        };
        let mut history = std::mem::replace(&mut self.history, History::new(0, width));
        let memory = self.memory;
        let most = if initial.is_some() { FIRST_STEPS } else { steps.div_ceil(2) };
        let recorded = self.with_job(&states, |variants, job| {
            let sharing = Sharing::of(job, &variants.graph);
            job.record(&mut history, most, initial.is_some(), memory).map(|grows| (grows, sharing))
        });
        self.history = history;
        (self.grows, self.sharing) = recorded?;
        Ok(())
    }

    fn with_job<R>(&self, hidden: &[T], work: impl FnOnce(&Self, &Job<'_, T>) -> R) -> R {
        let inputs = BlockInputs {
            batch: self.structure.view(),
            node_inputs: &self.node_inputs,
            hidden,
            edge_features: &self.edge_features,
            parameters: &self.parameters,
        };
        let job = Job {
            kernels: T::kernels(self.engine.isa()),
            config: &self.config,
            layout: &self.layout,
            inputs: &inputs,
            weights: &self.weights,
            wanted: Wanted::default(),
        };
        work(self, &job)
    }

    fn ground<'a>(&'a self, job: &'a Job<'a, T>) -> Ground<'a, T> {
        let options = self.config.iterative().expect("blocks that learn to stop are covered");
        Ground {
            maker: RowMaker::new(job, &self.graph, 0, self.sharing.clone()),
            graph: &self.graph,
            history: &self.history,
            options,
            inputs: &self.node_inputs,
        }
    }
}
