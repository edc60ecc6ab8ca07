//! Moving-AI `.map` files: grids of passable and blocked cells.

use std::{io::BufRead, path::Path};

use super::{FormatError, GraphFile, NodeNames, lines::Line, lines::Lines};
use crate::{Attributes, EdgeWeights, Graph};

/// The most cells that a map may have: 4096 x 4096.
///
/// A byte of a map becomes up to eight edges, so that memory needs a bound that the length of the file alone does not
/// give.
pub const CELL_LIMIT: usize = 1 << 24;

/// Which cells of a map are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Neighbours {
    /// Left, right, up and down, at distance 1.
    Four,
    /// Also diagonally at distance sqrt 2, where both cells beside the diagonal are passable (no corner is cut).
    #[default]
    Eight,
}

/// A grid of cells, some of them passable.
///
/// Cells are named by column (x) and row (y), both from the top left corner. The passable cells, row by row, are the
/// nodes of its graph.
///
/// The file: `type octile`, `height H`, `width W`, `map`, then H rows of W characters. Passable are `.`, `G` and `S`
/// (swamp), blocked `@`, `O`, `T` and `W`. At most [`CELL_LIMIT`] cells.
///
/// # Example
/// ```
/// use itergnn_graph::formats::{Neighbours, parse_map};
/// let map = parse_map(&b"type octile\nheight 2\nwidth 3\nmap\n..@\n...\n"[..], "small.map")?;
/// assert_eq!(map.node_at(1, 1), Some(3));
/// let graph = map.graph(Neighbours::Eight)?;
/// assert_eq!((graph.nodes(), graph.edges()), (5, 2 * 7)); // five straight, two diagonal
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridMap {
    width: usize,
    height: usize,
    /// The node of each cell, row by row; `BLOCKED` where there is none.
    node_of_cell: Vec<u32>,
    /// The cell of each node.
    cells: Vec<u32>,
}

const BLOCKED: u32 = u32::MAX;

impl GridMap {
    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Number of passable cells.
    pub fn nodes(&self) -> usize {
        self.cells.len()
    }

    /// The node of a cell; `None` if it is blocked or outside.
    pub fn node_at(&self, column: usize, row: usize) -> Option<u32> {
        let inside = column < self.width && row < self.height;
        inside.then(|| self.node_of_cell[row * self.width + column]).filter(|&node| node != BLOCKED)
    }

    /// Column and row of a node.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn cell_of(&self, node: u32) -> (usize, usize) {
        let cell = self.cells[node as usize] as usize;
        (cell % self.width, cell / self.width)
    }

    /// The graph of the passable cells with the distance as the only edge attribute, both directions of every edge.
    ///
    /// # Errors
    /// None for a map that was read; a [`GraphError`](crate::GraphError) only if edges exceed 32-bit indices.
    pub fn graph(&self, neighbours: Neighbours) -> Result<Graph, crate::GraphError> {
        let (mut edges, mut distances) = (Vec::new(), Vec::new());
        for (node, &cell) in (0_u32..).zip(&self.cells) {
            let (column, row) = (cell as usize % self.width, cell as usize / self.width);
            let mut join = |column: usize, row: usize, distance: f32| {
                let neighbour = self.node_at(column, row);
                if let Some(neighbour) = neighbour {
                    edges.extend([[node, neighbour], [neighbour, node]]);
                    distances.extend([distance; 2]);
                }
                neighbour.is_some()
            };
            // Each pair once: from the cell that comes first.
            let right = join(column + 1, row, 1.0);
            let below = join(column, row + 1, 1.0);
            if neighbours == Neighbours::Eight && below {
                if right {
                    join(column + 1, row + 1, std::f32::consts::SQRT_2);
                }
                if column > 0 && self.node_at(column - 1, row).is_some() {
                    join(column - 1, row + 1, std::f32::consts::SQRT_2);
                }
            }
        }
        let width = usize::from(!edges.is_empty());
        Graph::new(self.nodes(), &edges)?.with_edge_attributes(Attributes::new(width, distances))
    }

    pub(crate) fn into_graph_file(self, file: String, neighbours: Neighbours) -> Result<GraphFile, FormatError> {
        let graph = self.graph(neighbours).map_err(FormatError::graph(&file))?;
        // Steps are 1 or the square root of 2, and exactly so for solvers.
        let exact = |&step: &f32| if step == 1.0 { 1.0 } else { std::f64::consts::SQRT_2 };
        let steps = graph.edge_attributes().values().iter().map(exact).collect();
        let weights = EdgeWeights::new(&graph, steps).map_err(FormatError::graph(&file))?;
        let names = NodeNames::numbers(self.cells.iter().map(|&cell| u64::from(cell)));
        Ok(GraphFile { file, graph, weights, names, warnings: Vec::new(), grid: Some(self) })
    }
}

/// Reads a map from a file.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn read_map(path: &Path) -> Result<GridMap, FormatError> {
    read_map_lines(Lines::open(path)?)
}

/// [`read_map`] from memory or a stream, called `file` in messages.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_map(reader: impl BufRead, file: &str) -> Result<GridMap, FormatError> {
    read_map_lines(Lines::new(reader, file))
}

