//! `itergnn demo`: trains on small lobsters, then solves large ones, beside models that were trained before.

use std::time::Instant;

use itergnn::{
    nn::{
        Device, GnnConfig, GnnModel,
        store::{self, ModelCard},
    },
    tasks::{SizeRange, Task, TaskSpec},
    train::{
        ModelConfig, RunConfig, Schedule, TrainOptions,
        evaluation::{EvalOptions, EvalReport, ModelPredictor, evaluate},
        train,
    },
};
use serde::Serialize;

use crate::{
    commands::train::failure,
    drawing::{Drawing, Plot, Series, Style},
    failure::Failure,
    options::DemoArguments,
    output::{self, Output, note, print, print_json},
    progress::Progress,
    training_view::Views,
};

/// Sizes of Table 2 of the paper, how many graphs of each the demo takes, and the paper's success rate of
/// Iter-Homo-Path.
const SIZES: [(u32, u64, f64); 4] = [(100, 20, 1.0), (500, 5, 1.0), (1000, 2, 1.0), (5000, 1, 1.0)];

/// The same for `--quick`, at sizes that the paper's table does not have but for the first.
const QUICK_SIZES: [(u32, u64, f64); 1] = [(20, 5, 1.0)];
const QUICK_SAMPLES: u64 = 320;

/// Epochs of 10,000 samples, 313 steps each: about a minute on two cores.
const EPOCHS: u64 = 20;

/// The network that the demo trains: the row Iter-Homo-Path of the paper.
const TRAINED: &str = "iter-homo-path";

/// Models that come with the program: name, what to know about them, file.
const SHIPPED: &[(&str, &str, &[u8])] = &[
    (
        "iter-homo-path",
        "shipped, 200,000 steps",
        include_bytes!("../../../../models/lobster-iter-homo-path.safetensors"),
    ),
    ("max-plus", "shipped, task-aligned", include_bytes!("../../../../models/shortest-path-lobster.safetensors")),
];

/// Largest size at which general networks walk: every step of a walk predicts anew for all its neighbours, which takes
/// hours at 5,000.
const WALKED: u32 = 100;

/// Iterations beyond the size of a graph that a network may take before the demo cuts it: distances stay near the size,
/// a network needs half of that, and one that was trained for a minute need not stop at all.
const PATIENCE: usize = 30;

/// A model under its own name.
struct Contender {
    name: &'static str,
    about: String,
    model: GnnModel,
}

/// A model and how it fares.
#[derive(Serialize)]
struct Judged {
    model: &'static str,
    about: String,
    sizes: Vec<Row>,
    #[serde(skip)]
    dots: Vec<(f64, f64)>,
}

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
    if let Some(out) = &arguments.out {
        Output::check(out)?;
    }
    let started = Instant::now();
    let task = TaskSpec::paper(Task::ShortestPath);
    let mut config = RunConfig::new(task.clone(), ModelConfig::preset(TRAINED));
    config.seed = arguments.seed;
    let method = config.supervised_mut().map_err(failure)?;
    method.epochs = arguments.epochs.unwrap_or(EPOCHS);
    if arguments.quick {
        method.epochs = 1;
        (method.data.train, method.data.validation) = (QUICK_SAMPLES, 32);
    }
    config.optimiser.schedule = Schedule::Cosine { warm_up_steps: 0, final_factor: 0.0 };
    note(&format!("training {TRAINED} on unweighted lobsters of size [4, 34), seed {}", arguments.seed));
    let outcome = train(&config, None, &TrainOptions::default(), &mut Views::new().alone()).map_err(failure)?;
    let training_seconds = started.elapsed().as_secs_f64();
    let about = format!("trained now, {} steps", outcome.steps);
    let mut contenders = vec![Contender { name: TRAINED, about, model: outcome.model }];
    for (name, about, bytes) in SHIPPED {
        let (model, _) = store::load_bytes(bytes, &device).map_err(Failure::failed)?;
        contenders.push(Contender { name, about: (*about).to_owned(), model });
    }
    let judged = judge(arguments, &contenders, &device, &task)?;
    let picture = arguments.picture.display().to_string();
    // The numbers first: they must not be lost if a file cannot be written.
    if arguments.json {
        print_json(&serde_json::json!({
            "seed": arguments.seed, "steps": outcome.steps, "training_seconds": training_seconds, "models": judged,
            "picture": picture, "out": arguments.out,
        }))?;
    } else {
        print(&format!(
            "Trained on lobsters of size [4, 34) in {training_seconds:.0} s; tested on larger ones, with the paper's \
             Iter-Homo-Path beside:\n{}",
            table(&judged)
        ))?;
    }
    if let (Some(out), Some(trained)) = (&arguments.out, contenders.first()) {
        let training = serde_json::json!({ "config": config, "itergnn": env!("CARGO_PKG_VERSION") });
        let (name, task) = (TRAINED.to_owned(), Task::ShortestPath.name().to_owned());
        let card = ModelCard { name, task, seed: arguments.seed, training };
        Output::write(out, &store::to_bytes(&trained.model, &card).map_err(Failure::failed)?)?;
        note(&format!("the trained model: {}", out.display()));
    }
    plot(&judged).drawing().write(&arguments.picture)?;
    note(&format!("iterations against distance: {picture}"));
    Ok(())
}

