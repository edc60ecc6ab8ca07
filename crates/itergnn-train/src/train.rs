//! Running a configuration, once or for several seeds.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::config::{MethodConfig, ResolvedRun, RunConfig};
use crate::data::OwnData;
use crate::records::Observer;
use crate::rl::Playing;
use crate::session::Session;
use crate::supervised::Supervised;
use crate::{Outcome, TrainError, TrainOptions};

/// Trains a model as configured, in a run directory if one is given.
///
/// The result depends on the configuration alone: not on the number of threads, not on how often the run was stopped
/// and resumed, not on how often it was saved.
///
/// # Errors
/// [`TrainError::Config`] and its like before anything is written; [`TrainError::Io`] when files cannot be written,
/// which leaves the last checkpoint usable; [`TrainError::NotFinite`] when training diverges;
/// [`TrainError::NotSupervised`] for graph classification, which is a run for every fold: see
/// [`cross_validate`](crate::classification::cross_validate).
///
/// # Example
/// ```
/// use itergnn_tasks::{Task, TaskSpec};
/// use itergnn_train::{ModelConfig, RunConfig, Silent, Status, TrainOptions, train};
///
/// let mut config = RunConfig::new(TaskSpec::paper(Task::ShortestPath), ModelConfig::preset("iter-homo-path"));
/// config.model.hidden_width = Some(4);
/// let method = config.supervised_mut()?;
/// (method.epochs, method.data.train, method.data.validation) = (1, 8, 4);
/// let outcome = train(&config, None, &TrainOptions::default(), &mut Silent)?;
/// assert_eq!((outcome.status, outcome.steps), (Status::Finished, 1));
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
pub fn train(
    config: &RunConfig,
    directory: Option<&Path>,
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrainError> {
    train_resolved(config.resolve()?, directory, options, observer)
}

/// As [`train`], on own labelled graphs.
///
/// # Errors
/// As [`train`]; [`TrainError::Config`] for samples that do not have the shape that the task says.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use itergnn_graph::{Attributes, Graph, GraphError};
/// use itergnn_nn::Level;
/// use itergnn_train::{ModelConfig, OwnTask, RunConfig, Silent, TrainOptions, data::OwnData, train_on};
///
/// // Lines of 2 to 9 nodes and how long they are.
/// let line = |nodes: u32| (0..nodes - 1).map(|node| [node, node + 1]).collect::<Vec<_>>();
/// let ones = |nodes: u32| Attributes::new(1, vec![1.0; nodes as usize]);
/// let graph = |nodes: u32| Graph::undirected(nodes as usize, &line(nodes))?.with_node_attributes(ones(nodes));
/// let labelled = (2..10).map(|nodes| Ok((graph(nodes)?, vec![nodes as f32 - 1.0])));
/// let graphs = Arc::new(labelled.collect::<Result<Vec<_>, GraphError>>()?);
/// let mut config = RunConfig::new(OwnTask::new(Level::Graph), ModelConfig::preset("iter-path"));
/// (config.model.hidden_width, config.supervised_mut()?.epochs) = (Some(4), 2);
/// let data = OwnData { train: graphs.clone(), validation: graphs };
/// let outcome = train_on(&config, &data, None, &TrainOptions::default(), &mut Silent)?;
/// assert_eq!(outcome.steps, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn train_on(
    config: &RunConfig,
    data: &OwnData,
    directory: Option<&Path>,
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrainError> {
    let begin = |run: &ResolvedRun| Supervised::new(run, Some(data), &options.device);
    Ok(Session::begin(config.resolve_for(data)?, begin, directory, options, observer)?.run(observer)?.0)
}

/// As [`train`], for a configuration that was resolved.
pub(crate) fn train_resolved(
    run: ResolvedRun,
    directory: Option<&Path>,
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrainError> {
    let device = &options.device;
    if let MethodConfig::DoubleDqn(_) = run.config.method {
        let begin = |run: &ResolvedRun| Playing::new(run, device);
        return Ok(Session::begin(run, begin, directory, options, observer)?.run(observer)?.0);
    }
    let begin = |run: &ResolvedRun| Supervised::new(run, None, device);
    Ok(Session::begin(run, begin, directory, options, observer)?.run(observer)?.0)
}

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

/// Trains once for every seed, `workers` runs at a time, each on a single thread, and gives the results in the order of
/// the seeds.
///
/// Runs go to [`seed_directory`] of `directory`. `observe` makes the observer of a run. The results do not depend on
/// the number of workers.
///
/// # Errors
/// What is wrong with the configuration; [`TrainError::Worker`] if no thread could be started. What goes wrong in a run
/// is in its [`SeedOutcome`].
pub fn train_seeds<O: Observer>(
    config: &RunConfig,
    seeds: &[u64],
    directory: Option<&Path>,
    options: &TrainOptions,
    workers: usize,
    observe: impl Fn(u64) -> O + Sync,
) -> Result<Vec<SeedOutcome>, TrainError> {
    let resolved = config.resolve()?;
    side_by_side(seeds, workers, |&seed| {
        let config = RunConfig { seed, ..resolved.config.clone() };
        let directory = directory.map(|directory| seed_directory(directory, seed));
        let run = ResolvedRun { config, model: resolved.model.clone() };
        let result = train_resolved(run, directory.as_deref(), options, &mut observe(seed));
        Ok(SeedOutcome { seed, result })
    })
}

/// As [`train_seeds`], on own labelled graphs, which all runs share: seeds differ in weights and order.
///
/// # Errors
/// As [`train_seeds`] and [`train_on`].
pub fn train_seeds_on<O: Observer>(
    config: &RunConfig,
    data: &OwnData,
    seeds: &[u64],
    directory: Option<&Path>,
    options: &TrainOptions,
    workers: usize,
    observe: impl Fn(u64) -> O + Sync,
) -> Result<Vec<SeedOutcome>, TrainError> {
    let resolved = config.resolve_for(data)?;
    side_by_side(seeds, workers, |&seed| {
        let config = RunConfig { seed, ..resolved.config.clone() };
        let directory = directory.map(|directory| seed_directory(directory, seed));
        let run = ResolvedRun { config, model: resolved.model.clone() };
        let begin = |run: &ResolvedRun| Supervised::new(run, Some(data), &options.device);
        let observer = &mut observe(seed);
        let session = Session::begin(run, begin, directory.as_deref(), options, observer);
        let result = session.and_then(|session| session.run(observer)).map(|(outcome, _)| outcome);
        Ok(SeedOutcome { seed, result })
    })
}

/// Runs `work` for every item, `workers` at a time, each on a single thread, and gives the results in the order of the
/// items; the first failure ends the rest before their next item.
pub(crate) fn side_by_side<I: Sync, R: Send>(
    items: &[I],
    workers: usize,
    work: impl Fn(&I) -> Result<R, TrainError> + Sync,
) -> Result<Vec<R>, TrainError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    let worker = || -> Result<(), TrainError> {
        // A pool of one thread: what a run computes in parallel then stays within its worker.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| TrainError::Worker(error.to_string()))?;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return Ok(()) };
            let result = pool.install(|| work(item)).inspect_err(|_| next.store(items.len(), Ordering::Relaxed))?;
            if let Ok(mut results) = results.lock() {
                results[index] = Some(result);
            }
        }
    };
    let panicked = || TrainError::Worker("it panicked".to_owned());
    std::thread::scope(|scope| {
        let count = workers.clamp(1, items.len().max(1));
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| Err(panicked())))
    })?;
    Ok(results.into_inner().map_err(|_| panicked())?.into_iter().flatten().collect())
}
