//! How a command fails: one line on stderr and an exit code.

use std::{fmt::Display, io, path::Path};

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

    /// A failure to begin an output: the name is wrong, or nothing can be written there.
    pub(crate) fn creating(path: &Path, error: &io::Error) -> Self {
        Self::BadInput(format!("could not create {}: {error}", path.display()))
    }

    /// What the user is told, on one line, and the exit code; nothing where nothing went wrong.
    pub(crate) fn told(&self) -> Option<(String, u8)> {
        let (message, code) = match self {
            Self::BadInput(message) => (message, 2),
            Self::Failed(message) => (message, 1),
            Self::ReaderGone => return None,
        };
        // One line, whatever a library put into its message.
        Some((message.split_whitespace().collect::<Vec<_>>().join(" "), code))
    }
}
