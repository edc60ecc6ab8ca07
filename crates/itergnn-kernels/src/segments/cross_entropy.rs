//! Cross entropy of the classes of rows.

use crate::real::Real;

/// The mean over rows of `-log softmax(row)[class]`; NaN without rows.
///
/// # Panics
/// If there is not one class per row, or a class is not one of `width`.
pub fn cross_entropy<F: Real>(values: &[F], classes: &[u32], width: usize) -> F {
    assert_eq!(values.len(), classes.len() * width, "one class per row");
    let mut total = 0.0;
    for (row, &class) in values.chunks_exact(width).zip(classes) {
        let (largest, powers) = shifted(row);
        total += powers.ln() + largest - row[class as usize].to_f64();
    }
    F::from_f64(total / classes.len() as f64)
}

/// Backward of [`cross_entropy`]: `(softmax(row) - one at the class) / rows`, times the gradient.
///
/// # Panics
/// As [`cross_entropy`].
pub fn cross_entropy_backward<F: Real>(values: &[F], classes: &[u32], gradient: F, width: usize) -> Vec<F> {
    assert_eq!(values.len(), classes.len() * width, "one class per row");
    let share = gradient.to_f64() / classes.len() as f64;
    let mut result = Vec::with_capacity(values.len());
    for (row, &class) in values.chunks_exact(width).zip(classes) {
        let (largest, powers) = shifted(row);
        let probability = |value: F| (value.to_f64() - largest).exp() / powers;
        let own = |channel| f64::from(u8::from(channel == class as usize));
        let gradients = row.iter().enumerate().map(|(channel, &value)| share * (probability(value) - own(channel)));
        result.extend(gradients.map(F::from_f64));
    }
    result
}

/// The largest value, and the sum of `exp(value - largest)`.
fn shifted<F: Real>(row: &[F]) -> (f64, f64) {
    let largest = row.iter().fold(f64::NEG_INFINITY, |largest, value| largest.max(value.to_f64()));
    (largest, row.iter().map(|value| (value.to_f64() - largest).exp()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_scores_cost_the_logarithm_of_the_classes_and_large_ones_do_not_overflow() {
        assert!((cross_entropy(&[3.0_f64; 6], &[0, 2], 3) - 3.0_f64.ln()).abs() < 1e-15);
        assert_eq!(cross_entropy(&[1e30_f32, -1e30], &[0], 2), 0.0);
        assert!(cross_entropy(&[f32::NAN, 0.0], &[1], 2).is_nan());
    }

    #[test]
    fn the_gradient_is_the_finite_difference() {
        let (values, classes) = ([0.3_f64, -1.0, 2.0, 0.5, 0.1, -0.7], [2, 0]);
        let found = cross_entropy_backward(&values, &classes, 2.0, 3);
        for (at, found) in found.iter().enumerate() {
            let along = |by: f64| {
                let mut moved = values;
                moved[at] += by;
                2.0 * cross_entropy(&moved, &classes, 3)
            };
            assert!(((along(1e-6) - along(-1e-6)) / 2e-6 - found).abs() < 1e-9, "{at}");
        }
    }
}
