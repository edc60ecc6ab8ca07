//! Pictures as SVG.

use std::fmt::Write;

use super::{Anchor, Color, Drawing, Shape};

impl Drawing {
    /// The picture as an SVG document.
    pub(crate) fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            self.width, self.height
        );
        for shape in &self.shapes {
            push(&mut svg, shape);
        }
        svg + "</svg>\n"
    }
}

fn push(svg: &mut String, shape: &Shape) {
    // Writing to a string cannot fail.
    let _ = match shape {
        Shape::Rectangle { at: (x, y), size: (width, height), fill } => {
            let fill = hex(*fill);
            writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
            )
        }
        Shape::Line { points, color, width } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let (points, color) = (points.join(" "), hex(*color));
            writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"/>"
            )
        }
        Shape::Dot { at: (x, y), radius, fill, opacity } => {
            let fill = hex(*fill);
            writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>"
            )
        }
        Shape::Text { at: (x, y), content, size, color, anchor, upwards } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn = if *upwards { " rotate(-90)" } else { "" };
            let (color, content) = (hex(*color), escaped(content));
            writeln!(
                svg,
                "<text transform=\"translate({x:.1} {y:.1}){turn}\" text-anchor=\"{anchor}\" font-size=\"{size}\" \
                 fill=\"{color}\">{content}</text>"
            )
        }
    };
}

fn hex([red, green, blue]: Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
