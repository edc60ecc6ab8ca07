//! Samples and graphs as JSON, one object a line or one object a file.

use std::{
    io::{self, BufRead, BufReader, Write},
    path::Path,
};

use super::{FormatError, GraphFile, NodeNames, ReadOptions, SampleRecord, edge_rows::simplify, lines::Lines};
use crate::{Attributes, Graph, GraphError};

/// The longest JSON object, in bytes, that is read: a weighted graph of about two million nodes.
pub const JSON_LIMIT: usize = 1 << 28;

/// The samples of a JSON-lines stream, one at a time.
///
/// Blank lines are skipped. An error names the line; after one the iterator ends. Memory is bounded by the largest sample, and that by
/// [`JSON_LIMIT`].
///
/// # Example
/// ```
/// use itergnn_graph::formats::SampleReader;
/// let text = "{\"nodes\":1,\"edges\":[]}\n\n{\"nodes\":2,\"edges\":[[0,1]]}\n";
/// let samples = SampleReader::new(text.as_bytes(), "samples.jsonl").collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(samples[1].edges, [[0, 1]]);
/// # Ok::<(), itergnn_graph::formats::FormatError>(())
/// ```
pub struct SampleReader<R> {
    lines: Lines<R>,
    done: bool,
}

impl SampleReader<BufReader<std::fs::File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`FormatError::Read`].
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        Ok(Self { lines: Lines::open(path)?.with_limit(JSON_LIMIT), done: false })
    }
}

impl<R: BufRead> SampleReader<R> {
    /// The samples of `reader`, called `file` in messages.
    pub fn new(reader: R, file: &str) -> Self {
        Self { lines: Lines::new(reader, file).with_limit(JSON_LIMIT), done: false }
    }
}

impl<R: BufRead> Iterator for SampleReader<R> {
    type Item = Result<SampleRecord, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let record = match self.lines.next_filled() {
            Ok(None) => None,
            Err(error) => Some(Err(error)),
            Ok(Some(line)) => Some(
                serde_json::from_str(line.text)
                    .map_err(|error| FormatError::json(line.position.file, line.position.number, &error)),
            ),
        };
        self.done = !matches!(record, Some(Ok(_)));
        record
    }
}

/// Writes one sample as one line of JSON.
///
/// # Errors
/// What the writer says, or [`io::ErrorKind::InvalidData`] where the target is not finite, since JSON has no such numbers.
pub fn write_sample(mut writer: impl Write, record: &SampleRecord) -> io::Result<()> {
    if let Some(value) = record.target.iter().find(|value| !value.is_finite()) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("the target is {value}: JSON cannot say that")));
    }
    serde_json::to_writer(&mut writer, record)?;
    writer.write_all(b"\n")
}

/// Reads the one sample of a JSON file, or the first of a JSON-lines file, as it stands there.
///
/// This is for prediction; [`read_graph`](super::read_graph) prepares a graph for shortest paths.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn read_sample(path: &Path) -> Result<SampleRecord, FormatError> {
    read_first(&mut Lines::open(path)?.with_limit(JSON_LIMIT)).map(|(record, _)| record)
}

/// [`read_sample`] from memory or a stream, called `file` in messages.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_sample(reader: impl BufRead, file: &str) -> Result<SampleRecord, FormatError> {
    read_first(&mut Lines::new(reader, file).with_limit(JSON_LIMIT)).map(|(record, _)| record)
}

/// The first object, which may span lines, and the line in which it starts.
fn read_first(lines: &mut Lines<impl BufRead>) -> Result<(SampleRecord, usize), FormatError> {
    let file = lines.file().to_owned();
    let Some(line) = lines.next_filled()? else {
        return Err(lines.end("JSON", "an object with edges"));
    };
    let start = line.position.number;
    let mut text = match serde_json::from_str(line.text) {
        Ok(record) => return Ok((record, start)),
        Err(error) if error.is_eof() => line.text.to_owned(), // the object goes on in the next line
        Err(error) => return Err(FormatError::json(&file, start, &error)),
    };
    let rest = lines.rest()?;
    text.push('\n');
    text.push_str(rest);
    let record = serde_json::from_str(&text).map_err(|error| FormatError::json(&file, start, &error))?;
    Ok((record, start))
}

