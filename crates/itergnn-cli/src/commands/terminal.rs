//! A game on the terminal: colours, keys, and the screen as it was afterwards.

use std::{
    io::{self, Stdout, Write},
    time::{Duration, Instant},
};

use crossterm::{
    cursor, event,
    event::{Event, KeyCode, KeyEventKind, KeyModifiers},
    execute, queue,
    style::{Color, Print, ResetColor, SetForegroundColor},
    terminal,
};
use itergnn::tasks::pacman::{Action, Pacman, PacmanConfig, Position};

use crate::{
    commands::play::{Player, game},
    failure::Failure,
};

/// Slowest and fastest, in moves per second.
const SPEEDS: (f64, f64) = (0.5, 60.0);

/// The terminal while a game is on it; dropped, it is what it was before.
pub(crate) struct Terminal {
    out: Stdout,
}

enum Key {
    Quit,
    Pause,
    Faster,
    Slower,
    Next,
    Move(Action),
}

impl Terminal {
    /// Takes the terminal over.
    pub(crate) fn open() -> Result<Self, Failure> {
        let mut out = io::stdout();
        terminal::enable_raw_mode().map_err(broken)?;
        let terminal = Self { out: io::stdout() };
        execute!(out, terminal::EnterAlternateScreen, cursor::Hide).map_err(broken)?;
        Ok(terminal)
    }

    /// Shows games of a player, one seed after the other, until the user has had enough.
    pub(crate) fn watch(
        &mut self,
        mut player: Player,
        config: PacmanConfig,
        seed: u64,
        speed: f64,
    ) -> Result<(), Failure> {
        let (mut speed, mut paused, mut seed) = (speed.clamp(SPEEDS.0, SPEEDS.1), false, seed);
        let mut shown = game(config, seed)?;
        loop {
            let state = match (shown.is_over(), paused) {
                (true, _) => "over",
                (false, true) => "paused",
                (false, false) => "",
            };
            let help = format!(
                "game {seed}  {speed:.1} moves/s  {state}\r\nspace pause   + faster   - slower   n next game   q quit"
            );
            self.draw(&shown, &help)?;
            let rests = paused || shown.is_over();
            let wait = if rests { Duration::from_secs(3600) } else { Duration::from_secs_f64(1.0 / speed) };
            match self.key(wait)? {
                Some(Key::Quit) => return Ok(()),
                Some(Key::Pause) => paused = !paused,
                Some(Key::Faster) => speed = (speed * 1.5).min(SPEEDS.1),
                Some(Key::Slower) => speed = (speed / 1.5).max(SPEEDS.0),
                Some(Key::Next) => {
                    seed += 1;
                    shown = game(config, seed)?;
                    player.forget();
                }
                Some(Key::Move(_)) => {}
                None => {
                    player.step(&mut shown)?;
                }
            }
        }
    }

    /// Lets the user play a game, and gives its situations.
    pub(crate) fn play_oneself(&mut self, config: PacmanConfig, seed: u64) -> Result<Vec<Pacman>, Failure> {
        let mut game = game(config, seed)?;
        let mut frames = vec![game.clone()];
        loop {
            let state = if game.is_over() { "over: q ends" } else { "" };
            self.draw(&game, &format!("game {seed}  {state}\r\narrow keys or h j k l move   q quit"))?;
            match self.key(Duration::from_secs(3600))? {
                Some(Key::Quit) => return Ok(frames),
                Some(Key::Move(action)) if !game.is_over() => {
                    game.step(action);
                    frames.push(game.clone());
                }
                _ => {}
            }
        }
    }

    fn draw(&mut self, game: &Pacman, help: &str) -> Result<(), Failure> {
        self.draw_cells(game, help).map_err(broken)
    }

    fn draw_cells(&mut self, game: &Pacman, help: &str) -> io::Result<()> {
        let size = game.config().size;
        let dots: Vec<Position> = game.dots().collect();
        let out = &mut self.out;
        queue!(out, cursor::MoveTo(0, 0), terminal::Clear(terminal::ClearType::All))?;
        let frame = "██".repeat(usize::from(size) + 2);
        queue!(out, SetForegroundColor(Color::DarkBlue), Print(&frame), Print("\r\n"))?;
        for y in 0..size {
            queue!(out, SetForegroundColor(Color::DarkBlue), Print("██"))?;
            for x in 0..size {
                let here = Position { x, y };
                let (colour, symbol) = if game.agent() == here {
                    (Color::Yellow, "◖◗")
                } else if game.is_wall(here) {
                    (Color::DarkBlue, "██")
                } else if dots.contains(&here) {
                    (Color::White, "• ")
                } else {
                    (Color::Reset, "  ")
                };
                queue!(out, SetForegroundColor(colour), Print(symbol))?;
            }
            queue!(out, SetForegroundColor(Color::DarkBlue), Print("██\r\n"))?;
        }
        let episode = game.episode();
        queue!(
            out,
            Print(&frame),
            ResetColor,
            Print(format!("\r\neaten {} of {}, step {}   {help}\r\n", episode.eaten, episode.reachable, episode.steps))
        )?;
        out.flush()
    }

    /// The next key that means something, if one comes in time.
    fn key(&self, wait: Duration) -> Result<Option<Key>, Failure> {
        let end = Instant::now() + wait;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if !event::poll(left).map_err(broken)? {
                return Ok(None);
            }
            let Event::Key(key) = event::read().map_err(broken)? else { continue };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            let interrupted = key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c');
            let meaning = match key.code {
                _ if interrupted => Some(Key::Quit),
                KeyCode::Char('q') | KeyCode::Esc => Some(Key::Quit),
                KeyCode::Char(' ' | 'p') => Some(Key::Pause),
                KeyCode::Char('+' | '=') => Some(Key::Faster),
                KeyCode::Char('-') => Some(Key::Slower),
                KeyCode::Char('n') => Some(Key::Next),
                KeyCode::Left | KeyCode::Char('h') => Some(Key::Move(Action::Left)),
                KeyCode::Right | KeyCode::Char('l') => Some(Key::Move(Action::Right)),
                KeyCode::Up | KeyCode::Char('k') => Some(Key::Move(Action::Up)),
                KeyCode::Down | KeyCode::Char('j') => Some(Key::Move(Action::Down)),
                _ => None,
            };
            if meaning.is_some() {
                return Ok(meaning);
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nothing better can be done if the terminal is gone.
        let _ = execute!(self.out, cursor::Show, terminal::LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

fn broken(error: io::Error) -> Failure {
    Failure::failed(format!("the terminal does not answer: {error}"))
}
