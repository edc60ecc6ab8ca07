//! Trains an Iter-Homo-Path-settle network on small lobsters whose paths may open late; see README.md.
// A program of its own: progress on stderr, what came out on stdout.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod graphs;
mod learn;
mod matrix;
mod network;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use itergnn_graph::rng;
use serde_json::json;

use graphs::{Draw, TimedGraph};
use learn::{Prices, Seen, add_gradients};
use network::{ModelFile, Network, WEIGHTS};

/// Graphs per step, or one more: samples come in pairs.
const BATCH: usize = 32;
const WARM_UP: usize = 200;

/// Trains an Iter-Homo-Path-settle network on small lobsters whose paths may open late.
#[derive(Parser)]
struct Arguments {
    /// The network to begin with: a model file of `itergnn train --model iter-homo-path-settle`, unit weights
    model: PathBuf,
    /// The model file to write; it must not be there
    out: PathBuf,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(long, default_value_t = 90_000)]
    steps: usize,
    /// Largest rate
    #[arg(long, default_value_t = 1e-3)]
    learning_rate: f64,
    /// The part of the steps at that rate; then it falls evenly in its logarithm
    #[arg(long, default_value_t = 0.2)]
    hold: f64,
    /// The rate at the end
    #[arg(long, default_value_t = 5e-7)]
    last_rate: f64,
    /// The iteration after which the last bridges open
    #[arg(long, default_value_t = 5000.0)]
    latest: f64,
    /// Bridges open at most as late as this divided by the rate: the error of the growth is about half of the product
    #[arg(long, default_value_t = 0.03)]
    reach: f64,
    /// The part of the steps before bridges begin to open late
    #[arg(long, default_value_t = 0.05)]
    late_from: f64,
    #[arg(long, default_value_t = 0.35)]
    one_way: f64,
    #[arg(long, default_value_t = 0.45)]
    late: f64,
    #[arg(long, default_value_t = 0.3)]
    unspent_price: f32,
    #[arg(long, default_value_t = 1.0)]
    early_price: f32,
    #[arg(long, default_value_t = 0.3)]
    deep_price: f32,
    #[arg(long, default_value_t = 1.0)]
    pair_price: f32,
    #[arg(long, default_value_t = 30.0)]
    slope_price: f32,
    #[arg(long, default_value_t = 0.01)]
    iteration_price: f32,
}

/// Adam with clipping; the defaults of `itergnn train` but for the clipping, 1.
struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    decays: [f64; 2],
}

impl Adam {
    fn new() -> Self {
        Self { mean: vec![0.0; WEIGHTS], square: vec![0.0; WEIGHTS], decays: [1.0; 2] }
    }

    fn step(&mut self, weights: &mut [f32], gradient: &[f32], rate: f64) {
        let norm = gradient.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        let scale = norm.max(1.0).recip() as f32;
        self.decays = [self.decays[0] * 0.9, self.decays[1] * 0.999];
        let [mean_share, square_share] = self.decays.map(|decay| 1.0 - decay);
        for (((weight, value), mean), square) in
            weights.iter_mut().zip(gradient).zip(&mut self.mean).zip(&mut self.square)
        {
            let value = value * scale;
            *mean = 0.9 * *mean + 0.1 * value;
            *square = 0.999 * *square + 0.001 * value * value;
            let size = (f64::from(*square) / square_share).sqrt() + 1e-5;
            *weight -= (rate * f64::from(*mean) / mean_share / size) as f32;
        }
    }
}

/// Means of what samples showed since the last report.
#[derive(Default)]
struct Report {
    early: (f64, f64),
    late: (f64, f64),
    loss: f64,
    left: f64,
    slope: f64,
    early_pairs: (f64, f64),
    late_pairs: (f64, f64),
    exploded: usize,
}

impl Report {
    fn add(&mut self, late: bool, seen: Option<Seen>) {
        let Some(seen) = seen else {
            self.exploded += 1;
            return;
        };
        let errors = if late { &mut self.late } else { &mut self.early };
        *errors = (errors.0 + seen.relative_error, errors.1 + 1.0);
        self.loss += seen.loss;
        self.left += seen.left;
        self.slope += seen.slope_error;
    }

    fn add_pair(&mut self, late: bool, difference: f32) {
        let pairs = if late { &mut self.late_pairs } else { &mut self.early_pairs };
        *pairs = (pairs.0 + f64::from(difference.abs()), pairs.1 + 1.0);
    }

