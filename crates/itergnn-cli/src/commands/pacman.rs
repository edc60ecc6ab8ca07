//! Pacman, which is learned by playing: its parts of `itergnn train` and `itergnn eval`.

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use indicatif::ProgressBar;
use itergnn::{
    nn::{GnnModel, store::ModelCard},
    tasks::{Task, TaskSpec, pacman::PacmanConfig},
    train::{
        ModelConfig, Observer, Plan, RunDirectory, Start, Status, TrainOptions,
        rl::{
            AgentConfig, Chooser, DqnConfig, GridCell, GridReport, OraclePlayer, PlayOptions, PlayRecord, PlayReport,
            RandomPlayer, Recall, ValuePlayer, paper_settings, play_games, train_dqn,
        },
    },
};

use crate::{
    commands::{
        task,
        train::{failure, named, stop_on_interrupt},
    },
    failure::Failure,
    options::{EvalArguments, TrainArguments},
    output::{self, Output, note, print, print_json},
    progress,
};

/// Whether `itergnn train` is asked to play: by the task, by a configuration file with a `[game]`, or by the run to resume.
pub(crate) fn is_meant(arguments: &TrainArguments) -> bool {
    let plays = |path: &Path| {
        let table = fs::read_to_string(path).ok().and_then(|text| text.parse::<toml::Table>().ok());
        table.is_some_and(|table| table.contains_key("game"))
    };
    match (arguments.task, &arguments.config) {
        (Some(task), _) => task == Task::Pacman,
        (None, Some(path)) => plays(path),
        (None, None) => arguments.resume && plays(&arguments.out.join("config.toml")),
    }
}

