//! A scatter plot as SVG: dots over a line, on logarithmic axes.

use std::fmt::Write;

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

impl Scatter<'_> {
    /// The picture.
    pub(crate) fn svg(&self) -> String {
        let x = Axis::over(self.dots.iter().map(|dot| dot.0), LEFT, WIDTH - RIGHT);
        let y = Axis::over(self.dots.iter().map(|dot| dot.1), HEIGHT - BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{}\" y=\"22\" text-anchor=\"middle\" font-size=\"16\">{}</text>\n",
            WIDTH / 2.0,
            self.title
        );
        let (floor, wall) = (HEIGHT - BOTTOM, LEFT);
        for (value, at) in x.ticks() {
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} {TOP}V{floor}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
                floor + 18.0
            );
        }
        for (value, at) in y.ticks() {
            let _ = writeln!(
                svg,
                "<path d=\"M{wall} {at:.1}H{}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
                WIDTH - RIGHT,
                wall - 8.0,
                at + 4.0
            );
        }
        let (slope, name) = self.line;
        let start = x.low.max(y.low / slope);
        let end = x.high.min(y.high / slope);
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#c33\" stroke-width=\"1.5\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"#c33\">{name}</text>",
            x.at(start),
            y.at(slope * start),
            x.at(end),
            y.at(slope * end),
            LEFT + 12.0,
            TOP + 18.0
        );
        for &(dot_x, dot_y) in self.dots {
            let (at_x, at_y) = (x.at(dot_x), y.at(dot_y));
            let _ = writeln!(
                svg,
                "<circle cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" r=\"2.5\" fill=\"#247\" fill-opacity=\".6\"/>"
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n</svg>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 12.0,
            self.x_label,
            (TOP + floor) / 2.0,
            self.y_label
        );
        svg
    }
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
        let svg = plot.svg();
        assert_eq!(svg.matches("<circle").count(), 3);
        for circle in svg.lines().filter(|line| line.starts_with("<circle")) {
            let number = |name: &str| -> f64 {
                let from = circle.find(name).unwrap() + name.len() + 2;
                circle[from..].split('"').next().unwrap().parse().unwrap()
            };
            assert!((LEFT..=WIDTH - RIGHT).contains(&number("cx")), "{circle}");
            assert!((TOP..=HEIGHT - BOTTOM).contains(&number("cy")), "{circle}");
        }
    }

    #[test]
    fn no_dots_still_give_a_picture() {
        let plot = Scatter { title: "t", x_label: "x", y_label: "y", dots: &[], line: (0.5, "half") };
        assert!(plot.svg().ends_with("</svg>\n"));
    }
}
