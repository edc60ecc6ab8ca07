//! Graph classification: `itergnn train graph-classification` and `itergnn eval` of what it made.

use std::{
    fs,
    io::IsTerminal,
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use indicatif::ProgressBar;
use itergnn::{
    nn::{Device, GnnModel, store::ModelCard},
    tasks::{Task, TaskSpec},
    train::{
        Start,
        classification::{
            ClassificationConfig, ClassificationOptions, ClassificationResult, ClassifierConfig, EpochOfFold,
            FoldChoice, FoldCurve, cross_validate, evaluate_classifier, evaluate_run, is_classification_run,
        },
        evaluation::EvalReport,
    },
};

use crate::{
    commands::{evaluate, task, train::failure},
    failure::Failure,
    options::{EvalArguments, FoldSource, TrainArguments},
    output::{self, note, print, print_json},
    progress,
};

/// Whether the arguments of `train` ask for a cross-validation.
pub(crate) fn is_asked_for(arguments: &TrainArguments) -> bool {
    let describes = |text: std::io::Result<String>| text.is_ok_and(|text| ClassificationConfig::describes(&text));
    match (arguments.task, &arguments.config) {
        (Some(task), _) => task == Task::GraphClassification,
        (None, Some(path)) => describes(fs::read_to_string(path)),
        (None, None) => arguments.resume && is_classification_run(&arguments.out),
    }
}

pub(crate) fn train(arguments: &TrainArguments, stop: Arc<AtomicBool>) -> Result<(), Failure> {
    let config = configuration(arguments)?;
    let start = if arguments.resume { Start::ResumeOrNew } else { Start::New };
    let workers = arguments.compute.threads.unwrap_or_else(rayon::current_num_threads);
    let options = ClassificationOptions { start, stop, only_fold: arguments.fold, workers };
    let view = View::new(&config, arguments.fold.is_some());
    let trained = cross_validate(&config, &arguments.out, &options, |epoch| view.epoch(epoch)).map_err(failure)?;
    view.end();
    let (curves, result) = trained;
    match &result {
        Some(result) if arguments.json => print_json(&summary(arguments, result))?,
        Some(result) => print(&table(result))?,
        None if arguments.json => print_json(&unfinished(&curves))?,
        None => print(&fold_table(&curves))?,
    }
    let stopped = curves.iter().any(|curve| (curve.accuracy.len() as u64) < config.epochs);
    if stopped {
        let again = format!("stopped; the same command with --resume goes on in {}", arguments.out.display());
        return Err(Failure::failed(again));
    }
    Ok(())
}

/// A file's configuration, or that of a run to resume, or the GIN paper's, changed by what the user gave.
fn configuration(arguments: &TrainArguments) -> Result<ClassificationConfig, Failure> {
    refuse_other_flags(arguments)?;
    let read = |path: &std::path::Path| {
        let named = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| named(&error))?;
        ClassificationConfig::from_toml(&text).map_err(|error| named(&error))
    };
    let held = arguments.out.join("config.toml");
    let mut config = match (&arguments.config, arguments.task) {
        (Some(_), Some(_)) => return Err(Failure::bad_input("give a TASK or --config, not both")),
        (Some(path), None) => read(path)?,
        (None, None) if held.is_file() => read(&held)?,
        _ => ClassificationConfig::new(Default::default(), "iter-gin"),
    };
    let mut spec = TaskSpec::GraphClassification(config.spec().clone());
    task::apply(&mut spec, &arguments.samples_of).map_err(Failure::bad_input)?;
    if let TaskSpec::GraphClassification(spec) = spec {
        *config.spec_mut() = spec;
    }
    if let Some(name) = &arguments.model {
        config.model = ClassifierConfig { name: name.clone(), ..config.model };
    }
    config.model.hidden_width = arguments.hidden.or(config.model.hidden_width);
    config.epochs = arguments.epochs.unwrap_or(config.epochs);
    config.batch_size = arguments.batch_size.unwrap_or(config.batch_size);
    config.learning_rate = arguments.learning_rate.unwrap_or(config.learning_rate);
    config.seed = arguments.seed.unwrap_or(config.seed);
    config.folds = match arguments.folds {
        Some(FoldSource::Stratified) => FoldChoice::Stratified,
        Some(FoldSource::Published) => FoldChoice::Published,
        None => config.folds,
    };
    Ok(config)
}

fn refuse_other_flags(arguments: &TrainArguments) -> Result<(), Failure> {
    let given = [
        ("--layer", arguments.layer.is_some()),
        ("--aggregation", arguments.aggregation.is_some()),
        ("--controller", arguments.controller.is_some()),
        ("--prior", arguments.prior.is_some()),
        ("--samples", arguments.samples.is_some()),
        ("--validation", arguments.validation.is_some()),
        ("--seeds", arguments.seeds.is_some()),
        ("--set", !arguments.set.is_empty()),
        ("--engine", arguments.engine.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Failure::bad_input(format!("{flag} does not apply to graph-classification"))),
        None => Ok(()),
    }
}

