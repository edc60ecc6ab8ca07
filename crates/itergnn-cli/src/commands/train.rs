//! `itergnn train`: a model from samples, from folds or from games, in a run directory that can be resumed.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use itergnn::{
    tasks::{Task, TaskSpec, algorithms::AlgorithmSpec},
    train::{
        CardRun, CudaError, MethodConfig, ModelConfig, Outcome, RunConfig, RunDirectory, RunTask, Start, Status,
        TrainError, TrainOptions,
        data::{Example, OwnData},
        seed_directory, train, train_on, train_on_card, train_seeds, train_seeds_on,
    },
};
use serde::Serialize;

use crate::{
    commands::{algorithms, classification, own, task},
    compute::DeviceName,
    estimate::Allowance,
    failure::Failure,
    given::Given,
    options::{Subject, TrainArguments, ValidationSamples},
    output::{self, print, print_json},
    training_view::Views,
};

pub(crate) fn run(arguments: &TrainArguments, given: &Given) -> Result<(), Failure> {
    let device = arguments.compute.start_anywhere()?;
    let on_card = arguments.compute.device == DeviceName::Cuda;
    let config = configuration(arguments, given)?;
    if on_card && !matches!(config.method, MethodConfig::Supervised(_)) {
        let why = "--device cuda: only learning from samples runs there; leave the flag out";
        return Err(Failure::bad_input(why));
    }
    let seeds = seeds(arguments, config.seed)?;
    let stop = stop_on_interrupt()?;
    let start = if arguments.resume { Start::ResumeOrNew } else { Start::New };
    let options = TrainOptions { device, start, stop: Arc::clone(&stop), ..TrainOptions::default() };
    let workers = arguments.compute.threads.unwrap_or_else(rayon::current_num_threads);
    if let MethodConfig::CrossValidation(_) = config.method {
        return classification::train(arguments, &config, &options, workers);
    }
    let data = own::samples(&config)?;
    if !on_card {
        let beside = seeds.as_ref().map_or(1, |seeds| seeds.len().min(workers));
        check_memory(&config, data.as_ref(), beside)?;
    }
    let views = Views::new();
    let results = match seeds {
        seeds if on_card => train_beside(arguments, &config, data.as_ref(), seeds.as_deref(), &options, &views)?,
        Some(seeds) => {
            let (out, view) = (Some(&*arguments.out), |seed| views.of_seed(seed));
            let outcomes = match &data {
                Some(data) => train_seeds_on(&config, data, &seeds, out, &options, workers, view),
                None => train_seeds(&config, &seeds, out, &options, workers, view),
            };
            outcomes.map_err(failure)?.into_iter().map(|outcome| (outcome.seed, outcome.result)).collect()
        }
        None => {
            let (out, mut view) = (Some(&*arguments.out), views.alone());
            let outcome = match &data {
                Some(data) => train_on(&config, data, out, &options, &mut view),
                None => train(&config, out, &options, &mut view),
            };
            vec![(config.seed, outcome)]
        }
    };
    // The only run that could not begin has nothing to report but why.
    if let [(_, Err(_))] = &results[..] {
        return results.into_iter().try_for_each(|(_, result)| result.map(drop)).map_err(failure);
    }
    report(arguments, &results)?;
    // A seed that fails is in the table above; the exit code says so too.
    for (_, result) in results {
        result.map_err(failure)?;
    }
    if stop.load(Ordering::Relaxed) {
        return Err(stopped(arguments));
    }
    Ok(())
}

/// How the run of each seed ended.
type Ended = Vec<(u64, Result<Outcome, TrainError>)>;

/// Trains all seeds side by side on the card.
fn train_beside(
    arguments: &TrainArguments,
    config: &RunConfig,
    data: Option<&OwnData>,
    seeds: Option<&[u64]>,
    options: &TrainOptions,
    views: &Views,
) -> Result<Ended, Failure> {
    let run = |seed: u64| CardRun {
        config: RunConfig { seed, ..config.clone() },
        directory: Some(seeds.map_or_else(|| arguments.out.clone(), |_| seed_directory(&arguments.out, seed))),
        data: data.cloned(),
    };
    let runs: Vec<CardRun> = seeds.unwrap_or(&[config.seed]).iter().map(|&seed| run(seed)).collect();
    let outcomes = train_on_card(&runs, options, |index| views.of_seed(runs[index].config.seed));
    Ok(outcomes.map_err(failure)?.into_iter().map(|outcome| (outcome.seed, outcome.result)).collect())
}

/// What a run says that was asked to stop.
pub(crate) fn stopped(arguments: &TrainArguments) -> Failure {
    Failure::failed(format!("stopped; the same command with --resume goes on in {}", arguments.out.display()))
}

