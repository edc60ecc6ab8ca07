//! Labelled graphs in files.

use std::io::BufRead;

use itergnn_graph::formats::{SampleReader, SampleRecord};
use itergnn_nn::Level;

use super::Example;
use crate::TrainError;

/// Bytes of a graph that is held, beside those of its lists.
const BYTES_PER_GRAPH: u64 = 256;

/// Bytes of a graph that is held, for every node and edge: both ends, offset, place, and one attribute.
const BYTES_PER_ELEMENT: u64 = 20;

/// Reads labelled graphs, one JSON object per line as `itergnn sample` writes them, into memory: never more of the text
/// than a line. Empty lines are passed over. Targets are checked against `level`.
///
/// # Errors
/// [`TrainError::Format`] with the line that is no sample, [`TrainError::Data`] with the line whose target does not
/// fit, or that does not fit into `memory` bytes any more.
///
/// # Example
/// ```
/// use itergnn_nn::Level;
/// use itergnn_train::data::read_examples;
/// let text = r#"{"nodes": 2, "edges": [[0, 1]], "target": [3]}"#;
/// let examples = read_examples(text.as_bytes(), "graphs.jsonl", Level::Graph, u64::MAX)?;
/// assert_eq!(examples[0].target, [3.0]);
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
pub fn read_examples(reader: impl BufRead, name: &str, level: Level, memory: u64) -> Result<Vec<Example>, TrainError> {
    let mut examples: Vec<Example> = Vec::new();
    let mut widths = Widths::default();
    let mut bytes = 0_u64;
    let refused = |number: u64, why: String| TrainError::Data { name: name.to_owned(), line: number, why };
    let mut samples = SampleReader::new(reader, name);
    while let Some(record) = samples.next() {
        let number = samples.line();
        let example = example_of(record?, level).map_err(|why| refused(number, why))?;
        if !widths.admit(&example, level) {
            let why = "the widths of node attributes, edge attributes or target differ from those of the first sample";
            return Err(refused(number, why.to_owned()));
        }
        let graph = &example.graph;
        let values = graph.node_attributes().values().len() + graph.edge_attributes().values().len();
        let elements = (graph.nodes() + graph.edges()) as u64;
        bytes += BYTES_PER_GRAPH + BYTES_PER_ELEMENT * elements + 4 * (values + example.target.len()) as u64;
        if bytes > memory {
            let why = format!("{} samples fit into memory, and there are more", examples.len());
            return Err(refused(number, why));
        }
        examples.push(example);
    }
    Ok(examples)
}

/// Widths of node attributes, edge attributes and rows of the target, as far as the samples so far say them: a graph
/// without edges says nothing about edges.
#[derive(Default)]
struct Widths([Option<usize>; 3]);

impl Widths {
    /// Whether a sample has the widths of those before it.
    fn admit(&mut self, example: &Example, level: Level) -> bool {
        let outputs = example.outputs(level).ok().filter(|_| example.rows(level) > 0);
        let found = [Some(example.graph.node_attributes().width()), example.edge_width(), outputs];
        let agree =
            self.0.iter().zip(&found).all(|(known, found)| known.is_none() || found.is_none() || known == found);
        self.0.iter_mut().zip(found).for_each(|(known, found)| *known = known.or(found));
        agree
    }
}

/// The labelled graph of a record.
pub(super) fn example_of(record: SampleRecord, level: Level) -> Result<Example, String> {
    let mut example = Example::new(record.graph().map_err(|error| error.to_string())?, record.target);
    if let Some(nodes) = record.fields.get("target_nodes").filter(|_| level == Level::Node) {
        example.target_nodes =
            serde_json::from_value(nodes.clone()).map_err(|error| format!("target_nodes: {error}"))?;
        if example.target_nodes.iter().any(|&node| node as usize >= example.graph.nodes()) {
            return Err("target_nodes: there is no such node".to_owned());
        }
    }
    if example.target.is_empty() && example.rows(level) > 0 {
        return Err("there is no target".to_owned());
    }
    example.outputs(level)?;
    if level == Level::Pointer {
        example.pointers()?;
    }
    Ok(example)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"{"node_attributes": [[1], [2]], "edges": [[0, 1]], "edge_attributes": [[5]], "target": [1, 0]}"#;

    fn read(text: &str, level: Level, memory: u64) -> Result<Vec<Example>, String> {
        read_examples(text.as_bytes(), "own.jsonl", level, memory).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_become_graphs_with_targets() {
        let examples = read(&format!("{LINE}\n\n{LINE}\n"), Level::Node, u64::MAX).unwrap();
        assert_eq!(examples.len(), 2);
        assert_eq!((examples[1].outputs(Level::Node), examples[1].graph.edges()), (Ok(1), 1));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = |text: &str, level| read(&format!("{LINE}\n{text}\n"), level, u64::MAX).unwrap_err();
        assert!(wrong("{", Level::Node).starts_with("own.jsonl:2: "), "{}", wrong("{", Level::Node));
        assert!(wrong(r#"{"nodes": 2, "edges": [[0, 5]], "target": [1, 2]}"#, Level::Node).contains("line 2"));
        assert!(wrong(r#"{"nodes": 2, "edges": [[0, 1]], "target": [1, 2]}"#, Level::Node).contains("widths"));
        assert!(wrong(r#"{"nodes": 2, "edges": [[0, 1]]}"#, Level::Graph).contains("no target"));
        assert!(read(LINE, Level::Edge, u64::MAX).unwrap().len() == 1, "two numbers for the only edge");
        assert!(read(LINE, Level::Pointer, u64::MAX).unwrap_err().contains("node 0 cannot point at 1"));
        assert!(read(&format!("{LINE}\n{LINE}"), Level::Node, 400).unwrap_err().contains("1 samples fit"));
    }
}
