//! Terms that do nothing go, weights near whole numbers become whole.

use super::experts::Evidence;
use super::grow::Grown;
use super::tree::Tree;

/// Errors below this share of [`Evidence::slack`] count as equal: `f32` attributes leave about that much.
const ROUNDING: f64 = 1e-2;

/// How near a weight must be to a whole number to become one.
const NEAR: f64 = 1e-2;

/// Least squares has the smallest error there is, so rounding its weights always adds some; this much more is rounding
/// of the attributes.
const WHOLE_PRICE: f64 = 1.5;

impl Grown {
    /// The tree with maps fitted to their leaves, and everything in it as simple as the samples allow.
    pub(super) fn polished(mut self, evidence: &Evidence) -> Tree {
        for (map, rows) in self.tree.maps.iter_mut().zip(&self.leaves) {
            if !rows.is_empty() {
                *map = evidence.simplest(rows);
            }
        }
        for place in 0..self.tree.tests.len() {
            let mut whole = self.tree.clone();
            let near = |weight: &mut f64| {
                if (*weight - weight.round()).abs() < NEAR {
                    *weight = weight.round();
                }
            };
            whole.tests[place].iter_mut().for_each(near);
            if evidence.error_of(&whole) <= evidence.error_of(&self.tree) {
                self.tree = whole;
            }
        }
        self.tree
    }
}

impl Evidence {
    /// The map with the fewest terms that fits some rows as well as all features do.
    fn simplest(&self, rows: &[usize]) -> Vec<f64> {
        let floor = ROUNDING * self.slack;
        let mut map = self.fit_all(rows);
        let limit = self.error(&map, rows).max(floor);
        let weight_of = |map: &[f64], at: usize| {
            let weights = &map[at * self.outputs..(at + 1) * self.outputs];
            weights.iter().fold(0.0_f64, |largest, weight| largest.max(weight.abs()))
        };
        let size = |at: usize| rows.iter().map(|&row| self.rows.features[row][at].abs()).sum::<f64>();
        let features = self.rows.features[0].len();
        let mut active: Vec<usize> = (0..features).filter(|&at| weight_of(&map, at) > 0.0).collect();
        // What contributes least goes first.
        let mut order = active.clone();
        order.sort_by(|&a, &b| (weight_of(&map, a) * size(a)).total_cmp(&(weight_of(&map, b) * size(b))));
        for at in order {
            let fewer: Vec<usize> = active.iter().copied().filter(|&other| other != at).collect();
            let without = self.fit(rows, &fewer);
            if self.error(&without, rows) <= limit {
                (map, active) = (without, fewer);
            }
        }
        let near = |weight: &f64| if (weight - weight.round()).abs() < NEAR { weight.round() } else { *weight };
        let whole: Vec<f64> = map.iter().map(near).collect();
        let allowed = WHOLE_PRICE * self.error(&map, rows).max(floor);
        if self.error(&whole, rows) <= allowed { whole } else { map }
    }
}
