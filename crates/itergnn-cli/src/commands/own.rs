//! Own labelled graphs: `train --data`, `eval --data` and `predict --data`.

use std::{
    fs::File,
    io::{BufRead, BufReader, stdin},
    path::Path,
};

use itergnn::{
    graph::{Graph, formats::SampleRecord},
    nn::{Device, GnnModel, GraphTensors, Level, RunOptions, pointer, store::ModelCard},
    train::{
        Holdout, ModelConfig, OwnTask, RunConfig, RunTask,
        data::{OwnData, read_file},
        evaluation::{EvalOptions, ModelPredictor, OwnReport, evaluate_own},
    },
};
use serde_json::{Value, json};

use crate::{
    commands::train::failure,
    estimate::Allowance,
    failure::Failure,
    given::Given,
    options::{EvalArguments, PredictArguments, TrainArguments, ValidationSamples},
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
    let mut config = RunConfig::new(task, ModelConfig::preset("iter-homo-path"));
    config.supervised_mut().map_err(failure)?.loss = arguments.loss;
    Ok(config)
}

/// The samples of a run on own graphs, with a line that says what was chosen for them.
pub(crate) fn samples(config: &RunConfig) -> Result<Option<OwnData>, Failure> {
    let RunTask::Own(task) = &config.task else { return Ok(None) };
    for file in [task.data.as_deref(), held_out(task)].into_iter().flatten() {
        // Graphs that are held take about as much as their text.
        let bytes = std::fs::metadata(file).map_or(0, |file| file.len());
        Allowance::free().check(&file.display().to_string(), bytes)?;
    }
    let data = OwnData::read(task, config.seed, Allowance::free().bytes()).map_err(failure)?;
    let model = config.resolve_for(&data).map_err(failure)?;
    let loss = model.config.supervised().map_err(failure)?.loss;
    note(&format!(
        "{} samples to learn from, {} to choose by, level {}, loss {}, {}",
        data.train.len(),
        data.validation.len(),
        task.level,
        loss.map_or("-".to_owned(), |loss| loss.to_string()),
        model.model.architecture_line()
    ));
    Ok(Some(data))
}

fn held_out(task: &OwnTask) -> Option<&Path> {
    match &task.validation {
        Holdout::File(file) => Some(file),
        _ => None,
    }
}

/// What a model learned from own graphs, if it did.
pub(crate) fn task_of(card: &ModelCard) -> Option<OwnTask> {
    match RunConfig::of_card(card)?.task {
        RunTask::Own(task) => Some(task),
        RunTask::BuiltIn(_) => None,
    }
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
    let options =
        EvalOptions { engine: arguments.engine.engine, cap: arguments.max_iterations, ..EvalOptions::default() };
    let predictor = ModelPredictor::new(model, device);
    let progress = Progress::new("graphs", data.len() as u64);
    let report = evaluate_own(&predictor, task, &data, &options, &mut |done| progress.at(done)).map_err(failure)?;
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

/// `itergnn predict --data`: a line of JSON for every line.
pub(crate) fn predict(
    arguments: &PredictArguments,
    file: &Path,
    model: &GnnModel,
    card: &ModelCard,
    device: &Device,
) -> Result<(), Failure> {
    let name = file.display().to_string();
    let task = task_of(card);
    let mut reader: Box<dyn BufRead> = if name == "-" {
        Box::new(stdin().lock())
    } else {
        let opened = File::open(file).map_err(|error| Failure::bad_input(format!("{name}: {error}")))?;
        Box::new(BufReader::new(opened))
    };
    let mut options = RunOptions::inference().with_engine(arguments.engine.engine);
    options.cap = arguments.max_iterations;
    let mut line = String::new();
    for number in 1_u64.. {
        line.clear();
        let at = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{name}, line {number}: {error}"));
        if reader.read_line(&mut line).map_err(|error| at(&error))? == 0 {
            return Ok(());
        }
        if line.trim().is_empty() {
            continue;
        }
        let record: SampleRecord = serde_json::from_str(&line).map_err(|error| at(&error))?;
        let graph = record.graph().map_err(|error| at(&error))?;
        let tensors = GraphTensors::from_graph(&graph, device);
        let prediction = model.predict_with(&tensors, &options).map_err(|error| at(&error))?;
        let mut answer = answer(&graph, &tensors, &prediction.values, task.as_ref());
        answer["iterations"] = json!(prediction.iterations.first());
        print(&format!("{answer}\n"))?;
    }
    Ok(())
}

/// What a model says about a graph: numbers, or classes with their probabilities, or for every node the edge it points
/// at by its place in the file, -1 for itself, with its probability.
fn answer(graph: &Graph, tensors: &GraphTensors, rows: &[Vec<f64>], task: Option<&OwnTask>) -> Value {
    let Some(task) = task else { return json!({ "prediction": rows }) };
    if task.level == Level::Pointer {
        let scores: Vec<f64> = rows.iter().flatten().copied().collect();
        let structure = tensors.structure();
        let probabilities = pointer::probabilities(&scores, structure);
        let chosen = pointer::pointed_at(&scores, structure);
        let places: Vec<i64> = chosen
            .iter()
            .map(|edge| edge.map_or(-1, |edge| i64::from(graph.original_edges()[edge as usize])))
            .collect();
        let sure: Vec<f64> =
            chosen.iter().enumerate().map(|(node, &edge)| probabilities[pointer::row(structure, node, edge)]).collect();
        return json!({ "prediction": places, "probabilities": sure });
    }
    let mut rows = rows.to_vec();
    if task.level == Level::Edge {
        // In the order of the file.
        let mut ordered = vec![Vec::new(); rows.len()];
        for (row, &edge) in rows.into_iter().zip(graph.original_edges()) {
            ordered[edge as usize] = row;
        }
        rows = ordered;
    }
    if task.classes.is_none() {
        return json!({ "prediction": rows });
    }
    let probabilities: Vec<Vec<f64>> = rows.iter().map(|scores| softmax(scores)).collect();
    let largest =
        |scores: &Vec<f64>| (0..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best });
    let classes: Vec<usize> = rows.iter().map(largest).collect();
    json!({ "prediction": classes, "probabilities": probabilities })
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.iter().map(|power| power / total).collect()
}
