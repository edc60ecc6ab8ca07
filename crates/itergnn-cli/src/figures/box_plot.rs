//! Distributions side by side.

use std::fmt::Write;

use super::Spread;
use super::frame::{Axis, COLOURS, LEFT, RIGHT, WIDTH, open};

/// The widest a box gets.
const WIDEST: f64 = 46.0;

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
    /// The plot as an SVG document.
    pub(crate) fn svg(&self) -> String {
        let slot = (WIDTH - LEFT - RIGHT) / self.boxes.len().max(1) as f64;
        let middle = |index: usize| LEFT + slot * (index as f64 + 0.5);
        let values = self
            .boxes
            .iter()
            .flat_map(|(_, spread)| spread.outliers.iter().copied().chain([spread.low_whisker, spread.high_whisker]));
        let y = Axis::vertical(values, false);
        let ticks: Vec<(String, f64)> =
            self.boxes.iter().enumerate().map(|(index, (name, _))| (name.clone(), middle(index))).collect();
        let mut svg = open(&self.title, (&self.x_label, &self.y_label), &ticks, &y);
        let half = (slot * 0.3).min(WIDEST / 2.0);
        for (index, (_, spread)) in self.boxes.iter().enumerate() {
            draw(&mut svg, spread, &y, middle(index), half);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

fn draw(svg: &mut String, spread: &Spread, y: &Axis, middle: f64, half: f64) {
    let colour = COLOURS[0];
    let (left, right, cap) = (middle - half, middle + half, half / 2.0);
    let (top, bottom) = (y.at(spread.high_quartile), y.at(spread.low_quartile));
    let (high, low, median) = (y.at(spread.high_whisker), y.at(spread.low_whisker), y.at(spread.median));
    let (cap_left, cap_right) = (middle - cap, middle + cap);
    let _ = writeln!(
        svg,
        "<g stroke=\"{colour}\" fill=\"none\"><path d=\"M{middle:.1} {high:.1}V{top:.1}M{middle:.1} {bottom:.1}V{low:.1}\
         M{cap_left:.1} {high:.1}H{cap_right:.1}M{cap_left:.1} {low:.1}H{cap_right:.1}\"/>\
         <rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#dbe9f4\"/>\
         <path d=\"M{left:.1} {median:.1}H{right:.1}\" stroke=\"{}\" stroke-width=\"2\"/></g>",
        2.0 * half,
        bottom - top,
        COLOURS[1]
    );
    for &outlier in &spread.outliers {
        let at = y.at(outlier);
        let _ = writeln!(svg, "<circle cx=\"{middle:.1}\" cy=\"{at:.1}\" r=\"1.5\" fill=\"#888\"/>");
    }
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
        let svg = plot.svg();
        // One rectangle is the background.
        assert_eq!((svg.matches("<rect").count(), svg.matches("<circle").count()), (3, 2));
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }

    #[test]
    fn no_groups_still_give_a_picture() {
        let empty = BoxPlot { title: String::new(), x_label: String::new(), y_label: String::new(), boxes: Vec::new() };
        assert!(empty.svg().ends_with("</svg>\n"));
    }
}
