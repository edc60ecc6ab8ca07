//! A path in one graph, found by nothing but predicted lengths.

use itergnn_graph::{EdgeWeights, Graph, Path};
use itergnn_nn::aligned::max_plus::{AllLengths, FixedEnd};
use itergnn_nn::controllers::RunOptions;
use itergnn_tasks::shortest_path::{Walk, WalkRule};
use serde::Serialize;

use super::questions::{Kept, Prepared};
use super::{Marks, Predictor};
use crate::TrainError;

/// A prediction beyond this many times the sum of all weights is no length of a path: the model sees no way.
const NO_WAY: f64 = 1e3;

/// Whether a prediction can be the length of a path, in a graph whose weights have this sum. Models say that they see
/// no way by a number beyond all lengths.
pub fn is_path_length(prediction: f64, sum_of_weights: f64) -> bool {
    prediction.is_finite() && prediction.abs() <= NO_WAY * sum_of_weights.max(1.0)
}

/// Finds paths in a graph by a model's predictions.
pub struct PathFinder<'a> {
    /// Predicts the length between the two marked nodes of a graph.
    pub predictor: &'a dyn Predictor,
    /// The graph, with the edge attributes that the model reads.
    pub graph: &'a Graph,
    /// Its weights, by which a path is measured.
    pub weights: &'a EdgeWeights,
    /// How ends are marked.
    pub marks: Marks,
    /// Cap and engine of every prediction.
    pub options: RunOptions,
    /// Memory that predictions may take together, in bytes.
    pub memory: u64,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Searched {
    /// Predictions so far.
    pub predictions: usize,
    /// The share of the way that is behind, as the predictions see it; it never falls.
    pub share: f64,
}

/// Where the walks led.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The path with its true length; `None` where the predictions led nowhere.
    pub path: Option<Path>,
    /// The rule that found it, or the last one tried.
    pub rule: WalkRule,
    /// What the model says of source and target; infinite if it sees no way.
    pub predicted_length: f64,
    /// Iterations of that prediction.
    pub iterations: usize,
    /// Predictions that were needed; a pass over all nodes is one.
    pub predictions: usize,
    /// Of these, those that a cap ended: they are not the model's last word.
    pub capped: usize,
    /// Of these, those that stopped by themselves, but later than the safety cap of other models.
    pub past_safety_cap: usize,
}

impl PathFinder<'_> {
    /// Walks from one node to another: as written, and where that walk breaks off by the released rule. `progress` is
    /// told how far it is and may end the search by saying `false`; then there is no path. Nor is there one if the
    /// model sees none.
    ///
    /// # Errors
    /// [`TrainError::Graph`] if a node does not exist; [`TrainError::PathNotFinite`] if a value overflows; what the
    /// predictor reports.
    pub fn find(
        &self,
        source: u32,
        target: u32,
        progress: &mut dyn FnMut(Searched) -> bool,
    ) -> Result<Found, TrainError> {
        self.find_next(source, target, &mut Kept::default(), progress)
    }

    /// The same for one of several searches, which keep what they can of each other.
    ///
    /// # Errors
    /// As [`PathFinder::find`].
    pub fn find_next(
        &self,
        source: u32,
        target: u32,
        kept: &mut Kept,
        progress: &mut dyn FnMut(Searched) -> bool,
    ) -> Result<Found, TrainError> {
        let mut prepared = Prepared::Nothing;
        let found = self.walk(source, target, (kept, &mut prepared), progress);
        if let Prepared::Variants(_, variants) | Prepared::Left(variants) = prepared {
            kept.variants = Some(variants);
        }
        found
    }

    fn walk(
        &self,
        source: u32,
        target: u32,
        (kept, prepared): (&mut Kept, &mut Prepared),
        progress: &mut dyn FnMut(Searched) -> bool,
    ) -> Result<Found, TrainError> {
        let mut found = Found {
            path: None,
            rule: WalkRule::AsWritten,
            predicted_length: 0.0,
            iterations: 0,
            predictions: 0,
            capped: 0,
            past_safety_cap: 0,
        };
        let mut marked = None;
        if source != target {
            let graph = self.marks.mark(self.graph, source, target)?;
            *prepared = self.prepare(&graph, target, kept)?;
            self.ask(prepared, &[(source, target)], (source, target), &mut found)?;
            if !is_path_length(found.predicted_length, self.weights.as_slice().iter().sum()) {
                found.predicted_length = f64::INFINITY;
                return Ok(found);
            }
            // A pass over all nodes knows nothing of a cap; where none was reached, none was needed.
            marked = (found.capped == 0).then_some(graph);
        }
        let whole = found.predicted_length;
        let mut share = 0.0_f64;
        for rule in [WalkRule::AsWritten, WalkRule::Released] {
            found.rule = rule;
            if rule == WalkRule::Released && source != target {
                self.turn_round(prepared, source)?;
            }
            let mut walk = Walk::new(self.graph, self.weights, source, target, rule)?;
            let all = marked.as_ref().map(|graph| self.to_all(graph, source, target, rule)).transpose()?.flatten();
            if let Some(lengths) = all {
                found.predictions += 1;
                walk = walk.follow(|from, to| {
                    let other = if rule == WalkRule::AsWritten { from } else { to };
                    lengths.values[other as usize] as f32
                });
            }
            while !walk.questions().is_empty() {
                let lengths = self.ask(prepared, walk.questions(), (source, target), &mut found)?;
                walk.supply(&lengths);
                // Both rules go to where less is left.
                let left = lengths.iter().copied().fold(f32::INFINITY, f32::min);
                share = share.max((1.0 - f64::from(left) / whole).clamp(0.0, 1.0));
                if !progress(Searched { predictions: found.predictions, share }) {
                    return Ok(found);
                }
            }
            found.path = walk.path();
            if found.path.is_some() {
                break;
            }
        }
        Ok(found)
    }

    /// The lengths between all nodes and the end that a rule asks about, where one pass gives them.
    fn to_all(
        &self,
        marked: &Graph,
        source: u32,
        target: u32,
        rule: WalkRule,
    ) -> Result<Option<AllLengths>, TrainError> {
        let fixed = match rule {
            WalkRule::AsWritten => FixedEnd::Target(target as usize),
            WalkRule::Released => FixedEnd::Source(source as usize),
        };
        self.predictor.lengths_to_all(marked, fixed)
    }
}
