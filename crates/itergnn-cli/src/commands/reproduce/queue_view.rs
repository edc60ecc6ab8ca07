//! The queue of a reproduction on stderr.

use std::time::Instant;

use indicatif::ProgressBar;
use itergnn::train::reproduction::{ExperimentResult, Job, QueueObserver};

use crate::{output::note, progress};

/// A bar on a terminal, a line a job elsewhere.
pub(super) struct QueueView {
    bar: ProgressBar,
    total: usize,
    done: usize,
    /// Jobs that took time, and since when.
    made: usize,
    started: Instant,
    running: Vec<Option<String>>,
}

impl QueueView {
    pub(super) fn new(total: usize) -> Self {
        let bar = progress::bar(total as u64, "experiments");
        Self { bar, total, done: 0, made: 0, started: Instant::now(), running: Vec::new() }
    }

    fn minutes_left(&self) -> Option<f64> {
        (self.made > 0)
            .then(|| self.started.elapsed().as_secs_f64() / 60.0 / self.made as f64 * (self.total - self.done) as f64)
    }
}

impl QueueObserver for QueueView {
    fn begun(&mut self, worker: usize, job: &Job) {
        self.running.resize(self.running.len().max(worker + 1), None);
        self.running[worker] = Some(format!("{} seed {}", job.experiment.id, job.seed));
        let running: Vec<&str> = self.running.iter().flatten().map(String::as_str).collect();
        self.bar.set_message(running.join(", "));
    }

    fn done(&mut self, worker: usize, job: &Job, result: &ExperimentResult, found: bool) {
        self.running[worker] = None;
        self.done += 1;
        self.made += usize::from(!found);
        self.bar.set_position(self.done as u64);
        let seconds = result.training.as_ref().map_or(0.0, |training| training.seconds)
            + result.measured.values().map(|measured| measured.seconds).sum::<f64>();
        let how = if found { "was there".to_owned() } else { format!("{seconds:.0} s") };
        let left = self.minutes_left().map_or(String::new(), |minutes| format!(", about {minutes:.0} min left"));
        let failed = if result.failures.is_empty() { "" } else { ", with failures" };
        let line =
            format!("[{}/{}] {} seed {}: {how}{failed}{left}", self.done, self.total, job.experiment.id, job.seed);
        if self.bar.is_hidden() { note(&line) } else { self.bar.println(line) }
    }
}

impl Drop for QueueView {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
