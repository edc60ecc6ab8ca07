//! What an evaluation found.

use itergnn_graph::solvers::diameter::HopDiameter;
use itergnn_nn::controllers::SAFETY_CAP;
use itergnn_tasks::{Score, Scores, Task, TaskSpec};
use serde::{Deserialize, Serialize};

/// The result of an evaluation.
///
/// Measures that do not apply to the task are `None`, `null` in JSON. So is a mean that is not finite in JSON;
/// `not_finite` then says how many predictions were no finite numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalReport {
    /// The task.
    pub task: Task,
    /// What predicted, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// The sizes, as they were asked for; `None` if the task's graphs are given.
    pub size: Option<String>,
    /// Number of samples.
    pub count: u64,
    /// Seed of the samples.
    pub seed: u64,
    /// Mean of |y - p| / y.
    pub relative_loss: Option<f64>,
    /// Share of the samples whose released walk has the shortest length; only if asked for.
    pub success_rate: Option<f64>,
    /// Share of the samples whose walk as written is a shortest path; only if asked for.
    pub success_rate_as_written: Option<f64>,
    /// As `success_rate`, counting only walks over free pixels; only navigation has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walkable_success_rate: Option<f64>,
    /// As `success_rate_as_written`, counting only walks over free pixels; only navigation has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walkable_success_rate_as_written: Option<f64>,
    /// Share of right answers.
    pub accuracy: Option<f64>,
    /// Mean squared error.
    pub mse: Option<f64>,
    /// Iterations per graph.
    pub iterations: IterationSummary,
    /// Nodes per graph.
    pub nodes: NodeSummary,
    /// Hop diameter a graph.
    pub diameter: DiameterSummary,
    /// Wall time, drawing of the samples included.
    pub seconds: f64,
    /// Graphs whose loop was ended by a cap: their predictions are not the model's own last word.
    pub capped: u64,
    /// Graphs that stopped by themselves, but later than the safety cap of other models ([`SAFETY_CAP`]): max-plus
    /// models settle after at most as many steps as a graph has nodes and may go that far.
    pub past_safety_cap: u64,
    /// Predictions that are no finite numbers.
    pub not_finite: u64,
    /// The first sample with a value that overflowed, and at which iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Overflow>,
    /// Mean, deviation, least and largest of every measure.
    pub spread: Scores,
    /// The settings of the task.
    pub spec: TaskSpec,
    /// One record per sample, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<SampleRecord>,
}

/// Iterations over the graphs of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct IterationSummary {
    /// Their mean.
    pub mean: f64,
    /// The largest number.
    pub max: usize,
}

/// Nodes of the graphs of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct NodeSummary {
    /// Their mean.
    pub mean: f64,
}

/// Where a value overflowed or became undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("sample {sample}: a value of the model is not finite at iteration {iteration}")]
pub struct Overflow {
    /// Number of the sample.
    pub sample: u64,
    /// The first iteration with such a value; 0 means the initial state.
    pub iteration: usize,
}

/// Hop diameters of the graphs of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct DiameterSummary {
    /// Their mean.
    pub mean: f64,
    /// Whether all of them are exact; if not, some are lower bounds, since the search would have taken too long.
    pub exact: bool,
}

/// What became of one sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleRecord {
    /// Its number.
    pub index: u64,
    /// Its size: the generator's n.
    pub size: u32,
    /// Its nodes.
    pub nodes: usize,
    /// What should have been predicted; for shortest paths the distance.
    pub target: Vec<f32>,
    /// What was predicted.
    pub prediction: Vec<f32>,
    /// Iterations used.
    pub iterations: usize,
    /// Whether a cap ended the loop.
    pub capped: bool,
    /// The iteration at which a value overflowed or became undefined, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow: Option<usize>,
    /// How it was judged.
    #[serde(flatten)]
    pub score: Score,
}

impl EvalReport {
    pub(crate) fn new(
        spec: &TaskSpec,
        size: Option<String>,
        seed: u64,
        samples: Vec<SampleRecord>,
        diameters: &[HopDiameter],
        seconds: f64,
    ) -> Self {
        let scores: Vec<Score> = samples.iter().map(|sample| sample.score).collect();
        let spread = Scores::of(&scores);
        let mean = |summary: Option<itergnn_tasks::Summary>| summary.map(|summary| summary.mean);
        let over = samples.len().max(1) as f64;
        let total = |value: fn(&SampleRecord) -> usize| samples.iter().map(value).sum::<usize>() as f64;
        let finite = |sample: &&SampleRecord| !sample.prediction.iter().all(|value| value.is_finite());
        Self {
            task: spec.task(),
            architecture: None,
            size,
            count: samples.len() as u64,
            seed,
            relative_loss: mean(spread.relative_loss),
            success_rate: mean(spread.success_rate),
            success_rate_as_written: mean(spread.success_rate_as_written),
            walkable_success_rate: mean(spread.walkable_success_rate),
            walkable_success_rate_as_written: mean(spread.walkable_success_rate_as_written),
            accuracy: mean(spread.accuracy),
            mse: mean(spread.mse),
            iterations: IterationSummary {
                mean: total(|sample| sample.iterations) / over,
                max: samples.iter().map(|sample| sample.iterations).max().unwrap_or(0),
            },
            nodes: NodeSummary { mean: total(|sample| sample.nodes) / over },
            diameter: DiameterSummary {
                mean: diameters.iter().map(|diameter| f64::from(diameter.lower)).sum::<f64>() / over,
                exact: diameters.iter().all(HopDiameter::is_exact),
            },
            seconds,
            capped: samples.iter().filter(|sample| sample.capped).count() as u64,
            past_safety_cap: samples.iter().filter(|sample| !sample.capped && sample.iterations > SAFETY_CAP).count()
                as u64,
            not_finite: samples.iter().filter(finite).count() as u64,
            overflow: samples
                .iter()
                .find_map(|sample| Some(Overflow { sample: sample.index, iteration: sample.overflow? })),
            spread,
            spec: spec.clone(),
            samples,
        }
    }
}