    fn print(&self, step: usize, arguments: &Arguments, latest: f64, begun: Instant) {
        let mean = |(sum, count): (f64, f64)| sum / count.max(1.0);
        let samples = self.early.1 + self.late.1;
        let minutes = begun.elapsed().as_secs_f64() / step as f64 * (arguments.steps - step) as f64 / 60.0;
        eprintln!(
            "step {step} of {}: loss {:.4}, error {:.4}, late {:.4} (up to {latest:.0}), slope {:.4}, neighbours {:.4}, \
             late {:.4}, mass left {:.4}, {} exploded, {minutes:.0} minutes left",
            arguments.steps,
            mean((self.loss, samples)),
            mean(self.early),
            mean(self.late),
            mean((self.slope, self.late.1)),
            mean(self.early_pairs),
            mean(self.late_pairs),
            mean((self.left, samples)),
            self.exploded,
        );
    }
}

/// A line with four nodes beyond source and target.
fn line(distance: usize) -> TimedGraph {
    let nodes = distance + 9;
    let edges: Vec<_> = (1..nodes).flat_map(|node| [([node - 1, node], 0), ([node, node - 1], 0)]).collect();
    TimedGraph::new(nodes, &edges, 4, 4 + distance)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(!arguments.out.exists(), "{} is there already", arguments.out.display());
    ensure!(arguments.steps > 0, "no steps to train");
    let file = ModelFile::read(&arguments.model)?;
    let mut network = Network::new(file.weights.clone());
    let prices = Prices {
        unspent: arguments.unspent_price,
        early: arguments.early_price,
        deep: arguments.deep_price,
        pair: arguments.pair_price,
        slope: arguments.slope_price,
        iteration: arguments.iteration_price,
    };
    let (mut adam, mut records, mut report) = (Adam::new(), Default::default(), Report::default());
    let mut rng = rng::seeded(arguments.seed);
    let begun = Instant::now();
    let mut gradient = vec![0.0f32; WEIGHTS];
    for step in 0..arguments.steps {
        let part = step as f64 / arguments.steps as f64;
        let fall = ((part - arguments.hold) / (1.0 - arguments.hold)).max(0.0);
        let rate = arguments.learning_rate * (arguments.last_rate / arguments.learning_rate).powf(fall);
        let latest = (arguments.reach / rate).min(arguments.latest);
        let late = if part < arguments.late_from { 0.0 } else { arguments.late };
        let draw = Draw { one_way: arguments.one_way, late, latest };
        gradient.fill(0.0);
        let mut count = 0;
        while count < BATCH {
            let samples = draw.samples(&mut rng);
            let (seen, difference) = add_gradients(&network, &samples, prices, &mut records, &mut gradient);
            count += samples.len();
            let late = samples[0].open > 0;
            seen.into_iter().for_each(|seen| report.add(late, seen));
            difference.into_iter().for_each(|difference| report.add_pair(late, difference));
        }
        gradient.iter_mut().for_each(|value| *value /= count as f32);
        let rate = rate * ((step + 1) as f64 / WARM_UP as f64).min(1.0);
        if gradient.iter().all(|value| value.is_finite()) {
            adam.step(&mut network.weights, &gradient, rate);
            network.follow_weights();
        }
        if (step + 1).is_multiple_of(2000) || step + 1 == arguments.steps {
            report.print(step + 1, &arguments, latest, begun);
            report = Report::default();
        }
    }
    let settings = json!({
        "seed": arguments.seed, "steps": arguments.steps, "learning_rate": arguments.learning_rate,
        "hold": arguments.hold, "last_rate": arguments.last_rate, "latest": arguments.latest, "reach": arguments.reach,
        "late_from": arguments.late_from, "one_way": arguments.one_way, "late": arguments.late,
        "prices": { "unspent": prices.unspent, "early": prices.early, "deep": prices.deep, "pair": prices.pair,
        "slope": prices.slope, "iteration": prices.iteration },
    });
    file.write(&network.weights, settings, &arguments.out)?;
    for distance in [30, 100, 101, 1000, 1001, 3000] {
        let (length, iterations) = network.predict(&line(distance), 20 * distance);
        println!("line of {distance}: {length:.2} after {iterations} iterations");
    }
    Ok(())
}
