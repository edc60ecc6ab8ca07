//! `itergnn eval`: how good a model is, at any size.

use itergnn::{
    nn::controllers::SAFETY_CAP,
    tasks::{Task, TaskSpec},
    train::{
        TrainConfig,
        evaluation::{EvalOptions, EvalReport, ModelPredictor, Predictor, evaluate},
    },
};

use crate::{
    commands::{classification, model, pacman, task, train::failure},
    failure::Failure,
    memory,
    options::EvalArguments,
    output::{self, note, print, print_json},
    progress,
};

pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Failure> {
    if let Some(done) = pacman::yardstick(arguments) {
        return done;
    }
    let device = arguments.compute.start()?;
    let limit = arguments.memory.map(memory::from_gib).transpose()?;
    if classification::evaluate_folds(arguments)? {
        return Ok(());
    }
    let (model, card) = model::load(&arguments.model, &device)?;
    if card.task == Task::Pacman.name() {
        return pacman::evaluate(arguments, &model, &card);
    }
    if classification::evaluate_model(arguments, &model, &card)? {
        return Ok(());
    }
    let mut spec = trained_on(&card.training)
        .or_else(|| card.task.parse::<Task>().ok().or(arguments.task).map(TaskSpec::paper))
        .ok_or_else(|| Failure::bad_input("the model does not say its task; give --task"))?;
    if let Some(other) = arguments.task.filter(|&task| task != spec.task()) {
        let why = format!("--task {other}: the model was trained on {}", spec.task());
        return Err(Failure::bad_input(why));
    }
    task::apply(&mut spec, &arguments.samples_of).map_err(Failure::bad_input)?;
    let options = EvalOptions {
        engine: arguments.engine.engine,
        memory: limit.unwrap_or(EvalOptions::default().memory),
        success: arguments.success,
        records: arguments.records,
        cap: arguments.max_iterations,
    };
    let predictor = ModelPredictor::new(&model, &device);
    check_memory(&spec, &predictor, limit)?;
    let bar = progress::bar(arguments.count, "graphs");
    let mut tell = |progress: itergnn::train::evaluation::EvalProgress| bar.set_position(progress.judged);
    let report = evaluate(&predictor, &spec, arguments.count, arguments.seed, &options, &mut tell).map_err(failure)?;
    bar.finish_and_clear();
    if report.capped > 0 {
        note(&format!("itergnn: {} of {} graphs did not stop by themselves", report.capped, report.count));
    }
    if report.past_safety_cap > 0 {
        let (past, count) = (report.past_safety_cap, report.count);
        note(&format!("itergnn: {past} of {count} graphs took more than {SAFETY_CAP} iterations before they stopped"));
    }
    if arguments.json {
        print_json(&report)?;
    } else {
        print(&table(&report))?;
    }
    match report.overflow {
        Some(overflow) => {
            let others = format!("{} of {} predictions are not numbers", report.not_finite, report.count);
            Err(Failure::failed(format!("{overflow}; {others}")))
        }
        None => Ok(()),
    }
}

/// Refuses samples that one prediction cannot hold in memory, before any is drawn.
fn check_memory(spec: &TaskSpec, predictor: &ModelPredictor, limit: Option<u64>) -> Result<(), Failure> {
    let elements = spec.sampler().map_err(Failure::bad_input)?.largest();
    let bytes = predictor.bytes(elements, 0).saturating_add(SAMPLE_BYTES * elements as u64);
    memory::check(&format!("a sample of up to {elements} nodes and edges"), bytes, limit)
}

/// Bytes of a sample for each of its nodes and edges: attributes, ends, offsets, and the same once more while it is drawn.
const SAMPLE_BYTES: u64 = 64;

/// The task as the model was trained on it.
fn trained_on(training: &serde_json::Value) -> Option<TaskSpec> {
    let config: TrainConfig = serde_json::from_value(training.get("config")?.clone()).ok()?;
    Some(config.task)
}

pub(crate) fn table(report: &EvalReport) -> String {
    let number = |value: Option<f64>| value.map(|value| format!("{value:.3e}"));
    let percent = |value: Option<f64>| value.map(|value| format!("{:.1}%", 100.0 * value));
    let measures = [
        ("relative loss", number(report.relative_loss)),
        ("success rate", percent(report.success_rate)),
        ("walkable", percent(report.walkable_success_rate)),
        ("as written", percent(report.success_rate_as_written)),
        ("as written, walkable", percent(report.walkable_success_rate_as_written)),
        ("accuracy", percent(report.accuracy)),
        ("mse", number(report.mse)),
    ];
    let mut header = vec!["task", "size", "graphs", "nodes", "diameter"];
    let mut row = vec![
        report.task.to_string(),
        report.size.clone().unwrap_or_default(),
        report.count.to_string(),
        format!("{:.1}", report.nodes.mean),
        format!("{}{:.1}", if report.diameter.exact { "" } else { ">= " }, report.diameter.mean),
    ];
    for (name, value) in measures {
        if let Some(value) = value {
            header.push(name);
            row.push(value);
        }
    }
    header.extend(["iterations", "most", "seconds"]);
    row.extend([
        format!("{:.1}", report.iterations.mean),
        report.iterations.max.to_string(),
        format!("{:.2}", report.seconds),
    ]);
    output::table(&header, [row])
}
