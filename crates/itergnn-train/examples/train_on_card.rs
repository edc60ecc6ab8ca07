//! Trains the runs of several configuration files, each with several seeds, side by side on a card.
//!
//! `train_on_card SEEDS SECONDS DIRECTORY CONFIG.toml...`: run directories are `DIRECTORY/CONFIG/seed-N`; a run that is
//! there goes on. After SECONDS all runs save their state and end.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use itergnn_train::{CardRun, EpochRecord, Observer, RunConfig, Start, TrainOptions, seed_directory, train_on_card};

/// Prints a line every so often.
struct Lines {
    name: String,
    start: Instant,
    told: Option<Instant>,
}

impl Observer for Lines {
    fn epoch(&mut self, record: &EpochRecord) {
        if self.told.is_some_and(|told| told.elapsed() < Duration::from_secs(20)) {
            return;
        }
        self.told = Some(Instant::now());
        println!(
            "{:7.1} s {} epoch {} step {}: loss {:.3e} iterations {:.1} capped {:.2} selected by {:?}",
            self.start.elapsed().as_secs_f64(),
            self.name,
            record.epoch,
            record.step,
            record.train_loss,
            record.iterations,
            record.capped,
            record.selected_by
        );
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seeds, seconds, directory, configs @ ..] = &arguments[..] else {
        return Err("usage: train_on_card SEEDS SECONDS DIRECTORY CONFIG.toml...".into());
    };
    let (seeds, seconds): (u64, f64) = (seeds.parse()?, seconds.parse()?);
    let mut runs = Vec::new();
    for path in configs {
        let config = RunConfig::from_toml(&std::fs::read_to_string(path)?)?;
        let name = Path::new(path).file_stem().unwrap_or_default();
        for seed in 0..seeds {
            let directory = seed_directory(&PathBuf::from(directory).join(name), seed);
            runs.push(CardRun { config: RunConfig { seed, ..config.clone() }, directory: Some(directory), data: None });
        }
    }
    let stop: Arc<AtomicBool> = Arc::default();
    let timer = stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs_f64(seconds));
        timer.store(true, Ordering::Relaxed);
    });
    let options = TrainOptions { start: Start::ResumeOrNew, stop, ..TrainOptions::default() };
    let start = Instant::now();
    let observe = |index: usize| Lines {
        name: runs[index].directory.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
        start,
        told: None,
    };
    let outcomes = train_on_card(&runs, &options, observe)?;
    let mut steps = 0;
    for (run, outcome) in runs.iter().zip(&outcomes) {
        let name = run.directory.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        match &outcome.result {
            Ok(outcome) => {
                steps = steps.max(outcome.steps);
                println!("{name}: {:?} after {} steps, best {:?}", outcome.status, outcome.steps, outcome.best);
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{} runs in {seconds:.1} s, {:.3} ms per step", runs.len(), 1e3 * seconds / steps.max(1) as f64);
    Ok(())
}
