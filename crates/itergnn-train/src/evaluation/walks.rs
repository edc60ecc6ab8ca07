//! Paths found by predicted lengths, many at a time.

use itergnn_graph::{EdgeWeights, Graph, Path};
use itergnn_nn::controllers::RunOptions;
use itergnn_tasks::shortest_path::{Walk, WalkState, is_shortest};
use itergnn_tasks::{Sample, Task, TaskError, navigation, shortest_path};

use super::Predictor;
use super::batching::predict_all;
use crate::TrainError;

/// Whether the walk of every sample from its source to its target, steered by predicted lengths, is a shortest path.
///
/// All walks go in step: every round collects the nodes that any of them asks about and predicts them together. A length is predicted once. `progress` is told after
/// every round how many walks go on.
///
/// # Errors
/// [`TrainError::Task`] if a sample has no source and target; what the predictor reports.
///
/// # Complexity
/// One prediction for every node on a path and every neighbour of one: on a lobster about 1.5 times the distance.
///
/// # Paper
/// Algorithm "Post-processing to predict the shortest path".
pub fn walk_successes(
    samples: &[Sample],
    predictor: &dyn Predictor,
    options: &RunOptions,
    memory: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<bool>, TrainError> {
    let weights = samples.iter().map(Sample::weights).collect::<Result<Vec<_>, _>>()?;
    let mut walks = start_walks(samples, &weights)?;
    loop {
        let asked: Vec<(usize, u32)> =
            walks.iter().enumerate().flat_map(|(index, walk)| questions(index, walk)).collect();
        if asked.is_empty() {
            break;
        }
        let sizes: Vec<_> = asked.iter().map(|&(index, _)| size_of_graph(&samples[index].graph)).collect();
        let make = |question: usize| {
            let (index, node) = asked[question];
            marked(&samples[index], node, walks[index].target())
        };
        let predicted = predict_all(predictor, &sizes, make, options, memory)?;
        let mut answers = predicted.values.iter().map(|values| values.first().copied().unwrap_or(f32::NAN));
        for walk in &mut walks {
            if let WalkState::Asking(nodes) = walk.state() {
                let own: Vec<f32> = answers.by_ref().take(nodes.len()).collect();
                walk.supply(&own);
            }
        }
        progress(walks.iter().filter(|walk| matches!(walk.state(), WalkState::Asking(_))).count() as u64);
    }
    samples.iter().zip(&walks).map(|(sample, walk)| succeeded(sample, walk.path())).collect()
}

fn start_walks<'a>(samples: &[Sample], weights: &'a [EdgeWeights]) -> Result<Vec<Walk<'a>>, TrainError> {
    let start = |(sample, weights): (&Sample, &'a EdgeWeights)| {
        let (Some(source), Some(target)) = (sample.fields.source, sample.fields.target_node) else {
            let (what, why) = ("success rate".to_owned(), "needs samples with a source and a target".to_owned());
            return Err(TrainError::Task(TaskError::Setting { task: sample.task, what, why }));
        };
        Ok(Walk::new(&sample.graph, weights, source, target)?)
    };
    samples.iter().zip(weights).map(start).collect()
}

fn questions(index: usize, walk: &Walk<'_>) -> Vec<(usize, u32)> {
    match walk.state() {
        WalkState::Asking(nodes) => nodes.iter().map(|&node| (index, node)).collect(),
        WalkState::Arrived | WalkState::Failed => Vec::new(),
    }
}

fn size_of_graph(graph: &Graph) -> (usize, usize) {
    (graph.nodes(), graph.edges())
}

/// The sample's graph as a model sees it for another source.
fn marked(sample: &Sample, source: u32, target: u32) -> Result<Graph, TrainError> {
    let graph = sample.graph.clone();
    Ok(match sample.task {
        Task::Navigation => navigation::mark_ends(graph, source, target)?,
        _ => shortest_path::mark_ends(graph, source, target, sample.fields.scale.unwrap_or(1.0))?,
    })
}

fn succeeded(sample: &Sample, path: Option<Path>) -> Result<bool, TrainError> {
    let Some(path) = path else { return Ok(false) };
    let shortest = is_shortest(&path, f64::from(sample.target[0]));
    Ok(shortest && (sample.task != Task::Navigation || navigation::is_walkable(sample, &path)?))
}
