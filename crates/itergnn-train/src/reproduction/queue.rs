//! Experiments over the cores.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::catalogue::is_aligned;
use super::{Evaluation, Experiment, ExperimentResult, Measured, ResultStore, TrainingResult};
use crate::evaluation::{EvalOptions, ModelPredictor, evaluate};
use crate::run::Start;
use crate::train::train_resolved;
use crate::{ResolvedRun, RunConfig, Silent, Status, TrainError, TrainOptions};

/// Name under which the failure of a training stands among those of evaluations.
const TRAINING: &str = "training";

/// An experiment for one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The experiment, with the evaluations of every table that shares it.
    pub experiment: Experiment,
    /// The seed.
    pub seed: u64,
}

impl Job {
    /// The jobs of some experiments: each id once a seed, with the evaluations of all that carry it.
    pub fn plan<'a>(experiments: impl IntoIterator<Item = &'a Experiment>, seeds: &[u64]) -> Vec<Self> {
        let mut merged: Vec<Experiment> = Vec::new();
        for experiment in experiments {
            match merged.iter_mut().find(|known| known.id == experiment.id) {
                Some(known) => known.evaluations.extend(experiment.evaluations.clone()),
                None => merged.push(experiment.clone()),
            }
        }
        // Task-aligned families first, which are the quickest; and all experiments for the first seed, so that an interrupted reproduction has every cell before any has
        // a spread.
        merged.sort_by_key(|experiment| !is_aligned(&experiment.config.model.name));
        let of_seed = |&seed: &u64| merged.iter().map(move |experiment| Self { experiment: experiment.clone(), seed });
        seeds.iter().flat_map(of_seed).collect()
    }

    /// The name of the model in the id of the experiment.
    pub fn model(&self) -> &str {
        self.experiment.id.rsplit('/').next().unwrap_or_default()
    }

    fn resolve(&self) -> Result<ResolvedRun, TrainError> {
        RunConfig { seed: self.seed, ..self.experiment.config.clone() }.resolve()
    }
}

/// Is told what happens in the queue; calls come from several threads, one at a time.
pub trait QueueObserver: Send {
    /// A job begins; `worker` counts from 0.
    fn begun(&mut self, worker: usize, job: &Job);

    /// A job is done: newly, or because its result was already there.
    fn done(&mut self, worker: usize, job: &Job, result: &ExperimentResult, found: bool);
}

/// Carries out the jobs, `workers` at a time, each on one thread, and writes a result after every evaluation.
///
/// Results that are there are not made again; trainings that were interrupted go on where they were. A training that diverges is a result with a failure. Once
/// [`TrainOptions::stop`] is set, running trainings save their state and no job begins.
///
/// # Errors
/// The first error that is none of a model but of the machine (files, threads) or of the plan.
pub fn run_queue(
    jobs: &[Job],
    store: &ResultStore,
    runs: &Path,
    options: &TrainOptions,
    workers: usize,
    observer: &mut dyn QueueObserver,
) -> Result<(), TrainError> {
    let next = AtomicUsize::new(0);
    let observer = Mutex::new(observer);
    let work = |worker: usize| -> Result<(), TrainError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| TrainError::Worker(error.to_string()))?;
        loop {
            let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
            if options.wants_stop(0) {
                return Ok(());
            }
            let tell = |what: &dyn Fn(&mut dyn QueueObserver)| {
                if let Ok(mut observer) = observer.lock() {
                    what(&mut **observer);
                }
            };
            tell(&|observer| observer.begun(worker, job));
            let outcome = pool.install(|| carry_out(job, store, runs, options));
            match outcome {
                Ok(Some((result, found))) => tell(&|observer| observer.done(worker, job, &result, found)),
                Ok(None) => return Ok(()),
                Err(error) => {
                    next.store(jobs.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers.max(1)).map(|worker| scope.spawn(move || work(worker))).collect();
        let mut first = Ok(());
        for handle in handles {
            let ended = handle.join().unwrap_or_else(|_| Err(TrainError::Worker("a worker panicked".to_owned())));
            if first.is_ok() {
                first = ended;
            }
        }
        first
    })
}

