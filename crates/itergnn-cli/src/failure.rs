//! How a command fails: one line on stderr and an exit code.

use std::{fmt::Display, io, process::ExitCode};

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user's arguments or files are wrong: exit code 2.
    BadInput(String),
    /// Nothing was wrong with the question, but there is no answer or something broke: exit code 1.
    Failed(String),
    /// Whoever read our output has had enough: exit code 0, as `head` expects.
    ReaderGone,
}

impl Failure {
    /// A failure of the user's input.
    pub(crate) fn bad_input(error: impl Display) -> Self {
        Self::BadInput(error.to_string())
    }

    /// A failure of the run.
    pub(crate) fn failed(error: impl Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// A failure to write output; a closed pipe is no failure of ours.
    pub(crate) fn writing(what: impl Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Failed(format!("could not write {what}: {error}")),
        }
    }

    /// Tells the user and gives the exit code.
    #[expect(clippy::print_stderr, reason = "this is where errors reach the user")]
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Self::BadInput(message) => (message, ExitCode::from(2)),
            Self::Failed(message) => (message, ExitCode::from(1)),
            Self::ReaderGone => return ExitCode::SUCCESS,
        };
        // One line, whatever a library put into its message.
        eprintln!("itergnn: {}", message.split_whitespace().collect::<Vec<_>>().join(" "));
        code
    }
}
