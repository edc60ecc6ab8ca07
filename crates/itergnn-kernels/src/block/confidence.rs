//! The logit of a confidence and its gradient: a linear map of one vector, or of that vector divided by its L1 norm.

use crate::real::Real;

/// Weight and bias of the confidence, and whether the vector is normalised first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Confidence<'a, T> {
    pub(crate) weight: &'a [T],
    /// One value, or none.
    pub(crate) bias: &'a [T],
    pub(crate) scale_free: bool,
}

impl<T: Real> Confidence<'_, T> {
    /// `w . p + b`, or `w . p / |p|_1 + b`; a vector of zeros is not divided.
    pub(crate) fn logit(&self, vector: &[T]) -> T {
        let mut product = dot(self.weight, vector);
        if let Some(norm) = self.norm(vector) {
            product = product / norm;
        }
        self.bias.iter().fold(product, |sum, &bias| sum + bias)
    }

    /// Adds the gradients of vector and weight for the gradient of a logit (the bias's gradient is that of the logit
    /// itself).
    pub(crate) fn backward(&self, logit: T, vector: &[T], vector_gradient: &mut [T], weight_gradient: &mut [T]) {
        let norm = self.norm(vector);
        let scale = norm.map_or(logit, |norm| logit / norm);
        // d(w.p / n)/dp = w / n - sign(p) (w.p) / n^2, since dn/dp = sign(p).
        let pull = norm.map_or(T::ZERO, |norm| scale * dot(self.weight, vector) / norm);
        for (index, &value) in vector[..self.weight.len()].iter().enumerate() {
            let sign = if value > T::ZERO {
                T::ONE
            } else if value < T::ZERO {
                -T::ONE
            } else {
                T::ZERO
            };
            vector_gradient[index] += scale * self.weight[index] - sign * pull;
            weight_gradient[index] += scale * value;
        }
    }

    fn norm(&self, vector: &[T]) -> Option<T> {
        if !self.scale_free {
            return None;
        }
        let norm = vector[..self.weight.len()].iter().fold(T::ZERO, |sum, &value| sum + value.abs());
        (norm > T::ZERO).then_some(norm)
    }
}

fn dot<T: Real>(left: &[T], right: &[T]) -> T {
    left.iter().zip(right).fold(T::ZERO, |sum, (&left, &right)| sum + left * right)
}
