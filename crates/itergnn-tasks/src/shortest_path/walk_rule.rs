//! The two walks of the post-processing.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantArray};

/// How far the length of a released walk may be from the shortest, in the units of the weights.
const RELEASED_TOLERANCE: f64 = 1e-4;

/// Two lengths are equal if they differ by no more than this, relative to the shorter.
///
/// Paths of equal length can sum their weights in different orders; in `f64` a sum of a million terms then differs by
/// about 1e-10, and the label was rounded to `f32` (6e-8). With random weights a second-best path within one millionth
/// of the best is not worth calling wrong.
pub const LENGTH_TOLERANCE: f64 = 1e-6;

/// How a path is found by predicted lengths.
///
/// dist(a, b) is the predicted length from a to b, s the source, t the target, w the weight of an edge.
///
/// # Paper
/// `AsWritten` is the paper's algorithm "Post-processing to predict the shortest path". `Released` is what the authors'
/// code runs; only that walk explains the paper's success rates, because a network with an error of one percent fails
/// the written walk at once.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum WalkRule {
    /// Backwards from the target, by dist(s, p) of the current node p.
    ///
    /// If s is an in-neighbour of p, the edge from it ends the walk. Otherwise candidates are the in-neighbours l with
    /// dist(s, l) < dist(s, p); where there are none, the in-neighbours that were not visited; where there are none of
    /// those either, the walk breaks off. The next node is the candidate with the smallest |dist(s, l) + w - dist(s,
    /// p)|, the first in edge order among equals. The walk also ends when dist(s, l) is at most 1e-7.
    #[default]
    Released,
    /// Forwards from the source, by dist(p, t) of the current node p.
    ///
    /// The next node is the out-neighbour l that minimises |dist(l, t) + w - dist(p, t)| among those with dist(l, t) +
    /// w
    /// <= dist(p, t); where there is none, the walk breaks off. dist(t, t) is 0 and is not asked for. Ties go to the
    /// smaller dist(l, t), then to the smaller number. A node is not entered twice, and a step over an edge of weight 0
    /// that leads nowhere is taken back.
    AsWritten,
}

impl WalkRule {
    /// Whether a walk of this length counts as a shortest path, where `arrived` says whether it joined both ends.
    ///
    /// The released code compares lengths only, to within 1e-4 (and the rounding of a label to `f32`), even of a walk
    /// that ended short of the source. As written, a walk that did not arrive has failed.
    pub fn accepts(self, arrived: bool, length: f64, shortest: f64) -> bool {
        match self {
            Self::Released => (length - shortest).abs() < RELEASED_TOLERANCE + f64::from(f32::EPSILON) * shortest,
            Self::AsWritten => arrived && is_shortest(length, shortest),
        }
    }
}

/// Whether a path of this length is as short as the shortest one, to within [`LENGTH_TOLERANCE`].
pub fn is_shortest(length: f64, shortest: f64) -> bool {
    (length - shortest).abs() <= LENGTH_TOLERANCE * shortest.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for (rule, name) in [(WalkRule::Released, "released"), (WalkRule::AsWritten, "as-written")] {
            assert_eq!((rule.to_string().as_str(), name.parse()), (name, Ok(rule)));
            assert_eq!(serde_json::to_value(rule).unwrap(), name);
        }
        assert_eq!(WalkRule::VARIANTS.len(), 2);
    }

    #[test]
    fn lengths_that_differ_by_rounding_are_equal() {
        assert!(is_shortest(1000.0, f64::from(1000.0001_f32)));
        assert!(!is_shortest(1000.0, 999.0) && !is_shortest(f64::NAN, 999.0));
        assert!(WalkRule::Released.accepts(false, 5.00009, 5.0) && !WalkRule::Released.accepts(true, 5.00011, 5.0));
        assert!(!WalkRule::AsWritten.accepts(false, 5.0, 5.0) && !WalkRule::AsWritten.accepts(true, 5.00009, 5.0));
        assert!(!WalkRule::Released.accepts(true, f64::NAN, 5.0));
    }
}
