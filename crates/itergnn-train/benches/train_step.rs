//! Whole training steps, plain against fused: batching, embedding, block, readout, head, loss, backward, Adam.
//!
//! `cargo bench --profile dev -p itergnn-train --bench train_step [-- NAME] [--json]` (the dev profile optimises all of
//! this and shares its dependencies with the tests; the kernels are the same code in both). 32 graphs of sizes [4, 34),
//! weights in [0.5, 1.5), hidden 64, 30 iterations or layers, nothing stops early. `growing` weights change every state
//! at every iteration, so that nothing can be skipped: the worst case. `initial` weights are those of a new model,
//! whose states may settle. Prints the least wall time of a step with each engine, their ratio, the time inside the
//! kernels (both directions), and the share of the fused step outside them. `RUNS` sets the number of runs, `PLAIN=0`
//! leaves the plain engine out.

#![allow(clippy::print_stdout)]

use std::time::Instant;

use burn::tensor::Device;
use itergnn_graph::generators::Generator;
use itergnn_nn::layers::{Aggregation, LayerKind};
use itergnn_nn::{
    ControllerConfig, Engine, GnnConfig, GraphModelConfig, GraphTensors, InitRng, Prior, RunOptions, TaskWidths,
    replace_tensors,
};
use itergnn_tasks::shortest_path::{ShortestPathSpec, Weights};
use itergnn_tasks::{SizeRange, Split, TaskSpec};
use itergnn_train::config::{LossKind, OptimiserConfig};
use itergnn_train::data::SampleSource;
use itergnn_train::learning::{Learner, LearnerState};
use serde::Serialize;

const GRAPHS: u32 = 32;
const STEPS: usize = 30;
/// Small enough that no graph is done before the cap, large enough for single precision.
const EPSILON: f64 = 1e-30;
/// The sum of the weights that reach a channel, on average: states grow a little at every iteration.
const GROWTH: f64 = 1.1;
/// So that every step is the same one.
const LEARNING_RATE: f64 = 0.0;

/// A model of the table.
struct Row {
    name: &'static str,
    kind: LayerKind,
    aggregation: Aggregation,
    prior: Prior,
    stack: bool,
}

impl Row {
    const fn iter(name: &'static str, kind: LayerKind, aggregation: Aggregation) -> Self {
        Self { name, kind, aggregation, prior: Prior::Full, stack: false }
    }

    const fn stack(name: &'static str, kind: LayerKind, aggregation: Aggregation) -> Self {
        Self { name, kind, aggregation, prior: Prior::None, stack: true }
    }
}

const ROWS: [Row; 8] = [
    Row::iter("path-sim max", LayerKind::PathSim, Aggregation::Max),
    Row::iter("path-sim attention (scale-invariant)", LayerKind::PathSim, Aggregation::Attention),
    Row::iter("path attention (scale-invariant)", LayerKind::Path, Aggregation::Attention),
    Row::stack("30 layers gcn", LayerKind::Gcn, Aggregation::Max),
    Row::stack("30 layers gat", LayerKind::Gat, Aggregation::Attention),
    Row::stack("30 layers path attention", LayerKind::Path, Aggregation::Attention),
    Row::iter("iter-homo-gcn", LayerKind::Gcn, Aggregation::Max),
    Row::iter("iter-homo-gat", LayerKind::Gat, Aggregation::Attention),
];

/// What is printed of a row, times in milliseconds.
#[derive(Serialize)]
struct Measurement {
    name: String,
    plain_ms: Option<f64>,
    fused_ms: f64,
    forward_ms: f64,
    backward_ms: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filter = arguments.iter().find(|argument| !argument.starts_with('-')).cloned().unwrap_or_default();
    let json = arguments.iter().any(|argument| argument == "--json");
    let runs = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20);
    let plain = std::env::var("PLAIN").map_or(true, |wanted| wanted != "0");
    if !json {
        let threads = std::thread::available_parallelism()?;
        println!("least of {runs} steps, {threads} processors");
        println!(
            "{:<58} {:>9} {:>9} {:>7} {:>9} {:>9}",
            "ms per step", "plain", "fused", "ratio", "kernels", "outside"
        );
    }
    for (family, generator, weights) in [
        ("lobster", Generator::LOBSTER, Weights::PAPER),
        ("er", Generator::ER, Weights::PAPER),
        ("lobster, unweighted", Generator::LOBSTER, Weights::Unit),
        ("er, unweighted", Generator::ER, Weights::Unit),
    ] {
        // Only path-sim takes a shorter way where all edges are alike.
        let rows = ROWS.iter().filter(|row| weights == Weights::PAPER || row.kind == LayerKind::PathSim);
        for (row, growing) in rows.flat_map(|row| [(row, true), (row, false)]) {
            // Stacks and convolutions have nothing to skip, whatever their weights.
            let skips = !row.stack && matches!(row.kind, LayerKind::Path | LayerKind::PathSim);
            let name = format!("{family} {}, {}", row.name, if growing { "growing" } else { "initial" });
            if !name.contains(&filter) || (growing && !skips) {
                continue;
            }
            let spec = ShortestPathSpec { generator, size: SizeRange::TRAINING, weights };
            let bench = Bench::new(TaskSpec::ShortestPath(spec), row, growing)?;
            let measured = bench.measure(name, runs, plain)?;
            if json {
                println!("{}", serde_json::to_string(&measured)?);
            } else {
                print_row(&measured);
            }
        }
    }
    Ok(())
}