/// What is wrong with settings or with the name of a directory is the user's to mend; a run that diverges or cannot be
/// written is not.
pub(crate) fn failure(error: TrainError) -> Failure {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match &error {
        TrainError::Cuda(CudaError::Unsupported(_)) => Failure::bad_input(error),
        TrainError::NotFinite { .. }
        | TrainError::PathNotFinite { .. }
        | TrainError::Worker(_)
        | TrainError::Cuda(_) => Failure::failed(error),
        TrainError::Io { action: "write", source, .. } => {
            let full = matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull);
            let room = if full { "make room and " } else { "" };
            Failure::failed(format!("{error}; the last good checkpoint is kept: {room}go on with --resume"))
        }
        _ => Failure::bad_input(error),
    }
}

/// Ctrl-C asks the run to save its state and end; a second one ends the process at once.
pub(crate) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
    })
    .map_err(Failure::failed)?;
    Ok(stop)
}

/// The run's configuration: a file's, or that of a run to resume, or the paper's, changed by what the user gave. What
/// does not apply to it is refused.
fn configuration(arguments: &TrainArguments, given: &Given) -> Result<RunConfig, Failure> {
    let own = arguments.samples_of.data.as_deref().filter(|_| arguments.task.is_none());
    let mut config = match (&arguments.config, arguments.task) {
        (None, None) if own.is_some() => own::configuration(arguments, own.unwrap_or(Path::new("")))?,
        (Some(path), None) => read_config(path)?,
        (Some(_), Some(_)) => return Err(Failure::bad_input("give a TASK or --config, not both")),
        (None, Some(Subject::Task(task))) => {
            RunConfig::new(TaskSpec::paper(task), ModelConfig::preset(default_model(task)))
        }
        (None, Some(Subject::Algorithm(algorithm))) => {
            RunConfig::new(AlgorithmSpec::training(algorithm), ModelConfig::preset("iter-path"))
        }
        (None, None) if arguments.resume && arguments.out.join("config.toml").is_file() => {
            RunDirectory::config_of(&arguments.out).map_err(failure)?
        }
        (None, None) => return Err(Failure::bad_input("give a TASK, or --config FILE; see `itergnn train --help`")),
    };
    refuse_other_flags(given, &config)?;
    match &mut config.task {
        RunTask::BuiltIn(spec) => task::apply(spec, &arguments.samples_of).map_err(Failure::bad_input)?,
        RunTask::Algorithm(spec) => algorithms::apply(spec, &arguments.samples_of)?,
        RunTask::Own(_) => {}
    }
    start_from(&mut config.model, arguments)?;
    change_model(&mut config.model, arguments);
    let optimiser = &mut config.optimiser;
    optimiser.learning_rate = arguments.learning_rate.unwrap_or(optimiser.learning_rate);
    config.seed = arguments.seed.unwrap_or(config.seed);
    config.engine = arguments.engine.unwrap_or(config.engine);
    match &mut config.method {
        MethodConfig::Supervised(method) => {
            method.epochs = arguments.epochs.unwrap_or(method.epochs);
            method.batch_size = arguments.batch_size.unwrap_or(method.batch_size);
            method.data.train = arguments.samples.unwrap_or(method.data.train);
            method.loss = arguments.loss.or(method.loss);
            match (&config.task, arguments.validation) {
                (RunTask::Own(_), _) | (_, None) => {}
                (_, Some(ValidationSamples::Count(count))) => method.data.validation = count,
                (_, Some(ValidationSamples::Share(share))) => {
                    return Err(Failure::bad_input(format!("--validation {share}: expected a number of samples")));
                }
            }
        }
        MethodConfig::CrossValidation(method) => {
            method.epochs = arguments.epochs.unwrap_or(method.epochs);
            method.batch_size = arguments.batch_size.unwrap_or(method.batch_size);
            method.folds = arguments.folds.unwrap_or(method.folds);
            method.fold = arguments.fold.or(method.fold);
        }
        MethodConfig::DoubleDqn(method) => {
            method.steps = arguments.steps.unwrap_or(method.steps);
            method.layers = arguments.layers.or(method.layers);
            method.kernel = arguments.kernel.or(method.kernel);
            method.agent.batch_size = arguments.batch_size.unwrap_or(method.agent.batch_size);
        }
    }
    for setting in &arguments.set {
        config = config.with_setting(setting).map_err(|error| Failure::bad_input(format!("--set {error}")))?;
    }
    Ok(config)
}

