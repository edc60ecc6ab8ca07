//! `itergnn eval`: how good a model is, at any size.

use itergnn::{
    nn::Device,
    tasks::{Task, TaskSpec},
    train::{
        TrainConfig,
        evaluation::{EvalOptions, EvalReport, ModelPredictor, evaluate},
    },
};

use crate::{
    commands::{model, pacman, task, train::failure},
    failure::Failure,
    options::EvalArguments,
    output::{self, note, print, print_json},
    progress,
};

pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Failure> {
    if let Some(done) = pacman::yardstick(arguments) {
        return done;
    }
    let device = Device::flex();
    let (model, card) = model::load(&arguments.model, &device)?;
    if card.task == Task::Pacman.name() {
        return pacman::evaluate(arguments, &model, &card);
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
        success: arguments.success,
        records: arguments.records,
        cap: arguments.max_iterations,
        ..EvalOptions::default()
    };
    let predictor = ModelPredictor::new(&model, &device);
    let bar = progress::bar(arguments.count, "graphs");
    let mut tell = |progress: itergnn::train::evaluation::EvalProgress| bar.set_position(progress.judged);
    let report = evaluate(&predictor, &spec, arguments.count, arguments.seed, &options, &mut tell).map_err(failure)?;
    bar.finish_and_clear();
    if report.capped > 0 {
        note(&format!("itergnn: {} of {} graphs did not stop by themselves", report.capped, report.count));
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

/// The task as the model was trained on it.
fn trained_on(training: &serde_json::Value) -> Option<TaskSpec> {
    let config: TrainConfig = serde_json::from_value(training.get("config")?.clone()).ok()?;
    Some(config.task)
}

fn table(report: &EvalReport) -> String {
    let number = |value: Option<f64>| value.map(|value| format!("{value:.3e}"));
    let percent = |value: Option<f64>| value.map(|value| format!("{:.1}%", 100.0 * value));
    let measures = [
        ("relative loss", number(report.relative_loss)),
        ("success rate", percent(report.success_rate)),
        ("accuracy", percent(report.accuracy)),
        ("mse", number(report.mse)),
    ];
    let mut header = vec!["task", "size", "graphs", "nodes"];
    let mut row = vec![
        report.task.to_string(),
        report.size.clone().unwrap_or_default(),
        report.count.to_string(),
        format!("{:.1}", report.nodes.mean),
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
