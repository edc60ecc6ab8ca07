//! What can be wrong with a file.

use crate::GraphError;

/// Why a file could not be read.
///
/// The message is one line that names the file and, where there is one, the line; it is meant to be shown to the user
/// as it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The operating system refused to open or read the file.
    #[error("{file}: cannot be read: {reason}")]
    Read {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: String,
    },
    /// The file does not say what its format requires.
    #[error("{file}:{line}: {what}: expected {expected}, found {found}")]
    Content {
        /// The file.
        file: String,
        /// The line, counted from 1. Where something is missing at the end this is the last line; where a declared
        /// count is wrong it is the line of the declaration.
        line: usize,
        /// Which part of the format.
        what: &'static str,
        /// What the format requires there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// The file is not JSON, or not the JSON that was expected.
    #[error("{file}:{line}: JSON: {reason} (column {column})")]
    Json {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// What was expected and what was found.
        reason: String,
    },
    /// The file is well formed but describes no valid graph.
    #[error("{file}: {source}")]
    Graph {
        /// The file.
        file: String,
        /// What is wrong with the graph.
        source: GraphError,
    },
    /// The file is of a kind that this reader does not take.
    #[error("{file}: {what}: expected {expected}")]
    Kind {
        /// The file.
        file: String,
        /// What kind of file it seems to be.
        what: String,
        /// Which kinds are taken.
        expected: &'static str,
    },
    /// A node that the user named does not occur in the file.
    #[error("{file}: there is no node {name}: expected {expected}")]
    UnknownNode {
        /// The file.
        file: String,
        /// The name asked for.
        name: String,
        /// Which names there are.
        expected: String,
    },
}

impl FormatError {
    pub(crate) fn read(file: &str, error: &std::io::Error) -> Self {
        Self::Read { file: file.to_owned(), reason: error.to_string() }
    }

    /// An error in a JSON document that starts in line `start`.
    pub(crate) fn json(file: &str, start: usize, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        // The library appends the position, and repeats strings of the file at any length.
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
        let reason = one_line(message, REASON_LIMIT);
        Self::Json { file: file.to_owned(), line: start + error.line().max(1) - 1, column: error.column(), reason }
    }

    pub(crate) fn graph(file: &str) -> impl FnOnce(GraphError) -> Self + use<'_> {
        move |source| Self::Graph { file: file.to_owned(), source }
    }
}

/// Characters of a file that an error message repeats at most.
const EXCERPT_LIMIT: usize = 40;

/// Characters of a library's message that an error message repeats at most.
pub(crate) const REASON_LIMIT: usize = 200;

/// A piece of a file as an error message may show it: quoted, on one line, without control characters, never long.
pub(crate) fn excerpt(text: &str) -> String {
    format!("\"{}\"", one_line(text, EXCERPT_LIMIT))
}

/// Text on one line, without control characters, cut at a limit.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for character in text.chars().take(limit) {
        if character.is_control() { shown.extend(character.escape_default()) } else { shown.push(character) }
    }
    if text.chars().nth(limit).is_some() {
        shown.push_str("..");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_on_one_line() {
        assert_eq!(excerpt("a\tb\n"), r#""a\tb\n""#);
        assert!(excerpt(&"x".repeat(1 << 20)).len() < 50);
    }

    #[test]
    fn a_message_is_one_line_with_file_and_line() {
        let error = FormatError::Content {
            file: "rome.gr".into(),
            line: 12,
            what: "arc weight",
            expected: "a number that is not negative".into(),
            found: excerpt("-3"),
        };
        let message = r#"rome.gr:12: arc weight: expected a number that is not negative, found "-3""#;
        assert_eq!(error.to_string(), message);
    }
}
