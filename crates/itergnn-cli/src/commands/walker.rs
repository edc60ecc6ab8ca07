//! Walking through a user's graph by predicted lengths.

use itergnn::{
    graph::{Graph, Path},
    nn::{RunOptions, controllers::SAFETY_CAP},
    tasks::shortest_path::{Walk, WalkRule},
    train::evaluation::Predictor,
};
use rayon::prelude::*;

use crate::{
    commands::{terrain::Terrain, train::failure},
    failure::Failure,
    progress::Progress,
};

/// Predictions for paths in one graph.
pub(crate) struct Walker<'a> {
    pub(crate) terrain: &'a Terrain,
    pub(crate) predictor: &'a dyn Predictor,
    pub(crate) options: RunOptions,
    /// Memory that predictions may take together.
    pub(crate) memory: u64,
}

/// Where a walk led.
pub(crate) struct Walked {
    /// `None` where the predictions led nowhere.
    pub(crate) path: Option<Path>,
    /// What the model says of source and target, and how many iterations that took.
    pub(crate) predicted_length: f64,
    pub(crate) iterations: usize,
    /// Predictions that the walk needed.
    pub(crate) predictions: usize,
    /// Of these, those that a cap ended.
    pub(crate) capped: usize,
    /// Of these, those that stopped by themselves, but later than the safety cap of other models.
    pub(crate) past_safety_cap: usize,
}

/// What is predicted for one node.
struct Answer {
    length: f32,
    iterations: usize,
    capped: bool,
}

impl Walker<'_> {
    /// Walks from source to target.
    pub(crate) fn walk(&self, source: u32, target: u32, progress: &Progress) -> Result<Walked, Failure> {
        let (graph, weights) = (&self.terrain.graph, &self.terrain.weights);
        let mut walked =
            Walked { path: None, predicted_length: 0.0, iterations: 0, predictions: 0, capped: 0, past_safety_cap: 0 };
        // Where the walk as written breaks off, the more lenient one may still arrive.
        for rule in [WalkRule::AsWritten, WalkRule::Released] {
            let mut walk = Walk::new(graph, weights, source, target, rule).map_err(Failure::bad_input)?;
            while !walk.questions().is_empty() {
                let asked = walk.questions().to_vec();
                let answers = self.ask(&asked)?;
                if let Some(at) = asked.iter().position(|&pair| pair == (source, target)) {
                    walked.predicted_length = f64::from(answers[at].length);
                    walked.iterations = answers[at].iterations;
                }
                walked.predictions += asked.len();
                walked.capped += answers.iter().filter(|answer| answer.capped).count();
                walked.past_safety_cap +=
                    answers.iter().filter(|answer| !answer.capped && answer.iterations > SAFETY_CAP).count();
                progress.at(walked.predictions as u64);
                walk.supply(&answers.iter().map(|answer| answer.length).collect::<Vec<_>>());
            }
            walked.path = walk.path();
            if walked.path.is_some() {
                break;
            }
        }
        Ok(walked)
    }

    /// Predictions for pairs of nodes, spread over the threads.
    fn ask(&self, pairs: &[(u32, u32)]) -> Result<Vec<Answer>, Failure> {
        let graph = &self.terrain.graph;
        let bytes = self.predictor.bytes(graph.nodes(), graph.edges()).max(1);
        let by_memory = (self.memory / bytes / rayon::current_num_threads() as u64).max(1) as usize;
        let at_once = by_memory.min(pairs.len().div_ceil(rayon::current_num_threads()).max(1));
        let parts: Vec<Vec<Answer>> = pairs
            .par_chunks(at_once)
            .map(|part| {
                let graphs = part.iter().map(|&(source, target)| self.terrain.marked(source, target));
                let graphs = graphs.collect::<Result<Vec<Graph>, Failure>>()?;
                let borrowed: Vec<&Graph> = graphs.iter().collect();
                let predicted = self.predictor.predict(&borrowed, &self.options).map_err(failure)?;
                if let Some((&(source, target), iteration)) =
                    part.iter().zip(&predicted.overflows).find_map(|(pair, overflow)| Some((pair, (*overflow)?)))
                {
                    let why = format!("a value of the model is not finite at iteration {iteration}");
                    let (from, to) = (self.terrain.name(source), self.terrain.name(target));
                    return Err(Failure::failed(format!("from {from} to {to}: {why}")));
                }
                let lengths = predicted.values.iter().map(|values| values.first().copied().unwrap_or(f32::NAN));
                let ends = predicted.iterations.iter().zip(&predicted.capped);
                let answers =
                    lengths.zip(ends).map(|(length, (&iterations, &capped))| Answer { length, iterations, capped });
                Ok(answers.collect())
            })
            .collect::<Result<_, Failure>>()?;
        Ok(parts.into_iter().flatten().collect())
    }
}
