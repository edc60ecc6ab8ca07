//! The whole classifier.

use super::affine::{Affine, AffineGradient};
use super::batch::{Running, pad_rows, zeros};
use super::block::{Block, BlockTape};
use super::layer::Statistics;
use super::votes::{cross_entropy, pool, unpool, vote, vote_backward};
use super::{ClassifierBatch, ClassifierLayout};
use crate::kernels::Kernels;
use crate::memory::Buffer;
use crate::real::Real;
use crate::settings::JumpingKnowledgeConfig;
use crate::{Isa, KernelError};

/// A classifier without its parameters, which every call is given.
#[derive(Debug, Clone)]
pub struct Classifier<T: Real> {
    config: JumpingKnowledgeConfig,
    layout: ClassifierLayout,
    kernels: &'static Kernels<T>,
}

/// What a training step found.
#[derive(Debug, Clone, PartialEq)]
pub struct StepOutcome<T> {
    /// Mean cross-entropy.
    pub loss: f64,
    /// Its gradient, in the layout of the parameters.
    pub gradient: Vec<T>,
    /// Steps of every graph, over all blocks.
    pub steps: Vec<usize>,
}

/// One pass through the network.
struct Forward<'a, T: Real> {
    structure: Running,
    features: Buffer<T>,
    embedding: Option<(Affine<T>, Buffer<T>)>,
    blocks: Vec<(Block<'a, T>, BlockTape<T>)>,
    pooled: Vec<Vec<T>>,
    scores: Vec<T>,
}

impl<T: Real> Classifier<T> {
    /// A classifier on the given instruction set.
    ///
    /// # Errors
    /// [`KernelError::Config`] for what [`JumpingKnowledgeConfig::uncovered`] names, [`KernelError::IsaUnavailable`] if
    /// the processor lacks the instruction set.
    pub fn new(config: JumpingKnowledgeConfig, isa: Isa) -> Result<Self, KernelError> {
        if let Some(reason) = config.uncovered() {
            return Err(KernelError::Config(reason));
        }
        if !isa.is_available() {
            return Err(KernelError::IsaUnavailable(isa));
        }
        Ok(Self { config, layout: ClassifierLayout::new(&config), kernels: T::kernels(isa) })
    }

    /// Where each parameter is.
    pub fn layout(&self) -> &ClassifierLayout {
        &self.layout
    }

    /// Loss and gradient of a batch; moves the running statistics towards those of the batch.
    ///
    /// # Errors
    /// [`KernelError::Length`] and [`KernelError::Batch`] if a slice does not fit.
    pub fn step(
        &self,
        parameters: &[T],
        statistics: &mut [T],
        batch: &ClassifierBatch<'_, T>,
    ) -> Result<StepOutcome<T>, KernelError> {
        self.check(parameters, statistics, batch)?;
        let graphs = batch.graphs();
        if batch.classes.len() != graphs {
            return Err(KernelError::Length { what: "classes", expected: graphs, found: batch.classes.len() });
        }
        if let Some(position) = batch.classes.iter().position(|&class| class as usize >= self.config.output_width) {
            return Err(KernelError::Batch { what: "classes", position, problem: "there is no such class" });
        }
        let forward = self.forward(parameters, batch, &mut Statistics::Train(statistics));
        let (loss, of_scores) = cross_entropy(&forward.scores, batch.classes, self.config.output_width);
        let mut gradient = vec![T::ZERO; self.layout.parameters];
        self.backward(parameters, batch, &forward, &of_scores, &mut gradient);
        let steps = |graph| forward.blocks.iter().map(|(_, tape)| tape.used[graph]).sum();
        Ok(StepOutcome { loss, gradient, steps: (0..graphs).map(steps).collect() })
    }

    /// Scores of a batch, `[graphs, classes]`, by the running statistics.
    ///
    /// # Errors
    /// As [`Classifier::step`].
    pub fn scores(
        &self,
        parameters: &[T],
        statistics: &[T],
        batch: &ClassifierBatch<'_, T>,
    ) -> Result<Vec<T>, KernelError> {
        self.check(parameters, statistics, batch)?;
        Ok(self.forward(parameters, batch, &mut Statistics::Infer(statistics)).scores)
    }

