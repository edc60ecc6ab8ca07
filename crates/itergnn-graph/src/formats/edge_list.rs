//! Edge lists: one edge a row, as text.

use std::io::{self, BufRead, Write};

use super::{
    FormatError, GraphFile, NodeNames, ReadOptions,
    edge_columns::{Columns, Separator},
    edge_rows::{EdgeRows, Numbering, edges_in_original_order, shortest},
    lines::{Line, Lines},
};
use crate::{EdgeWeights, Graph};

/// Reads an edge list (`.csv`, `.tsv`, `.edges`, `.cedge`, `.txt`).
///
/// ```text
/// # comments start with # or %; blank lines are skipped
/// source,target,weight      a header is optional and may name the columns in any order
/// 0,1,2.5
/// 1,2,0.5
/// ```
///
/// - Fields are separated by `;`, else `,`, else tabs or spaces, as the first row shows.
/// - Without a header, two columns are `u v`, three `u v weight`, four `edge_id u v weight` where the id only numbers the rows upwards.
///   A header that names the ends (source, from, u, ..; target, to, v, ..) may have more columns.
/// - Ids are whole numbers. Nodes are all ids from the smallest to the largest; where fewer than half of these occur, only those that do. Either
///   way [`GraphFile::names`] keeps the file's ids.
/// - Edges lead both ways unless [`ReadOptions::directed`] says otherwise.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_edge_list(reader: impl BufRead, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    read_edge_list_lines(Lines::new(reader, file), options)
}

pub(crate) fn read_edge_list_lines(
    mut lines: Lines<impl BufRead>,
    options: &ReadOptions,
) -> Result<GraphFile, FormatError> {
    let mut rows = EdgeRows::default();
    let mut layout: Option<(Separator, Columns)> = None;
    let mut last_edge_id = None;
    while let Some(line) = lines.next_filled()? {
        if line.text.starts_with(['#', '%']) {
            continue;
        }
        let (separator, columns) = match layout {
            Some(layout) => layout,
            None => {
                let separator = Separator::of(line.text);
                let fields: Vec<&str> = separator.split(line.text).collect();
                let header = fields.iter().all(|field| field.parse::<f64>().is_err());
                let columns = if header {
                    Columns::by_header(&line, &fields)?
                } else {
                    Columns::by_position(&line, fields.len())?
                };
                layout = Some((separator, columns));
                if header {
                    continue;
                }
                (separator, columns)
            }
        };
        read_row(&line, separator, &columns, &mut last_edge_id, &mut rows)?;
    }
    if rows.len() == 0 {
        return Err(lines.end("edge list", "at least one edge"));
    }
    let numbering = Numbering::Occurring { first: None };
    rows.into_graph(lines.file(), numbering, options.directed.unwrap_or(false), options)
}

fn read_row(
    line: &Line<'_>,
    separator: Separator,
    columns: &Columns,
    last_edge_id: &mut Option<u64>,
    rows: &mut EdgeRows,
) -> Result<(), FormatError> {
    let (mut sender, mut receiver, mut weight, mut edge_id) = (None, None, None, None);
    let mut count = 0;
    for field in separator.split(line.text) {
        match Some(count) {
            at if at == Some(columns.sender) => sender = Some(field),
            at if at == Some(columns.receiver) => receiver = Some(field),
            at if at == columns.weight => weight = Some(field),
            at if at == columns.edge_id => edge_id = Some(field),
            _ => {}
        }
        count += 1;
    }
    if count != columns.count {
        let expected = format!("{} as in the first row", columns.count);
        return Err(line.position.error("columns", expected, count));
    }
    if columns.edge_id.is_some() {
        // Guards against four columns that mean something else: only an edge id counts upwards from row to row.
        let id = line.unsigned("edge id (first of four columns)", edge_id)?;
        if last_edge_id.is_some_and(|last| id <= last) {
            return Err(line.error("edge id (first of four columns)", "a larger one than before", edge_id));
        }
        *last_edge_id = Some(id);
    }
    let sender = line.unsigned("sender", sender)?;
    let receiver = line.unsigned("receiver", receiver)?;
    let weight = match columns.weight {
        Some(_) => Some(line.weight("edge weight", weight)?),
        None => None,
    };
    rows.push(sender, receiver, weight);
    Ok(())
}

