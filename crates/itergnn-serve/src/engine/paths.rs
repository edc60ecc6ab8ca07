//! Paths by a model's predictions, and the iterations behind one prediction.

use itergnn::graph::Path;
use itergnn::nn::Device;
use itergnn::nn::controllers::{NodeWatch, RunOptions};
use itergnn::tasks::shortest_path::{WalkRule, is_shortest};
use itergnn::train::evaluation::{Found, ModelPredictor, PathFinder};
use serde::{Deserialize, Serialize};

use super::scene::{GraphData, MapData, Scene};
use super::views::{Views, views};
use super::{Loaded, WORK_OF_A_PREDICTION, WORK_OF_A_TRACE};
use crate::error::ApiError;
use crate::pool::Deadline;

/// A prediction beyond this many times the number of nodes is no length: the model sees no way.
const NO_WAY: f64 = 1e6;

/// Task-aligned families write -1e30 for what has not come yet; a change of this size is something that came.
const ARRIVED: f64 = 1e20;

/// Memory that the predictions of one walk may take together.
const MEMORY: u64 = 256 << 20;

/// Numbers of one kind that a trace keeps: nodes times steps.
const KEPT: usize = 1 << 21;

/// A scene, two ends, and who is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathRequest {
    pub(crate) model: String,
    #[serde(default)]
    graph: Option<GraphData>,
    #[serde(default)]
    map: Option<MapData>,
    from: u32,
    to: u32,
    #[serde(default)]
    max_iterations: Option<usize>,
    /// Of a trace: the channel that is shown.
    #[serde(default)]
    channel: usize,
}

/// The path a model leads to, and what the exact solver says afterwards.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SolveAnswer {
    /// `null` where the predictions led nowhere; `why` says how.
    path: Option<Vec<u32>>,
    why: Option<String>,
    /// True length of the path.
    length: Option<f64>,
    /// What the model says of the two ends, and after how many iterations.
    predicted_length: Option<f64>,
    iterations: usize,
    /// Predictions that the walk needed, and of these those that a limit ended.
    predictions: usize,
    capped: usize,
    /// The rule of the walk: as written in the paper, or, where that walk breaks off, that of the released code.
    walk: Option<WalkRule>,
    exact: Option<ExactPath>,
    /// Whether the path is one that can be walked and is as short as possible.
    optimal: bool,
}

/// A shortest path.
#[derive(Debug, Serialize)]
pub(crate) struct ExactPath {
    path: Vec<u32>,
    length: f64,
    /// Edges on it; a network needs at least half as many iterations, because waves can start at both ends.
    hops: usize,
}

impl ExactPath {
    fn of(path: &Path) -> Self {
        Self { path: path.nodes.clone(), length: path.length, hops: path.nodes.len().saturating_sub(1) }
    }
}

fn scene_for(loaded: &Loaded, request: &PathRequest) -> Result<Scene, ApiError> {
    let scene = Scene::new(request.graph.as_ref(), request.map.as_ref())?;
    let widths = loaded.model.config().widths();
    if (widths.node_width, widths.edge_width, widths.output_width) != (scene.node_width(), 1, 1) {
        let what = if scene.is_map() { "maps" } else { "paths through graphs" };
        let (name, task) = (&request.model, &loaded.model.card().task);
        return Err(ApiError::bad_request(format!("{name} is not a model for {what}: it was trained on {task}")));
    }
    scene.graph.check_node(request.from).map_err(ApiError::bad_request)?;
    scene.graph.check_node(request.to).map_err(ApiError::bad_request)?;
    Ok(scene)
}

/// Walks from one end to the other by predicted lengths; the exact solver is asked afterwards.
pub(crate) fn solve(loaded: &Loaded, request: &PathRequest, deadline: &Deadline) -> Result<SolveAnswer, ApiError> {
    let scene = scene_for(loaded, request)?;
    let (source, target) = (request.from, request.to);
    let mut answer = SolveAnswer::default();
    if scene.is_joined(source, target)? {
        let (found, is_late) = walk(&scene, loaded, request, deadline)?;
        let (predicted, nodes) = (found.predicted_length, scene.graph.nodes() as f64);
        answer.predicted_length = predicted.is_finite().then_some(predicted);
        (answer.iterations, answer.predictions, answer.capped) = (found.iterations, found.predictions, found.capped);
        answer.walk = Some(found.rule);
        match found.path {
            Some(path) => (answer.path, answer.length) = (Some(path.nodes), Some(path.length)),
            None if predicted.abs() > NO_WAY * nodes => {
                answer.why = Some("the model sees no way between the two ends".to_owned());
            }
            None if is_late => answer.why = Some("the walk took longer than a request may".to_owned()),
            None => answer.why = Some("the predictions lead nowhere".to_owned()),
        }
    } else {
        answer.why = Some("nothing connects the two ends".to_owned());
    }
    // Only now: nothing above has seen the exact answer.
    let exact = scene.exact(source, target)?;
    if let (Some(nodes), Some(length), Some(exact)) = (&answer.path, answer.length, &exact) {
        let path = Path { nodes: nodes.clone(), length };
        answer.optimal = scene.is_walkable(&path) && is_shortest(path.length, exact.length);
    }
    answer.exact = exact.as_ref().map(ExactPath::of);
    Ok(answer)
}

