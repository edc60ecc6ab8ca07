//! The classifier, from plain slices to plain slices.

use super::GinLayout;
use super::batch::{Running, pad_rows, unpad_rows, zeros};
use super::block::{Block, BlockTape};
use super::layer::Statistics;
use super::vote::{Pooling, ScoreGradient, Vote, VoteTape};
use crate::block::{Stops, expect_length};
use crate::kernels::Kernels;
use crate::memory::Buffer;
use crate::real::Real;
use crate::settings::JumpingKnowledgeConfig;
use crate::simd::padded;
use crate::{GraphStructure, Isa, KernelError};

/// A classifier without its parameters, which every call is given.
#[derive(Debug, Clone)]
pub struct Gin<T: Real> {
    config: JumpingKnowledgeConfig,
    layout: GinLayout,
    pooling: Pooling,
    kernels: &'static Kernels<T>,
}

/// What a call reads.
#[derive(Debug, Clone, Copy)]
pub struct GinInputs<'a, T> {
    /// Who sends to whom; no graph is empty.
    pub structure: &'a GraphStructure,
    /// The node attributes, `[nodes, node width]`.
    pub attributes: &'a [T],
    /// The states that the first block reads, `[nodes, hidden width]`, where blocks are iterated; without iteration it
    /// reads the attributes.
    pub states: Option<&'a [T]>,
    /// The parameters, as [`GinLayout`] orders them.
    pub parameters: &'a [T],
    /// What every score of every layer is multiplied with (dropout), `[blocks + 1, graphs, classes]`; empty for 1.
    pub factors: &'a [T],
}

/// What a call gives.
#[derive(Debug, Clone, PartialEq)]
pub struct GinOutput<T> {
    /// The class scores, `[graphs, classes]`.
    pub scores: Vec<T>,
    /// The states after every block where blocks are iterated, since each is what a controller gives. Elsewhere those
    /// after the last one, and in a step of training, which nobody looks into, none. `[nodes, hidden width]` each.
    pub states: Vec<Vec<T>>,
    /// When every graph stopped in every block.
    pub stops: Vec<Stops>,
}

/// What a call leaves for its way back.
pub struct GinTape<T: Real> {
    whole: Running,
    attributes: Buffer<T>,
    blocks: Vec<(Block<T>, BlockTape<T>)>,
    votes: Vec<(Vote<T>, VoteTape<T>)>,
    factors: Vec<T>,
}

/// Which gradients with respect to inputs are wanted, besides those of the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GinWanted {
    /// That of the attributes.
    pub attributes: bool,
    /// That of the states that the first block read, where blocks are iterated.
    pub states: bool,
}

/// The gradients of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct GinGradients<T> {
    /// Of the parameters.
    pub parameters: Vec<T>,
    /// Of the attributes; empty where it is not wanted.
    pub attributes: Vec<T>,
    /// Of the states that came in; empty where it is not wanted.
    pub states: Vec<T>,
}

impl<T: Real> std::fmt::Debug for GinTape<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GinTape").field("nodes", &self.whole.nodes()).finish_non_exhaustive()
    }
}

impl<T: Real> GinTape<T> {
    /// What layer number `layer` votes by: the attributes, then the states after each block.
    fn voters(&self, layer: usize) -> &Buffer<T> {
        layer.checked_sub(1).map_or(&self.attributes, |block| self.blocks[block].1.output())
    }
}

impl<T: Real> Gin<T> {
    /// The classifier on the given instruction set.
    ///
    /// # Errors
    /// [`KernelError::Config`] for settings that [`JumpingKnowledgeConfig::uncovered`] names,
    /// [`KernelError::IsaUnavailable`] if the processor lacks the instruction set.
    pub fn new(config: &JumpingKnowledgeConfig, isa: Isa) -> Result<Self, KernelError> {
        if let Some(reason) = config.uncovered() {
            return Err(KernelError::Config(reason));
        }
        let pooling = Pooling::of(config.pooling);
        let pooling = pooling.ok_or_else(|| KernelError::Config(format!("pooling is {}", config.pooling)))?;
        if !isa.is_available() {
            return Err(KernelError::IsaUnavailable(isa));
        }
        Ok(Self { config: *config, layout: GinLayout::new(config), pooling, kernels: T::kernels(isa) })
    }

    /// Where each parameter is.
    pub fn layout(&self) -> &GinLayout {
        &self.layout
    }

    /// A step of training: normalises by the batch, moves the running statistics towards it, and keeps what the way
    /// back needs.
    ///
    /// # Errors
    /// [`KernelError::Length`] and [`KernelError::Batch`] if a slice does not fit.
    pub fn forward(
        &self,
        inputs: &GinInputs<'_, T>,
        statistics: &mut [T],
    ) -> Result<(GinOutput<T>, GinTape<T>), KernelError> {
        self.check(inputs, statistics)?;
        Ok(self.run(inputs, &mut Statistics::Train(statistics)))
    }

    /// Scores by the running statistics.
    ///
    /// # Errors
    /// As [`Gin::forward`].
    pub fn infer(&self, inputs: &GinInputs<'_, T>, statistics: &[T]) -> Result<GinOutput<T>, KernelError> {
        self.check(inputs, statistics)?;
        Ok(self.run(inputs, &mut Statistics::Infer(statistics)).0)
    }

