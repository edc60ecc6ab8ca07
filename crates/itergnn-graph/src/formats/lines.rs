//! Reading text line by line in bounded memory.

use std::{fmt::Display, io::BufRead, io::Read, path::Path};

use super::{
    FormatError,
    compressed::{self, Source},
    error::excerpt,
};

/// The longest line, in bytes, that the text formats accept.
///
/// A longer one is an error before it is read to its end, so that a file without line breaks cannot fill the memory.
/// The longest lines of real files are rows of explicit distance matrices and of maps, which stay far below.
pub const LINE_LIMIT: usize = 1 << 20;

/// A text file, line by line, that knows its name and how far it has been read.
pub(crate) struct Lines<R> {
    reader: R,
    file: String,
    number: usize,
    buffer: Vec<u8>,
    limit: usize,
}

impl Lines<Source> {
    /// Opens a file, compressed or not; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, FormatError> {
        Ok(Self::new(compressed::open(path)?, path.display().to_string()))
    }
}

impl<R: BufRead> Lines<R> {
    /// Lines of `reader`, called `file` in messages.
    pub(crate) fn new(reader: R, file: impl Into<String>) -> Self {
        Self { reader, file: file.into(), number: 0, buffer: Vec::new(), limit: LINE_LIMIT }
    }

    /// The same with another limit on the length of a line.
    pub(crate) fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The name of the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// How many lines have been read.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The first bytes of what is not yet read, as far as they are at hand; for telling formats apart.
    pub(crate) fn peek(&mut self) -> Result<&[u8], FormatError> {
        let file = &self.file;
        self.reader.fill_buf().map_err(|error| FormatError::read(file, &error))
    }

    /// The next line without its end (`\n` or `\r\n`) and, on the first line, without a byte order mark.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>, FormatError> {
        self.buffer.clear();
        // One byte more than the limit for the line break itself.
        let mut bounded = Read::take(&mut self.reader, self.limit as u64 + 1);
        let read = bounded.read_until(b'\n', &mut self.buffer);
        if read.map_err(|error| FormatError::read(&self.file, &error))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
            if self.buffer.last() == Some(&b'\r') {
                self.buffer.pop();
            }
        } else if self.buffer.len() > self.limit {
            let expected = format!("at most {} bytes", self.limit);
            return Err(self.position().error("line length", expected, "more"));
        }
        let position = Position { file: &self.file, number: self.number };
        match std::str::from_utf8(&self.buffer) {
            Ok(text) if self.number == 1 => {
                Ok(Some(Line { position, text: text.strip_prefix('\u{feff}').unwrap_or(text) }))
            }
            Ok(text) => Ok(Some(Line { position, text })),
            Err(error) => {
                let at = error.valid_up_to();
                let found = format!("byte 0x{:02x} in column {}", self.buffer[at], at + 1);
                Err(position.error("text encoding", "UTF-8", found))
            }
        }
    }

    /// The next line that is not blank, trimmed at both ends.
    pub(crate) fn next_filled(&mut self) -> Result<Option<Line<'_>>, FormatError> {
        // Two steps because the borrow checker does not see that a blank line's borrow ends.
        loop {
            match self.next_line()? {
                None => return Ok(None),
                Some(line) if line.text.trim().is_empty() => {}
                Some(_) => break,
            }
        }
        let text = std::str::from_utf8(&self.buffer).unwrap_or_default();
        let text = text.trim_start_matches('\u{feff}').trim();
        Ok(Some(Line { position: Position { file: &self.file, number: self.number }, text }))
    }

    /// Everything that is left, as long as it is within the limit of a line.
    pub(crate) fn rest(&mut self) -> Result<&str, FormatError> {
        self.buffer.clear();
        let mut bounded = Read::take(&mut self.reader, self.limit as u64 + 1);
        bounded.read_to_end(&mut self.buffer).map_err(|error| FormatError::read(&self.file, &error))?;
        let position = Position { file: &self.file, number: self.number + 1 };
        if self.buffer.len() > self.limit {
            return Err(position.error("length", format!("at most {} bytes", self.limit), "more"));
        }
        std::str::from_utf8(&self.buffer).map_err(|error| {
            let found = format!("byte 0x{:02x}", self.buffer[error.valid_up_to()]);
            position.error("text encoding", "UTF-8", found)
        })
    }

    /// The error that the file ends before `expected`.
    pub(crate) fn end(&self, what: &'static str, expected: impl Display) -> FormatError {
        self.position().error(what, expected, "the end of the file")
    }

    /// Where reading stands.
    pub(crate) fn position(&self) -> Position<'_> {
        Position { file: &self.file, number: self.number.max(1) }
    }
}

