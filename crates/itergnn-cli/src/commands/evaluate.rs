//! `itergnn eval`: how good a model is, at any size.

use itergnn::{
    nn::controllers::SAFETY_CAP,
    tasks::{Task, TaskSpec},
    train::{
        classification::is_classification_run,
        evaluation::{EvalOptions, EvalReport, evaluate},
    },
};

use crate::{
    commands::{algorithms, classification, domain, model, own, pacman, task, train::failure},
    estimate::{Allowance, RECORD_BYTES},
    failure::Failure,
    given::Given,
    options::EvalArguments,
    output::{self, Output, print, print_json, warn},
    progress::Progress,
};

/// Flags about how to compute, which every model has.
const COMPUTE: [&str; 4] = ["task", "device", "threads", "timeout"];

/// Flags of one setting of the game, or of the paper's thirty.
const SETTING: [&str; 4] = ["grid", "size", "dots", "walls"];
const GRID: [&str; 2] = ["grid", "out"];

pub(crate) fn run(arguments: &EvalArguments, given: &Given) -> Result<(), Failure> {
    if arguments.count == 0 {
        return Err(Failure::bad_input("--count 0: there is nothing to judge"));
    }
    let allowance = Allowance::of(arguments.memory)?;
    allowance.check_count("--count", arguments.count, RECORD_BYTES)?;
    if let Some(out) = &arguments.out {
        Output::check(out)?;
    }
    arguments.time.start();
    let settings = if arguments.grid { &GRID[..] } else { &SETTING };
    if pacman::is_yardstick(arguments) {
        let what =
            if arguments.grid { "a player without a model on the paper's grid" } else { "a player without a model" };
        given.only(what, &[&COMPUTE[..], settings, &["count", "seed", "exploration"]].concat())?;
        arguments.compute.start()?;
        return pacman::evaluate_yardstick(arguments);
    }
    let device = arguments.compute.start_anywhere()?;
    let classified = [&COMPUTE[..], &["data", "records"]].concat();
    if is_classification_run(&arguments.model) {
        given.only("the folds of a cross-validation", &classified)?;
        arguments.compute.refuse_card()?;
        return classification::evaluate_folds(arguments);
    }
    let (model, card) = model::load(&arguments.model)?;
    if card.task == Task::Pacman.name() {
        let what = if arguments.grid { "a pacman model on the paper's grid" } else { "a pacman model" };
        let own = ["count", "seed", "exploration", "recall", "symmetries", "max-iterations"];
        given.only(what, &[&COMPUTE[..], settings, &own].concat())?;
        arguments.compute.refuse_card()?;
        return pacman::evaluate(arguments, &model, &card);
    }
    if card.task == Task::GraphClassification.name() {
        given.only("a graph-classification model", &classified)?;
        arguments.compute.refuse_card()?;
        return classification::evaluate_model(arguments, &model, &card);
    }
    if let Some(task) = own::task_of(&card) {
        return match algorithms::learned_by(&card) {
            Some(spec) if arguments.samples_of.data.is_none() => {
                algorithms::evaluate(arguments, given, &model, spec, &device)
            }
            _ => own::evaluate(arguments, given, &model, &task, &device),
        };
    }
    let mut spec = domain::trained_on(&card)
        .or_else(|| card.task.parse::<Task>().ok().or(arguments.task).map(TaskSpec::paper))
        .ok_or_else(|| Failure::bad_input("the model does not say its task; give --task"))?;
    if let Some(other) = arguments.task.filter(|&task| task != spec.task()) {
        let why = format!("--task {other}: the model was trained on {}", spec.task());
        return Err(Failure::bad_input(why));
    }
    given.only(&format!("a {} model", spec.task()), &[&COMPUTE[..], &JUDGING, flags_of(spec.task())].concat())?;
    task::apply(&mut spec, &arguments.samples_of).map_err(Failure::bad_input)?;
    let options = EvalOptions {
        engine: arguments.engine.engine,
        memory: allowance.limit().unwrap_or(EvalOptions::default().memory),
        success: arguments.success,
        records: arguments.records,
        cap: arguments.max_iterations,
    };
    let predictor = arguments.compute.predictor(&model, &device)?;
    allowance.check_samples(&spec, arguments.count, |nodes, edges| predictor.bytes(nodes, edges))?;
    let progress = Progress::new("graphs", arguments.count);
    let mut tell = |at: itergnn::train::evaluation::EvalProgress| progress.at(at.judged);
    let report = evaluate(&*predictor, &spec, arguments.count, arguments.seed, &options, &mut tell).map_err(failure)?;
    drop(progress);
    if report.capped > 0 {
        warn(&format!("{} of {} graphs did not stop by themselves", report.capped, report.count));
    }
    if report.past_safety_cap > 0 {
        let (past, count) = (report.past_safety_cap, report.count);
        warn(&format!("{past} of {count} graphs took more than {SAFETY_CAP} iterations before they stopped"));
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

/// Flags of every evaluation on drawn samples.
const JUDGING: [&str; 6] = ["count", "seed", "records", "max-iterations", "memory", "engine"];

/// Flags of the samples of a task.
fn flags_of(task: Task) -> &'static [&'static str] {
    match task {
        Task::ShortestPath => &["generator", "size", "weighted", "weights", "success"],
        Task::ComponentCount => &["generator", "size"],
        Task::Navigation => &["size", "success"],
        Task::Tsp | Task::NewtonBalls => &["size"],
        Task::Pacman | Task::GraphClassification | Task::RegularGraphs => &[],
    }
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
    let head = report.architecture.iter().map(|line| format!("{line}\n")).collect::<String>();
    head + &output::table(&header, [row])
}
