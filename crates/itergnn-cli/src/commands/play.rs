//! `itergnn play`: watch an agent in the terminal, play oneself, or record a game.

use std::{io::IsTerminal, path::Path};

use itergnn::{
    tasks::{
        Split,
        pacman::{Pacman, PacmanConfig, Position},
    },
    train::rl::{Chooser, OraclePlayer, RandomPlayer, Recall, Recollection, ValuePlayer},
};

use crate::{
    commands::{model, pacman, terminal::Terminal, train::failure},
    drawing::GamePicture,
    failure::Failure,
    given::Given,
    options::PlayArguments,
    output::{Output, note, print, print_json},
};

pub(crate) fn run(arguments: &PlayArguments, given: &Given) -> Result<(), Failure> {
    if !(arguments.speed.is_finite() && arguments.speed > 0.0) {
        return Err(Failure::bad_input(format!("--speed {}: give moves per second, more than 0", arguments.speed)));
    }
    let format = arguments.record.as_deref().map(Format::of).transpose()?;
    if let Some(record) = &arguments.record {
        Output::check(record)?;
    }
    let watches = std::io::stdout().is_terminal() && std::io::stdin().is_terminal() && !arguments.json;
    refuse_flags(arguments, given, watches)?;
    let (player, trained_on) = player(arguments)?;
    let mut config = trained_on.unwrap_or_default();
    config.dots = arguments.dots.unwrap_or(config.dots);
    config.walls = arguments.walls.unwrap_or(config.walls);
    config.size = arguments.size.unwrap_or(config.size);
    config.check().map_err(Failure::bad_input)?;
    let Some(player) = player else {
        if !watches {
            let why = "playing yourself needs a terminal; give a MODEL (or nearest-dot, random) to watch or --record";
            return Err(Failure::bad_input(why));
        }
        let frames = Terminal::open()?.play_oneself(config, arguments.seed)?;
        return finish(arguments, format, &frames, false);
    };
    if watches && format.is_none() {
        return Terminal::open()?.watch(player, config, arguments.seed, arguments.speed);
    }
    let (frames, circles) = play_out(player, config, arguments.seed)?;
    finish(arguments, format, &frames, circles)
}

/// Refuses what means nothing for whoever plays: only a model has outputs to correct or to average, and only moves that
/// are shown have a speed.
fn refuse_flags(arguments: &PlayArguments, given: &Given, watches: bool) -> Result<(), Failure> {
    let mut meant = vec!["dots", "walls", "size", "seed", "record"];
    let what = match &arguments.model {
        _ if arguments.human || arguments.model.is_none() => {
            meant.push("human");
            "a game of yours"
        }
        Some(path) if is_named_player(path) => "a player without a model",
        _ => {
            meant.extend(["recall", "symmetries"]);
            "a model that plays"
        }
    };
    let is_shown = watches && !arguments.human && arguments.model.is_some();
    if is_shown || arguments.record.is_some() {
        meant.push("speed");
    }
    given.only(what, &meant)
}

/// Whether a name is that of a player without a model; a file of that name is a model.
fn is_named_player(path: &Path) -> bool {
    matches!(path.to_str(), Some("nearest-dot" | "random")) && !path.exists()
}

enum Format {
    Gif,
    Svg,
}

impl Format {
    fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gif") => Ok(Self::Gif),
            Some("svg") => Ok(Self::Svg),
            _ => Err(Failure::bad_input(format!("--record {}: give a name that ends in .gif or .svg", path.display()))),
        }
    }
}

/// Someone who plays one game after the other.
pub(crate) struct Player {
    chooser: Box<dyn Chooser>,
    recall: Option<Recall>,
    recollection: Recollection,
}

impl Player {
    fn new(chooser: impl Chooser + 'static) -> Self {
        Self { chooser: Box::new(chooser), recall: None, recollection: Recollection::default() }
    }