pub(crate) fn read_json_lines_graph(
    lines: Lines<impl BufRead>,
    options: &ReadOptions,
) -> Result<GraphFile, FormatError> {
    let mut lines = lines.with_limit(JSON_LIMIT);
    let (mut record, start) = read_first(&mut lines)?;
    let mut warnings = Vec::new();
    if options.simplify && record.edge_attributes.width() <= 1 {
        check_weights(&record, lines.file())?;
        let mut weights = record.edge_attributes.values().to_vec();
        if record.edge_attributes.width() == 0 || weights.len() == record.edges.len() {
            warnings = simplify(&mut record.edges, &mut weights, true);
            record.edge_attributes = Attributes::new(usize::from(!weights.is_empty()), weights);
        }
    }
    let graph: Graph = record.graph().map_err(FormatError::graph(lines.file()))?;
    if start == lines.number() && matches!(lines.next_filled(), Ok(Some(_)) | Err(_)) {
        warnings.push("only the first line was read: the file has more".to_owned());
    }
    let names = NodeNames::Sequence { first: 0, nodes: graph.nodes() };
    Ok(GraphFile { file: lines.file().to_owned(), graph, names, warnings, grid: None })
}

/// That no weight is negative, by edge: JSON has no line for each.
fn check_weights(record: &SampleRecord, file: &str) -> Result<(), FormatError> {
    match record.edge_attributes.values().iter().position(|&weight| weight < 0.0) {
        Some(edge) => {
            let value = f64::from(record.edge_attributes.values()[edge]);
            Err(FormatError::graph(file)(GraphError::Weight { edge, value }))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::parse_graph;

    fn graph(text: &str) -> Result<GraphFile, FormatError> {
        parse_graph(text.as_bytes(), "t.json", &ReadOptions::default())
    }

    #[test]
    fn an_object_may_span_lines() {
        let one = graph(r#"{"nodes":3,"edges":[[0,1],[1,2]],"edge_attributes":[[2],[3]]}"#).unwrap();
        let many = graph("{\"nodes\":3,\r\n\"edges\":[[0,1],\n[1,2]],\"edge_attributes\":[[2],[3]]\n}\n").unwrap();
        assert_eq!(one, many);
        let error = graph("\n{\"nodes\":3,\n\"edges\":[[0,1],\n[1,\"x\"]]}").unwrap_err().to_string();
        assert_eq!(error, "t.json:4: JSON: invalid type: string \"x\", expected u32 (column 6)");
    }

    #[test]
    fn graphs_for_shortest_paths_are_cleaned_and_checked() {
        let read = graph(r#"{"nodes":2,"edges":[[0,1],[1,1],[0,1]],"edge_attributes":[[2],[1],[1]]}"#).unwrap();
        assert_eq!(read.graph.edge_attributes().values(), [1.0]);
        assert_eq!(read.warnings.len(), 2);
        let error = graph(r#"{"nodes":2,"edges":[[0,1]],"edge_attributes":[[-2]]}"#).unwrap_err();
        assert_eq!(error.to_string(), "t.json: edge 0 has weight -2, expected a finite number that is not negative");
        let error = graph(r#"{"nodes":2,"edges":[[0,1]],"edge_attributes":[[2],[3]]}"#).unwrap_err();
        assert_eq!(error.to_string(), "t.json: edge attributes: expected 1 rows, found 2");
        let two = graph("{\"nodes\":2,\"edges\":[[0,1]]}\n{\"nodes\":2,\"edges\":[[0,1]]}\n").unwrap();
        assert_eq!(two.warnings, ["only the first line was read: the file has more"]);
    }

    #[test]
    fn reading_stops_at_the_first_bad_line_and_names_it() {
        let text = "{\"nodes\":1,\"edges\":[]}\n\n{\"nodes\":1,\"edges\":\n{\"nodes\":1,\"edges\":[]}\n";
        let read: Vec<_> = SampleReader::new(text.as_bytes(), "t.jsonl").collect();
        assert_eq!(read.len(), 2);
        let error = read[1].clone().unwrap_err().to_string();
        assert!(error.starts_with("t.jsonl:3: JSON: EOF while parsing"), "{error}");
    }

    #[test]
    fn a_target_that_json_cannot_say_is_refused() {
        let record = SampleRecord { target: vec![f32::NAN], ..SampleRecord::default() };
        assert!(write_sample(Vec::new(), &record).is_err());
    }
}
