//! `itergnn bench`: the speed of training and inference on this machine.
//!
//! Training steps are timed at their worst: 30 iterations on every graph, every state changing at every one of them.

use std::time::Instant;

use itergnn::{
    graph::generators::Generator,
    nn::{ControllerConfig, Device, Engine, LayerKind, layers::Aggregation},
    tasks::{
        SizeRange, Split, TaskSpec,
        shortest_path::{ShortestPathSpec, Weights},
    },
    train::{LossKind, ModelConfig, ResolvedRun, RunConfig, TrainError, data::SampleSource, learning::Learner},
};
use serde::Serialize;

use crate::{
    commands::{bench_card, bench_inference, train::failure},
    compute::DeviceName,
    estimate::Allowance,
    failure::Failure,
    options::BenchArguments,
    output::{self, print, print_json},
    progress::Progress,
};

/// Graphs of a training step, as in the paper.
pub(super) const BATCH: u64 = 32;

/// A model whose training step is timed.
pub(super) struct TimedModel {
    pub(super) name: &'static str,
    preset: &'static str,
    /// Layer and aggregation, where they are not the preset's.
    layer: Option<(LayerKind, Aggregation)>,
}

pub(super) const MODELS: [TimedModel; 4] = [
    TimedModel {
        name: "path-sim-max",
        preset: "iter-homo-path-settle",
        layer: Some((LayerKind::PathSim, Aggregation::Max)),
    },
    TimedModel {
        name: "path-sim-attention",
        preset: "iter-homo-path-settle",
        layer: Some((LayerKind::PathSim, Aggregation::Attention)),
    },
    TimedModel {
        name: "path-attention",
        preset: "iter-homo-path-settle",
        layer: Some((LayerKind::Path, Aggregation::Attention)),
    },
    TimedModel { name: "gcn-30", preset: "gcn", layer: None },
];

/// What it is trained on.
struct TimedGraphs {
    name: &'static str,
    generator: Generator,
    weights: Weights,
}

const GRAPHS: [TimedGraphs; 4] = [
    TimedGraphs { name: "lobster", generator: Generator::LOBSTER, weights: Weights::PAPER },
    TimedGraphs { name: "er", generator: Generator::ER, weights: Weights::PAPER },
    TimedGraphs { name: "lobster-unweighted", generator: Generator::LOBSTER, weights: Weights::Unit },
    TimedGraphs { name: "er-unweighted", generator: Generator::ER, weights: Weights::Unit },
];

/// Remaining probability below which a graph would stop: out of reach within 30 iterations.
const NEVER: f64 = 1e-30;

/// The sum of the message weights that reach a channel, on average: states grow a little at every iteration, so nothing
/// can be skipped.
const GROWTH: f64 = 1.1;

#[derive(Serialize, Default)]
pub(super) struct Measurement {
    pub(super) name: String,
    /// Models that take the step side by side, on a card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) models: Option<usize>,
    /// Least and median wall time of a whole training step, optimiser included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) median_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edges_per_s: Option<f64>,
    pub(super) ms: f64,
    /// What was computed, where that has an exact value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<f64>,
    /// Most memory of the process so far, in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) peak_mib: Option<u64>,
}

pub(crate) fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    if arguments.repetitions == 0 {
        return Err(Failure::bad_input("--repetitions 0: at least one is needed"));
    }
    if arguments.large && !wants_inference(arguments) {
        let only = &arguments.only;
        return Err(Failure::bad_input(format!("--large means nothing with --only {only}: it is about predictions")));
    }
    Allowance::free().check_count("--repetitions", arguments.repetitions as u64, size_of::<f64>() as u64)?;
    arguments.compute.start_anywhere()?;
    let results = match arguments.compute.device {
        DeviceName::Cpu => on_cpu(arguments)?,
        DeviceName::Cuda => bench_card::measurements(arguments).map_err(failure)?,
    };
    if results.is_empty() {
        let example = step_name(GRAPHS[0].name, &MODELS[0]);
        return Err(Failure::bad_input(format!("no bench has `{}` in its name, as {example} has", arguments.only)));
    }
    if arguments.json {
        return print_json(&serde_json::json!({ "results": results, "threads": rayon::current_num_threads() }));
    }
    let rows = results.iter().map(|result| {
        let number = |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| format!("{value:.digits$}"));
        vec![
            result.name.clone(),
            result.models.map_or("-".into(), |models| models.to_string()),
            format!("{:.2}", result.ms),
            number(result.median_ms, 2),
            number(result.edges_per_s.map(|edges| edges / 1e6), 2),
        ]
    });
    print(&output::table(&["what", "models", "ms (least)", "ms (median)", "million edges/s"], rows))
}

