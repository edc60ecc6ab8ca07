//! Curves and dots over one another.

use super::{
    Anchor, Color, Drawing, Shape,
    axis::{Axis, COLORS, HEIGHT, LEFT, TEXT, TOP, WIDTH, frame},
    shapes::WHITE,
};

/// How points are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Each by itself, letting others shine through.
    Dots,
    /// Joined, with a dot each.
    Curve,
    /// Joined, without dots.
    Line,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// From left to right.
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) style: Style,
}

/// Height of a line of the legend.
const ROW: f64 = 17.0;

/// About the width of a letter.
const LETTER: f64 = 7.0;

/// Series over the same axes, with a legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// Whether both axes are logarithmic; then only positive points are drawn.
    pub(crate) logarithmic: bool,
    pub(crate) series: Vec<Series>,
}

impl Plot {
    /// The picture.
    pub(crate) fn drawing(&self) -> Drawing {
        let drawn = |point: &&(f64, f64)| {
            let positive = point.0 > 0.0 && point.1 > 0.0;
            point.0.is_finite() && point.1.is_finite() && (positive || !self.logarithmic)
        };
        let points = || self.series.iter().flat_map(|series| &series.points).filter(drawn);
        let x = Axis::horizontal(points().map(|point| point.0), self.logarithmic);
        let y = Axis::vertical(points().map(|point| point.1), self.logarithmic);
        let mut shapes = frame(&self.title, (&self.x_label, &self.y_label), &x.ticks(), &y);
        for (index, series) in self.series.iter().enumerate() {
            let color = color_of(index);
            let places: Vec<_> =
                series.points.iter().filter(drawn).map(|point| (x.at(point.0), y.at(point.1))).collect();
            let dots = |radius: f64, opacity: f64| {
                let dot =
                    move |&at: &(f64, f64)| Shape::Dot { at, radius, fill: color, opacity, animations: Vec::new() };
                places.iter().map(dot).collect::<Vec<_>>()
            };
            match series.style {
                Style::Dots => shapes.extend(dots(2.5, 0.6)),
                Style::Curve => shapes.extend(dots(2.5, 1.0)),
                Style::Line => {}
            }
            if series.style != Style::Dots && !places.is_empty() {
                shapes.push(Shape::line(places, color, 1.5));
            }
        }
        shapes.extend(self.legend());
        Drawing { width: WIDTH, height: HEIGHT, shapes }
    }

    /// Names of the series, over a sheet that lets curves shine through but not disturb.
    fn legend(&self) -> Vec<Shape> {
        let longest = self.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0) as f64;
        let size = (44.0 + LETTER * longest, ROW * self.series.len() as f64 + 6.0);
        let mut shapes = vec![Shape::Rectangle { at: (LEFT + 6.0, TOP + 1.0), size, fill: WHITE, opacity: 0.85 }];
        for (index, series) in self.series.iter().enumerate() {
            let at = TOP + 16.0 + ROW * index as f64;
            let (from, to) = ((LEFT + 12.0, at - 4.0), (LEFT + 28.0, at - 4.0));
            shapes.push(match series.style {
                Style::Dots => Shape::dot((LEFT + 20.0, at - 4.0), 2.5, color_of(index)),
                Style::Curve | Style::Line => Shape::line(vec![from, to], color_of(index), 2.0),
            });
            shapes.push(Shape::text((LEFT + 34.0, at), &series.name, TEXT, Anchor::Start));
        }
        shapes
    }
}

fn color_of(index: usize) -> Color {
    COLORS[index % COLORS.len()]
}

#[cfg(test)]
mod tests {
    use super::super::axis::{BOTTOM, RIGHT};
    use super::*;

    fn plot(points: Vec<(f64, f64)>, style: Style, logarithmic: bool) -> Plot {
        let series = vec![Series { name: "a & b".to_owned(), points, style }];
        Plot { title: "t".to_owned(), x_label: "x".to_owned(), y_label: "y".to_owned(), logarithmic, series }
    }

    #[test]
    fn points_that_cannot_be_drawn_are_left_out() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (10.0, f64::NAN)];
        for (logarithmic, count) in [(false, 2), (true, 1)] {
            let svg = plot(points.clone(), Style::Curve, logarithmic).drawing().svg();
            assert_eq!(svg.matches("<circle").count(), count);
            assert!(svg.contains("a &amp; b") && !svg.contains("NaN"));
        }
    }

    #[test]
    fn every_dot_lies_inside_the_axes() {
        let drawing = plot(vec![(4.0, 2.0), (37.0, 19.0), (5000.0, 2500.0)], Style::Dots, true).drawing();
        let dots = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Dot { at, .. } => Some(*at),
            _ => None,
        });
        let dots: Vec<_> = dots.collect();
        // One of them is in the legend.
        assert_eq!(dots.len(), 4);
        assert!(dots.iter().all(|(x, y)| (LEFT..=WIDTH - RIGHT).contains(x) && (TOP..=HEIGHT - BOTTOM).contains(y)));
    }

    #[test]
    fn no_points_still_give_a_picture() {
        assert!(plot(Vec::new(), Style::Dots, true).drawing().svg().ends_with("</svg>\n"));
    }
}