/// Writes a graph as comma-separated `source,target,weight` with a header, in the order in which the edges were given.
///
/// Every directed edge is a row: read it back with `directed: Some(true)`. Nodes are called as `names` says, or counted from 0.
/// Nodes without edges are lost, since an edge list cannot say that they exist.
///
/// # Errors
/// What the writer says.
///
/// # Panics
/// If `names` are fewer than the nodes.
///
/// # Example
/// ```
/// use itergnn_graph::{EdgeWeights, Graph, formats::write_edge_list};
/// let graph = Graph::new(2, &[[1, 0]])?;
/// let mut text = Vec::new();
/// write_edge_list(&mut text, &graph, &EdgeWeights::unit(&graph), None)?;
/// assert_eq!(text, b"source,target,weight\n1,0,1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_edge_list(
    mut writer: impl Write,
    graph: &Graph,
    weights: &EdgeWeights,
    names: Option<&NodeNames>,
) -> io::Result<()> {
    let name = |node: u32| names.map_or(u64::from(node), |names| names.name(node));
    writeln!(writer, "source,target,weight")?;
    for (position, [sender, receiver]) in edges_in_original_order(graph) {
        writeln!(writer, "{},{},{}", name(sender), name(receiver), shortest(weights.at(position)))?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<GraphFile, FormatError> {
        parse_edge_list(text.as_bytes(), "t.csv", &ReadOptions { directed: Some(true), ..ReadOptions::default() })
    }

    #[test]
    fn separators_headers_and_comments_give_the_same_graph() {
        let plain = read("0 1 2.5\n1 2 0.5\n").unwrap();
        assert_eq!(plain.graph.edge_list(), [[0, 1], [1, 2]]);
        assert_eq!(plain.graph.edge_attributes().values(), [2.5, 0.5]);
        for text in [
            "# hello\r\n\r\nsource,target,weight\r\n0,1,2.5\r\n1,2,0.5\r\n",
            "% hello\n0\t1\t2.5\n1\t2\t0.5",
            "\u{feff}0;1;2.5\n1;2;0.5\n",
            "0 0 1 2.5\n1 1 2 0.5\n",
            "weight,name,to,from\n2.5,street,1,0\n0.5,\"lane\",2,1\n",
        ] {
            assert_eq!(read(text).unwrap(), plain, "{text:?}");
        }
    }

    #[test]
    fn undirected_is_the_default_and_weights_are_optional() {
        let read = parse_edge_list(&b"1 2\n2 3\n3 2\n"[..], "t", &ReadOptions::default()).unwrap();
        assert_eq!(read.graph.edge_list(), [[0, 1], [1, 2], [1, 0], [2, 1]]);
        assert!(read.graph.edge_attributes().is_empty());
        assert_eq!(read.names, NodeNames::Sequence { first: 1, nodes: 3 });
        assert_eq!(read.warnings, ["1 duplicate edge: kept one of each"]);
    }

    #[test]
    fn huge_ids_are_names_not_sizes() {
        let read = read("7 18446744073709551615\n").unwrap();
        assert_eq!(read.graph.nodes(), 2);
        assert_eq!(read.names.node(u64::MAX), Some(1));
    }

    #[test]
    fn every_fault_has_its_line() {
        let faults = [
            ("", "t.csv:1: edge list: expected at least one edge, found the end of the file"),
            ("source,target\n", "t.csv:1: edge list: expected at least one edge"),
            ("0 1\n1\n", "t.csv:2: columns: expected 2 as in the first row, found 1"),
            ("5\n", "t.csv:1: columns: expected 2 (u v)"),
            ("0 1\n1 x\n", "t.csv:2: receiver: expected a whole number that is not negative, found \"x\""),
            ("0 1\n-1 2\n", "t.csv:2: sender: expected a whole number that is not negative, found \"-1\""),
            ("0 1 -2\n", "t.csv:1: edge weight: expected a number that is not negative, found \"-2\""),
            ("0 1 1\n0 1 inf\n", "t.csv:2: edge weight: expected a finite number, found \"inf\""),
            ("0,1,\n", "t.csv:1: edge weight: expected a finite number, found \"\""),
            ("4 1 2 3\n4 2 3 4\n", "t.csv:2: edge id (first of four columns): expected a larger one"),
        ];
        for (text, message) in faults {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
