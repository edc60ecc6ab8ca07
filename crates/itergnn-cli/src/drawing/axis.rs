//! The area a plot is drawn in: title, axes, ticks.

use super::{Anchor, Color, Shape};

pub(super) const WIDTH: f64 = 640.0;
pub(super) const HEIGHT: f64 = 420.0;
pub(super) const LEFT: f64 = 70.0;
pub(super) const RIGHT: f64 = 20.0;
pub(super) const TOP: f64 = 40.0;
pub(super) const BOTTOM: f64 = 55.0;

/// Colours that are told apart in print and by most eyes.
pub(super) const COLORS: [Color; 8] = [
    [27, 108, 168],
    [200, 85, 61],
    [58, 125, 68],
    [138, 90, 158],
    [181, 137, 0],
    [77, 77, 77],
    [209, 107, 165],
    [42, 161, 152],
];

/// Lines of the grid, and those that bound it.
const GRID: Color = [221; 3];
const EDGE: Color = [136; 3];

/// Size of a label.
pub(super) const TEXT: f64 = 13.0;

/// About how many ticks an axis gets.
const TICKS: f64 = 6.0;

/// A straight or logarithmic axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Axis {
    /// A horizontal axis over the values.
    pub(super) fn horizontal(values: impl Iterator<Item = f64>, logarithmic: bool) -> Self {
        Self::over(values, LEFT, WIDTH - RIGHT, logarithmic)
    }

    /// A vertical axis over the values; a straight one begins at 0 if no value is negative.
    pub(super) fn vertical(values: impl Iterator<Item = f64>, logarithmic: bool) -> Self {
        let zero = (!logarithmic).then_some(0.0);
        Self::over(values.chain(zero), HEIGHT - BOTTOM, TOP, logarithmic)
    }

    fn over(values: impl Iterator<Item = f64>, start: f64, end: f64, logarithmic: bool) -> Self {
        let fits = |value: &f64| value.is_finite() && (!logarithmic || *value > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(fits) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if logarithmic {
            low = 10_f64.powf(low.log10().floor());
            high = 10_f64.powf(high.log10().ceil()).max(10.0 * low);
        } else {
            let step = tick_step(high - low);
            low = (low / step).floor() * step;
            high = ((high / step).ceil() * step).max(low + step);
        }
        Self { low, high, start, end, logarithmic }
    }

    /// Where a value lies on the page.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.start + share * (self.end - self.start)
    }

    /// Round values and where they lie.
    pub(super) fn ticks(&self) -> Vec<(String, f64)> {
        let values: Vec<f64> = if self.logarithmic {
            let powers = self.low.log10().round() as i32..=self.high.log10().round() as i32;
            powers.map(|power| 10_f64.powi(power)).collect()
        } else {
            let step = tick_step(self.high - self.low);
            let count = ((self.high - self.low) / step).round() as i32;
            (0..=count).map(|index| self.low + f64::from(index) * step).collect()
        };
        values.into_iter().map(|value| (label(value), self.at(value))).collect()
    }
}

/// 1, 2 or 5 times a power of ten, so that about [`TICKS`] steps make the range.
fn tick_step(range: f64) -> f64 {
    let rough = if range > 0.0 { range / TICKS } else { 1.0 };
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough).unwrap_or(10.0);
    factor * power
}

/// A tick's number without the digits that rounding leaves.
fn label(value: f64) -> String {
    let rounded = (value * 1e9).round() / 1e9;
    // No minus sign in front of zero.
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// Everything but the data: title, grid lines, ticks, axis labels.
pub(super) fn frame(title: &str, labels: (&str, &str), x_ticks: &[(String, f64)], y: &Axis) -> Vec<Shape> {
    let floor = HEIGHT - BOTTOM;
    let mut shapes = vec![Shape::text((WIDTH / 2.0, 22.0), title, 16.0, Anchor::Middle)];
    shapes.extend(x_ticks.iter().map(|(name, at)| Shape::text((*at, floor + 18.0), name, TEXT, Anchor::Middle)));
    for (name, at) in y.ticks() {
        shapes.push(Shape::line(vec![(LEFT, at), (WIDTH - RIGHT, at)], GRID, 1.0));
        shapes.push(Shape::text((LEFT - 8.0, at + 4.0), &name, TEXT, Anchor::End));
    }
    shapes.push(Shape::line(vec![(LEFT, TOP), (LEFT, floor), (WIDTH - RIGHT, floor)], EDGE, 1.0));
    shapes.push(Shape::text(((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0), labels.0, TEXT, Anchor::Middle));
    let mut upright = Shape::text((18.0, (TOP + floor) / 2.0), labels.1, TEXT, Anchor::Middle);
    if let Shape::Text { upwards, .. } = &mut upright {
        *upwards = true;
    }
    shapes.push(upright);
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::vertical([3.0, 47.0].into_iter(), false);
        let names: Vec<String> = axis.ticks().into_iter().map(|tick| tick.0).collect();
        assert_eq!(names, ["0", "10", "20", "30", "40", "50"]);
        assert!(axis.ticks().iter().all(|tick| (TOP..=HEIGHT - BOTTOM).contains(&tick.1)));
        let axis = Axis::horizontal([4.0, 5_000.0].into_iter(), true);
        assert_eq!(axis.ticks().first().unwrap().0, "1");
        assert_eq!(axis.ticks().last().unwrap().0, "10000");
    }

    #[test]
    fn no_values_and_equal_values_still_make_an_axis() {
        for values in [vec![], vec![5.0, 5.0], vec![f64::NAN]] {
            let axis = Axis::horizontal(values.into_iter(), false);
            assert!(axis.high > axis.low && axis.at(axis.low).is_finite());
        }
    }
}
