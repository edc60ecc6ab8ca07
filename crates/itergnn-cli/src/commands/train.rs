//! `itergnn train`: a model from samples, in a run directory that can be resumed.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use itergnn::{
    tasks::TaskSpec,
    train::{
        ModelConfig, Outcome, RunDirectory, Start, Status, TrainConfig, TrainError, TrainOptions, train, train_seeds,
    },
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    commands::{classification, pacman, task},
    failure::Failure,
    options::TrainArguments,
    output::{self, print, print_json},
    training_view::Views,
};

pub(crate) fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    let device = arguments.compute.start()?;
    if pacman::is_meant(arguments) {
        return pacman::train(arguments);
    }
    let stop = stop_on_interrupt()?;
    if classification::is_asked_for(arguments) {
        return classification::train(arguments, stop);
    }
    if arguments.folds.is_some() || arguments.fold.is_some() {
        return Err(Failure::bad_input("--folds and --fold belong to graph-classification"));
    }
    let config = configuration(arguments)?;
    let start = if arguments.resume { Start::ResumeOrNew } else { Start::New };
    let options = TrainOptions { device, start, stop: Arc::clone(&stop), ..TrainOptions::default() };
    let views = Views::new();
    let seeds: Vec<u64> = (0..arguments.seeds.unwrap_or(1)).map(|offset| config.seed + offset).collect();
    let results = if arguments.seeds.is_some() {
        let workers = arguments.compute.threads.unwrap_or_else(rayon::current_num_threads);
        let observe = |seed| views.of_seed(seed);
        let outcomes = train_seeds(&config, &seeds, Some(&arguments.out), &options, workers, observe);
        outcomes.map_err(failure)?.into_iter().map(|outcome| (outcome.seed, outcome.result)).collect()
    } else {
        vec![(config.seed, train(&config, Some(&arguments.out), &options, &mut views.alone()))]
    };
    report(arguments, &results)?;
    // A seed that fails is in the table above; the exit code says so too.
    for (_, result) in results {
        result.map_err(failure)?;
    }
    if stop.load(Ordering::Relaxed) {
        let again = format!("stopped; the same command with --resume goes on in {}", arguments.out.display());
        return Err(Failure::failed(again));
    }
    Ok(())
}

/// What is wrong with settings or directories is the user's to mend; a run that diverges or a full disk is not.
pub(crate) fn failure(error: TrainError) -> Failure {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match &error {
        TrainError::NotFinite { .. } | TrainError::Worker(_) => Failure::failed(error),
        TrainError::Io { source, .. } if matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull) => {
            let hint = "the last good checkpoint is kept; make room and go on with --resume";
            Failure::failed(format!("{error}; {hint}"))
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

/// The run's configuration: a file's, or that of a run to resume, or the paper's, changed by what the user gave.
fn configuration(arguments: &TrainArguments) -> Result<TrainConfig, Failure> {
    let held = arguments.out.join("config.toml");
    let mut config = match (&arguments.config, arguments.task) {
        (Some(path), None) => read_config(path)?,
        (Some(_), Some(_)) => return Err(Failure::bad_input("give a TASK or --config, not both")),
        (None, Some(name)) => {
            let model = arguments.model.as_deref().unwrap_or("iter-homo-path");
            TrainConfig::new(TaskSpec::paper(name), ModelConfig::preset(model))
        }
        (None, None) if arguments.resume && held.is_file() => {
            RunDirectory::config_of(&arguments.out).map_err(failure)?
        }
        (None, None) => return Err(Failure::bad_input("give a TASK, or --config FILE; see `itergnn train --help`")),
    };
    if let (Some(name), Some(_)) = (&arguments.model, &arguments.config) {
        config.model = ModelConfig::preset(name);
    }
    let choice = &arguments.samples_of;
    task::apply(&mut config.task, choice).map_err(Failure::bad_input)?;
    config.model.layer = named("layer", &arguments.layer)?.or(config.model.layer);
    config.model.aggregation = named("aggregation", &arguments.aggregation)?.or(config.model.aggregation);
    config.model.prior = named("prior", &arguments.prior)?.or(config.model.prior);
    if let Some(kind) = &arguments.controller {
        let value = serde_json::json!({ "kind": kind });
        let parsed = serde_json::from_value(value);
        config.model.controller =
            Some(parsed.map_err(|error| Failure::bad_input(format!("--controller {kind}: {error}")))?);
    }
    config.model.hidden_width = arguments.hidden.or(config.model.hidden_width);
    config.epochs = arguments.epochs.unwrap_or(config.epochs);
    config.data.train = arguments.samples.unwrap_or(config.data.train);
    config.data.validation = arguments.validation.unwrap_or(config.data.validation);
    config.batch_size = arguments.batch_size.unwrap_or(config.batch_size);
    config.optimiser.learning_rate = arguments.learning_rate.unwrap_or(config.optimiser.learning_rate);
    config.seed = arguments.seed.unwrap_or(config.seed);
    config.engine = arguments.engine.unwrap_or(config.engine);
    for setting in &arguments.set {
        config = with_setting(&config, setting)?;
    }
    config.resolved().map_err(failure)
}

/// The configuration with one field changed, written `a.b.c=value` with a TOML value; what is no TOML value is a string.
fn with_setting(config: &TrainConfig, setting: &str) -> Result<TrainConfig, Failure> {
    let bad = |why: String| Failure::bad_input(format!("--set {setting}: {why}"));
    let (key, value) = setting.split_once('=').ok_or_else(|| bad("expected KEY=VALUE".to_owned()))?;
    let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"));
    let value = parsed.ok().and_then(|mut table| table.remove("value")).unwrap_or(toml::Value::from(value));
    let mut whole = toml::Table::try_from(config).map_err(|error| bad(error.to_string()))?;
    let mut table = &mut whole;
    let mut parts = key.trim().split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            table.insert(part.to_owned(), value);
            break;
        }
        let inner = table.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        table = inner.as_table_mut().ok_or_else(|| bad(format!("{part} is no table")))?;
    }
    let text = toml::to_string(&whole).map_err(|error| bad(error.to_string()))?;
    // The line would be one of a file that the user never saw.
    TrainConfig::from_toml(&text).map_err(|error| {
        let message = error.to_string();
        bad(message
            .split_once(": line ")
            .and_then(|(_, rest)| rest.split_once(": "))
            .map_or(message.clone(), |(_, why)| why.to_owned()))
    })
}

