//! Samples and graphs as JSON, one object per line or one object per file.

use std::{
    collections::HashMap,
    io::{self, BufRead, Write},
    path::Path,
};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    FormatError, GraphFile, NodeNames, ReadOptions, SampleRecord,
    compressed::Source,
    edge_columns::{HOW_TO_CHOOSE_WEIGHT, choose_weight, list, only_numbers_edges},
    edge_rows::{EdgeRows, Numbering, report_rounding, simplify, with_weights},
    error::excerpt,
    exact_decimals,
    lines::{Lines, Position},
    sample_record::JsonGraph,
};
use crate::{Attributes, Graph, GraphError};

/// The longest JSON object, in bytes, that is read: a weighted graph of about two million nodes.
pub const JSON_LIMIT: usize = 1 << 28;

/// The samples of a JSON-lines stream, one at a time.
///
/// Blank lines are skipped. An error names the line; after one the iterator ends. Memory is bounded by the largest
/// sample, and that by [`JSON_LIMIT`].
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

impl SampleReader<Source> {
    /// Opens a file, which may be compressed (gzip, xz or zstd, told by its content); `-` is standard input.
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

    /// The line of the sample that was read last, counted from 1.
    pub fn line(&self) -> u64 {
        self.lines.number() as u64
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
/// What the writer says, or [`io::ErrorKind::InvalidData`] where the target is not finite, since JSON has no such
/// numbers.
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
fn read_first<T: DeserializeOwned>(lines: &mut Lines<impl BufRead>) -> Result<(T, usize), FormatError> {
    let file = lines.file().to_owned();
    let Some(line) = lines.next_filled()? else {
        return Err(lines.end("JSON", "an object with edges"));
    };
    let start = line.position.number;
    let mut text = match exact_decimals::from_str(line.text) {
        Ok(record) => return Ok((record, start)),
        Err(error) if error.is_eof() => line.text.to_owned(), // the object goes on in the next line
        Err(error) => return Err(FormatError::json(&file, start, &error)),
    };
    let rest = lines.rest()?;
    text.push('\n');
    text.push_str(rest);
    let record = exact_decimals::from_str(&text).map_err(|error| FormatError::json(&file, start, &error))?;
    Ok((record, start))
}

pub(crate) fn read_json_lines_graph(
    lines: Lines<impl BufRead>,
    options: &ReadOptions,
) -> Result<GraphFile, FormatError> {
    let mut lines = lines.with_limit(JSON_LIMIT);
    let (document, start): (JsonGraph, usize) = read_first(&mut lines)?;
    let file = lines.file().to_owned();
    let mut read = if document.listed.is_some() || !document.links.names.is_empty() {
        node_link_graph(document, &file, start, options)?
    } else {
        sample_graph(document, &file, start, options)?
    };
    if start == lines.number() && matches!(lines.next_filled(), Ok(Some(_)) | Err(_)) {
        read.warnings.push("only the first line was read: the file has more".to_owned());
    }
    Ok(read)
}

/// The graph of a sample: edges are directed, and attributes of any width are kept.
fn sample_graph(
    document: JsonGraph,
    file: &str,
    start: usize,
    options: &ReadOptions,
) -> Result<GraphFile, FormatError> {
    let JsonGraph { mut record, mut weights, .. } = document;
    let (width, rows, edges) = (record.edge_attributes.width(), record.edge_attributes.len(), record.edges.len());
    if width > 0 && rows != edges {
        let source = GraphError::RowCount { what: "edge attributes", expected: edges, found: rows };
        return Err(FormatError::graph(file)(source));
    }
    let choice = options.columns.weight.as_deref();
    if width == 0 {
        let position = Position { file, number: start };
        weights =
            chosen_field(&record, choice).map_err(|(expected, found)| position.error("weights", expected, found))?;
    } else if choice == Some("none") {
        (weights, record.edge_attributes) = (Vec::new(), Attributes::none());
    }
    if let Some(edge) = weights.iter().position(|&weight| weight < 0.0) {
        return Err(FormatError::graph(file)(GraphError::Weight { edge, value: weights[edge] }));
    }
    let mut warnings = Vec::new();
    if options.simplify && width <= 1 {
        warnings = simplify(&mut record.edges, &mut weights, true);
        record.edge_attributes = Attributes::none();
    }
    warnings.extend(report_rounding(&weights));
    let graph: Graph = record.graph().map_err(FormatError::graph(file))?;
    let names = NodeNames::Sequence { first: 0, nodes: graph.nodes() };
    let attributes = graph.edge_attributes_in_original_order();
    let (graph, exact) = with_weights(graph, &weights).map_err(FormatError::graph(file))?;
    // Attributes beside the weight stay as they are.
    let graph = if attributes.is_empty() {
        graph
    } else {
        graph.with_edge_attributes(attributes).map_err(FormatError::graph(file))?
    };
    Ok(GraphFile { file: file.to_owned(), graph, weights: exact, names, warnings, grid: None })
}

/// The numbers of a member that has one for every edge: the one chosen, or an error where there is one that was not.
fn chosen_field(record: &SampleRecord, choice: Option<&str>) -> Result<Vec<f64>, (String, String)> {
    let numbers = |value: &Value| match value {
        Value::Array(values) if !values.is_empty() && values.len() == record.edges.len() => {
            values.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()
        }
        _ => None,
    };
    let lists: Vec<(&str, Vec<f64>)> =
        record.fields.iter().filter_map(|(name, value)| Some((name.as_str(), numbers(value)?))).collect();
    let names: Vec<&str> = lists.iter().map(|list| list.0).collect();
    match choose_weight(&names, choice)? {
        Some(place) => Ok(lists.into_iter().nth(place).map(|list| list.1).unwrap_or_default()),
        None if names.is_empty() || choice.is_some() => Ok(Vec::new()),
        None => {
            let found = format!("one number for every edge in {}", list(names));
            Err((format!("\"weights\" with one number for every edge, or {HOW_TO_CHOOSE_WEIGHT}"), found))
        }
    }
}

/// The graph of networkx's node-link form.
fn node_link_graph(
    document: JsonGraph,
    file: &str,
    start: usize,
    options: &ReadOptions,
) -> Result<GraphFile, FormatError> {
    let JsonGraph { record, links, listed, .. } = document;
    let position = Position { file, number: start };
    let columns: Vec<&str> =
        links.attributes.keys().map(String::as_str).filter(|name| !only_numbers_edges(name)).collect();
    let choice = options.columns.weight.as_deref();
    let fault = |(expected, found): (String, String)| position.error("edge attributes", expected, found);
    let weights = match choose_weight(&columns, choice).map_err(fault)? {
        Some(place) => Some(&links.attributes[columns[place]]),
        None if columns.is_empty() || choice.is_some() => None,
        None => return Err(position.error("edge attributes", HOW_TO_CHOOSE_WEIGHT, list(columns))),
    };
    let names = listed.unwrap_or_else(|| links.names.clone());
    let places: HashMap<&str, u64> = names.iter().map(String::as_str).zip(0..).collect();
    if places.len() != names.len() {
        return Err(position.error("nodes", "different ids", "one that occurs twice"));
    }
    let mut rows = EdgeRows::default();
    for (edge, ends) in record.edges.iter().enumerate() {
        let mut ids = [0; 2];
        for (id, &end) in ids.iter_mut().zip(ends) {
            // Pairs of numbers beside a list of nodes are ids as well.
            let number = || end.to_string();
            let name = links.names.get(end as usize).cloned().unwrap_or_else(number);
            let place = places.get(name.as_str()).copied();
            *id = place.ok_or_else(|| position.error("edge", "ids of listed nodes", excerpt(&name)))?;
        }
        let weight = weights.map(|weights| match weights.get(edge) {
            Some(&(of, weight)) if of == edge && weight >= 0.0 && (weight as f32).is_finite() => Ok(weight),
            Some(&(of, weight)) if of == edge => {
                Err(FormatError::graph(file)(GraphError::Weight { edge, value: weight }))
            }
            _ => Err(position.error("edge attributes", "a weight for every edge", format!("none for edge {edge}"))),
        });
        rows.push(ids[0], ids[1], weight.transpose()?);
    }
    let directed = record.fields.get("directed").and_then(Value::as_bool).unwrap_or(false);
    let numbered = names.iter().zip(0_u64..).all(|(name, place)| *name == place.to_string());
    let count = names.len();
    let names = if numbered { NodeNames::Sequence { first: 0, nodes: count } } else { NodeNames::words(names) };
    rows.into_graph(file, Numbering::Listed(names), options.directed.unwrap_or(directed), options)
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
    fn weights_of_any_name_are_read_or_refused() {
        let read = graph(r#"{"nodes":2,"edges":[[0,1]],"weights":[100000.005]}"#).unwrap();
        assert_eq!((read.weights.at(0), read.warnings.len()), (100000.005, 1));
        let error = graph(r#"{"nodes":2,"edges":[[0,1]],"minutes":[7]}"#).unwrap_err().to_string();
        assert!(error.contains("\"weights\"") && error.contains("\"minutes\""), "{error}");
        let read = graph(r#"{"nodes":2,"edges":[[0,1]],"cost":[7]}"#).unwrap();
        assert_eq!(read.weights.at(0), 7.0);
    }

    #[test]
    fn weights_are_exact_to_the_last_bit_wherever_they_stand() {
        // Half-way cases, for which a quick parser may be one bit off.
        for text in ["0.3", "8.5479300281486e-12", "9007199254740993.0", "1.00000000000000011102230246251565", "7e-3"] {
            let exact: f64 = text.parse().unwrap();
            for json in [
                format!(r#"{{"nodes":2,"edges":[[0,1]],"weights":[{text}]}}"#),
                format!(r#"{{"nodes":2,"edges":[[0,1]],"edge_attributes":[[{text}]]}}"#),
                format!(r#"{{"nodes":2,"edges":[[0,1]],"cost":[{text}]}}"#),
                format!(r#"{{"directed":true,"links":[{{"source":0,"target":1,"weight":{text}}}]}}"#),
            ] {
                assert_eq!(graph(&json).unwrap().weights.at(0).to_bits(), exact.to_bits(), "{json}");
            }
        }
    }

    #[test]
    fn node_link_graphs_keep_their_names() {
        let text = r#"{"directed":true,"multigraph":false,"graph":{},"nodes":[{"id":"a","x":1},{"id":"b"},{"id":7}],
            "links":[{"source":"b","target":"a","weight":2.5},{"source":7,"target":"b","weight":1,"key":0}]}"#;
        let read = graph(text).unwrap();
        assert_eq!(read.graph.edge_list(), [[1, 0], [2, 1]]);
        assert_eq!((read.names.find("7"), read.names.name(1)), (Some(2), "b".to_owned()));
        assert_eq!(read.graph.edge_attributes_in_original_order().values(), [2.5, 1.0]);
        let plain = graph(r#"{"nodes":[{"id":0},{"id":1}],"edges":[{"source":0,"target":1}]}"#).unwrap();
        assert_eq!((plain.graph.edges(), plain.names), (2, NodeNames::Sequence { first: 0, nodes: 2 }));
        let faults = [
            (r#"{"nodes":[{"id":0}],"links":[{"source":0,"target":1}]}"#, "expected ids of listed nodes, found \"1\""),
            (r#"{"links":[{"source":0,"target":1,"km":1}]}"#, "found \"km\""),
            (r#"{"links":[{"source":0,"target":1,"weight":1},{"source":0,"target":2}]}"#, "none for edge 1"),
            (r#"{"links":[{"source":0,"target":1,"weight":-1}]}"#, "edge 0 has weight -1"),
            (r#"{"nodes":[{"id":0},{"id":0}],"links":[]}"#, "occurs twice"),
            (r#"{"links":[{"source":0}]}"#, "missing field `target`"),
        ];
        for (text, message) in faults {
            let error = graph(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
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
