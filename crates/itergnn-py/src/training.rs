//! Training, in a run directory.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicBool, atomic::Ordering},
};

use itergnn::train::{
    CardRun, CudaError, EpochRecord, Observer, Outcome, RunConfig, RunTask, Start, Status, StepRecord, TrainError,
    TrainOptions,
    data::{Example, OwnData},
    rl::PlayRecord,
    seed_directory, train, train_on, train_on_card, train_seeds,
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::{
    errors::Fault,
    graph::Graph,
    samples::from_json,
    work::{guarded, work},
};

/// What is wrong with settings, files or data is the caller's to mend; a run that diverges, a dead thread or a full
/// disk is not.
pub(crate) fn fault(error: TrainError) -> Fault {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match &error {
        TrainError::Cuda(CudaError::Unsupported(_)) => Fault::input(error),
        TrainError::NotFinite { .. }
        | TrainError::PathNotFinite { .. }
        | TrainError::Worker(_)
        | TrainError::Cuda(_) => Fault::failed(error),
        TrainError::Io { source, .. } if matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull) => {
            Fault::failed(format!("{error}; the last good checkpoint is kept, make room and go on with resume=True"))
        }
        _ => Fault::input(error),
    }
}

/// Passes what happens to Python: every record, as the line of the run's log that it is.
struct Told {
    seed: u64,
    callback: Option<Arc<Py<PyAny>>>,
    stop: Arc<AtomicBool>,
    /// What the callback raised; it ends the run.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Told {
    fn tell(&self, kind: &str, record: &impl Serialize) {
        let Some(callback) = &self.callback else { return };
        let Ok(mut line) = serde_json::to_value(record) else { return };
        if let Some(fields) = line.as_object_mut() {
            fields.insert("kind".to_owned(), kind.into());
            fields.insert("seed".to_owned(), self.seed.into());
        }
        let told = Python::attach(|py| callback.call1(py, (from_json(py, &line.to_string())?,)).map(drop));
        if let (Err(error), Ok(mut raised)) = (told, self.raised.lock()) {
            self.stop.store(true, Ordering::Relaxed);
            raised.get_or_insert(error);
        }
    }
}

impl Observer for Told {
    fn step(&mut self, record: &StepRecord) {
        self.tell("step", record);
    }

    fn epoch(&mut self, record: &EpochRecord) {
        self.tell("epoch", record);
    }

    fn play(&mut self, record: &PlayRecord) {
        self.tell("play", record);
    }
}

/// How a seed's run ended.
#[derive(Serialize)]
struct Ended {
    seed: u64,
    directory: PathBuf,
    status: &'static str,
    error: Option<String>,
    steps: u64,
    best_epoch: Option<u64>,
    best_value: Option<f64>,
    seconds: f64,
}

impl Ended {
    fn of(seed: u64, directory: PathBuf, result: Result<Outcome, TrainError>) -> Self {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                let (status, error) = ("failed", Some(error.to_string()));
                return Self {
                    seed,
                    directory,
                    status,
                    error,
                    steps: 0,
                    best_epoch: None,
                    best_value: None,
                    seconds: 0.0,
                };
            }
        };
        let status = match outcome.status {
            Status::Finished => "finished",
            Status::EarlyStopped => "stopped early",
            Status::Stopped => "stopped",
        };
        Self {
            seed,
            directory,
            status,
            error: None,
            steps: outcome.steps,
            best_epoch: outcome.best.map(|best| best.epoch),
            best_value: outcome.best.map(|best| best.value),
            seconds: outcome.seconds,
        }
    }
}

/// A graph and its target, row after row.
type Labelled<'py> = (PyRef<'py, Graph>, Vec<f32>);

fn examples(labelled: Vec<Labelled<'_>>) -> Vec<Example> {
    let example = |(graph, target): Labelled<'_>| Example::new(itergnn::graph::Graph::clone(&graph.inner), target);
    labelled.into_iter().map(example).collect()
}

/// Own graphs: those to learn from, and those given to choose by or the share that the task holds out.
fn own_data(
    config: &RunConfig,
    data: Vec<Labelled<'_>>,
    validation: Option<Vec<Labelled<'_>>>,
) -> Result<OwnData, Fault> {
    let RunTask::Own(task) = &config.task else {
        return Err(Fault::input("data: the task of own graphs is {\"task\": \"own\", \"level\": ..}"));
    };
    let (train, validation) = match validation {
        Some(validation) => (examples(data), examples(validation)),
        None => task.divide(examples(data), config.seed).map_err(fault)?,
    };
    Ok(OwnData { train: Arc::new(train), validation: Arc::new(validation) })
}