/// Walks by predicted lengths, and says whether the time was over before the end.
fn walk(scene: &Scene, loaded: &Loaded, request: &PathRequest, deadline: &Deadline) -> Result<(Found, bool), ApiError> {
    let (nodes, edges) = (scene.graph.nodes(), scene.graph.edges());
    let cap = loaded.iterations_within(WORK_OF_A_PREDICTION, nodes, edges, request.max_iterations);
    let finder = PathFinder {
        predictor: &ModelPredictor::new(loaded.model.network(), &Device::flex()),
        graph: &scene.graph,
        weights: &scene.weights,
        marks: scene.marks(),
        options: RunOptions::inference().with_cap(cap),
        memory: MEMORY,
    };
    // The exact path is shown even where the walk comes to no end, so some of the time is kept for it.
    let early = deadline.earlier();
    let found = finder.find(request.from, request.to, &mut |_| early.check().is_ok());
    deadline.check()?;
    Ok((found.map_err(ApiError::bad_request)?, early.check().is_err()))
}

/// What happened in the iterations of one prediction.
#[derive(Debug, Serialize)]
pub(crate) struct TraceAnswer {
    prediction: Option<f64>,
    iterations: usize,
    /// Whether a limit, not the model, ended the loop.
    capped: bool,
    /// Channels of a node's state that can be shown.
    channels: usize,
    steps: Vec<TraceStep>,
    views: Views,
}

/// One iteration.
#[derive(Debug, Serialize)]
pub(crate) struct TraceStep {
    step: usize,
    /// `null` for networks that do not decide when to stop.
    confidence: Option<f64>,
    /// Probability of not having stopped after this step.
    remaining: Option<f64>,
    /// Largest change of any value; `null` where a value came into being, as when a wave arrives.
    change: Option<f64>,
    /// Share of nodes that changed.
    changed: f64,
}

/// Every iteration of one prediction, with the states of the nodes.
pub(crate) fn trace(loaded: &Loaded, request: &PathRequest, deadline: &Deadline) -> Result<TraceAnswer, ApiError> {
    let scene = scene_for(loaded, request)?;
    let (nodes, edges) = (scene.graph.nodes(), scene.graph.edges());
    let graph = scene.marks().mark(&scene.graph, request.from, request.to).map_err(ApiError::bad_request)?;
    let cap = loaded.iterations_within(WORK_OF_A_TRACE, nodes, edges, request.max_iterations);
    // How long the loop is decides how many of its steps can be kept, so it is run once without looking.
    let plain = loaded.model.predict_with(&graph, &RunOptions::inference().with_cap(cap));
    let steps = plain.map_err(ApiError::bad_request)?.iterations;
    deadline.check()?;
    let watch = NodeWatch { channel: request.channel, every: (steps * nodes).div_ceil(KEPT).max(1) };
    let options = RunOptions::inference().with_cap(cap).with_watch(watch);
    let predicted = loaded.model.predict_with(&graph, &options).map_err(ApiError::bad_request)?;
    let trace = predicted.traces.into_iter().next().unwrap_or_default();
    let first = |values: &[f64]| values.first().copied().filter(|value| value.is_finite());
    let lines = trace.steps.iter().map(|at| TraceStep {
        step: at.step,
        confidence: first(&at.confidence),
        remaining: first(&at.remaining),
        change: first(&at.change).filter(|change| *change < ARRIVED),
        changed: first(&at.changed).unwrap_or_default(),
    });
    Ok(TraceAnswer {
        prediction: predicted.values.first().and_then(|row| first(row)),
        iterations: predicted.iterations,
        capped: predicted.capped,
        channels: loaded.channels(),
        steps: lines.collect(),
        views: views(&trace, nodes),
    })
}