fn on_cpu(arguments: &BenchArguments) -> Result<Vec<Measurement>, Failure> {
    let engine = arguments.engine.engine;
    // Only path-sim takes a shorter way where all edges are alike.
    let steps: Vec<_> = GRAPHS
        .iter()
        .flat_map(|graphs| MODELS.iter().map(move |model| (graphs, model)))
        .filter(|(graphs, model)| graphs.weights == Weights::PAPER || model.name == "path-sim-max")
        .filter(|(graphs, model)| step_name(graphs.name, model).contains(&arguments.only))
        .collect();
    let progress = Progress::new("benches", steps.len() as u64 + 1);
    let mut results = Vec::new();
    for (graphs, model) in steps {
        results.push(training_step(graphs, model, arguments.repetitions, engine).map_err(failure)?);
        progress.at(results.len() as u64);
    }
    if wants_inference(arguments) {
        results.extend(bench_inference::measurements(arguments.large).map_err(failure)?);
    }
    Ok(results)
}

/// The name of a training step.
pub(super) fn step_name(graphs: &str, model: &TimedModel) -> String {
    format!("train-step/{graphs}/{}", model.name)
}

/// Whether predictions are timed: all of them or none.
pub(super) fn wants_inference(arguments: &BenchArguments) -> bool {
    arguments.only.is_empty() || arguments.only.starts_with("inference")
}

/// A model of hidden width 64 that takes 30 iterations (or layers) on every graph, on weighted graphs unless told
/// otherwise.
fn config(graphs: &TimedGraphs, model: &TimedModel) -> Result<ResolvedRun, TrainError> {
    let TimedGraphs { generator, weights, .. } = *graphs;
    let spec = ShortestPathSpec { generator, size: SizeRange::TRAINING, weights };
    resolve(TaskSpec::ShortestPath(spec), model)
}

/// A model of hidden width 64 for a task, that takes 30 iterations (or layers) on every graph.
pub(super) fn resolve(task: TaskSpec, model: &TimedModel) -> Result<ResolvedRun, TrainError> {
    let mut config = ModelConfig::preset(model.preset);
    if let Some((layer, aggregation)) = model.layer {
        let mut controller = ControllerConfig::iter_decay();
        if let ControllerConfig::IterDecay(iter) = &mut controller {
            iter.epsilon = NEVER;
        }
        (config.layer, config.aggregation, config.controller) = (Some(layer), Some(aggregation), Some(controller));
    }
    RunConfig::new(task, config).resolve()
}

/// The worst case: a confidence of one half everywhere, and message weights with which every state changes at every
/// iteration.
pub(super) fn prepare(learner: &mut Learner) -> Result<(), TrainError> {
    let mut state = learner.state();
    for (_, tensor) in state.weights.iter_mut().filter(|(name, _)| name.contains("confidence")) {
        tensor.values.fill(0.0);
    }
    for (_, tensor) in state.weights.iter_mut().filter(|(name, _)| name.contains("message")) {
        let mean = tensor.values.iter().map(|value| value.abs()).sum::<f64>() / tensor.values.len() as f64;
        let rows = tensor.shape[0] as f64;
        tensor.values.iter_mut().for_each(|value| *value = value.abs() * GROWTH / (mean * rows));
    }
    learner.restore(&state).map_err(TrainError::Worker)
}

fn training_step(
    graphs: &TimedGraphs,
    model: &TimedModel,
    repetitions: usize,
    engine: Engine,
) -> Result<Measurement, TrainError> {
    let ResolvedRun { config, model: network } = config(graphs, model)?;
    let learner = Learner::new(&network, LossKind::Mse, &config.optimiser, 0, &Device::flex())?;
    let mut learner = learner.with_engine(engine);
    prepare(&mut learner)?;
    let task = config.task.built_in().ok_or_else(|| TrainError::Worker("no task".to_owned()))?;
    let samples = SampleSource::new(task, Split::Train.seed(0), BATCH)?;
    let indices: Vec<u32> = (0..BATCH as u32).collect();
    let mut milliseconds = Vec::with_capacity(repetitions);
    for step in 0..repetitions + 3 {
        let started = Instant::now();
        // A learning rate of 0 keeps the weights, and so the work, the same from step to step.
        learner.step(&samples.batch(&indices)?, 0.0, 0)?;
        if step >= 3 {
            milliseconds.push(1e3 * started.elapsed().as_secs_f64());
        }
    }
    milliseconds.sort_by(f64::total_cmp);
    Ok(Measurement {
        name: step_name(graphs.name, model),
        step_ms: Some(milliseconds[0]),
        median_ms: Some(milliseconds[milliseconds.len() / 2]),
        ms: milliseconds[0],
        ..Measurement::default()
    })
}