fn summary(arguments: &TrainArguments, result: &ClassificationResult) -> serde_json::Value {
    serde_json::json!({
        "dataset": result.dataset,
        "model": result.model,
        "graphs": result.graphs,
        "never_tested": result.never_tested,
        "parameters": result.parameters,
        "epochs": result.config.epochs,
        "selected_epoch": result.selected_epoch,
        "selected": result.selected,
        "last": result.last,
        "seconds": result.seconds,
        "result": arguments.out.join("result.json"),
    })
}

fn unfinished(curves: &[FoldCurve]) -> serde_json::Value {
    let folds = curves.iter().map(|curve| {
        serde_json::json!({
            "fold": curve.fold,
            "epochs": curve.accuracy.len(),
            "accuracy": curve.accuracy.last(),
            "seconds": curve.seconds,
        })
    });
    serde_json::json!({ "folds": folds.collect::<Vec<_>>(), "result": null })
}

fn table(result: &ClassificationResult) -> String {
    let percent = |summary: &itergnn::tasks::Summary| {
        format!("{:.1}% ± {:.1}", 100.0 * summary.mean, 100.0 * summary.standard_deviation)
    };
    let header =
        ["set", "model", "graphs", "folds", "epochs", "best epoch", "accuracy there", "at the last", "seconds"];
    let row = vec![
        result.dataset.clone(),
        result.model.clone(),
        result.graphs.to_string(),
        result.folds.len().to_string(),
        result.config.epochs.to_string(),
        result.selected_epoch.to_string(),
        percent(&result.selected),
        percent(&result.last),
        format!("{:.0}", result.seconds),
    ];
    let mut text = output::table(&header, [row]);
    text.push_str(
        "The best epoch is chosen by test accuracy, as in the GIN paper; the last epoch is chosen by nothing.\n",
    );
    if result.never_tested > 0 {
        text.push_str(&format!("{} graphs are in no fold's test part.\n", result.never_tested));
    }
    text
}

fn fold_table(curves: &[FoldCurve]) -> String {
    let rows = curves.iter().map(|curve| {
        vec![
            curve.fold.to_string(),
            curve.accuracy.len().to_string(),
            curve.accuracy.last().map_or("-".to_owned(), |accuracy| format!("{:.1}%", 100.0 * accuracy)),
            format!("{:.0}", curve.seconds),
        ]
    });
    output::table(&["fold", "epochs", "accuracy", "seconds"], rows)
}

/// Shows a run: a bar over all epochs of all folds on a terminal, some lines a fold elsewhere.
struct View {
    bar: Option<ProgressBar>,
    epochs: u64,
    every: u64,
    done: Mutex<u64>,
}

/// Lines a fold where there is no terminal.
const LINES_A_FOLD: u64 = 5;

impl View {
    fn new(config: &ClassificationConfig, one_fold: bool) -> Self {
        let folds = if one_fold { 1 } else { 10 };
        let bar = std::io::stderr().is_terminal().then(|| progress::bar(config.epochs * folds, "epochs"));
        Self { bar, epochs: config.epochs, every: (config.epochs / LINES_A_FOLD).max(1), done: Mutex::new(0) }
    }

    fn epoch(&self, record: &EpochOfFold) {
        match &self.bar {
            Some(bar) => {
                // A resumed fold begins in the middle.
                if let Ok(mut done) = self.done.lock() {
                    *done += 1;
                    bar.set_position(*done);
                }
                bar.set_prefix(format!("fold {} {:4.1}%", record.fold, 100.0 * record.test_accuracy));
            }
            None if record.epoch.is_multiple_of(self.every) => note(&format!(
                "fold {} epoch {} of {}: training loss {:.3}, test accuracy {:.1}%, {:.1} iterations, {:.0} s",
                record.fold,
                record.epoch,
                self.epochs,
                record.train_loss,
                100.0 * record.test_accuracy,
                record.iterations,
                record.seconds
            )),
            None => {}
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Judges the folds of a run directory.
pub(crate) fn evaluate_folds(arguments: &EvalArguments) -> Result<(), Failure> {
    let data = arguments.samples_of.data.as_deref();
    let (report, folds) = evaluate_run(&arguments.model, data, &Device::flex()).map_err(failure)?;
    if arguments.json {
        let mut value = serde_json::to_value(without_records(report, arguments)).map_err(Failure::failed)?;
        value["folds"] = serde_json::json!(folds);
        print_json(&value)
    } else {
        let spread = format!("{:.1}% ± {:.1}", 100.0 * folds.mean, 100.0 * folds.standard_deviation);
        print(&format!("{}over {} folds, after their last epoch: {spread}\n", evaluate::table(&report), folds.count))
    }
}

/// Judges one cross-validated model.
pub(crate) fn evaluate_model(arguments: &EvalArguments, model: &GnnModel, card: &ModelCard) -> Result<(), Failure> {
    let data = arguments.samples_of.data.as_deref();
    let report = evaluate_classifier(model, card, data, &Device::flex()).map_err(failure)?;
    let report = report.ok_or_else(|| {
        Failure::bad_input(format!("{}: the model does not say which fold it was tested on", arguments.model.display()))
    })?;
    if arguments.json { print_json(&without_records(report, arguments)) } else { print(&evaluate::table(&report)) }
}

fn without_records(mut report: EvalReport, arguments: &EvalArguments) -> EvalReport {
    if !arguments.records {
        report.samples = Vec::new();
    }
    report
}