/// A line of a file, for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position<'a> {
    /// The name of the file.
    pub(crate) file: &'a str,
    /// The line, counted from 1.
    pub(crate) number: usize,
}

impl Position<'_> {
    /// An error in this line.
    pub(crate) fn error(&self, what: &'static str, expected: impl Display, found: impl Display) -> FormatError {
        FormatError::Content {
            file: self.file.to_owned(),
            line: self.number,
            what,
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

/// One line and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Where it stands.
    pub(crate) position: Position<'a>,
    /// What it says.
    pub(crate) text: &'a str,
}

impl Line<'_> {
    /// An error that shows the offending piece, or says that the line ends too early.
    pub(crate) fn error(&self, what: &'static str, expected: impl Display, found: Option<&str>) -> FormatError {
        self.position.error(what, expected, found.map_or("the end of the line".into(), excerpt))
    }

    /// A whole number from 0 to 2^64 - 1.
    pub(crate) fn unsigned(&self, what: &'static str, field: Option<&str>) -> Result<u64, FormatError> {
        let parsed = field.and_then(|field| field.parse().ok());
        parsed.ok_or_else(|| self.error(what, "a whole number that is not negative", field))
    }

    /// A whole number.
    pub(crate) fn integer(&self, what: &'static str, field: Option<&str>) -> Result<i64, FormatError> {
        let parsed = field.and_then(|field| field.parse().ok());
        parsed.ok_or_else(|| self.error(what, "a whole number", field))
    }

    /// A finite number.
    pub(crate) fn finite(&self, what: &'static str, field: Option<&str>) -> Result<f64, FormatError> {
        let parsed = field.and_then(|field| field.parse().ok()).filter(|value: &f64| value.is_finite());
        parsed.ok_or_else(|| self.error(what, "a finite number", field))
    }

    /// A finite number that is not negative and that `f32` can hold.
    pub(crate) fn weight(&self, what: &'static str, field: Option<&str>) -> Result<f64, FormatError> {
        let weight = self.finite(what, field)?;
        if weight < 0.0 {
            return Err(self.error(what, "a number that is not negative", field));
        }
        if (weight as f32).is_infinite() {
            return Err(self.error(what, format!("at most {:e} (the largest f32)", f32::MAX), field));
        }
        // Adding zero turns -0 into 0, so that weights that compare equal are also written equally.
        Ok(weight + 0.0)
    }

    /// That nothing follows.
    pub(crate) fn ends(&self, what: &'static str, rest: Option<&str>) -> Result<(), FormatError> {
        match rest {
            None => Ok(()),
            Some(_) => Err(self.error(what, "the end of the line", rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], limit: usize) -> Result<Vec<String>, FormatError> {
        let mut lines = Lines::new(bytes, "test").with_limit(limit);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line()? {
            found.push(line.text.to_owned());
        }
        Ok(found)
    }

    #[test]
    fn line_ends_and_byte_order_mark_are_removed() {
        assert_eq!(all(b"\xef\xbb\xbfone\r\n\ntwo", 10).unwrap(), ["one", "", "two"]);
        assert!(all(b"", 10).unwrap().is_empty());
    }

    #[test]
    fn a_long_line_is_refused_at_the_limit() {
        assert_eq!(all(b"ok\n0123456789\n", 10).unwrap().len(), 2);
        let error = all(b"ok\n0123456789A\n", 10).unwrap_err();
        assert_eq!(error.to_string(), "test:2: line length: expected at most 10 bytes, found more");
    }

    #[test]
    fn bytes_that_are_not_text_are_named() {
        let error = all(b"a\nb\xff", 10).unwrap_err();
        assert_eq!(error.to_string(), "test:2: text encoding: expected UTF-8, found byte 0xff in column 2");
    }

    #[test]
    fn an_endless_reader_costs_bounded_memory() {
        let mut lines = Lines::new(std::io::BufReader::new(std::io::repeat(b'7')), "endless");
        assert!(lines.next_line().is_err());
        assert!(lines.buffer.capacity() <= 4 * LINE_LIMIT);
    }

    #[test]
    fn weights_must_be_finite_not_negative_and_small_enough() {
        let line = Line { position: Position { file: "test", number: 3 }, text: "" };
        for bad in ["-1", "nan", "inf", "1e39", "1e400", "x", ""] {
            assert!(line.weight("weight", Some(bad)).is_err(), "{bad}");
        }
        assert!(line.weight("weight", Some("-0")).unwrap().is_sign_positive());
        assert_eq!(line.weight("weight", Some("2.5e1")).unwrap(), 25.0);
    }
}
