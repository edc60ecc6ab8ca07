//! Progress on stderr for anything that takes a while; nothing when stderr is not a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar with rate and time left.
pub(crate) fn bar(total: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    let template = "{prefix} {bar:30} {human_pos}/{human_len}  {per_sec}  {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_prefix(what);
    bar
}

/// A spinner for work whose end is not known.
pub(crate) fn spinner(what: impl Into<String>) -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    spinner.set_message(what.into());
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}
