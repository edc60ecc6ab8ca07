//! Trains max-plus models with several seeds on small lobsters and evaluates each on large ones.
//!
//! `cargo run --release -p itergnn-train --example max_plus_seeds -- [seeds] [epochs] [samples]`

#![allow(clippy::print_stdout)] // an example shows its result

use std::time::Instant;

use burn::tensor::Device;
use itergnn_tasks::{Task, TaskSpec};
use itergnn_train::evaluation::{EvalOptions, ModelPredictor, evaluate};
use itergnn_train::{ModelConfig, RunConfig, Silent, TrainOptions, train};

/// Sizes of the test graphs and how many of each.
const TESTS: [(&str, u64); 3] = [("100", 100), ("1000", 20), ("5000", 4)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let seeds = arguments.next().unwrap_or(Ok(10))?;
    let task = TaskSpec::paper(Task::ShortestPath);
    let mut config = RunConfig::new(task.clone(), ModelConfig::preset("max-plus"));
    let method = config.supervised_mut()?;
    method.epochs = arguments.next().unwrap_or(Ok(3))?;
    method.data.train = arguments.next().unwrap_or(Ok(10_000))?;
    for seed in 0..seeds {
        config.seed = seed;
        let outcome = train(&config, None, &TrainOptions::default(), &mut Silent)?;
        print!("seed {seed}  {:.1} s", outcome.seconds);
        let predictor = ModelPredictor::new(&outcome.model, &Device::flex());
        for (size, count) in TESTS {
            let mut spec = task.clone();
            spec.set_size(size.parse()?)?;
            let start = Instant::now();
            let options = EvalOptions { success: size == "100", records: true, ..EvalOptions::default() };
            let report = evaluate(&predictor, &spec, count, 1_000 + seed, &options, &mut |_| {})?;
            let late = |sample: &itergnn_train::evaluation::SampleRecord| {
                sample.iterations as f32 - (sample.target[0] / 2.0).ceil()
            };
            let late = report.samples.iter().map(late).fold(0.0, |worst: f32, late| worst.max(late.abs()));
            let loss = report.relative_loss.unwrap_or(f64::NAN);
            print!("  | {size}: loss {loss:.1e}, steps off by {late}, {:.1} s", start.elapsed().as_secs_f64());
            if let Some(success) = report.success_rate {
                print!(", success {:.2}", success);
            }
        }
        println!();
    }
    Ok(())
}
