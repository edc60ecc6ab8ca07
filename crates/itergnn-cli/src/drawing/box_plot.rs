//! Distributions side by side.

use super::{
    Color, Drawing, Shape,
    axis::{Axis, COLORS, HEIGHT, LEFT, RIGHT, WIDTH, frame},
};

mod spread;

pub(crate) use spread::Spread;

/// The widest a box gets.
const WIDEST: f64 = 46.0;

const INSIDE: Color = [219, 233, 244];
const OUTLIER: Color = [136; 3];

/// A box for every group, from left to right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoxPlot {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// Name and spread of every group.
    pub(crate) boxes: Vec<(String, Spread)>,
}

impl BoxPlot {
    /// The picture.
    pub(crate) fn drawing(&self) -> Drawing {
        let slot = (WIDTH - LEFT - RIGHT) / self.boxes.len().max(1) as f64;
        let middle = |index: usize| LEFT + slot * (index as f64 + 0.5);
        let values = self
            .boxes
            .iter()
            .flat_map(|(_, spread)| spread.outliers.iter().copied().chain([spread.low_whisker, spread.high_whisker]));
        let y = Axis::vertical(values, false);
        let ticks: Vec<(String, f64)> =
            self.boxes.iter().enumerate().map(|(index, (name, _))| (name.clone(), middle(index))).collect();
        let mut shapes = frame(&self.title, (&self.x_label, &self.y_label), &ticks, &y);
        let half = (slot * 0.3).min(WIDEST / 2.0);
        for (index, (_, spread)) in self.boxes.iter().enumerate() {
            shapes.extend(drawn(spread, &y, middle(index), half));
        }
        Drawing { width: WIDTH, height: HEIGHT, shapes }
    }
}

fn drawn(spread: &Spread, y: &Axis, middle: f64, half: f64) -> Vec<Shape> {
    let edge = |points: &[(f64, f64)]| Shape::line(points.to_vec(), COLORS[0], 1.0);
    let (left, right, cap) = (middle - half, middle + half, half / 2.0);
    let (top, bottom) = (y.at(spread.high_quartile), y.at(spread.low_quartile));
    let (high, low, median) = (y.at(spread.high_whisker), y.at(spread.low_whisker), y.at(spread.median));
    let mut shapes = vec![
        Shape::rectangle((left, top), (2.0 * half, bottom - top), INSIDE),
        edge(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]),
        edge(&[(middle - cap, high), (middle + cap, high), (middle, high), (middle, top)]),
        edge(&[(middle - cap, low), (middle + cap, low), (middle, low), (middle, bottom)]),
        Shape::line(vec![(left, median), (right, median)], COLORS[1], 2.0),
    ];
    shapes.extend(spread.outliers.iter().map(|&outlier| Shape::dot((middle, y.at(outlier)), 1.5, OUTLIER)));
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_a_box_and_every_outlier_a_dot() {
        let spread = Spread::of(&[1.0, 2.0, 3.0, 4.0, 90.0]).unwrap();
        let plot = BoxPlot {
            title: "a < b".to_owned(),
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            boxes: vec![("10".to_owned(), spread.clone()), ("20".to_owned(), spread)],
        };
        let svg = plot.drawing().svg();
        // One rectangle is the background.
        assert_eq!((svg.matches("<rect").count(), svg.matches("<circle").count()), (3, 2));
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }

    #[test]
    fn no_groups_still_give_a_picture() {
        let empty = BoxPlot { title: String::new(), x_label: String::new(), y_label: String::new(), boxes: Vec::new() };
        assert!(empty.drawing().svg().ends_with("</svg>\n"));
    }
}