/// One job to its end: its result, and whether it was already there; `None` if it was asked to stop.
fn carry_out(
    job: &Job,
    store: &ResultStore,
    runs: &Path,
    options: &TrainOptions,
) -> Result<Option<(ExperimentResult, bool)>, TrainError> {
    let run = job.resolve()?;
    let known = store.find(&job.experiment.id, &run.config);
    let missing = ResultStore::missing(&job.experiment, known.as_ref());
    if let Some(known) = known.clone().filter(|_| missing.is_empty()) {
        return Ok(Some((known, true)));
    }
    let folder = run_folder(runs, &job.experiment.id, job.seed);
    let own = TrainOptions { start: Start::ResumeOrNew, ..options.clone() };
    let outcome = match train_resolved(run.clone(), Some(&folder), &own, &mut Silent) {
        Err(TrainError::OtherConfig { .. } | TrainError::Checkpoint { .. }) => {
            // A training of older settings is in the way.
            std::fs::remove_dir_all(&folder).map_err(|source| TrainError::Io {
                action: "remove",
                path: folder.clone(),
                source,
            })?;
            train_resolved(run.clone(), Some(&folder), &own, &mut Silent)
        }
        outcome => outcome,
    };
    let mut result = known.unwrap_or_else(|| ExperimentResult {
        id: job.experiment.id.clone(),
        config: run.config,
        training: None,
        evaluations: BTreeMap::new(),
        measured: BTreeMap::new(),
        failures: BTreeMap::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    let outcome = match outcome {
        Ok(outcome) if outcome.status == Status::Stopped => return Ok(None),
        Ok(outcome) => outcome,
        Err(error @ (TrainError::NotFinite { .. } | TrainError::Model(_))) => {
            result.failures.insert(TRAINING.to_owned(), error.to_string());
            result.failures.extend(missing.into_iter().map(|name| (name, "was not trained".to_owned())));
            result.evaluations = job.experiment.evaluations.clone();
            store.write(&result)?;
            return Ok(Some((result, false)));
        }
        Err(error) => return Err(error),
    };
    result.training = Some(TrainingResult {
        steps: outcome.steps,
        best_epoch: outcome.best.map(|best| best.epoch),
        validation: outcome.best.map(|best| best.value).filter(|value| value.is_finite()),
        seconds: outcome.seconds,
    });
    let predictor = ModelPredictor::new(&outcome.model, &options.device);
    for name in missing {
        if options.wants_stop(0) {
            return Ok(None);
        }
        let evaluation = &job.experiment.evaluations[&name];
        match ask(&predictor, evaluation) {
            Ok(measured) => {
                result.failures.remove(&name);
                result.measured.insert(name.clone(), measured);
            }
            Err(error @ (TrainError::NotFinite { .. } | TrainError::Model(_))) => {
                result.measured.remove(&name);
                result.failures.insert(name.clone(), error.to_string());
            }
            Err(error) => return Err(error),
        }
        result.evaluations.insert(name, evaluation.clone());
        store.write(&result)?;
    }
    Ok(Some((result, false)))
}

/// Where the training of an experiment for a seed keeps its files.
fn run_folder(runs: &Path, id: &str, seed: u64) -> PathBuf {
    runs.join(id).join(format!("seed-{seed}"))
}

/// Test samples are those of seed 0, the same for all models and seeds.
fn ask(predictor: &ModelPredictor, evaluation: &Evaluation) -> Result<Measured, TrainError> {
    let options = EvalOptions {
        success: !evaluation.walks.is_empty(),
        records: evaluation.records,
        cap: evaluation.cap,
        ..EvalOptions::default()
    };
    let report = evaluate(predictor, &evaluation.spec, evaluation.count, 0, &options, &mut |_| {})?;
    Ok(Measured::of(&report))
}
