//! Own labelled graphs: `train --data` and `eval --data`.

use std::{fs, path::Path};

use itergnn::{
    nn::{Device, GnnConfig, GnnModel, Level, controllers::Scope, store::ModelCard},
    train::{
        Holdout, ModelConfig, OwnTask, RunConfig, RunTask,
        data::{Dataset, OwnData, read_file},
        evaluation::{EvalOptions, OwnReport, evaluate_own},
    },
};

use crate::{
    commands::train::failure,
    estimate::Allowance,
    failure::Failure,
    given::Given,
    options::{EvalArguments, TrainArguments, ValidationSamples},
    output::{self, note, print, print_json},
    progress::Progress,
};

/// The configuration of a training on the graphs of a file.
pub(crate) fn configuration(arguments: &TrainArguments, data: &Path) -> Result<RunConfig, Failure> {
    let level = arguments.level.ok_or_else(|| {
        Failure::bad_input("--data needs --level graph, node, edge or pointer: what the targets belong to")
    })?;
    let validation = match (&arguments.validation_data, arguments.validation, arguments.validation_from_size) {
        (Some(file), None, None) => Holdout::File(file.clone()),
        (None, Some(ValidationSamples::Share(share)), None) => Holdout::Share(share),
        (None, None, Some(size)) => Holdout::FromSize(size),
        (None, None, None) => Holdout::default(),
        (None, Some(ValidationSamples::Count(count)), None) => {
            let why = format!("--validation {count}: with --data a share, such as 0.1");
            return Err(Failure::bad_input(why));
        }
        _ => return Err(Failure::bad_input("give one of --validation-data, --validation and --validation-from-size")),
    };
    let task = OwnTask { level, classes: arguments.classes, data: Some(data.to_owned()), validation };
    // Numbers grow with the weights of a graph, classes and choices do not.
    let preset = if level == Level::Pointer || arguments.classes.is_some() { "iter-path" } else { "iter-homo-path" };
    let mut config = RunConfig::new(task, ModelConfig::preset(preset));
    config.supervised_mut().map_err(failure)?.loss = arguments.loss;
    Ok(config)
}

/// The samples of a run on own graphs, with a line that says what was chosen for them.
pub(crate) fn samples(config: &RunConfig) -> Result<Option<OwnData>, Failure> {
    let RunTask::Own(task) = &config.task else { return Ok(None) };
    for file in [task.data.as_deref(), held_out(task)].into_iter().flatten() {
        // Graphs that are held take about as much as their text.
        Allowance::free().check(&file.display().to_string(), bytes_of(file))?;
    }
    let data = OwnData::read(task, config.seed, Allowance::free().bytes()).map_err(failure)?;
    let run = config.resolve_for(&data).map_err(failure)?;
    let loss = run.config.supervised().map_err(failure)?.loss;
    note(&format!(
        "{} samples to learn from, {} to choose by, level {}, loss {}{}",
        data.train.len(),
        data.validation.len(),
        task.level,
        loss.map_or("-".to_owned(), |loss| loss.to_string()),
        choices(&run.model)
    ));
    note(&format!("{}: {}", run.config.model.name, run.model.architecture_line()));
    Ok(Some(data))
}

/// What flags could have chosen otherwise.
fn choices(model: &GnnConfig) -> String {
    let GnnConfig::Graph(graph) = model else { return String::new() };
    let scope = match graph.blocks.first().and_then(|block| block.controller.confidence()) {
        Some((Scope::Graph, _)) => ", --scope graph",
        Some((Scope::Node, _)) => ", --scope node",
        None => "",
    };
    format!(", --readout {}{scope}, --blocks {}, --prior {}", graph.readout, graph.blocks.len(), graph.prior)
}

/// The bytes of a file, or of all files of a folder.
fn bytes_of(file: &Path) -> u64 {
    let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    match fs::read_dir(file) {
        Ok(entries) => entries.flatten().map(|entry| length(&entry.path())).sum(),
        Err(_) => length(file),
    }
}

fn held_out(task: &OwnTask) -> Option<&Path> {
    match &task.validation {
        Holdout::File(file) => Some(file),
        _ => None,
    }
}

/// How a model reads the targets of labelled graphs, if it learned from own ones or from an algorithm.
pub(crate) fn task_of(card: &ModelCard) -> Option<OwnTask> {
    RunConfig::of_card(card)?.task.labels()
}

/// `itergnn eval` of a model of own graphs.
pub(crate) fn evaluate(
    arguments: &EvalArguments,
    given: &Given,
    model: &GnnModel,
    task: &OwnTask,
    device: &Device,
) -> Result<(), Failure> {
    let meant = ["data", "max-iterations", "memory", "engine", "device", "threads", "timeout"];
    given.only("a model of own graphs", &meant)?;
    let file = arguments.samples_of.data.as_deref();
    let file = file.ok_or_else(|| Failure::bad_input("the model learned from own graphs: give --data FILE.jsonl"))?;
    let data = read_file(file, task, Allowance::of(arguments.memory)?.bytes()).map_err(failure)?;
    judge(arguments, model, task, &data, device)
}

/// Judges a model on labelled graphs.
pub(super) fn judge(
    arguments: &EvalArguments,
    model: &GnnModel,
    task: &OwnTask,
    data: &dyn Dataset,
    device: &Device,
) -> Result<(), Failure> {
    let options =
        EvalOptions { engine: arguments.engine.engine, cap: arguments.max_iterations, ..EvalOptions::default() };
    let predictor = arguments.compute.predictor(model, device)?;
    let progress = Progress::new("graphs", data.len());
    let report = evaluate_own(&*predictor, task, data, &options, &mut |done| progress.at(done)).map_err(failure)?;
    drop(progress);
    if arguments.json { print_json(&report) } else { print(&table(&report)) }
}

fn table(report: &OwnReport) -> String {
    let number = |value: f64| format!("{value:.3e}");
    let percent = |value: f64| format!("{:.1}%", 100.0 * value);
    let measures = [
        ("relative loss", report.relative_loss.map(number)),
        ("mse", report.mse.map(number)),
        ("accuracy", report.accuracy.map(percent)),
        ("whole graphs", report.graph_accuracy.map(percent)),
        ("F1", report.f1.map(|value| format!("{value:.3}"))),
    ];
    let mut header = vec!["level", "graphs", "rows"];
    let mut row = vec![report.level.to_string(), report.count.to_string(), report.rows.to_string()];
    for (name, value) in measures {
        if let Some(value) = value {
            header.push(name);
            row.push(value);
        }
    }
    header.push("iterations");
    row.push(format!("{:.1}", report.iterations.mean));
    let mut text = output::table(&header, [row]);
    if !report.confusion.is_empty() {
        let names: Vec<String> = (0..report.confusion.len()).map(|class| format!("as {class}")).collect();
        let header: Vec<&str> = std::iter::once("class").chain(names.iter().map(String::as_str)).collect();
        let rows = report.confusion.iter().enumerate().map(|(class, counts)| {
            std::iter::once(class.to_string()).chain(counts.iter().map(u64::to_string)).collect()
        });
        text += &output::table(&header, rows);
    }
    text
}
