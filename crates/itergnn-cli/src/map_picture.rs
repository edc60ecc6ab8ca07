//! A path on a map.

use itergnn::graph::formats::{GraphFile, GridMap};

use crate::{
    drawing::{Color, Drawing, Shape},
    failure::Failure,
};

/// The longer side of a picture, about.
const SIDE: f64 = 800.0;
/// Largest and smallest side of a cell.
const CELL: (f64, f64) = (1.0, 24.0);
const WALL: Color = [70, 70, 78];
const PATH: Color = [204, 51, 51];
const END: Color = [34, 68, 119];

/// Refuses a graph that has no places to draw.
pub(crate) fn map_of(file: &GraphFile) -> Result<&GridMap, Failure> {
    let why = || Failure::bad_input(format!("{}: --picture draws maps, and this graph has no places", file.file));
    file.grid.as_ref().ok_or_else(why)
}

/// The map with a path, from its first node to its last.
pub(crate) fn draw(grid: &GridMap, path: impl Iterator<Item = u32>) -> Drawing {
    let cell = (SIDE / grid.width().max(grid.height()) as f64).floor().clamp(CELL.0, CELL.1);
    let mut shapes = Vec::new();
    for row in 0..grid.height() {
        // Walls side by side are one rectangle.
        let mut column = 0;
        while column < grid.width() {
            let start = column;
            while column < grid.width() && grid.node_at(column, row).is_none() {
                column += 1;
            }
            if column > start {
                let size = (cell * (column - start) as f64, cell);
                shapes.push(Shape::Rectangle { at: (cell * start as f64, cell * row as f64), size, fill: WALL });
            } else {
                column += 1;
            }
        }
    }
    let middle = |node: u32| {
        let (column, row) = grid.cell_of(node);
        (cell * (column as f64 + 0.5), cell * (row as f64 + 0.5))
    };
    let points: Vec<(f64, f64)> = path.map(middle).collect();
    let ends = [points.first().copied(), points.last().copied()];
    shapes.push(Shape::Line { points, color: PATH, width: (cell / 3.0).max(1.5) });
    for at in ends.into_iter().flatten() {
        shapes.push(Shape::Dot { at, radius: (cell / 2.0).max(3.0), fill: END, opacity: 1.0 });
    }
    Drawing { width: cell * grid.width() as f64, height: cell * grid.height() as f64, shapes }
}
