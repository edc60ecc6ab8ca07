//! Reading the GIN text format.

use std::{collections::HashMap, io::BufRead, path::Path};

use super::{GinDataset, GinGraph};
use crate::{
    Attributes, Graph,
    formats::{
        FormatError,
        edge_rows::simplify,
        lines::{Line, Lines},
    },
};

/// Reads a graph classification set.
///
/// ```text
/// 2                 number of graphs; then for each graph:
/// 3 0               nodes and label; then for each node:
/// 5 1 1             tag, number of neighbours, the neighbours counted from 0
/// 4 2 0 2           .. and, if the set has them, continuous attributes
/// 5 1 1
/// 1 2
/// 5 0
/// ```
///
/// An edge leads both ways even if only one end lists the other. Self-loops and repeated neighbours are dropped with a
/// warning.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn read_gin(path: &Path) -> Result<GinDataset, FormatError> {
    read_gin_lines(Lines::open(path)?)
}

/// [`read_gin`] from memory or a stream, called `file` in messages.
///
/// # Errors
/// [`FormatError`] with file and line.
///
/// # Example
/// ```
/// use itergnn_graph::formats::parse_gin;
/// let set = parse_gin(&b"2\n2 2\n0 1 1\n0 1 0\n1 0\n3 0\n"[..], "small.txt")?;
/// assert_eq!((set.graphs.len(), set.label_values, set.tag_values), (2, vec![2, 0], vec![0, 3]));
/// # Ok::<(), itergnn_graph::formats::FormatError>(())
/// ```
pub fn parse_gin(reader: impl BufRead, file: &str) -> Result<GinDataset, FormatError> {
    read_gin_lines(Lines::new(reader, file))
}

/// Whole numbers, numbered anew in order of first appearance.
#[derive(Default)]
struct Renumbering {
    index: HashMap<i64, usize>,
    values: Vec<i64>,
}

impl Renumbering {
    fn index_of(&mut self, value: i64) -> usize {
        *self.index.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.values.len() - 1
        })
    }
}

/// What is collected over all graphs.
#[derive(Default)]
struct Collected {
    labels: Renumbering,
    tags: Renumbering,
    /// How many continuous attributes a node has; the first node decides.
    continuous: Option<usize>,
    dropped: usize,
}

fn read_gin_lines(mut lines: Lines<impl BufRead>) -> Result<GinDataset, FormatError> {
    let Some(line) = lines.next_filled()? else {
        return Err(lines.end("number of graphs", "a whole number"));
    };
    let mut fields = line.text.split_ascii_whitespace();
    let field = fields.next();
    let count = line.unsigned("number of graphs", field)?;
    line.ends("number of graphs", fields.next())?;
    if count == 0 {
        return Err(line.error("number of graphs", "at least 1", field));
    }
    let mut collected = Collected::default();
    let mut graphs: Vec<GinGraph> = Vec::new();
    while (graphs.len() as u64) < count {
        graphs.push(read_one(&mut lines, count, &mut collected)?);
    }
    if let Some(line) = lines.next_filled()? {
        let expected = format!("the end of the file after {count} graphs");
        return Err(line.error("graph", expected, Some(line.text)));
    }
    let degrees = |graph: &Graph| graph.offsets().windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    let mut degree_values: Vec<u32> = graphs.iter().flat_map(|one| degrees(&one.graph)).collect();
    degree_values.sort_unstable();
    degree_values.dedup();
    let mut warnings = Vec::new();
    if collected.dropped > 0 {
        warnings.push(format!("{} self-loops or repeated neighbours dropped", collected.dropped));
    }
    let (label_values, tag_values) = (collected.labels.values, collected.tags.values);
    Ok(GinDataset { graphs, label_values, tag_values, degree_values, warnings })
}

fn read_one(lines: &mut Lines<impl BufRead>, count: u64, collected: &mut Collected) -> Result<GinGraph, FormatError> {
    let Some(line) = lines.next_filled()? else {
        return Err(lines.end("graph", format!("{count} graphs, as declared")));
    };
    let mut fields = line.text.split_ascii_whitespace();
    let field = fields.next();
    let nodes = line.unsigned("number of nodes", field)?;
    if nodes == 0 || nodes >= u64::from(u32::MAX) {
        return Err(line.error("number of nodes", "a number from 1 to 4294967294", field));
    }
    let label = line.integer("graph label", fields.next())?;
    line.ends("graph", fields.next())?;
    let label = collected.labels.index_of(label);

    let (mut tags, mut pairs, mut continuous) = (Vec::new(), Vec::new(), Vec::new());
    while (tags.len() as u64) < nodes {
        let node = tags.len() as u32;
        let Some(line) = lines.next_filled()? else {
            return Err(lines.end("node", format!("{nodes} nodes, as declared")));
        };
        let tag = read_node(&line, node, nodes, &mut pairs, &mut continuous, collected)?;
        tags.push(tag);
    }
    // The two ends of an edge list each other, which is one edge; only what one node says twice is dropped.
    let listed = pairs.len();
    simplify(&mut pairs, &mut Vec::new(), true);
    collected.dropped += listed - pairs.len();
    simplify(&mut pairs, &mut Vec::new(), false);
    let width = collected.continuous.unwrap_or(0);
    let graph = Graph::undirected(nodes as usize, &pairs)
        .and_then(|graph| graph.with_node_attributes(Attributes::new(width, continuous)))
        .map_err(FormatError::graph(lines.file()))?;
    Ok(GinGraph { graph, label, tags })
}

