//! A scatter plot: dots over a line, on logarithmic axes.

use crate::drawing::{Anchor, Color, Drawing, Shape};

/// What to draw.
pub(crate) struct Scatter<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_label: &'a str,
    pub(crate) y_label: &'a str,
    /// Dots; both coordinates are positive.
    pub(crate) dots: &'a [(f64, f64)],
    /// A line `y = slope * x` and its name.
    pub(crate) line: (f64, &'a str),
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 55.0;

const BLACK: Color = [0, 0, 0];
const GRID: Color = [221, 221, 221];
const LINE: Color = [204, 51, 51];
const DOT: Color = [34, 68, 119];

impl Scatter<'_> {
    /// The picture.
    pub(crate) fn drawing(&self) -> Drawing {
        let x = Axis::over(self.dots.iter().map(|dot| dot.0), LEFT, WIDTH - RIGHT);
        let y = Axis::over(self.dots.iter().map(|dot| dot.1), HEIGHT - BOTTOM, TOP);
        let floor = HEIGHT - BOTTOM;
        let mut shapes = vec![label((WIDTH / 2.0, 22.0), self.title, 16.0, Anchor::Middle)];
        for (value, at) in x.ticks() {
            shapes.push(Shape::Line { points: vec![(at, TOP), (at, floor)], color: GRID, width: 1.0 });
            shapes.push(label((at, floor + 18.0), &value.to_string(), 13.0, Anchor::Middle));
        }
        for (value, at) in y.ticks() {
            shapes.push(Shape::Line { points: vec![(LEFT, at), (WIDTH - RIGHT, at)], color: GRID, width: 1.0 });
            shapes.push(label((LEFT - 8.0, at + 4.0), &value.to_string(), 13.0, Anchor::End));
        }
        let (slope, name) = self.line;
        let (start, end) = (x.low.max(y.low / slope), x.high.min(y.high / slope));
        let points = vec![(x.at(start), y.at(slope * start)), (x.at(end), y.at(slope * end))];
        shapes.push(Shape::Line { points, color: LINE, width: 1.5 });
        shapes.push(colored(label((LEFT + 12.0, TOP + 18.0), name, 13.0, Anchor::Start), LINE));
        for &(dot_x, dot_y) in self.dots {
            shapes.push(Shape::Dot { at: (x.at(dot_x), y.at(dot_y)), radius: 2.5, fill: DOT, opacity: 0.6 });
        }
        shapes.push(label(((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0), self.x_label, 13.0, Anchor::Middle));
        shapes.push(turned(label((18.0, (TOP + floor) / 2.0), self.y_label, 13.0, Anchor::Middle)));
        Drawing { width: WIDTH, height: HEIGHT, shapes }
    }
}

fn label(at: (f64, f64), content: &str, size: f64, anchor: Anchor) -> Shape {
    Shape::Text { at, content: content.to_owned(), size, color: BLACK, anchor, upwards: false }
}

fn colored(mut text: Shape, to: Color) -> Shape {
    if let Shape::Text { color, .. } = &mut text {
        *color = to;
    }
    text
}

fn turned(mut text: Shape) -> Shape {
    if let Shape::Text { upwards, .. } = &mut text {
        *upwards = true;
    }
    text
}

/// A logarithmic axis from whole powers of ten to whole powers of ten.
struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            (low, high) = (low.min(value), high.max(value));
        }
        if high == 0.0 {
            (low, high) = (1.0, 10.0);
        }
        let low = 10_f64.powf(low.log10().floor());
        let high = 10_f64.powf(high.log10().ceil()).max(10.0 * low);
        Self { low, high, start, end }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).log10() / (self.high / self.low).log10();
        self.start + share * (self.end - self.start)
    }

    fn ticks(&self) -> Vec<(f64, f64)> {
        let first = self.low.log10().round() as i32;
        let last = self.high.log10().round() as i32;
        (first..=last).map(|power| (10_f64.powi(power), self.at(10_f64.powi(power)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dot_lies_inside_the_axes() {
        let dots = [(4.0, 2.0), (37.0, 19.0), (5000.0, 2500.0)];
        let plot = Scatter { title: "t", x_label: "x", y_label: "y", dots: &dots, line: (0.5, "half") };
        let drawing = plot.drawing();
        let mut seen = 0;
        for shape in &drawing.shapes {
            let Shape::Dot { at, .. } = shape else { continue };
            assert!((LEFT..=WIDTH - RIGHT).contains(&at.0) && (TOP..=HEIGHT - BOTTOM).contains(&at.1), "{at:?}");
            seen += 1;
        }
        assert_eq!((seen, drawing.svg().matches("<circle").count()), (3, 3));
    }

    #[test]
    fn no_dots_still_give_a_picture() {
        let plot = Scatter { title: "t", x_label: "x", y_label: "y", dots: &[], line: (0.5, "half") };
        assert!(plot.drawing().svg().ends_with("</svg>\n"));
    }
}
