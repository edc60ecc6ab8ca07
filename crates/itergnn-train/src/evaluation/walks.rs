//! Paths found by predicted lengths, many at a time.

use itergnn_graph::{EdgeWeights, Graph};
use itergnn_nn::controllers::RunOptions;
use itergnn_tasks::shortest_path::{Walk, WalkRule};
use itergnn_tasks::{Sample, Score, Task, TaskError, navigation, shortest_path};
use strum::VariantArray;

use super::Predictor;
use super::batching::predict_all;
use crate::TrainError;

/// A walk and the place of its sample.
type Walking<'a> = (usize, Walk<'a>);

/// Walks from every sample's source to its target by predicted lengths, by every [`WalkRule`], and adds to the scores
/// which of the walks are shortest paths.
///
/// All walks go in step: every round collects the candidates of all of them and predicts them together. `progress` is
/// told after every round how many walks go on.
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

/// The sample's graph as a model sees it for other ends.
fn marked(sample: &Sample, source: u32, target: u32) -> Result<Graph, TrainError> {
    let graph = sample.graph.clone();
    Ok(match sample.task {
        Task::Navigation => navigation::mark_ends(graph, source, target)?,
        _ => shortest_path::mark_ends(graph, source, target, sample.fields.scale.unwrap_or(1.0))?,
    })
}