fn default_model(task: Task) -> &'static str {
    match task {
        Task::Pacman => "iter-path",
        Task::GraphClassification => "iter-gin",
        _ => "iter-homo-path",
    }
}

/// The weights to begin with, and their network unless another is named.
fn start_from(model: &mut ModelConfig, arguments: &TrainArguments) -> Result<(), Failure> {
    let Some(start) = &arguments.start_from else { return Ok(()) };
    let file = if start.is_dir() { RunDirectory::best_model_in(start) } else { start.clone() };
    if arguments.model.is_none() && arguments.config.is_none() {
        let (_, card) = super::model::load(&file)?;
        let trained = RunConfig::of_card(&card).ok_or_else(|| {
            Failure::bad_input(format!(
                "--start-from {}: its card does not say how it was trained; give --model",
                start.display()
            ))
        })?;
        *model = trained.model;
    }
    model.start_from = Some(file);
    Ok(())
}

fn change_model(model: &mut ModelConfig, arguments: &TrainArguments) {
    if let Some(name) = &arguments.model {
        *model = ModelConfig { start_from: model.start_from.take(), ..ModelConfig::preset(name.as_str()) };
    }
    model.layer = arguments.layer.or(model.layer);
    model.aggregation = arguments.aggregation.or(model.aggregation);
    model.prior = arguments.prior.or(model.prior);
    model.controller = arguments.controller.map(Into::into).or(model.controller.take());
    model.hidden_width = arguments.hidden.or(model.hidden_width);
    model.readout = arguments.readout.or(model.readout);
    model.scope = arguments.scope.or(model.scope);
    model.blocks = arguments.blocks.or(model.blocks);
}

/// Flags that mean something however a task is learned.
const ALWAYS: [&str; 11] =
    ["model", "out", "config", "hidden", "batch-size", "learning-rate", "seed", "resume", "set", "device", "threads"];

/// Flags of models that are made of layers; which of them a model takes, it says itself.
const LAYERS: [&str; 7] = ["layer", "aggregation", "controller", "prior", "readout", "scope", "blocks"];

/// Flags of learning from samples that are drawn.
const DRAWN: [&str; 7] = ["epochs", "samples", "validation", "seeds", "engine", "loss", "start-from"];

/// Refuses the flags that mean nothing for the task and the way it is learned.
fn refuse_other_flags(given: &Given, config: &RunConfig) -> Result<(), Failure> {
    let spec = match &config.task {
        RunTask::BuiltIn(spec) => spec,
        RunTask::Algorithm(spec) => {
            let meant = [&ALWAYS[..], &LAYERS, &DRAWN, &algorithms::FLAGS].concat();
            return given.only(&format!("the algorithm {}", spec.algorithm), &meant);
        }
        RunTask::Own(_) => {
            let own =
                ["epochs", "data", "level", "classes", "loss", "engine", "seeds", "validation", "validation-data"];
            let meant = [&ALWAYS[..], &LAYERS, &own, &["validation-from-size", "start-from"]].concat();
            return given.only("own graphs", &meant);
        }
    };
    let task = spec.task();
    let of_task: &[&str] = match task {
        Task::ShortestPath => &["generator", "size", "weighted", "weights"],
        Task::ComponentCount => &["generator", "size"],
        Task::Tsp | Task::NewtonBalls | Task::Navigation => &["size"],
        Task::RegularGraphs => &[],
        Task::Pacman => &["size", "dots", "walls"],
        Task::GraphClassification => &["data", "dataset"],
    };
    let (how, of_method) = match &config.method {
        MethodConfig::Supervised(_) => ("from samples", [&LAYERS[..], &DRAWN].concat()),
        MethodConfig::CrossValidation(_) => ("in folds", vec!["epochs", "folds", "fold"]),
        MethodConfig::DoubleDqn(_) => ("by playing", [&LAYERS[..], &["steps", "layers", "kernel", "seeds"]].concat()),
    };
    given.only(&format!("{task}, which is learned {how}"), &[&ALWAYS[..], of_task, &of_method].concat())
}

/// The seeds of a run, if there are to be several; refused where their runs cannot even be listed.
fn seeds(arguments: &TrainArguments, first: u64) -> Result<Option<Vec<u64>>, Failure> {
    let Some(count) = arguments.seeds else { return Ok(None) };
    if count == 0 {
        return Err(Failure::bad_input("--seeds 0: at least one is needed"));
    }
    Allowance::free().check_count("--seeds", count, SEED_BYTES)?;
    let last = first.checked_add(count - 1).ok_or_else(|| {
        Failure::bad_input(format!("--seeds {count}: at most {} fit above --seed {first}", u64::MAX - first))
    })?;
    Ok(Some((first..=last).collect()))
}

