//! What the outputs of a value network mean.

use serde::{Deserialize, Serialize};

/// How an output `o` of the network and a value `Q` correspond; `g` is the discount.
///
/// ```text
/// linear        Q = o
/// logarithmic   Q = g^(-o),  o = log Q / log(1/g)
/// ```
/// A dot that is `d` moves away is worth g^(d-1): at 25 moves, 0.08, of which the right move and the wrong one differ by less than 0.02. On the linear scale far dots drown in the error of near ones. On the
/// logarithmic scale the output is minus the number of moves, the right move and a wrong one always differ by 1 or 2, and one step back in time subtracts 1. Learning a logarithm of the value is due to
/// van Seijen, Fatemi and Tavakoli (2019); since rewards and moves are certain here, the logarithm of a mean and the mean of a logarithm are the same. The paper's form is `linear`.
///
/// # Example
/// ```
/// use itergnn_train::rl::ValueScale;
/// let value = ValueScale::Logarithmic.value(-3.0, 0.9);
/// assert!((value - 0.9_f64.powi(3)).abs() < 1e-12);
/// assert!((ValueScale::Logarithmic.output(value, 0.9) + 3.0).abs() < 1e-9);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueScale {
    /// The value itself, as in the paper.
    Linear,
    /// Its logarithm to the base of 1 / discount.
    #[default]
    Logarithmic,
}

/// Moves beyond which a dot is no longer told from nothing: more than any way on a map of 16 x 16 with few walls. Without a floor, values of a player who finds nothing fall without end (seen in the
/// first run, docs/research/pacman.md).
const FARTHEST: f64 = 50.0;

impl ValueScale {
    /// The value of an output.
    pub fn value(self, output: f64, discount: f64) -> f64 {
        match self {
            Self::Linear => output,
            Self::Logarithmic => discount.powf(-output.min(Self::highest(discount))),
        }
    }

    /// The output that stands for a value.
    pub fn output(self, value: f64, discount: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic if value > 0.0 => (-value.ln() / discount.ln()).clamp(-FARTHEST, Self::highest(discount)),
            Self::Logarithmic => -FARTHEST,
        }
    }

    /// The output of 1 / (1 - g), the value of a dot on every cell: no value is higher.
    fn highest(discount: f64) -> f64 {
        (1.0 - discount).ln() / discount.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Powers and logarithms of numbers near 1 in f64.
    const ROUNDING: f64 = 1e-9;

    #[test]
    fn a_step_back_in_time_subtracts_one() {
        let (scale, discount) = (ValueScale::Logarithmic, 0.9);
        for output in [-30.0, -1.5, 0.0, 7.0] {
            let earlier = scale.output(discount * scale.value(output, discount), discount);
            assert!((earlier - (output - 1.0)).abs() < ROUNDING, "{output}: {earlier}");
        }
        assert_eq!(ValueScale::Linear.output(0.25, discount), 0.25);
    }

    #[test]
    fn values_stay_in_their_range() {
        let scale = ValueScale::Logarithmic;
        assert_eq!(scale.output(0.0, 0.9), -FARTHEST);
        assert!((scale.value(1e9, 0.9) - 10.0).abs() < ROUNDING);
    }
}
