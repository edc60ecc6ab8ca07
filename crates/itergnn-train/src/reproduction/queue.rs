//! Experiments over the cores.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use itergnn_nn::store::load;

use super::catalogue::is_aligned;
use super::{Curve, Evaluation, Experiment, ExperimentResult, Measured, ResultStore, TrainingResult};
use crate::card::{CardRun, is_covered, train_on_card};
use crate::evaluation::{EvalOptions, ModelPredictor, evaluate};
use crate::run::Start;
use crate::train::train_resolved;
use crate::{MethodConfig, Outcome, ResolvedRun, RunConfig, SeedOutcome, Silent, Status, TrainError, TrainOptions};

/// Groups of trainings that share the card: one alone leaves most of it idle.
const GROUPS_AT_ONCE: usize = 6;

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
    /// The jobs of some experiments: each id once per seed, with the evaluations of all that carry it.
    pub fn plan<'a>(experiments: impl IntoIterator<Item = &'a Experiment>, seeds: &[u64]) -> Vec<Self> {
        let mut merged: Vec<Experiment> = Vec::new();
        for experiment in experiments {
            match merged.iter_mut().find(|known| known.id == experiment.id) {
                Some(known) => known.evaluations.extend(experiment.evaluations.clone()),
                None => merged.push(experiment.clone()),
            }
        }
        // Task-aligned families first, which are the quickest; and all experiments for the first seed, so that an
        // interrupted reproduction has every cell before any has a spread.
        merged.sort_by_key(|experiment| !is_aligned(&experiment.config.model.name));
        let of_seed = |&seed: &u64| merged.iter().map(move |experiment| Self { experiment: experiment.clone(), seed });
        seeds.iter().flat_map(of_seed).collect()
    }

    /// The name of the model in the id of the experiment.
    pub fn model(&self) -> &str {
        self.experiment.id.rsplit('/').next().unwrap_or_default()
    }

    /// Where the training keeps its files.
    fn folder(&self, runs: &Path) -> PathBuf {
        runs.join(&self.experiment.id).join(format!("seed-{}", self.seed))
    }

    /// Where the trained model is.
    fn model_file(&self, runs: &Path) -> PathBuf {
        self.folder(runs).join("model.safetensors")
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

/// Where trainings of a queue run; evaluations run on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrainingPlace {
    /// On the CPU.
    #[default]
    Cpu,
    /// Those of networks that the card covers on the card, as many of one shape together as there are; the others on
    /// the CPU meanwhile.
    Card,
}

/// Carries out the jobs, `workers` at a time, each on its share of the threads, and writes a result after every
/// evaluation.
///
/// Results that are there are not made again; trainings that were interrupted go on where they were. A training that
/// diverges is a result with a failure. Once [`TrainOptions::stop`] is set, running trainings save their state and no
/// job begins.
///
/// # Errors
/// The first error that is none of a model but of the machine (files, threads, the card) or of the plan.
pub fn run_queue(
    jobs: &[Job],
    store: &ResultStore,
    runs: &Path,
    options: &TrainOptions,
    workers: usize,
    place: TrainingPlace,
    observer: &mut dyn QueueObserver,
) -> Result<(), TrainError> {
    let mut at_once: Vec<usize> = (0..jobs.len()).collect();
    let mut groups = Vec::new();
    if place == TrainingPlace::Card {
        groups = for_card(jobs, store, runs)?;
        at_once.retain(|index| !groups.iter().flatten().any(|on_card| on_card == index));
    }
    let (sender, ready) = channel();
    for index in at_once {
        let _ = sender.send(Ready { index, trained: None });
    }
    let groups_at_once = groups.len().min(GROUPS_AT_ONCE);
    let (ready, observer, groups) = (Mutex::new(ready), Mutex::new(observer), Mutex::new(groups.into_iter()));
    let (groups, failed) = (&groups, &AtomicBool::new(false));
    let threads = (rayon::current_num_threads() / workers.max(1)).max(1);
    let work = |worker: usize| -> Result<(), TrainError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| TrainError::Worker(error.to_string()))?;
        loop {
            let next = ready.lock().map_err(|_| panicked()).map(|ready| ready.recv())?;
            let Ok(Ready { index, trained }) = next else { return Ok(()) };
            if options.wants_stop(0) || failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            let job = &jobs[index];
            let tell = |what: &dyn Fn(&mut dyn QueueObserver)| {
                if let Ok(mut observer) = observer.lock() {
                    what(&mut **observer);
                }
            };
            tell(&|observer| observer.begun(worker, job));
            let outcome = pool.install(|| carry_out(job, store, runs, options, trained));
            match outcome {
                Ok(Some((result, found))) => tell(&|observer| observer.done(worker, job, &result, found)),
                Ok(None) => return Ok(()),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let mut handles: Vec<_> = (0..workers.max(1)).map(|worker| scope.spawn(move || work(worker))).collect();
        handles.extend((0..groups_at_once).map(|_| {
            // The last sender to be dropped tells the workers that nothing more comes.
            let sender = sender.clone();
            scope.spawn(move || {
                loop {
                    let next = groups.lock().map_err(|_| panicked()).map(|mut groups| groups.next())?;
                    let Some(group) = next.filter(|_| !options.wants_stop(0) && !failed.load(Ordering::Relaxed)) else {
                        return Ok(());
                    };
                    let outcomes = train_group(jobs, &group, runs, options)?;
                    for (index, outcome) in group.into_iter().zip(outcomes) {
                        let _ = sender.send(Ready { index, trained: Some(outcome.result) });
                    }
                }
            })
        }));
        drop(sender);
        let mut first = Ok(());
        for handle in handles {
            let ended = handle.join().unwrap_or_else(|_| Err(panicked()));
            if first.is_ok() {
                first = ended;
            }
        }
        first
    })
}

