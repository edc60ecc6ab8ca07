//! DIMACS `.gr` files.

use std::io::BufRead;

use super::{
    FormatError, GraphFile, ReadOptions,
    edge_rows::{EdgeRows, Numbering, node_limit},
    lines::{Line, Lines, Position},
};

/// Reads a DIMACS graph.
///
/// ```text
/// c a comment
/// p sp 3 2         nodes and arcs; then one line an arc:
/// a 1 2 5.5        sender, receiver, weight
/// a 2 3 1
/// ```
///
/// - With a `p` line nodes count from 1 to the declared number, and there must be exactly as many arcs as declared.
/// - Without one, as some tools write it, the ids may start anywhere.
/// - Nodes are the ids that some edge names; declared ones that no edge names are not counted, with a warning.
/// - `p sp` is directed. `p tw` (PACE, lines `u v`) and `p edge` or `p col` (lines `e u v`) are undirected and have no
///   weights.
/// - A declared number of nodes beyond 64 for each arc (plus 64,000) is refused: it would ask for memory that the file
///   does not bear out.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_dimacs(reader: impl BufRead, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    read_dimacs_lines(Lines::new(reader, file), options)
}

/// The `p` line.
#[derive(Debug, Clone, Copy)]
struct Problem {
    nodes: u64,
    edges: u64,
    directed: bool,
    /// The word that starts an edge line, if any does.
    edge_word: Option<&'static str>,
    line: usize,
}

pub(crate) fn read_dimacs_lines(
    mut lines: Lines<impl BufRead>,
    options: &ReadOptions,
) -> Result<GraphFile, FormatError> {
    let mut rows = EdgeRows::default();
    let mut problem: Option<Problem> = None;
    while let Some(line) = lines.next_filled()? {
        if line.text.starts_with('c') {
            continue;
        }
        if line.text.starts_with('p') {
            if problem.is_some() || rows.len() > 0 {
                return Err(line.error("problem line", "one, before all edges", Some(line.text)));
            }
            problem = Some(read_problem(&line)?);
            continue;
        }
        read_edge(&line, problem, &mut rows)?;
    }
    let Some(problem) = problem else {
        if rows.len() == 0 {
            return Err(lines.end("DIMACS graph", "a line \"p sp NODES ARCS\" or arcs \"a SENDER RECEIVER WEIGHT\""));
        }
        return rows.into_graph(lines.file(), Numbering::Occurring, options.directed.unwrap_or(true), options);
    };
    let position = Position { file: lines.file(), number: problem.line };
    if rows.len() as u64 != problem.edges {
        let expected = format!("{} as declared", problem.edges);
        let found = format!("{} (wrong count or truncated file)", rows.len());
        return Err(position.error("number of edges", expected, found));
    }
    let limit = node_limit(rows.len());
    if problem.nodes > limit {
        let expected = format!("at most {limit} with {} edges", rows.len());
        return Err(position.error("number of nodes", expected, problem.nodes));
    }
    let numbering = Numbering::Declared { first: 1, nodes: problem.nodes as usize };
    let directed = options.directed.unwrap_or(problem.directed);
    rows.into_graph(lines.file(), numbering, directed, options)
}

fn read_problem(line: &Line<'_>) -> Result<Problem, FormatError> {
    let mut fields = line.text.split_ascii_whitespace();
    let (word, kind) = (fields.next(), fields.next());
    let (directed, edge_word) = match kind {
        _ if word != Some("p") => return Err(line.error("DIMACS line", "one of c, p, a, e", word)),
        Some("sp") => (true, Some("a")),
        Some("edge" | "col") => (false, Some("e")),
        Some("tw" | "td") => (false, None),
        other => return Err(line.error("kind of problem", "sp, tw, edge or col", other)),
    };
    let nodes = line.unsigned("number of nodes", fields.next())?;
    let edges = line.unsigned("number of edges", fields.next())?;
    line.ends("problem line", fields.next())?;
    if nodes == 0 {
        return Err(line.error("number of nodes", "at least 1", Some("0")));
    }
    Ok(Problem { nodes, edges, directed, edge_word, line: line.position.number })
}