    /// Makes a move, and says whether it brought a dot.
    pub(crate) fn step(&mut self, game: &mut Pacman) -> Result<bool, Failure> {
        let choices = self.chooser.choose(&[(0, game)]).map_err(failure)?;
        let choice = choices.first().ok_or_else(|| Failure::failed("the player has no move"))?;
        let cell = usize::from(game.agent().y) * usize::from(game.config().size) + usize::from(game.agent().x);
        let action = match (&self.recall, &choice.outputs) {
            (Some(recall), Some(outputs)) => self.recollection.choose(recall, cell, outputs),
            _ => choice.action,
        };
        let ate = game.step(action).reward > 0.0;
        self.recollection.moved(cell, action, ate);
        Ok(ate)
    }

    /// Begins another game.
    pub(crate) fn forget(&mut self) {
        self.recollection = Recollection::default();
    }

    /// Whether the same situation always leads to the same move.
    fn is_deterministic(&self) -> bool {
        self.chooser.is_deterministic() && self.recall.is_none()
    }
}

/// Who plays, if it is not the user, and on which games that player has learned.
fn player(arguments: &PlayArguments) -> Result<(Option<Player>, Option<PacmanConfig>), Failure> {
    let Some(path) = &arguments.model else { return Ok((None, None)) };
    if is_named_player(path) {
        let player = match path.to_str() {
            Some("random") => Player::new(RandomPlayer { seed: arguments.seed }),
            _ => Player::new(OraclePlayer),
        };
        return Ok(((!arguments.human).then_some(player), None));
    }
    let (model, card) = model::load(path)?;
    let Some(game) = pacman::trained_on(&card) else {
        let why = format!("{}: this model was trained on {}, not to play pacman", path.display(), card.task);
        return Err(Failure::bad_input(why));
    };
    if arguments.human {
        return Ok((None, Some(game)));
    }
    let recall = arguments.recall.then(|| pacman::recall_of(&card));
    let player = Player::new(ValuePlayer::new(&model).with_symmetries(arguments.symmetries));
    Ok((Some(Player { recall, ..player }), Some(game)))
}

/// The game of a seed, the first of the test split.
pub(crate) fn game(config: PacmanConfig, seed: u64) -> Result<Pacman, Failure> {
    let sampler = config.sampler().map_err(Failure::bad_input)?;
    sampler.game(Split::Test.seed(seed), 0).map_err(Failure::bad_input)
}

/// Plays a game to its end, or until a player who does not change their mind comes back to a place without having
/// eaten.
fn play_out(mut player: Player, config: PacmanConfig, seed: u64) -> Result<(Vec<Pacman>, bool), Failure> {
    let mut game = game(config, seed)?;
    let mut frames = vec![game.clone()];
    let mut visited: Vec<Position> = vec![game.agent()];
    while !game.is_over() {
        if player.step(&mut game)? {
            visited.clear();
        }
        frames.push(game.clone());
        if player.is_deterministic() && visited.contains(&game.agent()) && !game.is_over() {
            return Ok((frames, true));
        }
        visited.push(game.agent());
    }
    Ok((frames, false))
}

/// Writes the recording and says how the game went.
fn finish(arguments: &PlayArguments, format: Option<Format>, frames: &[Pacman], circles: bool) -> Result<(), Failure> {
    let Some(last) = frames.last() else { return Ok(()) };
    if let (Some(path), Some(format)) = (&arguments.record, format) {
        let picture = GamePicture { frames, moves_per_second: arguments.speed };
        let bytes = match format {
            Format::Gif => picture.gif().map_err(Failure::failed)?,
            Format::Svg => picture.drawing().svg().into_bytes(),
        };
        Output::write(path, &bytes)?;
        note(&format!("recorded {} moves in {}", frames.len() - 1, path.display()));
    }
    let episode = last.episode();
    if arguments.json {
        return print_json(&serde_json::json!({
            "seed": arguments.seed, "dots": last.config().dots, "walls": last.config().walls, "eaten": episode.eaten,
            "reachable": episode.reachable, "steps": episode.steps, "success_rate": episode.success(), "stuck": circles,
        }));
    }
    if arguments.record.is_none() {
        // Not a terminal: the frames as text, for a file or a pager.
        frames.iter().try_for_each(|game| print(&format!("{game}\n\n")))?;
    }
    let circle = if circles { ", then walked in a circle" } else { "" };
    print(&format!("eaten {} of {} in {} moves{circle}\n", episode.eaten, episode.reachable, episode.steps))
}
