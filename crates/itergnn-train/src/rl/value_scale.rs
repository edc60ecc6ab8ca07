//! What the outputs of a value network mean.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How an output `o` of the network and a value `Q` correspond; `g` is the discount.
///
/// ```text
/// linear        Q = o
/// logarithmic   Q = g^(-o),  o = log Q / log(1/g)
/// ```
/// The loss of an output that is `d` below its target is, with k = log(1/g),
/// ```text
/// linear        Huber's with threshold 1: d^2 / 2 near 0, |d| - 1/2 beyond
/// logarithmic   (e^(k d) - k d - 1) / k^2, which is d^2 / 2 near 0; linear beyond k d = 3
/// ```
/// The second is the deviance of the gamma distribution: outputs settle where Q is the mean of its targets, as they do
/// on the linear scale, while errors count in proportion to Q. Squares of `d` would settle at the mean of the
/// logarithms, far below; see docs/research/pacman.md for what that does.
///
/// A dot that is `d` moves away is worth g^(d-1): at 25 moves, 0.08, of which the right move and the wrong one differ
/// by less than 0.02. On the linear scale far dots drown in the error of near ones. On the logarithmic scale the output
/// is minus the number of moves, the right move and a wrong one always differ by 1 or 2, and one step back in time
/// subtracts 1. Learning a logarithm of the value is due to van Seijen, Fatemi and Tavakoli (2019); since rewards and
/// moves are certain here, the logarithm of a mean and the mean of a logarithm are the same. The paper's form is
/// `linear`.
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
    #[default]
    Linear,
    /// Its logarithm to the base of 1 / discount.
    Logarithmic,
}

/// Moves beyond which a dot is no longer told from nothing: more than any way on a map of 16 x 16 with few walls.
/// Without a floor, values of a player who finds nothing fall without end (seen in the first run,
/// docs/research/pacman.md).
const FARTHEST: f64 = 50.0;

/// Where the loss of the logarithmic scale stops growing exponentially, so that one surprise does not undo a thousand
/// steps.
const STEEPEST: f64 = 3.0;

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

    /// The mean loss of outputs that lie below their targets by these differences.
    pub(super) fn loss(self, difference: Tensor<2>, discount: f64) -> Tensor<1> {
        match self {
            Self::Linear => {
                let size = difference.abs();
                let near = size.clone().clamp_max(1.0);
                (near.clone() * (size - near.mul_scalar(0.5))).mean()
            }
            Self::Logarithmic => {
                let unit = -discount.ln();
                let scaled = difference.mul_scalar(unit);
                let near = scaled.clone().clamp_max(STEEPEST);
                let far = (scaled.clone() - near.clone()).mul_scalar(STEEPEST.exp());
                (near.exp() + far - scaled).mean().sub_scalar(1.0).div_scalar(unit * unit)
            }
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
    use burn::tensor::{Device, TensorData};

    /// Sums of a few f32 exponentials, divided by k squared.
    const ROUNDING_F32: f64 = 1e-3;

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
    fn outputs_settle_where_the_value_is_the_mean_of_its_targets() {
        let device = Device::flex().autodiff();
        for scale in [ValueScale::Linear, ValueScale::Logarithmic] {
            let values = [0.5, 0.1, 0.3];
            let targets = values.map(|value| scale.output(value, 0.9));
            let output = scale.output(values.iter().sum::<f64>() / 3.0, 0.9);
            let output =
                Tensor::<2>::from_data(TensorData::new(vec![output as f32; 3], [3, 1]), &device).require_grad();
            let targets = TensorData::new(targets.map(|target| target as f32).to_vec(), [3, 1]);
            let loss = scale.loss(Tensor::from_data(targets, &device) - output.clone(), 0.9);
            let slope = output.grad(&loss.backward()).expect("the output has a gradient").sum().into_scalar::<f64>();
            assert!(slope.abs() < ROUNDING_F32, "{scale:?}: {slope}");
        }
    }

    #[test]
    fn both_losses_are_half_the_square_near_zero_and_linear_far_away() {
        let device = Device::flex();
        let loss = |scale: ValueScale, difference: f32| {
            scale.loss(Tensor::from_floats([[difference]], &device), 0.9).into_scalar::<f64>()
        };
        assert_eq!(loss(ValueScale::Linear, -3.0), 2.5);
        for scale in [ValueScale::Linear, ValueScale::Logarithmic] {
            assert!((loss(scale, 0.5) / 0.125 - 1.0).abs() < 0.03, "{}", loss(scale, 0.5));
        }
        let far = |difference| loss(ValueScale::Logarithmic, difference);
        assert!(((far(60.0) - far(50.0)) / (far(50.0) - far(40.0)) - 1.0).abs() < ROUNDING_F32);
    }

    #[test]
    fn values_stay_in_their_range() {
        let scale = ValueScale::Logarithmic;
        assert_eq!(scale.output(0.0, 0.9), -FARTHEST);
        assert!((scale.value(1e9, 0.9) - 10.0).abs() < ROUNDING);
    }
}