/// Several seeds on own graphs.
fn one_by_one(
    config: &RunConfig,
    seeds: &[u64],
    own: Option<&OwnData>,
    directory: &Path,
    options: &TrainOptions,
    told: impl Fn(u64) -> Told,
) -> Result<Vec<Ended>, Fault> {
    let Some(own) = own else { return Ok(Vec::new()) };
    let run = |&seed: &u64| {
        let folder = seed_directory(directory, seed);
        let result = train_on(&RunConfig { seed, ..config.clone() }, own, Some(&folder), options, &mut told(seed));
        Ended::of(seed, folder, result)
    };
    Ok(seeds.iter().map(run).collect())
}

/// All seeds side by side on the card.
fn side_by_side(
    config: &RunConfig,
    own: Option<&OwnData>,
    seeds: Option<&[u64]>,
    directory: &Path,
    options: &TrainOptions,
    told: impl Fn(u64) -> Told + Sync,
) -> Result<Vec<Ended>, Fault> {
    let folder = |seed| seeds.map_or_else(|| directory.to_owned(), |_| seed_directory(directory, seed));
    let run = |&seed: &u64| CardRun {
        config: RunConfig { seed, ..config.clone() },
        directory: Some(folder(seed)),
        data: own.cloned(),
    };
    let runs: Vec<CardRun> = seeds.unwrap_or(&[config.seed]).iter().map(run).collect();
    let mut outcomes = train_on_card(&runs, options, |index| told(runs[index].config.seed)).map_err(fault)?;
    if seeds.is_none()
        && let Some(error) = outcomes.pop_if(|outcome| outcome.result.is_err()).and_then(|failed| failed.result.err())
    {
        return Err(fault(error));
    }
    Ok(outcomes.into_iter().map(|one| Ended::of(one.seed, folder(one.seed), one.result)).collect())
}

/// Whether a device is the card.
pub(crate) fn is_card(device: &str) -> Result<bool, Fault> {
    match device {
        "cpu" => Ok(false),
        "cuda" => Ok(true),
        _ => Err(Fault::input(format!("device '{device}': expected cpu or cuda"))),
    }
}

/// Trains as configured (JSON, as in a configuration file) in a directory, with one seed in it or with several in
/// folders below; `callback` is called with every record. Returns how each seed's run ended.
#[pyfunction]
#[pyo3(signature = (config, directory, seeds=None, resume=false, workers=1, callback=None, data=None, validation_data=None, device="cpu"))]
#[allow(clippy::too_many_arguments)] // they are the arguments of a Python function with names
pub(crate) fn train_run<'py>(
    py: Python<'py>,
    config: &str,
    directory: PathBuf,
    seeds: Option<Vec<u64>>,
    resume: bool,
    workers: usize,
    callback: Option<Py<PyAny>>,
    data: Option<Vec<Labelled<'py>>>,
    validation_data: Option<Vec<Labelled<'py>>>,
    device: &str,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(|| {
        let on_card = is_card(device)?;
        let config: RunConfig =
            serde_json::from_str(config).map_err(|error| Fault::input(format!("config: {error}")))?;
        let own = data.map(|data| own_data(&config, data, validation_data)).transpose()?;
        let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
        let (kept, callback) = (Arc::clone(&raised), callback.map(Arc::new));
        let text = work(py, move |stop| {
            let start = if resume { Start::ResumeOrNew } else { Start::New };
            let options = TrainOptions { start, stop: Arc::clone(stop), ..TrainOptions::default() };
            let told =
                |seed| Told { seed, callback: callback.clone(), stop: Arc::clone(stop), raised: Arc::clone(&kept) };
            let ended: Vec<Ended> = match seeds {
                seeds if on_card => side_by_side(&config, own.as_ref(), seeds.as_deref(), &directory, &options, told)?,
                None => {
                    let mut told = told(config.seed);
                    let outcome = match &own {
                        Some(own) => train_on(&config, own, Some(&directory), &options, &mut told),
                        None => train(&config, Some(&directory), &options, &mut told),
                    };
                    let outcome = outcome.map_err(fault)?;
                    vec![Ended::of(config.seed, directory, Ok(outcome))]
                }
                Some(seeds) if own.is_some() => one_by_one(&config, &seeds, own.as_ref(), &directory, &options, told)?,
                Some(seeds) => {
                    let all = train_seeds(&config, &seeds, Some(&directory), &options, workers, told).map_err(fault)?;
                    all.into_iter()
                        .map(|one| Ended::of(one.seed, seed_directory(&directory, one.seed), one.result))
                        .collect()
                }
            };
            serde_json::to_string(&ended).map_err(Fault::failed)
        });
        if let Some(error) = raised.lock().ok().and_then(|mut raised| raised.take()) {
            return Err(error);
        }
        from_json(py, &text?)
    })
}
