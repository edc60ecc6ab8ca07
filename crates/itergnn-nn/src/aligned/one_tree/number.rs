//! Numbers that carry their derivatives.

use std::ops::{Add, Mul, Sub};

/// How many learned numbers steer the steps of a graph; see [`Steering`](super::ascent::Steering).
pub(super) const STEERING: usize = 5;

/// What the ascent computes with: plain numbers for predictions, numbers with derivatives for training.
pub(super) trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// A number that nothing learned goes into.
    fn constant(value: f64) -> Self;

    /// The learned number `index`, which has this value now.
    fn learned(index: usize, value: f64) -> Self;

    /// The number itself.
    fn value(self) -> f64;

    /// The derivative by every learned number.
    fn slopes(self) -> [f64; STEERING];

    /// A function of the number, given its value and its derivative there.
    fn chain(self, value: f64, slope: f64) -> Self;

    /// e^x.
    fn exp(self) -> Self {
        let value = self.value().exp();
        self.chain(value, value)
    }

    /// 1 / (1 + e^-x).
    fn sigmoid(self) -> Self {
        let value = 1.0 / (1.0 + (-self.value()).exp());
        self.chain(value, value * (1.0 - value))
    }

    /// x times a constant.
    fn times(self, factor: f64) -> Self {
        self.chain(self.value() * factor, factor)
    }
}

impl Number for f64 {
    fn constant(value: f64) -> Self {
        value
    }

    fn learned(_index: usize, value: f64) -> Self {
        value
    }

    fn value(self) -> f64 {
        self
    }

    fn slopes(self) -> [f64; STEERING] {
        [0.0; STEERING]
    }

    fn chain(self, value: f64, _slope: f64) -> Self {
        value
    }
}

/// A value and its derivatives by the learned numbers (forward differentiation: they are few).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dual {
    value: f64,
    slopes: [f64; STEERING],
}

impl Number for Dual {
    fn constant(value: f64) -> Self {
        Self { value, slopes: [0.0; STEERING] }
    }

    fn learned(index: usize, value: f64) -> Self {
        let mut number = Self::constant(value);
        number.slopes[index] = 1.0;
        number
    }

    fn value(self) -> f64 {
        self.value
    }

    fn slopes(self) -> [f64; STEERING] {
        self.slopes
    }

    fn chain(self, value: f64, slope: f64) -> Self {
        Self { value, slopes: self.slopes.map(|own| slope * own) }
    }
}

impl Add for Dual {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let slopes = std::array::from_fn(|index| self.slopes[index] + other.slopes[index]);
        Self { value: self.value + other.value, slopes }
    }
}

impl Sub for Dual {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let slopes = std::array::from_fn(|index| self.slopes[index] - other.slopes[index]);
        Self { value: self.value - other.value, slopes }
    }
}

impl Mul for Dual {
    type Output = Self;

    // The rule of products is a sum.
    #[expect(clippy::suspicious_arithmetic_impl)]
    fn mul(self, other: Self) -> Self {
        let slope = |index: usize| self.slopes[index] * other.value + self.value * other.slopes[index];
        Self { value: self.value * other.value, slopes: std::array::from_fn(slope) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Second derivatives near 1, times the step.
    const TOLERANCE: f64 = 1e-6;
    const STEP: f64 = 1e-7;

    fn formula<N: Number>(x: N, y: N) -> N {
        (x * y - x.exp()).sigmoid() + y.times(3.0) * x
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let (x, y) = (0.3, -0.7);
        let found = formula(Dual::learned(0, x), Dual::learned(3, y));
        assert_eq!(found.value(), formula(x, y));
        let by_x = (formula(x + STEP, y) - formula(x, y)) / STEP;
        let by_y = (formula(x, y + STEP) - formula(x, y)) / STEP;
        assert!((found.slopes()[0] - by_x).abs() < TOLERANCE && (found.slopes()[3] - by_y).abs() < TOLERANCE);
        assert_eq!(found.slopes()[1], 0.0);
    }
}