    /// The gradients for that of the scores, `[graphs, classes]`.
    ///
    /// # Errors
    /// [`KernelError::Length`] if the gradient does not fit.
    pub fn backward(
        &self,
        tape: &GinTape<T>,
        gradient: &[T],
        wanted: GinWanted,
    ) -> Result<GinGradients<T>, KernelError> {
        let whole = &tape.whole;
        expect_length("gradient", gradient, whole.graphs.len() * self.config.output_width)?;
        let iterated = self.config.iteration().is_some();
        let width = padded(self.config.hidden_width);
        let mut flat = vec![T::ZERO; self.layout.parameters];
        // The gradient of the states after the block at hand, as far as the blocks behind it read them.
        let mut back: Option<Buffer<T>> = None;
        for (number, (block, block_tape)) in tape.blocks.iter().enumerate().rev() {
            let mut rows = back.unwrap_or_else(|| zeros(whole.nodes() * width));
            self.vote_back(tape, number + 1, gradient, &mut flat, Some(&mut rows));
            let wants = number > 0 || if iterated { wanted.states } else { wanted.attributes };
            let ranges = &self.layout.blocks[number];
            back = block.backward(whole, block_tape, &rows, &mut flat, ranges, wants).filter(|_| wants);
        }
        // Without iteration the first block reads the attributes.
        let (states, attributes) = if iterated { (back, None) } else { (None, back) };
        let none = || zeros(whole.nodes() * padded(self.config.node_width));
        let mut attributes = wanted.attributes.then(|| attributes.unwrap_or_else(none));
        self.vote_back(tape, 0, gradient, &mut flat, attributes.as_mut());
        let flatten =
            |rows: Option<Buffer<T>>, width| rows.map_or(Vec::new(), |rows| unpad_rows(&rows, whole.nodes(), width));
        Ok(GinGradients {
            parameters: flat,
            attributes: flatten(attributes, self.config.node_width),
            states: flatten(states, self.config.hidden_width),
        })
    }

    /// The way back of a layer's vote: adds to the flat gradient, and to that of the rows if they are given.
    fn vote_back(&self, tape: &GinTape<T>, layer: usize, gradient: &[T], flat: &mut [T], rows: Option<&mut Buffer<T>>) {
        let (vote, vote_tape) = &tape.votes[layer];
        let gradient = ScoreGradient { scores: gradient, factors: self.factors(&tape.factors, layer) };
        let ranges = &self.layout.votes[layer];
        vote.collect(vote_tape, &gradient, flat, ranges);
        if let Some(rows) = rows {
            vote.backward(&tape.whole, tape.voters(layer), vote_tape, &gradient, rows);
        }
    }

    fn run(&self, inputs: &GinInputs<'_, T>, statistics: &mut Statistics<'_, T>) -> (GinOutput<T>, GinTape<T>) {
        let Self { config, layout, kernels, .. } = self;
        let (whole, inferred) = (Running::of(inputs.structure), matches!(statistics, Statistics::Infer(_)));
        let mut scores = vec![T::ZERO; whole.graphs.len() * config.output_width];
        let mut vote = |layer: usize, states: &Buffer<T>| {
            let vote = Vote::new(kernels, inputs.parameters, &layout.votes[layer], self.pooling);
            let tape = vote.forward(&whole, states, self.factors(inputs.factors, layer), &mut scores);
            (vote, tape)
        };
        let attributes = pad_rows(inputs.attributes, config.node_width);
        let embedded = inputs.states.map(|states| pad_rows(states, config.hidden_width));
        let mut votes = vec![vote(0, &attributes)];
        let mut blocks: Vec<(Block<T>, BlockTape<T>)> = Vec::with_capacity(config.blocks);
        let (mut stops, mut given) = (Vec::with_capacity(config.blocks), Vec::new());
        for (number, ranges) in layout.blocks.iter().enumerate() {
            let states = match blocks.last() {
                Some((_, before)) => before.output(),
                None => embedded.as_ref().unwrap_or(&attributes),
            };
            let block = Block::new(kernels, inputs.parameters, ranges, config.iteration());
            let (tape, stopped) = block.forward(&whole, states, statistics, ranges);
            votes.push(vote(number + 1, tape.output()));
            stops.push(stopped);
            if config.iteration().is_some() || (inferred && number + 1 == config.blocks) {
                given.push(unpad_rows(tape.output(), whole.nodes(), config.hidden_width));
            }
            if inferred {
                // Nobody goes back, so the memory of one block is enough.
                blocks.clear();
            }
            blocks.push((block, tape));
        }
        let tape = GinTape { whole, attributes, blocks, votes, factors: inputs.factors.to_vec() };
        (GinOutput { scores, states: given, stops }, tape)
    }

    /// The factors of a layer's scores.
    fn factors<'a>(&self, factors: &'a [T], layer: usize) -> Option<&'a [T]> {
        let count = factors.len() / (self.config.blocks + 1);
        (count > 0).then(|| &factors[layer * count..(layer + 1) * count])
    }

    fn check(&self, inputs: &GinInputs<'_, T>, statistics: &[T]) -> Result<(), KernelError> {
        let config = &self.config;
        expect_length("parameters", inputs.parameters, self.layout.parameters)?;
        expect_length("statistics", statistics, self.layout.statistics)?;
        let mut graphs = inputs.structure.node_segments().iter();
        if let Some(position) = graphs.position(|nodes| nodes.is_empty()) {
            return Err(KernelError::Batch { what: "graphs", position, problem: "there is no node" });
        }
        let nodes = inputs.structure.incoming().len();
        if nodes == 0 {
            return Err(KernelError::Batch { what: "graphs", position: 0, problem: "there is no node" });
        }
        expect_length("attributes", inputs.attributes, nodes * config.node_width)?;
        let embedded = if config.iteration().is_some() { nodes * config.hidden_width } else { 0 };
        expect_length("states", inputs.states.unwrap_or(&[]), embedded)?;
        let scores = (config.blocks + 1) * inputs.structure.node_segments().len() * config.output_width;
        expect_length("factors", inputs.factors, if inputs.factors.is_empty() { 0 } else { scores })
    }
}
