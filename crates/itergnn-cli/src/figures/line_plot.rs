//! Curves over one another.

use std::fmt::Write;

use super::frame::{Axis, COLOURS, LEFT, TOP, escaped, open};

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// From left to right.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Height of a line of the legend.
const ROW: f64 = 17.0;

/// About the width of a letter.
const LETTER: f64 = 7.0;

/// Curves with dots, and a legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinePlot {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// Whether both axes are logarithmic; then only positive points are drawn.
    pub(crate) logarithmic: bool,
    pub(crate) lines: Vec<Line>,
}

impl LinePlot {
    /// The plot as an SVG document.
    pub(crate) fn svg(&self) -> String {
        let drawn = |point: &&(f64, f64)| {
            let positive = point.0 > 0.0 && point.1 > 0.0;
            point.0.is_finite() && point.1.is_finite() && (positive || !self.logarithmic)
        };
        let points = || self.lines.iter().flat_map(|line| &line.points).filter(drawn);
        let x = Axis::horizontal(points().map(|point| point.0), self.logarithmic);
        let y = Axis::vertical(points().map(|point| point.1), self.logarithmic);
        let mut svg = open(&self.title, (&self.x_label, &self.y_label), &x.ticks(), &y);
        for (index, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let places: Vec<(f64, f64)> =
                line.points.iter().filter(drawn).map(|point| (x.at(point.0), y.at(point.1))).collect();
            let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            if !path.is_empty() {
                let path = path.join("L");
                let _ = writeln!(svg, "<path d=\"M{path}\" stroke=\"{colour}\" stroke-width=\"1.5\" fill=\"none\"/>");
            }
            for (x, y) in places {
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>");
            }
        }
        self.add_legend(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    /// Names of the lines, over a sheet that lets curves shine through but not disturb.
    fn add_legend(&self, svg: &mut String) {
        let longest = self.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0) as f64;
        let (width, height) = (44.0 + LETTER * longest, ROW * self.lines.len() as f64 + 6.0);
        let (left, top) = (LEFT + 6.0, TOP + 1.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width:.0}\" height=\"{height}\" fill=\"#fff\" fill-opacity=\"0.85\"/>"
        );
        for (index, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let (text, at) = (LEFT + 34.0, TOP + 16.0 + ROW * index as f64);
            let (from, to, line_at) = (LEFT + 12.0, LEFT + 28.0, at - 4.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{from} {line_at}H{to}\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{text}\" y=\"{at}\">{}</text>",
                escaped(&line.name)
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_cannot_be_drawn_are_left_out() {
        let line = Line { name: "a & b".to_owned(), points: vec![(0.0, 1.0), (1.0, 2.0), (10.0, f64::NAN)] };
        let mut plot = LinePlot {
            title: "t".to_owned(),
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            logarithmic: false,
            lines: vec![line],
        };
        assert_eq!(plot.svg().matches("<circle").count(), 2);
        plot.logarithmic = true;
        assert_eq!(plot.svg().matches("<circle").count(), 1);
        assert!(plot.svg().contains("a &amp; b") && !plot.svg().contains("NaN"));
    }
}
