//! Edge lists: one edge per row, as text.

use std::{collections::HashMap, io::BufRead};

use super::{
    FormatError, GraphFile, NodeNames, ReadOptions,
    edge_columns::{Columns, Separator, list},
    edge_rows::{EdgeRows, Numbering},
    lines::{Line, Lines},
};

/// Reads an edge list (`.csv`, `.tsv`, `.edges`, `.cedge`, `.txt`).
///
/// ```text
/// # comments start with # or %; blank lines are skipped
/// source,target,weight      a header is optional and may name the columns in any order
/// 0,1,2.5
/// 1,2,0.5
/// ```
///
/// - Fields are separated by `;`, else `,`, else tabs, else spaces, as the first row shows.
/// - Without a header, two columns are `u v` and three `u v weight`; a `.cedge` file has four, `edge_id u v weight`.
///   Other files need a header, or [`ReadOptions::columns`].
/// - A header names the ends (source, from, u, ..; target, to, v, ..) and the weight (weight, length, distance, ..), or
///   [`ReadOptions::columns`] says which columns they are. Where no column is the weight, a column with numbers is an
///   error: it could be one. Beside a weight such columns are named in a warning.
/// - Nodes are what the edges name: whole numbers where the first row has them, else words.
/// - Edges lead both ways unless [`ReadOptions::directed`] says otherwise.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_edge_list(reader: impl BufRead, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    read_edge_list_lines(Lines::new(reader, file), options, false)
}

pub(crate) fn read_edge_list_lines(
    mut lines: Lines<impl BufRead>,
    options: &ReadOptions,
    numbered_rows: bool,
) -> Result<GraphFile, FormatError> {
    let mut list: Option<EdgeList> = None;
    while let Some(line) = lines.next_filled()? {
        if line.text.starts_with(['#', '%']) {
            continue;
        }
        match &mut list {
            Some(list) => list.read_row(&line)?,
            None => {
                let separator = Separator::of(line.text);
                let fields: Vec<&str> = separator.split(line.text).collect();
                let columns = Columns::of(&line, &fields, &options.columns, numbered_rows)?;
                let list = list.insert(EdgeList::new(separator, columns));
                if !list.columns.header {
                    list.read_row(&line)?;
                }
            }
        }
    }
    match list {
        Some(list) if list.rows.len() > 0 => list.into_graph(lines.file(), options),
        _ => Err(lines.end("edge list", "at least one edge")),
    }
}

/// The rows read so far and how to read the next.
struct EdgeList {
    separator: Separator,
    columns: Columns,
    rows: EdgeRows,
    last_edge_id: Option<u64>,
    /// The nodes by name, where the first row has names that are no numbers.
    words: Option<HashMap<String, u64>>,
    /// Columns with numbers that are not read.
    unused: Vec<bool>,
}

impl EdgeList {
    fn new(separator: Separator, columns: Columns) -> Self {
        let unused = vec![false; columns.names.len()];
        Self { separator, columns, rows: EdgeRows::default(), last_edge_id: None, words: None, unused }
    }

    fn read_row(&mut self, line: &Line<'_>) -> Result<(), FormatError> {
        let (mut sender, mut receiver, mut weight, mut edge_id) = (None, None, None, None);
        let (mut count, expected) = (0, self.columns.names.len());
        for field in self.separator.split(line.text) {
            match Some(count) {
                at if at == Some(self.columns.sender) => sender = Some(field),
                at if at == Some(self.columns.receiver) => receiver = Some(field),
                at if at == self.columns.weight => weight = Some(field),
                at if at == self.columns.edge_id => edge_id = Some(field),
                _ if count < expected && self.columns.is_unused(count) && field.parse::<f64>().is_ok() => {
                    self.columns.check_unused(line, count)?;
                    self.unused[count] = true;
                }
                _ => {}
            }
            count += 1;
        }
        if count != expected {
            return Err(line.position.error("columns", format!("{expected} as in the first row"), count));
        }
        if self.columns.edge_id.is_some() {
            // Guards against four columns that mean something else: only an edge id counts upwards from row to row.
            let id = line.unsigned("edge id (first of four columns)", edge_id)?;
            if self.last_edge_id.is_some_and(|last| id <= last) {
                return Err(line.error("edge id (first of four columns)", "a larger one than before", edge_id));
            }
            self.last_edge_id = Some(id);
        }
        if self.rows.len() == 0 && [sender, receiver].iter().flatten().any(|name| name.parse::<f64>().is_err()) {
            self.words = Some(HashMap::new());
        }
        let sender = self.node(line, "sender", sender)?;
        let receiver = self.node(line, "receiver", receiver)?;
        let weight = self.columns.weight.map(|_| line.weight("edge weight", weight)).transpose()?;
        self.rows.push(sender, receiver, weight);
        Ok(())
    }

    fn node(&mut self, line: &Line<'_>, what: &'static str, field: Option<&str>) -> Result<u64, FormatError> {
        let Some(words) = &mut self.words else { return line.unsigned(what, field) };
        let name = field.filter(|name| !name.is_empty()).ok_or_else(|| line.error(what, "a name", field))?;
        let next = words.len() as u64;
        Ok(words.get(name).copied().unwrap_or_else(|| *words.entry(name.to_owned()).or_insert(next)))
    }

