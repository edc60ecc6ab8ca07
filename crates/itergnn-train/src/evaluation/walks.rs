//! Paths found by predicted lengths, many at a time.

use itergnn_graph::{EdgeWeights, Graph};
use itergnn_nn::aligned::max_plus::FixedEnd;
use itergnn_nn::controllers::RunOptions;
use itergnn_tasks::shortest_path::{Walk, WalkRule};
use itergnn_tasks::{Sample, Score, Task, TaskError, navigation, shortest_path};
use rayon::prelude::*;
use strum::VariantArray;

use super::Predictor;
use super::batching::predict_all;
use crate::TrainError;

/// A walk and the place of its sample.
type Walking<'a> = (usize, Walk<'a>);

/// Walks from every sample's source to its target by predicted lengths, by every [`WalkRule`], and adds to the scores
/// which of the walks are shortest paths.
///
/// Where one pass over a graph gives the lengths of all its nodes, a walk follows them. All other walks go in step:
/// every round collects the candidates of all of them and predicts them together. `progress` is told after every round
/// how many walks go on.
///
/// # Errors
/// [`TrainError::Task`] if a sample has no source and target; what the predictor reports.
///
/// # Complexity
/// One prediction for every node on a walk and every neighbour of one: on a lobster about 1.5 times the distance.
pub fn score_walks(
    samples: &[Sample],
    scores: &mut [&mut Score],
    predictor: &dyn Predictor,
    options: &RunOptions,
    memory: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(), TrainError> {
    let weights = samples.iter().map(Sample::weights).collect::<Result<Vec<_>, _>>()?;
    let mut walks = start_walks(samples, &weights)?;
    if options.cap.is_none() {
        walks =
            walks.into_par_iter().map(|walking| in_one_pass(walking, samples, predictor)).collect::<Result<_, _>>()?;
    }
    loop {
        let ask = |(index, walk): &Walking<'_>| walk.questions().iter().map(|&pair| (*index, pair)).collect::<Vec<_>>();
        let asked: Vec<(usize, (u32, u32))> = walks.iter().flat_map(ask).collect();
        if asked.is_empty() {
            break;
        }
        let graph = |question: usize| &samples[asked[question].0].graph;
        let sizes: Vec<_> = (0..asked.len()).map(graph).map(|graph| (graph.nodes(), graph.edges())).collect();
        let make = |question: usize| {
            let (index, (source, target)) = asked[question];
            marked(&samples[index], source, target)
        };
        let predicted = predict_all(predictor, &sizes, make, options, memory)?;
        let mut answers = predicted.values.iter().map(|values| values.first().copied().unwrap_or(f32::NAN));
        for (_, walk) in walks.iter_mut().filter(|(_, walk)| !walk.questions().is_empty()) {
            let own: Vec<f32> = answers.by_ref().take(walk.questions().len()).collect();
            walk.supply(&own);
        }
        progress(walks.iter().filter(|(_, walk)| !walk.questions().is_empty()).count() as u64);
    }
    for (index, walk) in &walks {
        scores[*index].add_walk(&samples[*index], walk)?;
    }
    Ok(())
}

fn start_walks<'a>(samples: &'a [Sample], weights: &'a [EdgeWeights]) -> Result<Vec<Walking<'a>>, TrainError> {
    let mut walks = Vec::with_capacity(WalkRule::VARIANTS.len() * samples.len());
    for (index, (sample, weights)) in samples.iter().zip(weights).enumerate() {
        let (Some(source), Some(target)) = (sample.fields.source, sample.fields.target_node) else {
            let (what, why) = ("success rate".to_owned(), "needs samples with a source and a target".to_owned());
            return Err(TrainError::Task(TaskError::Setting { task: sample.task, what, why }));
        };
        for &rule in WalkRule::VARIANTS {
            walks.push((index, Walk::new(&sample.graph, weights, source, target, rule)?));
        }
    }
    Ok(walks)
}

/// The walk at its end, if the predictor has the lengths of all nodes at once; else at its beginning, as it was.
fn in_one_pass<'a>(
    (index, walk): Walking<'a>,
    samples: &[Sample],
    predictor: &dyn Predictor,
) -> Result<Walking<'a>, TrainError> {
    let (Some(source), Some(target)) = (samples[index].fields.source, samples[index].fields.target_node) else {
        return Ok((index, walk));
    };
    let fixed = match walk.rule() {
        WalkRule::AsWritten => FixedEnd::Target(target as usize),
        WalkRule::Released => FixedEnd::Source(source as usize),
    };
    let Some(lengths) = predictor.lengths_to_all(&samples[index].graph, fixed)? else { return Ok((index, walk)) };
    let other = |from: u32, to: u32| match fixed {
        FixedEnd::Target(_) => from,
        FixedEnd::Source(_) => to,
    };
    Ok((index, walk.follow(|from, to| lengths.values[other(from, to) as usize] as f32)))
}

/// The sample's graph as a model sees it for other ends.
fn marked(sample: &Sample, source: u32, target: u32) -> Result<Graph, TrainError> {
    let graph = sample.graph.clone();
    Ok(match sample.task {
        Task::Navigation => navigation::mark_ends(graph, source, target)?,
        _ => shortest_path::mark_ends(graph, source, target, sample.fields.scale.unwrap_or(1.0))?,
    })
}
