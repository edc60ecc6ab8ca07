//! Predicted lengths of pairs of nodes of one graph, in the way that does least work.

use itergnn_graph::Graph;
use itergnn_nn::NodeVariants;
use itergnn_nn::aligned::max_plus::{PairLength, PairLengths};
use itergnn_nn::controllers::SAFETY_CAP;
use itergnn_nn::fused::Engine;
use rayon::prelude::*;

use super::batching::predict_all;
use super::marks::{SOURCE, TARGET};
use super::{Found, PathFinder, Predicted};
use crate::TrainError;

/// What is kept between the questions of a search.
pub(super) enum Prepared {
    /// Every question is a graph of its own.
    Nothing,
    /// A max-plus model on the graph.
    Pairs(Box<PairLengths>),
    /// A general network on the graph with one end marked; the other end is the node that varies, with this mark.
    Variants(usize, Box<NodeVariants>),
    /// The same where it did not tell: every question is a graph of its own, and the next search may ask it again.
    Left(Box<NodeVariants>),
}

/// What one search of a [`PathFinder`] leaves for the next: a general network on its graph, without marks.
#[derive(Debug, Default)]
pub struct Kept {
    pub(super) variants: Option<Box<NodeVariants>>,
}

impl PathFinder<'_> {
    /// What serves questions about paths to a target; `marked` is the graph with some marks.
    pub(super) fn prepare(&self, marked: &Graph, target: u32, kept: &mut Kept) -> Result<Prepared, TrainError> {
        if let Some(pairs) = self.predictor.pair_lengths(marked)?.filter(|_| self.options.engine == Engine::Auto) {
            return Ok(Prepared::Pairs(Box::new(pairs)));
        }
        let mut variants = match kept.variants.take() {
            Some(variants) => variants,
            None => {
                let graph = self.marks.mark_none(self.graph)?;
                match self.predictor.variants(&graph, &self.options, self.memory)? {
                    Some(variants) => Box::new(variants),
                    None => return Ok(Prepared::Nothing),
                }
            }
        };
        variants.fix(target as usize, self.marks.row(self.graph, target, TARGET))?;
        Ok(Prepared::Variants(SOURCE, variants))
    }

    /// From questions about paths to a target to those about paths from a source.
    pub(super) fn turn_round(&self, prepared: &mut Prepared, source: u32) -> Result<(), TrainError> {
        if let Prepared::Variants(free, variants) = prepared {
            *free = TARGET;
            variants.fix(source as usize, self.marks.row(self.graph, source, SOURCE))?;
        }
        Ok(())
    }

    /// Predicted lengths of pairs of nodes; `ends` are those of the search, of which the first question was.
    pub(super) fn ask(
        &self,
        prepared: &mut Prepared,
        pairs: &[(u32, u32)],
        ends: (u32, u32),
        found: &mut Found,
    ) -> Result<Vec<f32>, TrainError> {
        let whole = (found.predictions > 0).then_some(found.predicted_length as f32);
        let is_open = |pair: &(u32, u32)| whole.is_none() || *pair != ends;
        let open: Vec<(u32, u32)> = pairs.iter().copied().filter(is_open).collect();
        let mut lengths = self.ask_open(prepared, &open, ends, found)?.into_iter();
        Ok(pairs.iter().filter_map(|pair| if is_open(pair) { lengths.next() } else { whole }).collect())
    }

    /// The same for pairs that were not asked about before.
    fn ask_open(
        &self,
        prepared: &mut Prepared,
        pairs: &[(u32, u32)],
        ends: (u32, u32),
        found: &mut Found,
    ) -> Result<Vec<f32>, TrainError> {
        // A node and itself are no pair of marks: what a graph with one mark gives is left to the model.
        let are_apart = pairs.iter().all(|(from, to)| from != to);
        let predicted = match prepared {
            Prepared::Pairs(lengths) if are_apart => {
                let between = |&(from, to): &(u32, u32)| lengths.between(from as usize, to as usize, &self.options);
                gather(pairs.par_iter().map(between).collect())
            }
            Prepared::Variants(free, variants) if are_apart => match self.ask_variants(*free, variants, pairs)? {
                Some(predicted) => predicted,
                None => {
                    // What one candidate could not be told by, the next one will not be either.
                    if let Prepared::Variants(_, variants) = std::mem::replace(prepared, Prepared::Nothing) {
                        *prepared = Prepared::Left(variants);
                    }
                    self.ask_graphs(pairs)?
                }
            },
            _ => self.ask_graphs(pairs)?,
        };
        for (&(from, to), overflow) in pairs.iter().zip(&predicted.overflows) {
            if let Some(iteration) = *overflow {
                return Err(TrainError::PathNotFinite { from, to, iteration });
            }
        }
        let lengths: Vec<f32> =
            predicted.values.iter().map(|values| values.first().copied().unwrap_or(f32::NAN)).collect();
        if let Some(at) = pairs.iter().position(|&pair| pair == ends) {
            (found.predicted_length, found.iterations) = (f64::from(lengths[at]), predicted.loops.iterations[at]);
        }
        found.predictions += pairs.len();
        let late = |(&iterations, &capped): (&usize, &bool)| !capped && iterations > SAFETY_CAP;
        found.capped += predicted.loops.capped.iter().filter(|&&capped| capped).count();
        found.past_safety_cap +=
            predicted.loops.iterations.iter().zip(&predicted.loops.capped).filter(|&pair| late(pair)).count();
        Ok(lengths)
    }

    /// One graph per pair.
    fn ask_graphs(&self, pairs: &[(u32, u32)]) -> Result<Predicted, TrainError> {
        let sizes = vec![(self.graph.nodes(), self.graph.edges()); pairs.len()];
        let make = |question: usize| self.marks.mark(self.graph, pairs[question].0, pairs[question].1);
        predict_all(self.predictor, &sizes, make, &self.options, self.memory)
    }

    /// One node per pair; `None` where that does not tell.
    fn ask_variants(
        &self,
        free: usize,
        variants: &mut NodeVariants,
        pairs: &[(u32, u32)],
    ) -> Result<Option<Predicted>, TrainError> {
        let change = |&(from, to): &(u32, u32)| {
            let node = if free == SOURCE { from } else { to };
            (node as usize, self.marks.row(self.graph, node, free))
        };
        let changes: Vec<_> = pairs.iter().map(change).collect();
        let lengths: Option<Vec<PairLength>> = variants.predict(&changes)?.into_iter().collect();
        Ok(lengths.map(gather))
    }
}

fn gather(lengths: Vec<PairLength>) -> Predicted {
    let overflow = |length: &PairLength| (!(length.value as f32).is_finite()).then_some(length.iterations);
    Predicted {
        values: lengths.iter().map(|length| vec![length.value as f32]).collect(),
        loops: lengths.iter().map(|length| (length.iterations, length.capped)).collect(),
        overflows: lengths.iter().map(overflow).collect(),
    }
}
