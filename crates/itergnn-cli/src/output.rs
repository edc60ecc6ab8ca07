//! What leaves the program: JSON for machines, tables for people, notes beside them, and files that are never
//! half-written.
//!
//! With `--json` stdout holds exactly one object: a command hands its answer to [`print_json`], and [`conclude`] writes
//! it at the end, with the warnings and, if the command failed, with `error` and `code`.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use itergnn::graph::OutputFile;
use serde::Serialize;

use crate::failure::Failure;

/// What the end of the program needs to know.
struct Session {
    json: bool,
    quiet: bool,
    answer: Option<String>,
    warnings: Vec<String>,
}

static SESSION: Mutex<Session> = Mutex::new(Session { json: false, quiet: false, answer: None, warnings: Vec::new() });

fn session() -> MutexGuard<'static, Session> {
    // A panic elsewhere leaves what was said before it.
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says once how to speak: with `json` the end of the program is an object on stdout, with `quiet` there are no notes
/// and no progress.
pub(crate) fn begin(json: bool, quiet: bool) {
    let mut session = session();
    (session.json, session.quiet) = (json, quiet);
}

/// Whether the user wants no notes and no progress.
pub(crate) fn is_quiet() -> bool {
    session().quiet
}

/// The answer of a command with `--json`; it reaches stdout when the command ends.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    session().answer = Some(serde_json::to_string(value).map_err(Failure::failed)?);
    Ok(())
}

/// Prints text on stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_stdout(text.as_bytes()).map_err(|error| Failure::writing("to stdout", &error))
}

fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
}

/// Writes a line to stderr. A stderr that is closed or full never ends a command.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Tells the user something beside the result, on stderr.
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        say(text);
    }
}

/// Tells the user that the result is not what they may think it is: on stderr, and in the JSON.
pub(crate) fn warn(text: &str) {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    say(&format!("itergnn: {line}"));
    session().warnings.push(line);
}

/// Ends the program: the error on stderr, the JSON on stdout, the exit code.
pub(crate) fn conclude(result: Result<(), Failure>) -> u8 {
    let told = match result {
        Ok(()) => None,
        Err(Failure::ReaderGone) => return 0,
        Err(failure) => failure.told(),
    };
    if let Some((message, _)) = &told {
        say(&format!("itergnn: {message}"));
    }
    let code = told.as_ref().map_or(0, |(_, code)| *code);
    let mut session = session();
    let answer = session.answer.take().or_else(|| (session.json && told.is_some()).then(|| "{}".to_owned()));
    let Some(answer) = answer else { return code };
    let text = completed(answer, &session.warnings, told.as_ref());
    match write_stdout(text.as_bytes()) {
        Ok(()) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            say(&format!("itergnn: could not write to stdout: {error}"));
            code.max(1)
        }
    }
}

/// A JSON object with warnings and error added at its end; anything else stays as it is.
fn completed(answer: String, warnings: &[String], told: Option<&(String, u8)>) -> String {
    let Some(start) = answer.strip_suffix('}') else { return answer + "\n" };
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = start.to_owned();
    let mut add = |key: &str, value: &str| {
        let comma = if text.ends_with('{') { "" } else { "," };
        text += &format!("{comma}\"{key}\":{value}");
    };
    if let Some((message, code)) = told {
        add("error", &quoted(message));
        add("code", &code.to_string());
    }
    let warnings: Vec<String> = warnings.iter().map(|warning| quoted(warning)).collect();
    add("warnings", &format!("[{}]", warnings.join(",")));
    text + "}\n"
}

/// A table with a header row.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header);
    table.add_rows(rows);
    format!("{table}\n")
}

/// An output of a command: a file that appears when it is complete, or stdout for `-`.
pub(crate) enum Output {
    File(OutputFile, String),
    Stdout(BufWriter<io::Stdout>),
}

impl Output {
    /// Begins an output.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        if is_stdout(path) {
            if session().json {
                return Err(Failure::bad_input("-: with --json stdout holds the answer; give a file"));
            }
            return Ok(Self::Stdout(BufWriter::with_capacity(1 << 16, io::stdout())));
        }
        let file = OutputFile::create(path).map_err(|error| Failure::creating(path, &error))?;
        Ok(Self::File(file, path.display().to_string()))
    }

    /// Writes all of an output.
    pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let mut output = Self::create(path)?;
        output.write_all(bytes).map_err(|error| output.failure(&error))?;
        output.finish()
    }

    /// Refuses a name that nothing can be written to, before any work is done for it.
    pub(crate) fn check(path: &Path) -> Result<(), Failure> {
        match is_stdout(path) {
            true => Self::create(path).map(drop),
            false => itergnn::graph::check_output(path).map_err(|error| Failure::creating(path, &error)),
        }
    }

    /// The failure that an error while writing means.
    pub(crate) fn failure(&self, error: &io::Error) -> Failure {
        match self {
            Self::File(_, name) => Failure::writing(name, error),
            Self::Stdout(_) => Failure::writing("to stdout", error),
        }
    }

    /// Makes a file appear.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            Self::File(file, name) => file.finish().map_err(|error| Failure::writing(name, &error)),
            Self::Stdout(mut out) => out.flush().map_err(|error| Failure::writing("to stdout", &error)),
        }
    }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file, _) => file.write(bytes),
            Self::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file, _) => file.flush(),
            Self::Stdout(out) => out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_completed_with_warnings_and_the_error() {
        let failed = ("a \"b\"".to_owned(), 2);
        assert_eq!(completed("{}".to_owned(), &[], None), "{\"warnings\":[]}\n");
        assert_eq!(
            completed("{\"x\":0.1}".to_owned(), &["w".to_owned()], Some(&failed)),
            "{\"x\":0.1,\"error\":\"a \\\"b\\\"\",\"code\":2,\"warnings\":[\"w\"]}\n"
        );
        assert_eq!(completed("[1]".to_owned(), &["w".to_owned()], None), "[1]\n");
    }
}
