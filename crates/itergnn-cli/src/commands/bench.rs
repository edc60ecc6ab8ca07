//! `itergnn bench`: the speed of training and inference on this machine.

use std::time::Instant;

use itergnn::{
    graph::generators::Generator,
    nn::{Device, Engine},
    tasks::{SizeRange, Split, TaskSpec, shortest_path::ShortestPathSpec},
    train::{ModelConfig, TrainConfig, TrainError, data::SampleSource, learning::Learner},
};
use serde::Serialize;

use crate::{
    commands::{bench_inference, train::failure},
    failure::Failure,
    options::BenchArguments,
    output::{self, print, print_json},
    progress,
};

/// Graphs of a training step, as in the paper.
const BATCH: u64 = 32;

/// The training steps: generator, layer, aggregation.
const STEPS: [(Generator, &str, &str); 4] = [
    (Generator::LOBSTER, "path-sim", "max"),
    (Generator::ER, "path-sim", "max"),
    (Generator::LOBSTER, "path", "attention"),
    (Generator::ER, "path", "attention"),
];

#[derive(Serialize, Default)]
pub(super) struct Measurement {
    pub(super) name: String,
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
    arguments.compute.start()?;
    let engine = arguments.engine.engine;
    let bar = progress::bar(STEPS.len() as u64 + 1, "benches");
    let mut results = Vec::new();
    for (generator, layer, aggregation) in STEPS {
        results
            .push(training_step(generator, layer, aggregation, arguments.repetitions.max(1), engine).map_err(failure)?);
        bar.inc(1);
    }
    results.extend(bench_inference::measurements(arguments.large).map_err(failure)?);
    bar.finish_and_clear();
    if arguments.json {
        return print_json(&serde_json::json!({ "results": results, "threads": rayon::current_num_threads() }));
    }
    let rows = results.iter().map(|result| {
        let number = |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| format!("{value:.digits$}"));
        vec![
            result.name.clone(),
            format!("{:.2}", result.ms),
            number(result.median_ms, 2),
            number(result.edges_per_s.map(|edges| edges / 1e6), 2),
        ]
    });
    print(&output::table(&["what", "ms (least)", "ms (median)", "million edges/s"], rows))
}

/// The paper's model on a task: 30 iterations, hidden width 64, prior full, iter-decay.
fn config(generator: Generator, size: SizeRange, layer: &str, aggregation: &str) -> Result<TrainConfig, TrainError> {
    let task = TaskSpec::ShortestPath(ShortestPathSpec { generator, size, ..ShortestPathSpec::default() });
    let text = format!("name = 'iter-homo-path-settle'\nlayer = '{layer}'\naggregation = '{aggregation}'\n");
    let model: ModelConfig = toml::from_str(&text).map_err(|error| TrainError::ConfigText(error.to_string()))?;
    TrainConfig::new(task, model).resolved()
}

fn training_step(
    generator: Generator,
    layer: &str,
    aggregation: &str,
    repetitions: usize,
    engine: Engine,
) -> Result<Measurement, TrainError> {
    let config = config(generator, SizeRange::TRAINING, layer, aggregation)?;
    let mut learner = Learner::new(&config.model_config()?, config.loss_kind(), &config.optimiser, 0, &Device::flex())?
        .with_engine(engine);
    let samples = SampleSource::new(&config.task, Split::Train.seed(0), BATCH)?;
    let batch = samples.batch(&(0..BATCH as u32).collect::<Vec<_>>())?;
    let mut milliseconds = Vec::with_capacity(repetitions);
    for step in 0..repetitions + 3 {
        let started = Instant::now();
        // A learning rate of 0 keeps the weights, and so the work, the same from step to step.
        learner.step(&batch, 0.0, 0)?;
        if step >= 3 {
            milliseconds.push(1e3 * started.elapsed().as_secs_f64());
        }
    }
    milliseconds.sort_by(f64::total_cmp);
    Ok(Measurement {
        name: format!("train-step/{generator}/{layer}-{aggregation}"),
        step_ms: Some(milliseconds[0]),
        median_ms: Some(milliseconds[milliseconds.len() / 2]),
        ms: milliseconds[0],
        ..Measurement::default()
    })
}
