//! Graph classification: `itergnn train graph-classification` and `itergnn eval` of what it made.

use std::{io::IsTerminal, sync::Mutex};

use indicatif::ProgressBar;
use itergnn::{
    nn::{Device, GnnModel, store::ModelCard},
    train::{
        Observer, RunConfig, TrainOptions,
        classification::{
            ClassificationResult, EpochOfFold, FoldCurve, cross_validate, evaluate_classifier, evaluate_run,
        },
        evaluation::EvalReport,
    },
};

use crate::{
    commands::{
        evaluate,
        train::{failure, stopped},
    },
    failure::Failure,
    options::{EvalArguments, TrainArguments},
    output::{self, note, print, print_json},
    progress,
};

/// Trains and judges every fold, or the one that was asked for.
pub(crate) fn train(
    arguments: &TrainArguments,
    config: &RunConfig,
    options: &TrainOptions,
    workers: usize,
) -> Result<(), Failure> {
    let epochs = config.cross_validation().map_err(failure)?.epochs;
    let view = View::new(epochs, arguments.fold.is_some());
    let trained = cross_validate(config, &arguments.out, options, workers, |_| FoldView(&view)).map_err(failure)?;
    view.end();
    let (curves, result) = trained;
    match &result {
        Some(result) if arguments.json => print_json(&summary(arguments, result, epochs))?,
        Some(result) => print(&table(result, epochs))?,
        None if arguments.json => print_json(&unfinished(&curves))?,
        None => print(&fold_table(&curves))?,
    }
    if curves.iter().any(|curve| (curve.accuracy.len() as u64) < epochs) {
        return Err(stopped(arguments));
    }
    Ok(())
}

fn summary(arguments: &TrainArguments, result: &ClassificationResult, epochs: u64) -> serde_json::Value {
    serde_json::json!({
        "dataset": result.dataset,
        "model": result.model,
        "graphs": result.graphs,
        "never_tested": result.never_tested,
        "parameters": result.parameters,
        "epochs": epochs,
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

fn table(result: &ClassificationResult, epochs: u64) -> String {
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
        epochs.to_string(),
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

/// Shows a run: a bar over all epochs of all folds on a terminal, some lines per fold elsewhere.
struct View {
    bar: Option<ProgressBar>,
    epochs: u64,
    every: u64,
    done: Mutex<u64>,
}

/// Lines per fold where there is no terminal.
const LINES_PER_FOLD: u64 = 5;

impl View {
    fn new(epochs: u64, one_fold: bool) -> Self {
        let folds = if one_fold { 1 } else { 10 };
        let bar = std::io::stderr().is_terminal().then(|| progress::bar(epochs.saturating_mul(folds), "epochs"));
        Self { bar, epochs, every: (epochs / LINES_PER_FOLD).max(1), done: Mutex::new(0) }
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

/// One fold's part in the view of all.
struct FoldView<'a>(&'a View);

impl Observer for FoldView<'_> {
    fn fold(&mut self, record: &EpochOfFold) {
        self.0.epoch(record);
    }

    fn note(&mut self, message: &str) {
        note(&format!("itergnn: {message}"));
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
