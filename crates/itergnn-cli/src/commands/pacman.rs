//! Pacman, which is learned by playing: its part of `itergnn eval`.

use itergnn::{
    nn::{GnnModel, store::ModelCard},
    tasks::{Task, TaskSpec, pacman::PacmanConfig},
    train::{
        DqnConfig, RunConfig,
        rl::{
            AgentConfig, Chooser, GridCell, GridReport, OraclePlayer, PlayOptions, PlayReport, RandomPlayer, Recall,
            ValuePlayer, paper_settings, play_games,
        },
    },
};

use crate::{
    commands::{task, train::failure},
    failure::Failure,
    options::EvalArguments,
    output::{self, Output, print, print_json},
    progress,
};

/// How a model learned to play, if it did.
fn training_of(card: &ModelCard) -> Option<DqnConfig> {
    RunConfig::of_card(card)?.dqn().ok().cloned()
}

/// The game a model was trained on, if it was.
pub(crate) fn trained_on(card: &ModelCard) -> Option<PacmanConfig> {
    RunConfig::of_card(card)?.game().ok().copied()
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
        "{}10 dots, 8 walls: {}%; worst cell {:.1}%; {} games per cell, the paper's numbers in brackets\n",
        output::table(&header, rows),
        shown(training),
        100.0 * report.worst(),
        report.count
    )
}