/// `itergnn train pacman`.
pub(crate) fn train(arguments: &TrainArguments) -> Result<(), Failure> {
    let config = configuration(arguments)?;
    let stop = stop_on_interrupt()?;
    let start = if arguments.resume { Start::ResumeOrNew } else { Start::New };
    let options = TrainOptions { start, stop: Arc::clone(&stop), ..TrainOptions::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.compute.threads.unwrap_or(0));
    let pool = pool.build().map_err(Failure::failed)?;
    let mut rows = Vec::new();
    for offset in 0..arguments.seeds.unwrap_or(1) {
        let config = DqnConfig { seed: config.seed + offset, ..config.clone() };
        let directory = match arguments.seeds {
            Some(_) => itergnn::train::seed_directory(&arguments.out, config.seed),
            None => arguments.out.clone(),
        };
        let run = || train_dqn(&config, Some(&directory), &options, &mut PlayView::default());
        let outcome = pool.install(run).map_err(failure)?;
        let status = if outcome.status == Status::Finished { "finished" } else { "stopped" };
        rows.push(serde_json::json!({
            "seed": config.seed, "status": status, "steps": outcome.steps, "updates": outcome.updates,
            "best_step": outcome.best_step, "validation": outcome.best, "seconds": outcome.seconds,
            "model": RunDirectory::best_model_in(&directory),
        }));
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if arguments.json {
        print_json(&serde_json::json!({ "runs": rows }))?;
    } else {
        let columns = ["seed", "status", "steps", "updates", "best_step", "validation", "seconds"];
        let cells = rows.iter().map(|row| columns.iter().map(|name| short(&row[*name])).collect());
        print(&format!("{}model: {}\n", output::table(&columns, cells), arguments.out.display()))?;
    }
    if stop.load(Ordering::Relaxed) {
        let again = format!("stopped; the same command with --resume goes on in {}", arguments.out.display());
        return Err(Failure::failed(again));
    }
    Ok(())
}

fn short(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

/// The run's configuration: a file's, or that of a run to resume, or the paper's, changed by what the user gave.
fn configuration(arguments: &TrainArguments) -> Result<DqnConfig, Failure> {
    let held = arguments.out.join("config.toml");
    let mut config = match &arguments.config {
        Some(path) => {
            let at = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {error}", path.display()));
            let text = fs::read_to_string(path).map_err(|error| at(&error))?;
            DqnConfig::from_toml(&text).map_err(|error| at(&error))?
        }
        None if arguments.resume && held.is_file() => {
            RunDirectory::config_of::<DqnConfig>(&arguments.out).map_err(failure)?
        }
        None => DqnConfig::new(ModelConfig::preset("iter-path")),
    };
    if let Some(name) = &arguments.model {
        config.model = ModelConfig { hidden_width: config.model.hidden_width, ..ModelConfig::preset(name) };
    }
    let supervised = [
        ("--epochs", arguments.epochs.is_some(), "--steps"),
        ("--samples", arguments.samples.is_some(), "--steps"),
        ("--validation", arguments.validation.is_some(), "a configuration file"),
    ];
    if let Some((flag, _, instead)) = supervised.into_iter().find(|(_, given, _)| *given) {
        return Err(Failure::bad_input(format!("{flag}: pacman is learned by playing; use {instead}")));
    }
    let mut spec = TaskSpec::Pacman(config.game);
    task::apply(&mut spec, &arguments.samples_of).map_err(Failure::bad_input)?;
    if let TaskSpec::Pacman(game) = spec {
        config.game = game;
    }
    config.model.layer = named("layer", &arguments.layer)?.or(config.model.layer);
    config.model.aggregation = named("aggregation", &arguments.aggregation)?.or(config.model.aggregation);
    config.model.prior = named("prior", &arguments.prior)?.or(config.model.prior);
    if let Some(kind) = &arguments.controller {
        let parsed = serde_json::from_value(serde_json::json!({ "kind": kind }));
        config.model.controller =
            Some(parsed.map_err(|error| Failure::bad_input(format!("--controller {kind}: {error}")))?);
    }
    config.model.hidden_width = arguments.hidden.or(config.model.hidden_width);
    config.steps = arguments.steps.unwrap_or(config.steps);
    config.layers = arguments.layers.or(config.layers);
    config.kernel = arguments.kernel.or(config.kernel);
    config.agent.batch_size = arguments.batch_size.unwrap_or(config.agent.batch_size);
    config.optimiser.learning_rate = arguments.learning_rate.unwrap_or(config.optimiser.learning_rate);
    config.seed = arguments.seed.unwrap_or(config.seed);
    config.validate().map_err(failure)?;
    Ok(config)
}

/// Shows a run: a bar on a terminal, a line a validation elsewhere.
#[derive(Default)]
struct PlayView {
    bar: Option<ProgressBar>,
}

impl Observer for PlayView {
    fn started(&mut self, plan: &Plan) {
        note(&format!("seed {}: {} parameters, {} moves to make", plan.seed, plan.parameters, plan.steps));
        let bar = progress::bar(plan.steps, "moves");
        bar.set_position(plan.steps_done);
        self.bar = Some(bar);
    }

    fn play(&mut self, record: &PlayRecord) {
        if let Some(bar) = &self.bar {
            bar.set_position(record.step);
        }
        let Some(success) = record.validation_success else { return };
        let line = format!(
            "move {}: loss {:.3e}, success {:.3} while learning, {success:.4} in validation ({} in a circle){}, {:.0} s",
            record.step,
            record.loss.unwrap_or(f64::NAN),
            record.training_success.unwrap_or(f64::NAN),
            record.validation_stuck.unwrap_or(0),
            if record.is_best { ", best" } else { "" },
            record.seconds
        );
        match &self.bar {
            Some(bar) if !bar.is_hidden() => bar.println(line),
            _ => note(&line),
        }
    }

    fn note(&mut self, message: &str) {
        note(&format!("itergnn: {message}"));
    }
}

impl Drop for PlayView {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How a model learned to play, if it did.
fn training_of(card: &ModelCard) -> Option<DqnConfig> {
    serde_json::from_value(card.training.get("play")?.clone()).ok()
}

/// The game a model was trained on, if it was.
pub(crate) fn trained_on(card: &ModelCard) -> Option<PacmanConfig> {
    training_of(card).map(|config| config.game)
}

/// How to correct the outputs of a model while it plays.
pub(crate) fn recall_of(card: &ModelCard) -> Recall {
    let agent = training_of(card).map(|config| config.agent).unwrap_or_default();
    Recall { scale: agent.value_scale, discount: agent.discount }
}

/// Who is judged.
struct Candidate<'a> {
    player: &'a dyn Chooser,
    name: &'a str,
    variant: Option<String>,
    training_seed: Option<u64>,
    game: PacmanConfig,
    recall: Recall,
}

/// What sets a network apart from others of its name.
fn variant_of(card: &ModelCard) -> Option<String> {
    let config = training_of(card)?;
    let layers = config.layers.map(|layers| format!("{layers} layer{}", if layers == 1 { "" } else { "s" }));
    let kernel = config.kernel.map(|kernel| format!("kernel {kernel}"));
    let parts: Vec<String> = layers.into_iter().chain(kernel).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `itergnn eval` of a model that plays.
pub(crate) fn evaluate(arguments: &EvalArguments, model: &GnnModel, card: &ModelCard) -> Result<(), Failure> {
    let player = ValuePlayer::new(model).with_symmetries(arguments.symmetries).with_cap(arguments.max_iterations);
    let who = Candidate {
        player: &player,
        name: &card.name,
        variant: variant_of(card),
        training_seed: Some(card.seed),
        game: trained_on(card).unwrap_or_default(),
        recall: recall_of(card),
    };
    judge(arguments, &who)
}

/// Players that do not learn, as a yardstick.
const YARDSTICKS: [&str; 2] = ["nearest-dot", "random"];

/// Whether a player that does not learn is to be judged: no file has its name.
pub(crate) fn is_yardstick(arguments: &EvalArguments) -> bool {
    let plays = arguments.task.is_none_or(|task| task == Task::Pacman);
    plays && !arguments.model.exists() && arguments.model.to_str().is_some_and(|name| YARDSTICKS.contains(&name))
}

/// `itergnn eval nearest-dot` and `itergnn eval random`.
pub(crate) fn evaluate_yardstick(arguments: &EvalArguments) -> Result<(), Failure> {
    let random = RandomPlayer { seed: arguments.seed };
    let (player, name): (&dyn Chooser, _) = if arguments.model.as_os_str() == YARDSTICKS[1] {
        (&random, YARDSTICKS[1])
    } else {
        (&OraclePlayer, YARDSTICKS[0])
    };
    let agent = AgentConfig::default();
    let recall = Recall { scale: agent.value_scale, discount: agent.discount };
    let game = PacmanConfig::default();
    judge(arguments, &Candidate { player, name, variant: None, training_seed: None, game, recall })
}

fn judge(arguments: &EvalArguments, who: &Candidate<'_>) -> Result<(), Failure> {
    let mut spec = TaskSpec::Pacman(who.game);
    task::apply(&mut spec, &arguments.samples_of).map_err(Failure::bad_input)?;
    let TaskSpec::Pacman(game) = spec else { return Err(Failure::failed("not a game")) };
    if !(0.0..=1.0).contains(&arguments.exploration) {
        return Err(Failure::bad_input(format!("--exploration {}: not in 0..1", arguments.exploration)));
    }
    let options = PlayOptions { exploration: arguments.exploration, recall: arguments.recall.then_some(who.recall) };
    if arguments.grid {
        return grid(arguments, who, &options);
    }
    let bar = progress::bar(arguments.count, "games");
    let mut tell = |done: u64| bar.set_position(done);
    let report =
        play_games(who.player, &game, arguments.count, arguments.seed, &options, &mut tell).map_err(failure)?;
    bar.finish_and_clear();
    if arguments.json {
        // The measures of other tasks are null, as everywhere.
        let mut value = serde_json::to_value(&report).map_err(Failure::failed)?;
        for other in ["relative_loss", "accuracy", "mse"] {
            value[other] = serde_json::Value::Null;
        }
        return print_json(&value);
    }
    print(&table(&report))
}

fn table(report: &PlayReport) -> String {
    let header =
        ["walls", "dots", "games", "success", "all eaten", "in a circle", "moves", "oracle's moves", "seconds"];
    let row = vec![
        report.walls.to_string(),
        report.dots.to_string(),
        report.count.to_string(),
        format!("{:.2}% ± {:.2}", 100.0 * report.success_rate, 100.0 * report.standard_error),
        format!("{:.1}%", 100.0 * report.complete),
        report.stuck.to_string(),
        format!("{:.1}", report.moves),
        format!("{:.1}", report.oracle_moves),
        format!("{:.1}", report.seconds),
    ];
    output::table(&header, [row])
}

fn grid(arguments: &EvalArguments, who: &Candidate<'_>, options: &PlayOptions) -> Result<(), Failure> {
    let (walls, dots) = paper_settings(who.name);
    let bar = progress::bar((1 + walls.len() * dots.len()) as u64, "settings");
    let mut tell = |_: &GridCell| bar.inc(1);
    let report = GridReport::measure(who.player, who.name, arguments.count, arguments.seed, options, &mut tell);
    let report = GridReport {
        variant: who.variant.clone(),
        training_seed: who.training_seed,
        symmetries: arguments.symmetries,
        ..report.map_err(failure)?
    };
    bar.finish_and_clear();
    if let Some(path) = &arguments.out {
        let mut text = serde_json::to_vec_pretty(&report).map_err(Failure::failed)?;
        text.push(b'\n');
        Output::write(path, &text)?;
    }
    if arguments.json {
        return print_json(&report);
    }
    print(&grid_table(&report))
}

/// Rows of walls, columns of dots; the paper's number in brackets.
fn grid_table(report: &GridReport) -> String {
    let shown = |cell: &GridCell| {
        let paper = cell.paper.map_or(String::new(), |paper| format!(" ({:.0})", 100.0 * paper));
        format!("{:.1}{paper}", 100.0 * cell.report.success_rate)
    };
    let mut header = vec!["walls \\ dots".to_owned()];
    header.extend(report.columns().iter().map(u16::to_string));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = report.rows().map(|(walls, cells)| {
        let mut row = vec![walls.to_string()];
        row.extend(cells.iter().map(shown));
        row
    });
    let training = &report.training_setting;
    format!(
        "{}10 dots, 8 walls: {}%; worst cell {:.1}%; {} games a cell, the paper's numbers in brackets\n",
        output::table(&header, rows),
        shown(training),
        100.0 * report.worst(),
        report.count
    )
}
