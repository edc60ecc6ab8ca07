//! A path over a map or an image.

use itergnn::graph::formats::GridMap;

use super::{Color, Drawing, Shape, shapes::WHITE};
use crate::height_map::HeightMap;

/// The longer side of a picture, about.
const SIDE: f64 = 800.0;
/// Smallest and largest side of a cell.
const CELL: (f64, f64) = (1.0, 12.0);
const WALL: Color = [70, 70, 78];
const PATH: Color = [225, 60, 40];
const SOURCE: Color = [40, 160, 70];
const TARGET: Color = [40, 90, 220];

/// Cells with their colours, row after row.
pub(crate) struct GridPicture {
    columns: usize,
    rows: usize,
    fills: Vec<Color>,
}

impl GridPicture {
    /// Walls and free cells of a map.
    pub(crate) fn of_map(map: &GridMap) -> Self {
        let (columns, rows) = (map.width(), map.height());
        let fill = |place: usize| if map.node_at(place % columns, place / columns).is_some() { WHITE } else { WALL };
        Self { columns, rows, fills: (0..columns * rows).map(fill).collect() }
    }

    /// Heights as greys: brighter is higher.
    pub(crate) fn of_heights(map: &HeightMap) -> Self {
        let fills = map.heights.iter().map(|height| [(height * 255.0).round() as u8; 3]).collect();
        Self { columns: map.columns, rows: map.rows, fills }
    }

    /// The cells with a path of `[column, row]` places on them, from the source to the target.
    pub(crate) fn drawing(self, path: impl Iterator<Item = [usize; 2]>) -> Drawing {
        let side = (SIDE / self.columns.max(self.rows) as f64).floor().clamp(CELL.0, CELL.1);
        let middle = |[column, row]: [usize; 2]| (side * (column as f64 + 0.5), side * (row as f64 + 0.5));
        let points: Vec<(f64, f64)> = path.map(middle).collect();
        let ends = [(points.last().copied(), TARGET), (points.first().copied(), SOURCE)];
        let (width, height) = (side * self.columns as f64, side * self.rows as f64);
        let cells = Shape::Cells { columns: self.columns, side, fills: self.fills };
        let mut shapes = vec![cells, Shape::line(points, PATH, (side / 3.0).max(1.5))];
        for (at, fill) in ends {
            shapes.extend(at.map(|at| Shape::dot(at, (side / 2.5).max(3.0), fill)));
        }
        Drawing { width, height, shapes }
    }
}
