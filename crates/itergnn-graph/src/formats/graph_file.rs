//! Reading a graph from a file of any supported format.

use std::{io::BufRead, path::Path};

use super::{
    ColumnChoice, FormatError, GridMap, Neighbours, NodeNames, compressed, dimacs::read_dimacs_lines,
    edge_list::read_edge_list_lines, edge_rows::with_weights, error::excerpt, graphml::read_graphml_lines,
    grid_map::read_map_lines, json_graph::read_json_lines_graph, lines::Lines, matrix_market::read_matrix_market_lines,
    metis::read_metis_lines,
};
use crate::{EdgeWeights, Graph, GraphError, solvers::components};

/// How to read a graph where its file leaves a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether an edge leads one way only. By default what the format or the file says: one way in DIMACS `sp` files
    /// and general matrices, both ways in edge lists, other DIMACS kinds and symmetric matrices. Maps and METIS graphs
    /// always lead both ways, samples in JSON always one way.
    pub directed: Option<bool>,
    /// Which cells of a map are joined.
    pub neighbours: Neighbours,
    /// Whether to drop self-loops and all but the lightest of parallel edges, with a warning. No shortest path changes.
    /// On by default.
    pub simplify: bool,
    /// Which columns of an edge list, or which attributes of edges, mean what.
    pub columns: ColumnChoice,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { directed: None, neighbours: Neighbours::Eight, simplify: true, columns: ColumnChoice::default() }
    }
}

/// A graph and what else its file says.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphFile {
    /// The name of the file.
    pub file: String,
    /// The graph as networks see it. Weights are edge attributes of width 1, rounded to `f32`; a file without weights
    /// gives none. JSON files keep all attributes.
    pub graph: Graph,
    /// The weights as the file has them, for solvers; 1 where it has none.
    pub weights: EdgeWeights,
    /// What the file calls its nodes. For a map: cell numbers, `row * width + column`.
    pub names: NodeNames,
    /// What was changed in reading, one sentence each, to be shown to the user.
    pub warnings: Vec<String>,
    /// The map, where the file was one.
    pub grid: Option<GridMap>,
}

impl GraphFile {
    /// The node that a user calls `name`: the file's own number, or on a map also `column,row` from the top left
    /// corner.
    ///
    /// # Errors
    /// [`FormatError::UnknownNode`] says which names there are.
    pub fn find_node(&self, name: &str) -> Result<u32, FormatError> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let found = match (&self.grid, name.split_once(',')) {
            (Some(grid), Some((column, row))) => number(column).zip(number(row)).and_then(|(column, row)| {
                let width = grid.width() as u64;
                self.names.node(row.checked_mul(width)?.checked_add(column).filter(|_| column < width)?)
            }),
            _ => self.names.find(name),
        };
        found.ok_or_else(|| FormatError::UnknownNode {
            file: self.file.clone(),
            name: excerpt(name),
            expected: match &self.grid {
                Some(grid) => format!(
                    "\"column,row\" of a passable cell, columns 0 to {} and rows 0 to {}",
                    grid.width() - 1,
                    grid.height() - 1
                ),
                None => self.names.describe(),
            },
        })
    }

    /// What the file calls a node; `column,row` on a map.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn node_name(&self, node: u32) -> String {
        match (&self.grid, self.names.number(node)) {
            (Some(grid), Some(cell)) => format!("{},{}", cell % grid.width() as u64, cell / grid.width() as u64),
            _ => self.names.name(node),
        }
    }

    /// The part of the graph that some nodes span, which ascend; names and weights go with them.
    ///
    /// # Errors
    /// [`GraphError::Node`] for a node that does not exist.
    pub fn restricted_to(&self, nodes: &[u32]) -> Result<Self, GraphError> {
        let graph = self.graph.induced(nodes)?;
        let inside: Vec<bool> = {
            let mut flags = vec![false; self.graph.nodes()];
            nodes.iter().for_each(|&node| flags[node as usize] = true);
            flags
        };
        // Edges keep the order in which they were given, and so do their weights.
        let mut original = vec![0.0; self.graph.edges()];
        for (position, &edge) in self.graph.original_edges().iter().enumerate() {
            original[edge as usize] = self.weights.at(position);
        }
        let kept = self.graph.edge_list().into_iter().zip(original);
        let kept: Vec<f64> =
            kept.filter(|(ends, _)| ends.iter().all(|&end| inside[end as usize])).map(|(_, weight)| weight).collect();
        let attributes = graph.edge_attributes_in_original_order();
        let (graph, weights) = with_weights(graph, &kept)?;
        let graph = graph.with_edge_attributes(attributes)?;
        Ok(Self {
            file: self.file.clone(),
            graph,
            weights,
            names: self.names.select(nodes),
            warnings: self.warnings.clone(),
            grid: self.grid.clone(),
        })
    }

    /// The part that is joined and has the most nodes.
    ///
    /// # Errors
    /// None in practice: the nodes are the graph's own.
    pub fn largest_component(&self) -> Result<Self, GraphError> {
        self.restricted_to(&components::largest(&self.graph))
    }
}