    fn into_graph(self, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
        let numbering = match self.words {
            None => Numbering::Occurring,
            Some(words) => {
                let mut names = vec![String::new(); words.len()];
                words.into_iter().for_each(|(name, node)| names[node as usize] = name);
                Numbering::Listed(NodeNames::words(names))
            }
        };
        let mut read = self.rows.into_graph(file, numbering, options.directed.unwrap_or(false), options)?;
        let names = self.columns.names.iter().zip(&self.unused).filter_map(|(name, &unused)| unused.then_some(name));
        let names: Vec<&str> = names.map(String::as_str).collect();
        if !names.is_empty() {
            read.warnings.push(format!("columns with numbers that were not read: {}", list(names)));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ColumnChoice;

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
            "weight,name,to,from\n2.5,street,1,0\n0.5,\"lane\",2,1\n",
            "id,u,v,w\n7,0,1,2.5\n8,1,2,0.5\n",
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
    fn huge_ids_are_names_not_sizes_and_gaps_are_no_nodes() {
        let huge = read("7 18446744073709551615\n").unwrap();
        assert_eq!((huge.graph.nodes(), huge.names.find("18446744073709551615")), (2, Some(1)));
        let gaps = read("0 1\n3 4\n").unwrap();
        assert_eq!((gaps.graph.nodes(), gaps.names.find("2")), (4, None));
    }

    #[test]
    fn words_are_names_and_are_kept() {
        let read = read("from,to,km\nRome,New York,6890\n42,Rome,1\n").unwrap_err().to_string();
        assert!(read.contains("--weight-column NAME") && read.contains("\"km\""), "{read}");
        let columns = ColumnChoice { weight: Some("km".into()), ..ColumnChoice::default() };
        let options = ReadOptions { columns, ..ReadOptions::default() };
        let text = "from,to,km\nRome,New York,6890\n42,Rome,1\n";
        let read = parse_edge_list(text.as_bytes(), "t.csv", &options).unwrap();
        assert_eq!(
            (read.names.find("New York"), read.names.find("42"), read.names.name(0)),
            (Some(1), Some(2), "Rome".into())
        );
        let headerless = parse_edge_list(&b"Rome Oslo 3\nOslo Bonn 1\n"[..], "t", &ReadOptions::default()).unwrap();
        assert_eq!((headerless.graph.nodes(), headerless.weights.at(0)), (3, 3.0));
    }

    #[test]
    fn a_column_called_travel_time_is_not_dropped() {
        for name in ["travel_time", "minutes", "km"] {
            let error = read(&format!("source,target,name,{name}\n0,1,a,7\n")).unwrap_err().to_string();
            assert!(error.starts_with("t.csv:2: columns: expected one weight"), "{error}");
            assert!(error.contains(&format!("numbers in \"{name}\" (columns: \"source\", \"target\"")), "{error}");
        }
        let columns = ColumnChoice { weight: Some("none".into()), ..ColumnChoice::default() };
        let options = ReadOptions { columns, ..ReadOptions::default() };
        let unit = parse_edge_list(&b"source,target,km\n0,1,7\n"[..], "t", &options).unwrap();
        assert_eq!((unit.weights.at(0), unit.warnings.len()), (1.0, 1));
        let other = read("source,target,weight,speed\n0,1,7,50\n").unwrap();
        assert_eq!(other.warnings, ["columns with numbers that were not read: \"speed\""]);
    }

    #[test]
    fn four_columns_are_not_guessed() {
        let error = read("0 1 2 2.5\n1 2 3 0.5\n").unwrap_err().to_string();
        assert!(error.starts_with("t.csv:1: columns: expected 2 (u v), 3 (u v weight) or a header"), "{error}");
        let word = |text: &str| Some(text.to_owned());
        let columns = ColumnChoice { source: word("2"), target: word("3"), weight: word("4") };
        let options = ReadOptions { columns, ..ReadOptions::default() };
        let chosen = parse_edge_list(&b"0 1 2 2.5\n1 2 3 0.5\n"[..], "t", &options).unwrap();
        assert_eq!((chosen.graph.nodes(), chosen.weights.at(0)), (3, 2.5));
    }

    #[test]
    fn weights_keep_the_digits_of_the_file() {
        let read = read("0 1 50000\n1 2 50000.0055\n0 2 100000.005\n2 3 1e-50\n3 4 9007199254740991\n").unwrap();
        let mut weights = read.weights.as_slice().to_vec();
        weights.sort_by(f64::total_cmp);
        assert_eq!(weights, [1e-50, 50000.0, 50000.0055, 100000.005, 9_007_199_254_740_991.0]);
        assert!(read.warnings[0].starts_with("4 weights have more digits than f32 holds"), "{:?}", read.warnings);
    }

    #[test]
    fn every_fault_has_its_line() {
        let faults = [
            ("", "t.csv:1: edge list: expected at least one edge, found the end of the file"),
            ("source,target\n", "t.csv:1: edge list: expected at least one edge"),
            ("a,b\n0,1\n", "t.csv:1: columns: expected headings such as source and target"),
            ("0 1\n1\n", "t.csv:2: columns: expected 2 as in the first row, found 1"),
            ("5\n", "t.csv:1: columns: expected 2 (u v)"),
            ("0 1\n1 x\n", "t.csv:2: receiver: expected a whole number that is not negative, found \"x\""),
            ("-1 2\n", "t.csv:1: sender: expected a whole number that is not negative, found \"-1\""),
            ("0 1 -2\n", "t.csv:1: edge weight: expected a number that is not negative, found \"-2\""),
            ("0 1 1\n0 1 inf\n", "t.csv:2: edge weight: expected a finite number, found \"inf\""),
            ("0,1,\n", "t.csv:1: edge weight: expected a finite number, found \"\""),
            ("a,b,1\n,b,2\n", "t.csv:2: sender: expected a name, found \"\""),
        ];
        for (text, message) in faults {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
        let text = &b"4 1 2 3\n4 2 3 4\n"[..];
        let error = read_edge_list_lines(Lines::new(text, "t.cedge"), &ReadOptions::default(), true).unwrap_err();
        let message = "t.cedge:2: edge id (first of four columns): expected a larger one";
        assert!(error.to_string().starts_with(message), "{error}");
    }
}
