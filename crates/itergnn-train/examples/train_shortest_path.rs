//! Trains a model on shortest paths in lobsters and evaluates it on larger ones.
//!
//! `cargo run --release -p itergnn-train --example train_shortest_path -- [epochs] [samples] [run directory]`

#![allow(clippy::print_stdout)] // an example shows its result

use std::path::PathBuf;
use std::time::Instant;

use burn::tensor::Device;
use itergnn_tasks::{Task, TaskSpec};
use itergnn_train::evaluation::{EvalOptions, ModelPredictor, evaluate};
use itergnn_train::{EpochRecord, ModelConfig, Observer, RunConfig, Schedule, Start, StepRecord, TrainOptions, train};

struct Lines;

impl Observer for Lines {
    fn step(&mut self, record: &StepRecord) {
        if record.step.is_multiple_of(50) {
            println!(
                "step {:5}  loss {:8.4}  iterations {:4.1}  {:6.0} samples/s  {:5.0} s left",
                record.step, record.loss, record.iterations, record.samples_per_second, record.seconds_left
            );
        }
    }

    fn epoch(&mut self, record: &EpochRecord) {
        println!(
            "epoch {:3}  loss {:8.4}  relative loss {:?}, lifted {:?} (capped {:.2})  {:.1} s",
            record.epoch,
            record.train_loss,
            record.validation.relative_loss,
            record.validation_lifted.relative_loss,
            record.validation_lifted.capped,
            record.seconds
        );
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let task = TaskSpec::paper(Task::ShortestPath);
    let mut config = RunConfig::new(task.clone(), ModelConfig::preset("iter-homo-path"));
    let method = config.supervised_mut()?;
    method.epochs = arguments.next().map_or(Ok(4), |text| text.parse())?;
    method.data.train = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    config.optimiser.clip_norm = Some(1.0);
    config.optimiser.schedule = Schedule::Cosine { warm_up_steps: 50, final_factor: 0.0 };
    config.checkpoint.every_seconds = 2.0;
    let directory = arguments.next().map(PathBuf::from);
    let options = TrainOptions { start: Start::ResumeOrNew, ..TrainOptions::default() };
    let outcome = train(&config, directory.as_deref(), &options, &mut Lines)?;
    println!(
        "{:?} after {} steps and {:.1} s, best {:?}",
        outcome.status, outcome.steps, outcome.seconds, outcome.best
    );

    let predictor = ModelPredictor::new(&outcome.model, &Device::flex());
    for size in ["20", "100"] {
        let mut spec = task.clone();
        spec.set_size(size.parse()?)?;
        let start = Instant::now();
        let options = EvalOptions { success: true, cap: Some(1_000), ..EvalOptions::default() };
        let report = evaluate(&predictor, &spec, 20, 0, &options, &mut |_| {})?;
        println!(
            "size {size}: relative loss {:?}, success {:?}, iterations {:.1}, capped {}, {:.1} s",
            report.relative_loss,
            report.success_rate,
            report.iterations.mean,
            report.capped,
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