/// Reads a graph for shortest paths and its like from a file.
///
/// | extension | format |
/// |---|---|
/// | `.gr` | [DIMACS](super::parse_dimacs) |
/// | `.map` | [moving-AI map](super::GridMap) |
/// | `.json`, `.jsonl` | [the JSON object](super::SampleRecord) of `sample` (of JSON lines, the first) |
/// | `.csv`, `.tsv`, `.edges`, `.cedge` | [edge list](super::parse_edge_list) |
/// | `.graphml` | [GraphML](super::parse_graphml) |
/// | `.mtx` | [Matrix Market](super::parse_matrix_market) |
/// | `.graph`, `.metis` | [METIS](super::parse_metis) |
/// | anything else | whichever of these its beginning looks like |
///
/// A second extension `.gz`, `.xz` or `.zst` is passed over; that a file is compressed is told by its content.
///
/// # Errors
/// [`FormatError`] with file and line: see the formats. Never panics, and needs memory in proportion to the file at
/// most.
///
/// # Example
/// ```no_run
/// use itergnn_graph::formats::{ReadOptions, read_graph};
/// let read = read_graph("rome99.gr".as_ref(), &ReadOptions::default())?;
/// for warning in &read.warnings {
///     eprintln!("{}: {warning}", read.file);
/// }
/// let source = read.find_node("1")?; // DIMACS counts from 1: this is node 0
/// # Ok::<(), itergnn_graph::formats::FormatError>(())
/// ```
pub fn read_graph(path: &Path, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    let mut lines = Lines::open(path)?;
    let plain = compressed::without_extension(path);
    let kind = match kind_by_extension(plain, &lines)? {
        Some(kind) => kind,
        None => kind_by_content(lines.peek()?),
    };
    read_as(kind, lines, options)
}

/// [`read_graph`] from memory or a stream: the format is told by the beginning of the data, and `file` only names it in
/// messages.
///
/// # Errors
/// As [`read_graph`].
pub fn parse_graph(reader: impl BufRead, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    let mut lines = Lines::new(reader, file);
    let kind = kind_by_content(lines.peek()?);
    read_as(kind, lines, options)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dimacs,
    EdgeList,
    /// An edge list with a number before every row.
    NumberedEdgeList,
    Map,
    Json,
    GraphMl,
    MatrixMarket,
    Metis,
}

fn read_as(kind: Kind, lines: Lines<impl BufRead>, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    match kind {
        Kind::Dimacs => read_dimacs_lines(lines, options),
        Kind::EdgeList => read_edge_list_lines(lines, options, false),
        Kind::NumberedEdgeList => read_edge_list_lines(lines, options, true),
        Kind::GraphMl => read_graphml_lines(lines, options),
        Kind::MatrixMarket => read_matrix_market_lines(lines, options),
        Kind::Metis => read_metis_lines(lines, options),
        Kind::Map => {
            let file = lines.file().to_owned();
            read_map_lines(lines)?.into_graph_file(file, options.neighbours)
        }
        Kind::Json => read_json_lines_graph(lines, options),
    }
}

const KINDS: &str = "a graph: DIMACS .gr, edge list .csv/.tsv/.edges/.cedge/.txt, .graphml, .mtx, METIS .graph, \
    moving-AI .map, or .json";

