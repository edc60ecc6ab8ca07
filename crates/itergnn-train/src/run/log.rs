//! The numbers of a run, as JSON lines and for TensorBoard.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{EventWriter, LogLengths};
use crate::TrainError;
use crate::records::Record;

/// Appends records to the two logs of a run directory.
///
/// A record is handed to the operating system at once, so a killed process loses none; checkpoints remember the
/// lengths, so a resumed run has none twice.
#[derive(Debug)]
pub struct RunLog {
    metrics: File,
    metrics_path: PathBuf,
    events: EventWriter<File>,
    events_path: PathBuf,
}

impl RunLog {
    /// Opens both logs, cut back to the given lengths; shorter or missing ones are continued as they are.
    ///
    /// # Errors
    /// [`TrainError::Io`].
    pub fn open(metrics: &Path, events: &Path, lengths: LogLengths) -> Result<Self, TrainError> {
        let (metrics_file, _) = open_at(metrics, lengths.metrics)?;
        let (events_file, length) = open_at(events, lengths.events)?;
        let writer = if length == 0 {
            EventWriter::start(events_file).map_err(TrainError::io("write", events))?
        } else {
            EventWriter::resume(events_file)
        };
        Ok(Self {
            metrics: metrics_file,
            metrics_path: metrics.to_owned(),
            events: writer,
            events_path: events.to_owned(),
        })
    }

    /// Writes a record.
    ///
    /// # Errors
    /// [`TrainError::Io`].
    pub fn record(&mut self, record: &Record) -> Result<(), TrainError> {
        let mut line = serde_json::to_vec(record)
            .map_err(std::io::Error::other)
            .map_err(TrainError::io("write", &self.metrics_path))?;
        line.push(b'\n');
        self.metrics.write_all(&line).map_err(TrainError::io("write", &self.metrics_path))?;
        let events = self.events.scalars(record.step(), &record.scalars());
        events.map_err(TrainError::io("write", &self.events_path))
    }

    /// How long the logs are now, after making them durable.
    ///
    /// # Errors
    /// [`TrainError::Io`].
    pub fn lengths(&mut self) -> Result<LogLengths, TrainError> {
        let metrics = end_of(&mut self.metrics).map_err(TrainError::io("write", &self.metrics_path))?;
        let events = end_of(self.events.output()).map_err(TrainError::io("write", &self.events_path))?;
        Ok(LogLengths { metrics, events })
    }
}

fn open_at(path: &Path, length: u64) -> Result<(File, u64), TrainError> {
    let mut options = OpenOptions::new();
    let mut file =
        options.create(true).truncate(false).read(true).write(true).open(path).map_err(TrainError::io("open", path))?;
    let place = || -> std::io::Result<u64> {
        if file.metadata()?.len() > length {
            file.set_len(length)?;
        }
        file.seek(SeekFrom::End(0))
    };
    let mut place = place;
    let length = place().map_err(TrainError::io("open", path))?;
    Ok((file, length))
}

fn end_of(file: &mut File) -> std::io::Result<u64> {
    file.sync_data()?;
    file.stream_position()
}
