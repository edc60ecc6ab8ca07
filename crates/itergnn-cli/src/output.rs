//! What goes to stdout: JSON for machines, tables for people; and files that are never half-written.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;

use crate::failure::Failure;

/// Prints one JSON object on stdout.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(value).map_err(Failure::failed)?;
    line.push(b'\n');
    write_stdout(&line)
}

/// Prints text on stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_stdout(text.as_bytes())
}

fn write_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| Failure::writing("to stdout", &error))
}

/// Tells the user something beside the result, on stderr.
#[expect(clippy::print_stderr, reason = "notes to the user go here")]
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// A table with a header row.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header);
    table.add_rows(rows);
    format!("{table}\n")
}

/// A file that appears under its name only when it is complete: written beside it, synchronised, renamed.
pub(crate) struct AtomicFile {
    writer: Option<BufWriter<File>>,
    temporary: PathBuf,
    path: PathBuf,
}

impl AtomicFile {
    /// Begins a file.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let name =
            path.file_name().ok_or_else(|| Failure::bad_input(format!("{} is not a file name", path.display())))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let file = File::create(&temporary)
            .map_err(|error| Failure::bad_input(format!("could not create {}: {error}", path.display())))?;
        Ok(Self { writer: Some(BufWriter::with_capacity(1 << 16, file)), temporary, path: path.to_owned() })
    }

    /// Makes the file appear.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let finished = match self.writer.take() {
            Some(writer) => writer
                .into_inner()
                .map_err(io::IntoInnerError::into_error)
                .and_then(|file| file.sync_all())
                .and_then(|()| std::fs::rename(&self.temporary, &self.path)),
            None => Ok(()),
        };
        finished.map_err(|error| Failure::writing(self.path.display(), &error))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_mut().map_or(Ok(0), |writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After `finish` the temporary file is gone already; before it, what was written so far must not stay behind.
        let _ = std::fs::remove_file(&self.temporary);
    }
}