fn print_row(row: &Measurement) {
    let kernels = row.forward_ms + row.backward_ms;
    let outside = 100.0 * (1.0 - kernels / row.fused_ms);
    let (plain, ratio) = row.plain_ms.map_or(("-".to_owned(), "-".to_owned()), |plain| {
        (format!("{plain:.1}"), format!("{:.1}x", plain / row.fused_ms))
    });
    let (name, fused) = (&row.name, row.fused_ms);
    println!("{name:<58} {plain:>9} {fused:>9.2} {ratio:>7} {kernels:>9.2} {outside:>8.0}%");
}

struct Bench {
    samples: SampleSource,
    config: GnnConfig,
    state: LearnerState,
}

impl Bench {
    fn new(task: TaskSpec, row: &Row, growing: bool) -> Result<Self, Box<dyn std::error::Error>> {
        let controller = if row.stack {
            ControllerConfig::stack(STEPS)
        } else {
            ControllerConfig::iter_decay().with_iter(|iter| iter.epsilon = EPSILON)
        };
        let widths = TaskWidths::graph(3, 1, 1);
        let config = GnnConfig::Graph(GraphModelConfig::new(&widths, row.prior, row.kind, row.aggregation, controller));
        let samples = SampleSource::new(&task, Split::Train.seed(7), u64::from(GRAPHS))?;
        let learner = Learner::new(&config, LossKind::Mse, &OptimiserConfig::default(), 3, &Device::flex())?;
        let mut state = learner.state();
        prepare(&mut state, growing);
        Ok(Self { samples, config, state })
    }

    fn measure(&self, name: String, runs: usize, plain: bool) -> Result<Measurement, Box<dyn std::error::Error>> {
        // The two engines in turn would warm each other's caches; one after the other they see the same machine a
        // second apart.
        let plain_ms = if plain { Some(self.step_time(Engine::Plain, runs.min(5))?) } else { None };
        let fused_ms = self.step_time(Engine::Fused, runs)?;
        let (forward_ms, backward_ms) = self.kernel_time(runs)?;
        Ok(Measurement { name, plain_ms, fused_ms, forward_ms, backward_ms })
    }

    /// The least time of a whole step, in milliseconds.
    fn step_time(&self, engine: Engine, runs: usize) -> Result<f64, Box<dyn std::error::Error>> {
        let learner = Learner::new(&self.config, LossKind::Mse, &OptimiserConfig::default(), 3, &Device::flex())?;
        let mut learner = learner.with_engine(engine);
        learner.restore(&self.state)?;
        let indices: Vec<u32> = (0..GRAPHS).collect();
        let mut least = f64::INFINITY;
        for run in 0..=runs {
            let start = Instant::now();
            let report = learner.step(&self.samples.batch(&indices)?, LEARNING_RATE, 0)?;
            if run > 0 {
                least = least.min(start.elapsed().as_secs_f64() * 1e3);
            }
            assert!(report.iterations == STEPS as f64, "a graph stopped after {} iterations", report.iterations);
        }
        Ok(least)
    }

    /// The least time inside the kernels during a step, forward and backward, in milliseconds.
    fn kernel_time(&self, runs: usize) -> Result<(f64, f64), Box<dyn std::error::Error>> {
        let device = Device::flex().autodiff();
        let model = replace_tensors(self.config.init(&device, &mut InitRng::new(3))?, &self.state.weights);
        let batch = self.samples.batch(&(0..GRAPHS).collect::<Vec<_>>())?;
        let options = RunOptions::training().with_engine(Engine::Fused);
        let (mut forward, mut backward) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..runs {
            let output = model.forward(&GraphTensors::from_batch(&batch.graphs, &device), &options)?;
            output.values.square().mean().backward();
            let clock = &output.blocks[0].engine.clock;
            forward = forward.min(clock.forward().as_secs_f64() * 1e3);
            backward = backward.min(clock.backward().as_secs_f64() * 1e3);
        }
        Ok((forward, backward))
    }
}

/// A confidence of one half everywhere and, if `growing`, positive message weights that add up to [`GROWTH`] a channel.
fn prepare(state: &mut LearnerState, growing: bool) {
    for (_, tensor) in state.weights.iter_mut().filter(|(name, _)| name.contains("confidence")) {
        tensor.values.fill(0.0);
    }
    for (_, tensor) in state.weights.iter_mut().filter(|(name, _)| growing && name.contains("message")) {
        let (rows, total) = (tensor.shape[0] as f64, tensor.values.iter().map(|value| value.abs()).sum::<f64>());
        let mean = total / tensor.values.len() as f64;
        tensor.values.iter_mut().for_each(|value| *value = value.abs() * GROWTH / (mean * rows));
    }
}
