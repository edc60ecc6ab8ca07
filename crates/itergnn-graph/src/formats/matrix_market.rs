//! Matrix Market `.mtx` files.

use std::io::BufRead;

use super::{
    FormatError, GraphFile, ReadOptions,
    edge_rows::{EdgeRows, Numbering, node_limit},
    lines::{Line, Lines, Position},
};

/// Reads a sparse matrix as a graph: an entry in row i and column j is an edge from i to j.
///
/// ```text
/// %%MatrixMarket matrix coordinate real symmetric
/// % comments; then rows, columns and entries, then one line per entry: row, column, value
/// 3 3 2
/// 2 1 5.5
/// 3 2 1
/// ```
///
/// The matrix must be square. `general` matrices are directed, `symmetric` ones undirected; `pattern` has no weights.
/// Values must not be negative. Nodes that no entry names are not counted, with a warning.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_matrix_market(reader: impl BufRead, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    read_matrix_market_lines(Lines::new(reader, file), options)
}

/// What the first line says.
#[derive(Clone, Copy)]
struct Header {
    weighted: bool,
    directed: bool,
}

pub(crate) fn read_matrix_market_lines(
    mut lines: Lines<impl BufRead>,
    options: &ReadOptions,
) -> Result<GraphFile, FormatError> {
    let Some(line) = lines.next_filled()? else {
        return Err(lines.end("header", "%%MatrixMarket matrix coordinate .."));
    };
    let header = read_header(&line)?;
    let mut size: Option<(u64, u64, usize)> = None;
    let mut rows = EdgeRows::default();
    while let Some(line) = lines.next_filled()? {
        if line.text.starts_with('%') {
            continue;
        }
        let mut fields = line.text.split_ascii_whitespace();
        match size {
            None => {
                let nodes = line.unsigned("number of rows", fields.next())?;
                let columns = fields.next();
                if line.unsigned("number of columns", columns)? != nodes {
                    return Err(line.error("number of columns", "as many as rows: a graph is square", columns));
                }
                size = Some((nodes, line.unsigned("number of entries", fields.next())?, line.position.number));
            }
            Some((nodes, entries, _)) => {
                if rows.len() as u64 >= entries {
                    return Err(line.error("number of entries", format!("{entries} as declared"), Some(line.text)));
                }
                let mut node = |what| {
                    let field = fields.next();
                    let id = line.unsigned(what, field)?;
                    let inside = (1..=nodes).contains(&id);
                    if inside { Ok(id) } else { Err(line.error(what, format!("a number from 1 to {nodes}"), field)) }
                };
                let (sender, receiver) = (node("row")?, node("column")?);
                let weight = header.weighted.then(|| line.weight("value", fields.next())).transpose()?;
                rows.push(sender, receiver, weight);
            }
        }
        line.ends("entry", fields.next())?;
    }
    let Some((nodes, entries, number)) = size else {
        return Err(lines.end("size", "rows, columns and entries"));
    };
    let position = Position { file: lines.file(), number };
    if rows.len() as u64 != entries {
        let found = format!("{} (wrong count or truncated file)", rows.len());
        return Err(position.error("number of entries", format!("{entries} as declared"), found));
    }
    let limit = node_limit(rows.len());
    if nodes > limit {
        return Err(position.error("number of rows", format!("at most {limit} with {entries} entries"), nodes));
    }
    let numbering = Numbering::Declared { first: 1, nodes: nodes as usize };
    rows.into_graph(lines.file(), numbering, options.directed.unwrap_or(header.directed), options)
}

fn read_header(line: &Line<'_>) -> Result<Header, FormatError> {
    let text = line.text.to_ascii_lowercase();
    let mut words = text.split_ascii_whitespace();
    for (what, expected) in [("header", "%%matrixmarket"), ("object", "matrix"), ("format", "coordinate")] {
        let word = words.next();
        if word != Some(expected) {
            return Err(line.error(what, format!("\"{expected}\""), word));
        }
    }
    let field = words.next();
    let weighted = match field {
        Some("real" | "integer" | "double") => true,
        Some("pattern") => false,
        _ => return Err(line.error("kind of values", "real, integer or pattern", field)),
    };
    let symmetry = words.next();
    match symmetry {
        Some("general") => Ok(Header { weighted, directed: true }),
        Some("symmetric") => Ok(Header { weighted, directed: false }),
        _ => Err(line.error("symmetry", "general or symmetric", symmetry)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<GraphFile, FormatError> {
        parse_matrix_market(text.as_bytes(), "t.mtx", &ReadOptions::default())
    }

    #[test]
    fn symmetric_matrices_lead_both_ways_and_general_ones_do_not() {
        let symmetric = read("%%MatrixMarket matrix coordinate real symmetric\n% x\n3 3 2\n2 1 5.5\n3 2 1\n").unwrap();
        assert_eq!(symmetric.graph.edge_list(), [[1, 0], [2, 1], [0, 1], [1, 2]]);
        assert_eq!(symmetric.graph.edge_attributes_in_original_order().values(), [5.5, 1.0, 5.5, 1.0]);
        let general = read("%%MatrixMarket matrix coordinate pattern general\n4 4 2\n2 1\n4 1\n").unwrap();
        assert_eq!((general.graph.edge_list(), general.names.find("4")), (vec![[1, 0], [2, 0]], Some(2)));
        assert_eq!(general.warnings, ["1 of 4 declared nodes have no edge: not counted"]);
    }

    #[test]
    fn every_fault_has_its_line() {
        let head = "%%MatrixMarket matrix coordinate real general\n";
        let faults = [
            (String::new(), "t.mtx:1: header: expected %%MatrixMarket"),
            ("%%MatrixMarket matrix array real general\n".into(), "t.mtx:1: format: expected \"coordinate\""),
            ("%%MatrixMarket matrix coordinate complex general\n".into(), "t.mtx:1: kind of values: expected real"),
            ("%%MatrixMarket matrix coordinate real hermitian\n".into(), "t.mtx:1: symmetry: expected general"),
            (head.into(), "t.mtx:1: size: expected rows, columns and entries"),
            (format!("{head}2 3 1\n"), "t.mtx:2: number of columns: expected as many as rows"),
            (format!("{head}2 2 1\n"), "t.mtx:2: number of entries: expected 1 as declared, found 0"),
            (format!("{head}2 2 1\n1 3 1\n"), "t.mtx:3: column: expected a number from 1 to 2, found \"3\""),
            (format!("{head}2 2 1\n1 2 -1\n"), "t.mtx:3: value: expected a number that is not negative"),
            (format!("{head}2 2 1\n1 2 1 1\n"), "t.mtx:3: entry: expected the end of the line"),
            (format!("{head}2 2 0\n1 2 1\n"), "t.mtx:3: number of entries: expected 0 as declared"),
            (format!("{head}9000000000 9000000000 0\n"), "t.mtx:2: number of rows: expected at most 64000"),
        ];
        for (text, message) in faults {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
