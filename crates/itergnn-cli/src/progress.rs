//! Progress on stderr for anything that takes a while: a bar on a terminal, lines elsewhere, and nothing for what is
//! done at once.

use std::{
    io::IsTerminal,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{is_quiet, note};

/// What is done before this is done without a word.
const PATIENCE: Duration = Duration::from_secs(2);

/// Between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Between two looks of a terminal's reader.
const FRAME_EVERY: Duration = Duration::from_millis(200);

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

/// How far something has come, and the time it has left; shown from two seconds on until it is dropped, whatever the
/// work is busy with.
pub(crate) struct Progress {
    done: Arc<AtomicU64>,
    /// Nothing is ever sent: the thread that shows it ends when this is dropped.
    _running: mpsc::Sender<()>,
}

impl Progress {
    /// Begins something of `total` parts.
    pub(crate) fn new(what: &'static str, total: u64) -> Self {
        Self::begin(what.to_owned(), Some(total))
    }

    /// Begins something in one piece, or whose number of parts is not known.
    pub(crate) fn endless(what: impl Into<String>) -> Self {
        Self::begin(what.into(), None)
    }

    fn begin(what: String, total: Option<u64>) -> Self {
        let (running, ended) = mpsc::channel();
        let progress = Self { done: Arc::default(), _running: running };
        if !is_quiet() {
            let (done, started) = (Arc::clone(&progress.done), Instant::now());
            std::thread::spawn(move || show(&what, total, started, &done, &ended));
        }
        progress
    }

    /// Says that so many parts are done.
    pub(crate) fn at(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }
}

fn show(what: &str, total: Option<u64>, started: Instant, done: &AtomicU64, ended: &mpsc::Receiver<()>) {
    let waits = |time| matches!(ended.recv_timeout(time), Err(mpsc::RecvTimeoutError::Timeout));
    if !waits(PATIENCE) {
        return;
    }
    if std::io::stderr().is_terminal() {
        let bar = total.map_or_else(ProgressBar::new_spinner, |total| bar(total, "")).with_elapsed(started.elapsed());
        bar.set_prefix(what.to_owned());
        bar.set_message(what.to_owned());
        while waits(FRAME_EVERY) {
            bar.set_position(done.load(Ordering::Relaxed));
            bar.tick();
        }
        bar.finish_and_clear();
        return;
    }
    loop {
        note(&line(what, total, done.load(Ordering::Relaxed), started.elapsed()));
        if !waits(LINE_EVERY) {
            return;
        }
    }
}

fn line(what: &str, total: Option<u64>, done: u64, elapsed: Duration) -> String {
    match total {
        None if done == 0 => format!("{what}: {} so far", HumanDuration(elapsed)),
        None => format!("{what}: {done} after {}", HumanDuration(elapsed)),
        Some(total) if done == 0 => format!("{what}: 0 of {total} after {}", HumanDuration(elapsed)),
        Some(total) => {
            let left = elapsed.as_secs_f64() * total.saturating_sub(done) as f64 / done as f64;
            let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
            format!("{what}: {done} of {total}, about {} left", HumanDuration(left))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_much_time_is_left() {
        let after = Duration::from_secs;
        assert_eq!(line("graphs", Some(100), 20, after(10)), "graphs: 20 of 100, about 40 seconds left");
        assert_eq!(line("graphs", Some(100), 0, after(3)), "graphs: 0 of 100 after 3 seconds");
        assert_eq!(line("predictions", None, 7, after(3)), "predictions: 7 after 3 seconds");
        assert_eq!(line("proving", None, 0, after(3)), "proving: 3 seconds so far");
    }
}