/// A job that a worker may take, and how its training on the card ended, if it was trained there.
struct Ready {
    index: usize,
    trained: Option<Result<Outcome, TrainError>>,
}

fn panicked() -> TrainError {
    TrainError::Worker("a worker panicked".to_owned())
}

/// Jobs to be trained together on the card: those that are not trained and whose network it covers, by task and
/// network.
fn for_card(jobs: &[Job], store: &ResultStore, runs: &Path) -> Result<Vec<Vec<usize>>, TrainError> {
    let mut groups: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (index, job) in jobs.iter().enumerate() {
        let run = job.resolve()?;
        let known = store.find(&job.experiment.id, &run.config);
        let is_trained = known.is_some_and(|known| known.training.is_some()) && job.model_file(runs).is_file();
        if is_covered(&run) && !is_trained {
            // The same network on all graphs of a task, with a price on mass left or without.
            let network = job.model().trim_end_matches("-settle").to_owned();
            let task = run.config.task.name().to_owned();
            groups.entry((task, network)).or_default().push(index);
        }
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    // Those that train the longest first, so that the shorter ones run beside them.
    let epochs = |&index: &usize| match &jobs[index].experiment.config.method {
        MethodConfig::Supervised(supervised) => supervised.epochs,
        _ => 0,
    };
    groups.sort_by_key(|group| Reverse(group.iter().map(epochs).max()));
    Ok(groups)
}

/// Trains jobs side by side on the card.
fn train_group(
    jobs: &[Job],
    group: &[usize],
    runs: &Path,
    options: &TrainOptions,
) -> Result<Vec<SeedOutcome>, TrainError> {
    let run = |&index: &usize| {
        let job = &jobs[index];
        let directory = Some(job.folder(runs));
        CardRun { config: RunConfig { seed: job.seed, ..job.experiment.config.clone() }, directory, data: None }
    };
    let list: Vec<CardRun> = group.iter().map(run).collect();
    let own = TrainOptions { start: Start::ResumeOrNew, ..options.clone() };
    let outcomes = train_on_card(&list, &own, |_| Silent)?;
    let mut again = false;
    for (run, outcome) in list.iter().zip(&outcomes) {
        if let (Err(TrainError::OtherConfig { .. } | TrainError::Checkpoint { .. }), Some(folder)) =
            (&outcome.result, &run.directory)
        {
            remove_older(folder)?;
            again = true;
        }
    }
    // Those that ended well are found as they are.
    if again { train_on_card(&list, &own, |_| Silent) } else { Ok(outcomes) }
}

/// Removes a training of older settings that is in the way.
fn remove_older(folder: &Path) -> Result<(), TrainError> {
    std::fs::remove_dir_all(folder).map_err(|source| TrainError::Io {
        action: "remove",
        path: folder.to_owned(),
        source,
    })
}

/// One job to its end: its result, and whether it was already there; `None` if it was asked to stop.
fn carry_out(
    job: &Job,
    store: &ResultStore,
    runs: &Path,
    options: &TrainOptions,
    trained: Option<Result<Outcome, TrainError>>,
) -> Result<Option<(ExperimentResult, bool)>, TrainError> {
    let run = job.resolve()?;
    let known = store.find(&job.experiment.id, &run.config);
    let missing = ResultStore::missing(&job.experiment, known.as_ref());
    if let Some(known) = known.clone().filter(|_| missing.is_empty()) {
        return Ok(Some((known, true)));
    }
    let folder = job.folder(runs);
    let own = TrainOptions { start: Start::ResumeOrNew, ..options.clone() };
    let train = || train_resolved(run.clone(), Some(&folder), &own, &mut Silent);
    let is_trained = known.as_ref().is_some_and(|known| known.training.is_some());
    let kept = if is_trained { load(job.model_file(runs), &options.device).ok() } else { None };
    let mut result = known.unwrap_or_else(|| ExperimentResult {
        id: job.experiment.id.clone(),
        config: run.config.clone(),
        training: None,
        evaluations: BTreeMap::new(),
        measured: BTreeMap::new(),
        failures: BTreeMap::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    let model = if let Some((model, _)) = kept {
        model
    } else {
        let outcome = match trained.unwrap_or_else(train) {
            Err(TrainError::OtherConfig { .. } | TrainError::Checkpoint { .. }) => {
                remove_older(&folder)?;
                train()
            }
            outcome => outcome,
        };
        match outcome {
            Ok(outcome) if outcome.status == Status::Stopped => return Ok(None),
            Ok(outcome) => {
                result.training = Some(TrainingResult {
                    steps: outcome.steps,
                    best_epoch: outcome.best.map(|best| best.epoch),
                    validation: outcome.best.map(|best| best.value).filter(|value| value.is_finite()),
                    seconds: outcome.seconds,
                    curve: Curve::of_run(&folder),
                });
                store.write(&result)?;
                outcome.model
            }
            Err(error @ (TrainError::NotFinite { .. } | TrainError::Model(_))) => {
                result.failures.insert(TRAINING.to_owned(), error.to_string());
                result.failures.extend(missing.into_iter().map(|name| (name, "was not trained".to_owned())));
                result.evaluations = job.experiment.evaluations.clone();
                store.write(&result)?;
                return Ok(Some((result, false)));
            }
            Err(error) => return Err(error),
        }
    };
    let predictor = ModelPredictor::new(&model, &options.device);
    for name in missing {
        if options.wants_stop(0) {
            return Ok(None);
        }
        let evaluation = &job.experiment.evaluations[&name];
        match ask(&predictor, evaluation) {
            Ok(Some(measured)) => {
                result.failures.remove(&name);
                result.measured.insert(name.clone(), measured);
            }
            Ok(None) => continue,
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

/// Seconds that walks of one evaluation may take by the time of one prediction; longer ones are left out, and the cell
/// stays empty.
const LONGEST_WALKS: f64 = 7_200.0;

/// Neighbours that a walk asks about at every step, roughly.
const NEIGHBOURS: f64 = 2.5;

/// Test samples are the same for all models and seeds. `None` where walking would take too long.
///
/// A network that does not stop by itself on some of them finds no paths: what it would say at the cap is not its
/// answer, and walking by it would take days.
fn ask(predictor: &ModelPredictor, evaluation: &Evaluation) -> Result<Option<Measured>, TrainError> {
    let ask = |success: bool, records: bool| {
        let options = EvalOptions { success, records, cap: evaluation.cap, ..EvalOptions::default() };
        evaluate(predictor, &evaluation.spec, evaluation.count, evaluation.seed, &options, &mut |_| {})
    };
    if evaluation.walks.is_empty() {
        return Ok(Some(Measured::of(&ask(false, evaluation.records)?)));
    }
    let report = ask(false, true)?;
    if report.capped > 0 {
        return Ok(Some(Measured { records: Vec::new(), ..Measured::of(&report) }));
    }
    let steps: f64 = report.samples.iter().map(|sample| f64::from(sample.target[0])).sum();
    if report.seconds / report.count.max(1) as f64 * steps * NEIGHBOURS > LONGEST_WALKS {
        return Ok(None);
    }
    Ok(Some(Measured::of(&ask(true, evaluation.records)?)))
}