    fn check(&self, parameters: &[T], statistics: &[T], batch: &ClassifierBatch<'_, T>) -> Result<(), KernelError> {
        let dropout = (self.config.blocks + 1) * batch.graphs() * self.config.output_width;
        for (what, expected, found) in [
            ("parameters", self.layout.parameters, parameters.len()),
            ("statistics", self.layout.statistics, statistics.len()),
            ("dropout", if batch.dropout.is_empty() { 0 } else { dropout }, batch.dropout.len()),
        ] {
            if expected != found {
                return Err(KernelError::Length { what, expected, found });
            }
        }
        batch.check(self.config.node_width)
    }

    fn forward<'a>(
        &'a self,
        parameters: &[T],
        batch: &ClassifierBatch<'_, T>,
        statistics: &mut Statistics<'_, T>,
    ) -> Forward<'a, T> {
        let structure = Running::of(batch.structure);
        let features = pad_rows(batch.features, self.config.node_width);
        let embedding = self.layout.embedding.as_ref().map(|ranges| {
            let affine = Affine::new(self.kernels, parameters, ranges);
            let mut states = affine.forward(structure.nodes(), &features);
            let positive = |value: &mut T| *value = if *value > T::ZERO { *value } else { T::ZERO };
            states.as_mut_slice().iter_mut().for_each(positive);
            (affine, states)
        });
        let mut blocks: Vec<(Block<'a, T>, BlockTape<T>)> = Vec::new();
        for ranges in &self.layout.blocks {
            let block = Block::new(self.kernels, parameters, ranges, self.config.iteration());
            let input = match (blocks.last(), &embedding) {
                (Some((_, tape)), _) => tape.output(),
                (None, Some((_, states))) => states,
                (None, None) => &features,
            };
            let tape = block.forward(&structure, input, statistics);
            blocks.push((block, tape));
        }
        let hidden = self.config.hidden_width;
        let mut pooled = vec![pool(&features, &structure, self.config.node_width, self.config.pooling)];
        pooled.extend(blocks.iter().map(|(_, tape)| pool(tape.output(), &structure, hidden, self.config.pooling)));
        let mut scores = vec![T::ZERO; batch.graphs() * self.config.output_width];
        for (layer, (pooled, ranges)) in pooled.iter().zip(&self.layout.votes).enumerate() {
            vote(&mut scores, pooled, parameters, ranges, self.dropout(batch, layer));
        }
        Forward { structure, features, embedding, blocks, pooled, scores }
    }

    fn backward(
        &self,
        parameters: &[T],
        batch: &ClassifierBatch<'_, T>,
        forward: &Forward<'_, T>,
        of_scores: &[T],
        flat: &mut [T],
    ) {
        let structure = &forward.structure;
        let mut votes = forward.pooled.iter().zip(&self.layout.votes).enumerate().rev();
        let mut later: Option<Buffer<T>> = None;
        for (position, (block, tape)) in forward.blocks.iter().enumerate().rev() {
            let Some((layer, (pooled, ranges))) = votes.next() else { return };
            let of_pooled = vote_backward(of_scores, pooled, parameters, ranges, self.dropout(batch, layer), flat);
            let width = crate::simd::padded(self.config.hidden_width);
            let mut states = later.take().unwrap_or_else(|| zeros(structure.nodes() * width));
            unpool(&of_pooled, &mut states, structure, self.config.hidden_width, self.config.pooling);
            let wanted = position > 0 || forward.embedding.is_some();
            later = block.backward(structure, tape, &states, flat, wanted);
        }
        if let Some((layer, (pooled, ranges))) = votes.next() {
            vote_backward(of_scores, pooled, parameters, ranges, self.dropout(batch, layer), flat);
        }
        if let (Some((affine, states)), Some(mut gradient), Some(ranges)) =
            (&forward.embedding, later, &self.layout.embedding)
        {
            let closed = gradient.as_mut_slice().iter_mut().zip(states.as_slice());
            closed.filter(|(_, state)| **state <= T::ZERO).for_each(|(gradient, _)| *gradient = T::ZERO);
            let mut sums = AffineGradient::new(ranges);
            affine.collect(structure.nodes(), &forward.features, &gradient, &mut sums);
            sums.add_to(flat, ranges);
        }
    }

    fn dropout<'a>(&self, batch: &ClassifierBatch<'a, T>, layer: usize) -> &'a [T] {
        let count = batch.graphs() * self.config.output_width;
        batch.dropout.get(layer * count..(layer + 1) * count).unwrap_or(&[])
    }
}