fn read_edge(line: &Line<'_>, problem: Option<Problem>, rows: &mut EdgeRows) -> Result<(), FormatError> {
    let word = problem.map_or(Some("a"), |problem| problem.edge_word);
    let mut fields = line.text.split_ascii_whitespace();
    if let Some(word) = word {
        let found = fields.next();
        if found != Some(word) {
            return Err(line.error("DIMACS line", format!("\"{word} ..\" or a comment \"c ..\""), found));
        }
    }
    let mut node = |what| {
        let field = fields.next();
        let id = line.unsigned(what, field)?;
        match problem {
            Some(Problem { nodes, .. }) if id == 0 || id > nodes => {
                Err(line.error(what, format!("a node from 1 to {nodes}"), field))
            }
            _ => Ok(id),
        }
    };
    let (sender, receiver) = (node("sender")?, node("receiver")?);
    let weight = match word {
        Some("a") => Some(line.weight("arc weight", fields.next())?),
        _ => None,
    };
    line.ends("edge line", fields.next())?;
    if let Some(Problem { edges, .. }) = problem.filter(|problem| rows.len() as u64 >= problem.edges) {
        return Err(line.error("number of edges", format!("{edges} as declared"), Some(line.text)));
    }
    rows.push(sender, receiver, weight);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::NodeNames;

    fn read(text: &str) -> Result<GraphFile, FormatError> {
        parse_dimacs(text.as_bytes(), "t.gr", &ReadOptions::default())
    }

    #[test]
    fn the_standard_form_counts_from_one() {
        let read = read("c x\r\n\r\np sp 4 3\r\na 1 2 5.5\r\na 2 3 1\r\na 3 3 0\r\n").unwrap();
        assert_eq!(read.graph.nodes(), 3);
        assert_eq!(read.graph.edge_list(), [[0, 1], [1, 2]]);
        assert_eq!(read.graph.edge_attributes().values(), [5.5, 1.0]);
        assert_eq!(read.names, NodeNames::Sequence { first: 1, nodes: 3 });
        let warnings =
            ["1 of 4 declared nodes have no edge: not counted", "1 self-loop dropped: no shortest path uses one"];
        assert_eq!(read.warnings, warnings);
    }

    #[test]
    fn ids_that_no_edge_uses_are_no_nodes() {
        assert_eq!(read("a 0 1 1\na 1 3 2\n").unwrap().names, NodeNames::Numbers(vec![0, 1, 3]));
        assert_eq!(read("a 1 2 1\n").unwrap().names, NodeNames::Sequence { first: 1, nodes: 2 });
        assert_eq!(read("a 0 99999 1\n").unwrap().names, NodeNames::Numbers(vec![0, 99999]));
    }

    #[test]
    fn pace_and_colouring_files_are_undirected_without_weights() {
        for text in ["p tw 3 2\n1 2\n2 3\n", "p edge 3 2\ne 1 2\ne 2 3\n"] {
            let read = read(text).unwrap();
            assert_eq!(read.graph.edge_list(), [[0, 1], [1, 2], [1, 0], [2, 1]]);
            assert!(read.graph.edge_attributes().is_empty());
        }
    }

    #[test]
    fn every_fault_has_its_line() {
        let faults = [
            ("", "t.gr:1: DIMACS graph"),
            ("p sp 2\n", "t.gr:1: number of edges: expected a whole number that is not negative, found the end"),
            ("p sp 0 0\n", "t.gr:1: number of nodes: expected at least 1, found \"0\""),
            ("p sp 3 0\n", "t.gr: nodes: none: the file has no edges"),
            ("p sp 2 1\na 0 1 1\n", "t.gr:2: sender: expected a node from 1 to 2, found \"0\""),
            ("p sp 2 1\na 1 3 1\n", "t.gr:2: receiver: expected a node from 1 to 2, found \"3\""),
            ("p sp 2 2\na 1 2 1\n", "t.gr:1: number of edges: expected 2 as declared, found 1 (wrong count"),
            ("p sp 2 0\na 1 2 1\n", "t.gr:2: number of edges: expected 0 as declared"),
            ("p sp 2 1\na 1 2 -1\n", "t.gr:2: arc weight: expected a number that is not negative, found \"-1\""),
            ("p sp 2 1\na 1 2 nan\n", "t.gr:2: arc weight: expected a finite number, found \"nan\""),
            ("p sp 2 1\na 1 2 1e99\n", "t.gr:2: arc weight: expected at most 3.4028235e38 (the largest f32)"),
            ("p sp 2 1\na 1 2\n", "t.gr:2: arc weight: expected a finite number, found the end of the line"),
            ("p sp 2 1\na 1 2 1 9\n", "t.gr:2: edge line: expected the end of the line, found \"9\""),
            ("p sp 4000000000 0\n", "t.gr:1: number of nodes: expected at most 64000 with 0 edges, found 4000000000"),
            ("a 0 1 1\np sp 2 1\n", "t.gr:2: problem line: expected one, before all edges"),
            ("p max 2 1\n", "t.gr:1: kind of problem: expected sp, tw, edge or col, found \"max\""),
            ("p sp 2 1\nx 1 2 1\n", "t.gr:2: DIMACS line: expected \"a ..\" or a comment \"c ..\", found \"x\""),
        ];
        for (text, message) in faults {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