fn kind_by_extension<R: BufRead>(path: &Path, lines: &Lines<R>) -> Result<Option<Kind>, FormatError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
    let refuse =
        |what: &str| Err(FormatError::Kind { file: lines.file().to_owned(), what: what.to_owned(), expected: KINDS });
    match extension.as_str() {
        "gr" => Ok(Some(Kind::Dimacs)),
        "map" => Ok(Some(Kind::Map)),
        "json" | "jsonl" | "ndjson" => Ok(Some(Kind::Json)),
        "csv" | "tsv" | "edges" => Ok(Some(Kind::EdgeList)),
        "cedge" => Ok(Some(Kind::NumberedEdgeList)),
        "graphml" | "xml" => Ok(Some(Kind::GraphMl)),
        "mtx" => Ok(Some(Kind::MatrixMarket)),
        "graph" | "metis" => Ok(Some(Kind::Metis)),
        "tsp" => refuse("a TSPLIB instance, not a graph with edges"),
        "tour" => refuse("a tour, not a graph"),
        "scen" => refuse("a list of scenarios, not the map they are about"),
        "safetensors" | "pth" => refuse("model weights, not a graph"),
        _ => Ok(None),
    }
}

fn kind_by_content(start: &[u8]) -> Kind {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let first_line = start.split(|&byte| byte == b'\n').next().unwrap_or(start);
    let first_word = first_line.split(u8::is_ascii_whitespace).next().unwrap_or(first_line);
    match first_word {
        [b'{', ..] => Kind::Json,
        [b'<', ..] => Kind::GraphMl,
        b"%%MatrixMarket" => Kind::MatrixMarket,
        b"type" if first_line.trim_ascii_start()[4..].trim_ascii() == b"octile" => Kind::Map,
        b"c" | b"p" | b"a" | b"e" => Kind::Dimacs,
        _ => Kind::EdgeList,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_tells_the_format() {
        assert_eq!(kind_by_content(b"c road\np sp 1 0\n"), Kind::Dimacs);
        assert_eq!(kind_by_content(b"\xef\xbb\xbf\n {\"edges\":[]}"), Kind::Json);
        assert_eq!(kind_by_content(b"<?xml version=\"1.0\"?><graphml>"), Kind::GraphMl);
        assert_eq!(kind_by_content(b"%%MatrixMarket matrix coordinate real general\n"), Kind::MatrixMarket);
        assert_eq!(kind_by_content(b"type octile\r\nheight 3\r\n"), Kind::Map);
        assert_eq!(kind_by_content(b"type,from,to\n"), Kind::EdgeList);
        assert_eq!(kind_by_content(b"# comment\n0 1\n"), Kind::EdgeList);
        assert_eq!(kind_by_content(b""), Kind::EdgeList);
    }

    #[test]
    fn users_name_nodes_as_the_file_does() {
        let read = parse_graph(&b"p sp 3 2\na 1 3 2\na 2 3 1\n"[..], "test.gr", &ReadOptions::default()).unwrap();
        assert_eq!(read.find_node("3").unwrap(), 2);
        assert_eq!(read.node_name(0), "1");
        let error = read.find_node("0").unwrap_err().to_string();
        assert_eq!(error, "test.gr: there is no node \"0\": expected a number from 1 to 3");

        let map = &b"type octile\nheight 2\nwidth 2\nmap\n@.\n..\n"[..];
        let read = parse_graph(map, "test.map", &ReadOptions::default()).unwrap();
        assert_eq!((read.find_node("1,0").unwrap(), read.find_node("1").unwrap()), (0, 0));
        assert_eq!(read.node_name(2), "1,1");
        assert!(read.find_node("0,0").unwrap_err().to_string().contains("passable"));
    }

    #[test]
    fn the_largest_component_keeps_names_and_weights() {
        let text = &b"p sp 9 3\na 1 2 5\na 7 8 0.1\na 8 9 2\n"[..];
        let read = parse_graph(text, "test.gr", &ReadOptions::default()).unwrap();
        assert_eq!((read.graph.nodes(), components::count(&read.graph)), (5, 2));
        let part = read.largest_component().unwrap();
        assert_eq!((part.graph.nodes(), part.node_name(2), part.find_node("7")), (3, "9".to_owned(), Ok(0)));
        assert_eq!((part.weights.as_slice(), part.graph.edges()), (&[0.1, 2.0][..], 2));
        let map = &b"type octile\nheight 1\nwidth 4\nmap\n.@..\n"[..];
        let part = parse_graph(map, "test.map", &ReadOptions::default()).unwrap().largest_component().unwrap();
        assert_eq!(
            (part.node_name(0), part.find_node("3,0"), part.find_node("0,0").is_err()),
            ("2,0".into(), Ok(1), true)
        );
    }
}
