//! Progress on stderr for anything that takes a while: a bar on a terminal, lines elsewhere, and nothing for what is done at once.

use std::{
    cell::Cell,
    io::IsTerminal,
    sync::mpsc,
    time::{Duration, Instant},
};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{is_quiet, note};

/// What is done before this is done without a word.
const PATIENCE: Duration = Duration::from_secs(2);

/// Between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// A bar with rate and time left.
pub(crate) fn bar(total: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    if is_quiet() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let template = "{prefix} {bar:30} {human_pos}/{human_len}  {per_sec}  {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_prefix(what);
    bar
}

/// How far something has come, with the time it has left; shown once it has taken two seconds.
pub(crate) struct Progress {
    what: &'static str,
    total: u64,
    started: Instant,
    bar: Option<ProgressBar>,
    /// When the next line is due, where there is no bar.
    due: Cell<Duration>,
}

impl Progress {
    /// Begins something of `total` parts.
    pub(crate) fn new(what: &'static str, total: u64) -> Self {
        let bar = (std::io::stderr().is_terminal() && !is_quiet()).then(|| {
            let bar = bar(total, what);
            bar.set_draw_target(ProgressDrawTarget::hidden());
            bar
        });
        Self { what, total, started: Instant::now(), bar, due: Cell::new(PATIENCE) }
    }

    /// Begins something whose end is not known.
    pub(crate) fn endless(what: &'static str) -> Self {
        Self::new(what, 0)
    }

    /// Says that so many parts are done.
    pub(crate) fn at(&self, done: u64) {
        let elapsed = self.started.elapsed();
        if elapsed < self.due.get() {
            return;
        }
        match &self.bar {
            Some(bar) => {
                if bar.is_hidden() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                bar.set_position(done);
            }
            None => {
                self.due.set(elapsed + LINE_EVERY);
                note(&self.line(done, elapsed));
            }
        }
    }

    fn line(&self, done: u64, elapsed: Duration) -> String {
        if self.total == 0 {
            return format!("{}: {done} after {}", self.what, HumanDuration(elapsed));
        }
        let left = elapsed.as_secs_f64() * (self.total.saturating_sub(done)) as f64 / done.max(1) as f64;
        let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
        match done {
            0 => format!("{}: 0 of {} after {}", self.what, self.total, HumanDuration(elapsed)),
            _ => format!("{}: {done} of {}, about {} left", self.what, self.total, HumanDuration(left)),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Work in one piece whose end is not known: after two seconds a spinner on a terminal, lines elsewhere, until it is dropped.
pub(crate) struct Working {
    /// Nothing is ever sent: the thread ends when this is dropped.
    _running: mpsc::Sender<()>,
}

impl Working {
    /// Begins something.
    pub(crate) fn on(what: impl Into<String>) -> Self {
        let (running, ended) = mpsc::channel();
        let (what, started) = (what.into(), Instant::now());
        let watch = move || {
            let waits = |time| matches!(ended.recv_timeout(time), Err(mpsc::RecvTimeoutError::Timeout));
            if !waits(PATIENCE) {
                return;
            }
            if std::io::stderr().is_terminal() {
                let spinner = ProgressBar::new_spinner().with_message(what);
                while waits(Duration::from_millis(200)) {
                    spinner.tick();
                }
                spinner.finish_and_clear();
            } else {
                note(&format!("{what} ..."));
                while waits(LINE_EVERY) {
                    note(&format!("{what}: {} so far", HumanDuration(started.elapsed())));
                }
            }
        };
        if !is_quiet() {
            std::thread::spawn(watch);
        }
        Self { _running: running }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_much_time_is_left() {
        let progress = Progress::new("graphs", 100);
        assert_eq!(progress.line(20, Duration::from_secs(10)), "graphs: 20 of 100, about 40 seconds left");
        assert_eq!(progress.line(0, Duration::from_secs(3)), "graphs: 0 of 100 after 3 seconds");
        assert_eq!(Progress::endless("steps").line(7, Duration::from_secs(3)), "steps: 7 after 3 seconds");
    }
}