pub(crate) fn read_map_lines(mut lines: Lines<impl BufRead>) -> Result<GridMap, FormatError> {
    let (height, width) = read_header(&mut lines)?;
    let (mut node_of_cell, mut cells) = (Vec::new(), Vec::new());
    for _ in 0..height {
        // Nothing is reserved ahead: memory follows the rows that are really there.
        match lines.next_line()? {
            Some(line) => read_row(&line, width, &mut node_of_cell, &mut cells)?,
            None => return Err(lines.end("map row", format!("{height} rows, as declared"))),
        }
    }
    if let Some(line) = lines.next_filled()? {
        let expected = format!("the end of the file after {height} rows, as declared");
        return Err(line.error("map row", expected, Some(line.text)));
    }
    if cells.is_empty() {
        return Err(lines.end("map", "at least one passable cell ('.', 'G' or 'S')"));
    }
    Ok(GridMap { width, height, node_of_cell, cells })
}

/// Height and width; reading stands at the first row afterwards.
fn read_header(lines: &mut Lines<impl BufRead>) -> Result<(usize, usize), FormatError> {
    let (mut height, mut width) = (None, None);
    loop {
        let Some(line) = lines.next_filled()? else {
            return Err(lines.end("map header", "type, height, width and map"));
        };
        let mut fields = line.text.split_ascii_whitespace();
        match fields.next() {
            Some("map") => break,
            Some("type") => {
                let kind = fields.next();
                if kind != Some("octile") {
                    return Err(line.error("map type", "octile", kind));
                }
            }
            Some("height") => height = Some(read_extent(&line, "height", fields.next())?),
            Some("width") => width = Some(read_extent(&line, "width", fields.next())?),
            other => return Err(line.error("map header", "type, height, width or map", other)),
        }
        line.ends("map header", fields.next())?;
    }
    match (height, width) {
        (Some(height), Some(width)) if height * width <= CELL_LIMIT => Ok((height, width)),
        (Some(height), Some(width)) => {
            let expected = format!("at most {CELL_LIMIT} cells");
            Err(lines.position().error("map size", expected, format!("{height} x {width}")))
        }
        _ => Err(lines.position().error("map header", "height and width before map", "only part of them")),
    }
}

fn read_extent(line: &Line<'_>, what: &'static str, field: Option<&str>) -> Result<usize, FormatError> {
    let value = line.unsigned(what, field)?;
    match usize::try_from(value) {
        Ok(extent) if (1..=CELL_LIMIT).contains(&extent) => Ok(extent),
        _ => Err(line.error(what, format!("a number from 1 to {CELL_LIMIT}"), field)),
    }
}

fn read_row(
    line: &Line<'_>,
    width: usize,
    node_of_cell: &mut Vec<u32>,
    cells: &mut Vec<u32>,
) -> Result<(), FormatError> {
    let row = line.text.trim_end().as_bytes();
    for (column, &character) in row.iter().enumerate().take(width) {
        match character {
            b'.' | b'G' | b'S' => {
                cells.push(node_of_cell.len() as u32);
                node_of_cell.push(cells.len() as u32 - 1);
            }
            b'@' | b'O' | b'T' | b'W' => node_of_cell.push(BLOCKED),
            other => {
                let found = format!("'{}' in column {column}", other.escape_ascii());
                return Err(line.position.error("map cell", "one of . G S @ O T W", found));
            }
        }
    }
    if row.len() != width {
        let expected = format!("{width} cells, as declared");
        return Err(line.position.error("map row", expected, row.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<GridMap, FormatError> {
        parse_map(text.as_bytes(), "t.map")
    }

    #[test]
    fn no_corner_is_cut() {
        let map = read("type octile\r\nheight 2\r\nwidth 2\r\nmap\r\n.@\r\n..\r\n").unwrap();
        let graph = map.graph(Neighbours::Eight).unwrap();
        assert_eq!(graph.edge_list(), [[0, 1], [1, 0], [1, 2], [2, 1]]);
        let open = read("type octile\nwidth 2\nheight 2\nmap\n.G\nS.").unwrap();
        assert_eq!(open.graph(Neighbours::Eight).unwrap().edges(), 12);
        assert_eq!(open.graph(Neighbours::Four).unwrap().edges(), 8);
    }

    #[test]
    fn every_fault_has_its_line() {
        let head = "type octile\nheight 2\nwidth 2\nmap\n";
        let faults = [
            (String::new(), "t.map:1: map header: expected type, height, width and map, found the end of the file"),
            ("type octile\nheight 2\nmap\n".into(), "t.map:3: map header: expected height and width before map"),
            ("type tile\n".into(), "t.map:1: map type: expected octile, found \"tile\""),
            ("height 0\n".into(), "t.map:1: height: expected a number from 1 to"),
            ("height 99999999999\n".into(), "t.map:1: height: expected a number from 1 to"),
            ("height 9999999\nwidth 9999999\nmap\n".into(), "t.map:3: map size: expected at most 16777216 cells"),
            (format!("{head}..\n"), "t.map:5: map row: expected 2 rows, as declared, found the end of the file"),
            (format!("{head}..\n...\n"), "t.map:6: map row: expected 2 cells, as declared, found 3"),
            (format!("{head}..\n.\n"), "t.map:6: map row: expected 2 cells, as declared, found 1"),
            (format!("{head}..\n.x\n"), "t.map:6: map cell: expected one of . G S @ O T W, found 'x' in column 1"),
            (format!("{head}..\n..\n..\n"), "t.map:7: map row: expected the end of the file after 2 rows"),
            (format!("{head}@@\nTW\n"), "t.map:6: map: expected at least one passable cell"),
        ];
        for (text, message) in faults {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
