//! Scalars for TensorBoard.
//!
//! An event file is a TFRecord file (length, checksum, bytes, checksum) of `Event` messages in protocol-buffer form.
//! Both are simple enough to write by hand: a scalar needs four fields.

use std::fs::File;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use super::crc32c::masked_crc32c;

/// Field numbers of the messages `Event`, `Summary` and `Summary.Value`, from TensorFlow's `event.proto` and
/// `summary.proto`.
mod field {
    pub(super) const EVENT_WALL_TIME: u32 = 1;
    pub(super) const EVENT_STEP: u32 = 2;
    pub(super) const EVENT_FILE_VERSION: u32 = 3;
    pub(super) const EVENT_SUMMARY: u32 = 5;
    pub(super) const SUMMARY_VALUE: u32 = 1;
    pub(super) const VALUE_TAG: u32 = 1;
    pub(super) const VALUE_SIMPLE: u32 = 2;
}

/// Appends scalars to an event file.
#[derive(Debug)]
pub struct EventWriter<W: Write = File> {
    output: W,
}

impl<W: Write> EventWriter<W> {
    /// A writer at the beginning of a file: the version record goes first.
    ///
    /// # Errors
    /// What the output reports.
    pub fn start(output: W) -> io::Result<Self> {
        let mut writer = Self { output };
        let mut event = Message::default();
        event.double(field::EVENT_WALL_TIME, wall_time());
        event.bytes(field::EVENT_FILE_VERSION, b"brain.Event:2");
        writer.record(&event.0)?;
        Ok(writer)
    }

    /// A writer at the end of a file that already has its version record.
    pub fn resume(output: W) -> Self {
        Self { output }
    }

    /// Writes scalars of one step as one event; those that are no finite number are shown by TensorBoard as such.
    ///
    /// # Errors
    /// What the output reports.
    pub fn scalars(&mut self, step: u64, scalars: &[(&str, f64)]) -> io::Result<()> {
        self.scalars_at(wall_time(), step, scalars)
    }

    fn scalars_at(&mut self, wall_time: f64, step: u64, scalars: &[(&str, f64)]) -> io::Result<()> {
        let mut summary = Message::default();
        for (tag, value) in scalars {
            let mut entry = Message::default();
            entry.bytes(field::VALUE_TAG, tag.as_bytes());
            entry.float(field::VALUE_SIMPLE, *value as f32);
            summary.bytes(field::SUMMARY_VALUE, &entry.0);
        }
        let mut event = Message::default();
        event.double(field::EVENT_WALL_TIME, wall_time);
        event.integer(field::EVENT_STEP, step);
        event.bytes(field::EVENT_SUMMARY, &summary.0);
        self.record(&event.0)
    }

    /// One TFRecord, in a single write so that a kill leaves whole records or a cut last one.
    fn record(&mut self, data: &[u8]) -> io::Result<()> {
        let length = (data.len() as u64).to_le_bytes();
        let mut record = Vec::with_capacity(data.len() + 16);
        record.extend_from_slice(&length);
        record.extend_from_slice(&masked_crc32c(&length).to_le_bytes());
        record.extend_from_slice(data);
        record.extend_from_slice(&masked_crc32c(data).to_le_bytes());
        self.output.write_all(&record)
    }

    /// What is written to.
    pub fn output(&mut self) -> &mut W {
        &mut self.output
    }
}

fn wall_time() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// A protocol-buffer message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn integer(&mut self, field: u32, value: u64) {
        self.key(field, 0);
        self.varint(value);
    }

    fn double(&mut self, field: u32, value: f64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    fn float(&mut self, field: u32, value: f32) {
        self.key(field, 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_has_the_bytes_of_the_format() {
        let mut writer = EventWriter::resume(Vec::new());
        writer.scalars_at(1.5, 300, &[("loss", 0.25)]).unwrap();
        let bytes = writer.output;
        let event = [
            &[0x09][..],
            &1.5_f64.to_le_bytes(),
            &[0x10, 0xac, 0x02], // step 300
            &[0x2a, 13, 0x0a, 11, 0x0a, 4],
            b"loss",
            &[0x15],
            &0.25_f32.to_le_bytes(),
        ]
        .concat();
        assert_eq!(bytes[..8], (event.len() as u64).to_le_bytes());
        assert_eq!(bytes[8..12], masked_crc32c(&bytes[..8]).to_le_bytes());
        assert_eq!(bytes[12..bytes.len() - 4], event);
        assert_eq!(bytes[bytes.len() - 4..], masked_crc32c(&event).to_le_bytes());
    }

    #[test]
    fn a_file_begins_with_its_version() {
        let writer = EventWriter::start(Vec::new()).unwrap();
        assert!(writer.output.windows(13).any(|window| window == b"brain.Event:2"));
    }
}
