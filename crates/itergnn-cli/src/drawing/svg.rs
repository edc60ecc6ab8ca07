//! Pictures as SVG.

use std::fmt::Write;

use super::{Anchor, Animation, Color, Drawing, Shape, shapes::WHITE};

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
        Shape::Rectangle { at, size, fill, opacity } => push_rectangle(svg, *at, *size, *fill, *opacity),
        Shape::Line { points, color, width } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let (points, color) = (points.join(" "), hex(*color));
            writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"/>"
            )
        }
        Shape::Dot { at: (x, y), radius, fill, opacity, animations } => {
            let (fill, opacity) = (hex(*fill), opacity_of(*opacity));
            let start = format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\"{opacity}");
            match animations.is_empty() {
                true => writeln!(svg, "{start}/>"),
                false => writeln!(svg, "{start}>{}</circle>", animations.iter().map(animate).collect::<String>()),
            }
        }
        Shape::Cells { columns, side, fills } => push_cells(svg, *columns, *side, fills),
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

fn push_rectangle(
    svg: &mut String,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    fill: Color,
    opacity: f64,
) -> std::fmt::Result {
    let (fill, opacity) = (hex(fill), opacity_of(opacity));
    writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"{opacity}/>"
    )
}

/// Cells of one colour side by side are one rectangle; white ones are the ground.
fn push_cells(svg: &mut String, columns: usize, side: f64, fills: &[Color]) -> std::fmt::Result {
    for (row, fills) in fills.chunks(columns.max(1)).enumerate() {
        let mut start = 0;
        for run in fills.chunk_by(|one, next| one == next) {
            if run[0] != WHITE {
                let (at, size) = ((side * start as f64, side * row as f64), (side * run.len() as f64, side));
                push_rectangle(svg, at, size, run[0], 1.0)?;
            }
            start += run.len();
        }
    }
    Ok(())
}

fn animate(animation: &Animation) -> String {
    let list = |part: fn(&(f64, f64)) -> String| animation.moments.iter().map(part).collect::<Vec<_>>().join(";");
    let jumps = if animation.jumps { " calcMode=\"discrete\"" } else { "" };
    format!(
        "<animate attributeName=\"{}\" values=\"{}\" keyTimes=\"{}\"{jumps} dur=\"{:.3}s\" repeatCount=\"indefinite\"/>",
        animation.attribute,
        list(|moment| moment.1.to_string()),
        list(|moment| format!("{:.5}", moment.0)),
        animation.seconds
    )
}

fn opacity_of(opacity: f64) -> String {
    if opacity < 1.0 { format!(" fill-opacity=\"{opacity}\"") } else { String::new() }
}

fn hex([red, green, blue]: Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text that is safe between tags and in quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_cells_are_one_rectangle_and_white_ones_none() {
        let (black, red) = ([0; 3], [255, 0, 0]);
        let fills = vec![black, black, red, WHITE, WHITE, black];
        let svg =
            Drawing { width: 3.0, height: 2.0, shapes: vec![Shape::Cells { columns: 3, side: 1.0, fills }] }.svg();
        // One rectangle is the background.
        assert_eq!(svg.matches("<rect").count(), 1 + 3);
        assert!(svg.contains("x=\"0.0\" y=\"0.0\" width=\"2.0\"") && svg.contains("x=\"2.0\" y=\"1.0\""), "{svg}");
    }

    #[test]
    fn markup_in_texts_is_escaped() {
        assert_eq!(escaped("a < \"b\" & c>"), "a &lt; &quot;b&quot; &amp; c&gt;");
    }
}