/// One node's line; returns its tag index.
fn read_node(
    line: &Line<'_>,
    node: u32,
    nodes: u64,
    pairs: &mut Vec<[u32; 2]>,
    continuous: &mut Vec<f32>,
    collected: &mut Collected,
) -> Result<u32, FormatError> {
    let mut fields = line.text.split_ascii_whitespace();
    let tag = line.integer("node tag", fields.next())?;
    let degree = line.unsigned("number of neighbours", fields.next())?;
    for _ in 0..degree {
        // A declared number beyond the line ends here at once, with "found the end of the line".
        let field = fields.next();
        let neighbour = line.unsigned("neighbour", field)?;
        if neighbour >= nodes {
            return Err(line.error("neighbour", format!("a node from 0 to {}", nodes - 1), field));
        }
        pairs.push([neighbour as u32, node]);
    }
    let before = continuous.len();
    for field in fields {
        let value = line.finite("node attribute", Some(field))? as f32;
        if value.is_infinite() {
            return Err(line.error("node attribute", "a number that fits f32", Some(field)));
        }
        continuous.push(value);
    }
    let found = continuous.len() - before;
    let expected = *collected.continuous.get_or_insert(found);
    if found != expected {
        let expected = format!("{expected} after the neighbours, as on the first node");
        return Err(line.position.error("node attributes", expected, found));
    }
    Ok(collected.tags.index_of(tag) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<GinDataset, FormatError> {
        parse_gin(text.as_bytes(), "t")
    }

    #[test]
    fn labels_and_tags_are_numbered_by_first_appearance() {
        let set = read("2\r\n2 2\r\n9 1 1\r\n3 1 0\r\n\r\n2 0\r\n3 0\r\n-1 1 0\r\n").unwrap();
        assert_eq!((set.label_values, set.tag_values), (vec![2, 0], vec![9, 3, -1]));
        assert_eq!((set.graphs[0].label, set.graphs[1].label), (0, 1));
        assert_eq!(set.graphs[1].tags, [1, 2]);
        // Only node 1 lists the edge, yet it leads both ways.
        assert_eq!(set.graphs[1].graph.edges(), 2);
        assert_eq!(set.degree_values, [1]);
        assert!(set.warnings.is_empty());
    }

    #[test]
    fn loops_and_repetitions_are_dropped_and_counted() {
        let set = read("1\n2 0\n0 3 0 1 1\n0 1 0\n").unwrap();
        assert_eq!(set.graphs[0].graph.edges(), 2);
        assert_eq!(set.warnings, ["2 self-loops or repeated neighbours dropped"]);
    }

    #[test]
    fn every_fault_has_its_line() {
        let faults = [
            ("", "t:1: number of graphs: expected a whole number, found the end of the file"),
            ("0\n", "t:1: number of graphs: expected at least 1"),
            ("99999999999\n1 0\n0 0\n", "t:3: graph: expected 99999999999 graphs, as declared, found the end"),
            ("1\n0 0\n", "t:2: number of nodes: expected a number from 1"),
            ("1\n3000000000 0\n0 0\n", "t:3: node: expected 3000000000 nodes, as declared, found the end"),
            ("1\n1 x\n", "t:2: graph label: expected a whole number, found \"x\""),
            ("1\n2 0\n0 1 2\n0 0\n", "t:3: neighbour: expected a node from 0 to 1, found \"2\""),
            (
                "1\n1 0\n0 18446744073709551615 0\n",
                "t:3: neighbour: expected a whole number that is not negative, found the end",
            ),
            ("1\n2 0\n0 0 1.5\n0 0\n", "t:4: node attributes: expected 1 after the neighbours"),
            ("1\n1 0\n0 0 inf\n", "t:3: node attribute: expected a finite number"),
            ("1\n1 0\n0 0\n1 0\n", "t:4: graph: expected the end of the file after 1 graphs"),
        ];
        for (text, message) in faults {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