fn read_config(path: &Path) -> Result<TrainConfig, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::bad_input(format!("{}: {error}", path.display())))?;
    TrainConfig::from_toml(&text).map_err(|error| Failure::bad_input(format!("{}: {error}", path.display())))
}

/// A value by the name it has in configuration files.
pub(crate) fn named<T: DeserializeOwned>(what: &str, name: &Option<String>) -> Result<Option<T>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let parsed = serde_json::from_value(serde_json::Value::String(name.clone()));
    parsed.map(Some).map_err(|error| Failure::bad_input(format!("--{what} {name}: {error}")))
}

#[derive(Serialize)]
struct Row {
    seed: u64,
    status: String,
    steps: u64,
    best_epoch: Option<u64>,
    validation: Option<f64>,
    seconds: f64,
    model: Option<PathBuf>,
}

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
            row.best_epoch.map_or("-".into(), |epoch| epoch.to_string()),
            row.validation.map_or("-".into(), |value| format!("{value:.3e}")),
            format!("{:.1}", row.seconds),
        ]
    });
    let header = ["seed", "status", "steps", "best epoch", "validation", "seconds"];
    print(&format!("{}model: {}\n", output::table(&header, cells), arguments.out.display()))
}

fn row(arguments: &TrainArguments, seed: u64, result: &Result<Outcome, TrainError>) -> Row {
    let directory = match arguments.seeds {
        Some(_) => itergnn::train::seed_directory(&arguments.out, seed),
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
            best_epoch: outcome.best.map(|best| best.epoch),
            validation: outcome.best.map(|best| best.value),
            seconds: outcome.seconds,
            model: Some(RunDirectory::best_model_in(&directory)),
        },
        Err(error) => Row {
            seed,
            status: error.to_string(),
            steps: 0,
            best_epoch: None,
            validation: None,
            seconds: 0.0,
            model: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn::tasks::Task;

    #[test]
    fn any_setting_can_be_changed_by_its_name() {
        let config = TrainConfig::new(TaskSpec::paper(Task::ShortestPath), ModelConfig::preset("max-plus"));
        let set = |setting: &str| with_setting(&config, setting);
        assert_eq!(set("epochs=7").unwrap().epochs, 7);
        assert_eq!(set("model.max_plus.residual=true").unwrap().model.max_plus.residual, Some(true));
        assert_eq!(set("model.name=path").unwrap().model.name, "path");
        let schedule = set("optimiser.schedule={ kind = 'cosine', warm_up_steps = 3 }").unwrap().optimiser.schedule;
        assert_eq!(schedule.factor(0, 10), 1.0 / 3.0);
        for (setting, part) in
            [("epochs", "KEY=VALUE"), ("epochs.x=1", "no table"), ("epoch=1", "epoch"), ("epochs=many", "many")]
        {
            let Err(Failure::BadInput(message)) = set(setting) else { panic!("{setting}") };
            assert!(message.starts_with(&format!("--set {setting}: ")) && message.contains(part), "{message}");
        }
    }
}