/// Every model at every size.
fn judge(
    arguments: &DemoArguments,
    contenders: &[Contender],
    device: &Device,
    task: &TaskSpec,
) -> Result<Vec<Judged>, Failure> {
    let at_sizes = if arguments.quick { &QUICK_SIZES[..] } else { &SIZES };
    let graphs: u64 = at_sizes.iter().map(|size| size.1).sum();
    let progress = Progress::new("graphs", contenders.len() as u64 * graphs);
    let (mut done, mut judged) = (0, Vec::new());
    for Contender { name, about, model } in contenders {
        let predictor = ModelPredictor::new(model, device);
        let (mut sizes, mut dots) = (Vec::new(), Vec::new());
        for &(size, count, paper) in at_sizes {
            let mut spec = task.clone();
            let exactly = SizeRange::exactly(size).map_err(Failure::failed)?;
            spec.set_size(exactly).map_err(Failure::failed)?;
            // These have the lengths of all nodes in one pass, and always stop.
            let aligned = matches!(model.config(), GnnConfig::MaxPlus(_));
            let success = size <= WALKED || aligned;
            let cap = (!aligned).then_some(size as usize + PATIENCE);
            let options = EvalOptions { success, cap, records: true, ..EvalOptions::default() };
            let mut tell = |at: itergnn::train::evaluation::EvalProgress| progress.at(done + at.judged);
            let report = evaluate(&predictor, &spec, count, arguments.seed, &options, &mut tell).map_err(failure)?;
            done += count;
            dots.extend(report.samples.iter().map(|sample| (f64::from(sample.target[0]), sample.iterations as f64)));
            sizes.push(row(size, paper, &report));
        }
        judged.push(Judged { model: name, about: about.clone(), sizes, dots });
    }
    Ok(judged)
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

fn table(judged: &[Judged]) -> String {
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let cells = judged.iter().flat_map(|judged| {
        judged.sizes.iter().map(move |row| {
            vec![
                format!("{} ({})", judged.model, judged.about),
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
        })
    });
    let header = [
        "model",
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

fn plot(judged: &[Judged]) -> Plot {
    let dots = |judged: &Judged| Series {
        name: format!("{} ({})", judged.model, judged.about),
        points: judged.dots.clone(),
        style: Style::Dots,
    };
    let mut series: Vec<Series> = judged.iter().map(dots).collect();
    let distances = || judged.iter().flat_map(|judged| &judged.dots).map(|dot| dot.0);
    let (nearest, farthest) = (distances().fold(f64::INFINITY, f64::min), distances().fold(0.0, f64::max));
    series.push(Series {
        name: "distance / 2, the least that can know".to_owned(),
        points: vec![(nearest, nearest / 2.0), (farthest, farthest / 2.0)],
        style: Style::Line,
    });
    Plot {
        title: "Iterations a network chose, by distance".to_owned(),
        x_label: "distance between source and target".to_owned(),
        y_label: "iterations".to_owned(),
        logarithmic: true,
        series,
    }
}
