//! The same run with several seeds, side by side.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Outcome, TrainOptions, train};
use crate::records::Observer;
use crate::{TrainConfig, TrainError};

/// How the run of one seed ended; a seed that fails is reported, not dropped.
#[derive(Debug)]
pub struct SeedOutcome {
    /// The seed.
    pub seed: u64,
    /// Its result.
    pub result: Result<Outcome, TrainError>,
}

/// The directory of a seed's run below that of all.
pub fn seed_directory(directory: &Path, seed: u64) -> PathBuf {
    directory.join(format!("seed-{seed}"))
}

/// Trains once for every seed, `workers` runs at a time, each on a single thread, and gives the results in the order of the seeds.
///
/// Runs go to [`seed_directory`] of `directory`. `observe` makes the observer of a run. The results do not depend on the number of workers.
///
/// # Errors
/// [`TrainError::Worker`] if no thread could be started. What goes wrong in a run is in its [`SeedOutcome`].
pub fn train_seeds<O: Observer>(
    config: &TrainConfig,
    seeds: &[u64],
    directory: Option<&Path>,
    options: &TrainOptions,
    workers: usize,
    observe: impl Fn(u64) -> O + Sync,
) -> Result<Vec<SeedOutcome>, TrainError> {
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<Option<SeedOutcome>>> = Mutex::new(seeds.iter().map(|_| None).collect());
    let run = |index: usize| {
        let seed = seeds[index];
        let own = TrainConfig { seed, ..config.clone() };
        let directory = directory.map(|directory| seed_directory(directory, seed));
        train(&own, directory.as_deref(), options, &mut observe(seed))
    };
    let work = || -> Result<(), TrainError> {
        // A pool of one thread: what a run computes in parallel then stays within its worker.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| TrainError::Worker(error.to_string()))?;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&seed) = seeds.get(index) else { return Ok(()) };
            let outcome = SeedOutcome { seed, result: pool.install(|| run(index)) };
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes[index] = Some(outcome);
            }
        }
    };
    std::thread::scope(|scope| {
        let count = workers.clamp(1, seeds.len().max(1));
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|_| Err(TrainError::Worker("it panicked".to_owned()))))
    })?;
    let outcomes = outcomes.into_inner().map_err(|_| TrainError::Worker("it panicked".to_owned()))?;
    Ok(outcomes.into_iter().flatten().collect())
}
