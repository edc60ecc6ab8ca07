//! `itergnn demo`: trains on small lobsters, then solves large ones.

use std::time::Instant;

use itergnn::{
    nn::{Device, GnnModel},
    tasks::{SizeRange, Task, TaskSpec},
    train::{
        ModelConfig, RunConfig, TrainOptions,
        evaluation::{EvalOptions, EvalReport, ModelPredictor, evaluate},
        train,
    },
};
use serde::Serialize;

use crate::{
    commands::train::failure,
    drawing::Drawing,
    failure::Failure,
    options::DemoArguments,
    output::{self, note, print, print_json},
    picture::Scatter,
    progress::Progress,
    training_view::Views,
};

/// Sizes of Table 2 of the paper, how many graphs of each the demo takes, and the paper's success rate of Iter-Homo-Path.
const SIZES: [(u32, u64, f64); 4] = [(100, 100, 1.0), (500, 20, 1.0), (1000, 10, 1.0), (5000, 2, 1.0)];
/// Epochs of 10,000 samples: about 940 steps, enough for the recipe to harden and settle.
const EPOCHS: u64 = 3;
/// The model of the demo, a task-aligned one.
const MODEL: &str = "max-plus";

#[derive(Serialize)]
struct Row {
    size: u32,
    count: u64,
    nodes: f64,
    relative_loss: Option<f64>,
    success_rate: Option<f64>,
    paper_success_rate: f64,
    iterations: f64,
    half_distance: f64,
    seconds: f64,
}

pub(crate) fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let device = arguments.compute.start()?;
    Drawing::check_name(&arguments.picture)?;
    let started = Instant::now();
    let task = TaskSpec::paper(Task::ShortestPath);
    let mut config = RunConfig::new(task, ModelConfig::preset(MODEL));
    config.seed = arguments.seed;
    config.supervised_mut().map_err(failure)?.epochs = arguments.epochs.unwrap_or(EPOCHS);
    note(&format!("training {MODEL} on unweighted lobsters of size [4, 34), seed {}", arguments.seed));
    let outcome = train(&config, None, &TrainOptions::default(), &mut Views::new().alone()).map_err(failure)?;
    let training_seconds = started.elapsed().as_secs_f64();
    let mut dots = Vec::new();
    let rows = judge(arguments, &outcome.model, &device, &config.task, &mut dots)?;
    draw(arguments, &dots)?;
    let picture = arguments.picture.display().to_string();
    if arguments.json {
        return print_json(&serde_json::json!({
            "model": MODEL, "seed": arguments.seed, "steps": outcome.steps, "training_seconds": training_seconds,
            "sizes": rows, "picture": picture,
        }));
    }
    print(&format!(
        "Trained {} steps in {training_seconds:.0} s on lobsters of size [4, 34); tested on larger ones:\n{}\
         Iterations against distance: {picture}\n",
        outcome.steps,
        table(&rows)
    ))
}

/// The model at every size; `dots` gets distance and iterations of each graph.
fn judge(
    arguments: &DemoArguments,
    model: &GnnModel,
    device: &Device,
    task: &TaskSpec,
    dots: &mut Vec<(f64, f64)>,
) -> Result<Vec<Row>, Failure> {
    let predictor = ModelPredictor::new(model, device);
    let progress = Progress::new("graphs", SIZES.iter().map(|size| size.1).sum());
    let mut judged = 0;
    let mut rows = Vec::new();
    for (size, count, paper) in SIZES {
        let mut spec = task.clone();
        let exactly = SizeRange::exactly(size).map_err(Failure::failed)?;
        spec.set_size(exactly).map_err(Failure::failed)?;
        let options = EvalOptions { success: true, records: true, ..EvalOptions::default() };
        let report = evaluate(&predictor, &spec, count, arguments.seed, &options, &mut |_| {}).map_err(failure)?;
        judged += count;
        progress.at(judged);
        dots.extend(report.samples.iter().map(|sample| (f64::from(sample.target[0]), sample.iterations as f64)));
        rows.push(row(size, paper, &report));
    }
    drop(progress);
    Ok(rows)
}

fn row(size: u32, paper_success_rate: f64, report: &EvalReport) -> Row {
    let total: f64 = report.samples.iter().map(|sample| f64::from(sample.target[0])).sum();
    Row {
        size,
        count: report.count,
        nodes: report.nodes.mean,
        relative_loss: report.relative_loss,
        success_rate: report.success_rate,
        paper_success_rate,
        iterations: report.iterations.mean,
        half_distance: total / 2.0 / report.count.max(1) as f64,
        seconds: report.seconds,
    }
}

fn table(rows: &[Row]) -> String {
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let cells = rows.iter().map(|row| {
        vec![
            row.size.to_string(),
            row.count.to_string(),
            format!("{:.0}", row.nodes),
            row.success_rate.map_or("-".into(), percent),
            percent(row.paper_success_rate),
            row.relative_loss.map_or("-".into(), |loss| format!("{loss:.1e}")),
            format!("{:.1}", row.iterations),
            format!("{:.1}", row.half_distance),
            format!("{:.1}", row.seconds),
        ]
    });
    let header = [
        "size",
        "graphs",
        "nodes",
        "paths found",
        "paper",
        "relative loss of the length",
        "iterations",
        "distance / 2",
        "seconds",
    ];
    output::table(&header, cells)
}

fn draw(arguments: &DemoArguments, dots: &[(f64, f64)]) -> Result<(), Failure> {
    let plot = Scatter {
        title: "Iterations the network chose, by distance",
        x_label: "distance between source and target",
        y_label: "iterations",
        dots,
        line: (0.5, "distance / 2, the least that can know"),
    };
    plot.drawing().write(&arguments.picture)
}
