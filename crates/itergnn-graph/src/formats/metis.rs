//! METIS `.graph` files.

use std::io::BufRead;

use super::{
    FormatError, GraphFile, NodeNames, ReadOptions,
    edge_rows::{EdgeRows, Numbering},
    lines::{Line, Lines},
};

/// Reads a METIS graph: one line per node with its neighbours, counted from 1.
///
/// ```text
/// % comments; then nodes, edges, and which weights there are (001: edges, 010: nodes, 100: sizes of nodes)
/// 3 2 001
/// 2 5.5
/// 1 5.5 3 1
/// 2 1
/// ```
///
/// The graph is undirected: every edge stands in the lines of both its ends, with the same weight. Weights and sizes of
/// nodes are passed over, with a warning. A line may be empty: a node without edges.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_metis(reader: impl BufRead, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    read_metis_lines(Lines::new(reader, file), options)
}

/// What the first line says.
#[derive(Clone, Copy)]
struct Header {
    nodes: u64,
    edges: u64,
    edge_weights: bool,
    /// Numbers about the node before its neighbours.
    skipped: usize,
    line: usize,
}

pub(crate) fn read_metis_lines(
    mut lines: Lines<impl BufRead>,
    options: &ReadOptions,
) -> Result<GraphFile, FormatError> {
    let header = loop {
        match lines.next_filled()? {
            Some(line) if line.text.starts_with('%') => {}
            Some(line) => break read_header(&line)?,
            None => return Err(lines.end("header", "nodes and edges")),
        }
    };
    let mut rows = EdgeRows::default();
    let mut node = 0;
    while node < header.nodes {
        // Blank lines are nodes without neighbours, so they must not be skipped.
        let Some(line) = lines.next_line()? else {
            return Err(lines.end("node", format!("{} lines of neighbours, as declared", header.nodes)));
        };
        if line.text.starts_with('%') {
            continue;
        }
        read_neighbours(&line, header, node, &mut rows)?;
        node += 1;
    }
    while let Some(line) = lines.next_filled()? {
        if !line.text.starts_with('%') {
            let expected = format!("the end of the file after {} nodes, as declared", header.nodes);
            return Err(line.error("node", expected, Some(line.text)));
        }
    }
    let position = super::lines::Position { file: lines.file(), number: header.line };
    if rows.len() as u64 != header.edges.saturating_mul(2) {
        let found = format!("{} neighbours (twice as many are needed)", rows.len());
        return Err(position.error("number of edges", format!("{} as declared", header.edges), found));
    }
    let names = NodeNames::Sequence { first: 1, nodes: header.nodes as usize };
    let mut read = rows.into_graph(lines.file(), Numbering::Listed(names), true, options)?;
    if !read.graph.is_symmetric() {
        return Err(position.error("edges", "each in the lines of both its ends", "one that leads one way only"));
    }
    if header.skipped > 0 {
        read.warnings.push("weights of nodes were not read".to_owned());
    }
    Ok(read)
}

fn read_header(line: &Line<'_>) -> Result<Header, FormatError> {
    let mut fields = line.text.split_ascii_whitespace();
    let nodes = line.unsigned("number of nodes", fields.next())?;
    let edges = line.unsigned("number of edges", fields.next())?;
    let format = fields.next();
    let flags = line.unsigned("format", format.or(Some("0")))?;
    let flag = |digit: u64| flags / digit % 10;
    if flags > 111 || [1, 10, 100].into_iter().any(|digit| flag(digit) > 1) {
        return Err(line.error("format", "three digits 0 or 1", format));
    }
    let constraints = line.unsigned("number of node weights", fields.next().or(Some("1")))?;
    line.ends("header", fields.next())?;
    let skipped = flag(100) + flag(10) * constraints.min(1 << 20);
    if nodes == 0 {
        return Err(line.error("number of nodes", "at least 1", Some("0")));
    }
    Ok(Header { nodes, edges, edge_weights: flag(1) == 1, skipped: skipped as usize, line: line.position.number })
}

fn read_neighbours(line: &Line<'_>, header: Header, node: u64, rows: &mut EdgeRows) -> Result<(), FormatError> {
    let mut fields = line.text.split_ascii_whitespace();
    for _ in 0..header.skipped {
        line.unsigned("weight of the node", fields.next())?;
    }
    while let Some(field) = fields.next() {
        let neighbour = line.unsigned("neighbour", Some(field))?;
        if !(1..=header.nodes).contains(&neighbour) {
            return Err(line.error("neighbour", format!("a node from 1 to {}", header.nodes), Some(field)));
        }
        let weight = header.edge_weights.then(|| line.weight("edge weight", fields.next())).transpose()?;
        rows.push(node, neighbour - 1, weight);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<GraphFile, FormatError> {
        parse_metis(text.as_bytes(), "t.graph", &ReadOptions::default())
    }

    #[test]
    fn lines_are_neighbours_and_blank_lines_nodes() {
        let read = read("% x\n4 2\n2\n1 3\n2\n\n").unwrap();
        assert_eq!((read.graph.nodes(), read.graph.edges()), (4, 4));
        assert_eq!((read.find_node("4"), read.graph.senders_of(1)), (Ok(3), &[0, 2][..]));
        let weighted = self::read("3 2 011 2\n9 9 2 5.5\n1 1 1 5.5 3 1\n0 0 2 1\n").unwrap();
        assert_eq!(weighted.graph.edge_attributes().values(), [5.5, 5.5, 1.0, 1.0]);
        assert_eq!(weighted.warnings, ["weights of nodes were not read"]);
    }

    #[test]
    fn every_fault_has_its_line() {
        let faults = [
            ("", "t.graph:1: header: expected nodes and edges"),
            ("0 0\n", "t.graph:1: number of nodes: expected at least 1"),
            ("2 1 7\n", "t.graph:1: format: expected three digits 0 or 1"),
            ("2 1\n2\n", "t.graph:2: node: expected 2 lines of neighbours, as declared"),
            ("2 1\n3\n1\n", "t.graph:2: neighbour: expected a node from 1 to 2, found \"3\""),
            ("2 2\n2\n1\n", "t.graph:1: number of edges: expected 2 as declared, found 2 neighbours"),
            ("3 1\n2 3\n\n\n", "t.graph:1: edges: expected each in the lines of both its ends"),
            ("2 1 1\n2\n1 1\n", "t.graph:2: edge weight: expected a finite number, found the end of the line"),
            ("2 1\n2\n1\n7\n", "t.graph:4: node: expected the end of the file after 2 nodes"),
            ("99999999999 0\n", "t.graph:1: node: expected 99999999999 lines"),
        ];
        for (text, message) in faults {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