/// Refuses a training whose steps do not fit into memory, with so many runs side by side.
fn check_memory(config: &RunConfig, data: Option<&OwnData>, beside: usize) -> Result<(), Failure> {
    let MethodConfig::Supervised(method) = &config.method else { return Ok(()) };
    let run = match data {
        Some(data) => config.resolve_for(data),
        None => config.resolve(),
    };
    let model = run.map_err(failure)?.model;
    let (elements, nodes, samples) = match (&config.task, data) {
        (RunTask::BuiltIn(spec), _) => {
            let sampler = spec.sampler().map_err(Failure::bad_input)?;
            (sampler.largest(), sampler.largest_nodes(), method.data.train)
        }
        (RunTask::Algorithm(spec), _) => {
            let nodes = spec.sizes.iter().copied().max().unwrap_or(0);
            (spec.largest() as usize, nodes as usize, method.data.train)
        }
        (RunTask::Own(_), Some(data)) => {
            let size = |example: &Example| (example.graph.nodes() + example.graph.edges(), example.graph.nodes());
            let examples = (0..data.train.len()).filter_map(|index| data.train.sample(index).ok());
            let (elements, nodes) = examples.map(|example| size(&example)).max().unwrap_or((0, 0));
            (elements, nodes, data.train.len())
        }
        (RunTask::Own(_), None) => return Ok(()),
    };
    let batch = (method.batch_size as u64).min(samples) as usize;
    let (all, nodes) = (elements.saturating_mul(batch), nodes.saturating_mul(batch));
    let step = model.settings().training_bytes(nodes, all.saturating_sub(nodes), config.engine);
    let what = format!("a step of {batch} samples with up to {elements} nodes and edges each");
    Allowance::free().check(&what, step.saturating_mul(beside as u64))
}

/// What the result of a run holds: a model of the paper's width with its optimiser.
const SEED_BYTES: u64 = 1 << 20;

fn read_config(path: &Path) -> Result<RunConfig, Failure> {
    let at = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| at(&error))?;
    RunConfig::from_toml(&text).map_err(|error| at(&error))
}

#[derive(Serialize)]
struct Row {
    seed: u64,
    status: String,
    steps: u64,
    updates: u64,
    best_epoch: Option<u64>,
    best_step: Option<u64>,
    validation: Option<f64>,
    /// Whether the model was finished after the last step, so that its validation is not what gradient steps gave.
    finished: bool,
    seconds: f64,
    model: Option<PathBuf>,
}

/// What is said of validations that gradient steps did not give.
const FINISHED: &str =
    "validation: of models finished after the last step (least squares, rounding on training samples)\n";

fn report(arguments: &TrainArguments, results: &[(u64, Result<Outcome, TrainError>)]) -> Result<(), Failure> {
    let rows: Vec<Row> = results.iter().map(|(seed, result)| row(arguments, *seed, result)).collect();
    if arguments.json {
        return print_json(&serde_json::json!({ "runs": rows }));
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.seed.to_string(),
            row.status.clone(),
            row.steps.to_string(),
            row.best_step.map_or("-".into(), |step| step.to_string()),
            row.validation.map_or("-".into(), |value| format!("{value:.3e}")),
            format!("{:.1}", row.seconds),
        ]
    });
    let header = ["seed", "status", "steps", "best at step", "validation", "seconds"];
    let note = if rows.iter().any(|row| row.finished) { FINISHED } else { "" };
    print(&format!("{}{note}model: {}\n", output::table(&header, cells), arguments.out.display()))
}

fn row(arguments: &TrainArguments, seed: u64, result: &Result<Outcome, TrainError>) -> Row {
    let directory = match arguments.seeds {
        Some(_) => seed_directory(&arguments.out, seed),
        None => arguments.out.clone(),
    };
    match result {
        Ok(outcome) => Row {
            seed,
            status: match outcome.status {
                Status::Finished => "finished",
                Status::EarlyStopped => "stopped early",
                Status::Stopped => "stopped",
            }
            .to_owned(),
            steps: outcome.steps,
            updates: outcome.updates,
            best_epoch: outcome.best.map(|best| best.epoch),
            best_step: outcome.best.map(|best| best.step),
            validation: outcome.best.map(|best| best.value),
            finished: outcome.refit.is_some(),
            seconds: outcome.seconds,
            model: Some(RunDirectory::best_model_in(&directory)),
        },
        Err(error) => Row {
            seed,
            status: error.to_string(),
            steps: 0,
            updates: 0,
            best_epoch: None,
            best_step: None,
            validation: None,
            finished: false,
            seconds: 0.0,
            model: None,
        },
    }
}
