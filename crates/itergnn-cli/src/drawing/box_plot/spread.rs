//! What a box of a box plot shows.

use serde::Serialize;

/// Whiskers reach the outermost value within this many box heights of the box (Tukey's rule).
const REACH: f64 = 1.5;

/// Median, quartiles, and how far whiskers reach; values beyond them are outliers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) count: usize,
    pub(crate) low_whisker: f64,
    pub(crate) low_quartile: f64,
    pub(crate) median: f64,
    pub(crate) high_quartile: f64,
    pub(crate) high_whisker: f64,
    /// Different values beyond the whiskers, in order.
    pub(crate) outliers: Vec<f64>,
}

impl Spread {
    /// The spread of values; `None` if there is none.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        if sorted.is_empty() {
            return None;
        }
        let (low_quartile, high_quartile) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
        let reach = REACH * (high_quartile - low_quartile);
        let inside = |value: &&f64| (low_quartile - reach..=high_quartile + reach).contains(*value);
        // The quartiles themselves lie inside, so there is a first and a last.
        let low_whisker = sorted.iter().find(inside).copied().unwrap_or(low_quartile);
        let high_whisker = sorted.iter().rfind(inside).copied().unwrap_or(high_quartile);
        let mut outliers: Vec<f64> =
            sorted.iter().copied().filter(|&value| value < low_whisker || value > high_whisker).collect();
        outliers.dedup();
        let median = quantile(&sorted, 0.5);
        let count = sorted.len();
        Some(Self { count, low_whisker, low_quartile, median, high_quartile, high_whisker, outliers })
    }
}

/// The value below which a share of the sorted values lies, linear between two of them.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_numbers_and_what_lies_beyond() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 50.0, 50.0, -40.0, 3.0];
        let spread = Spread::of(&values).unwrap();
        assert_eq!((spread.low_quartile, spread.median, spread.high_quartile), (2.0, 3.0, 5.0));
        assert_eq!((spread.low_whisker, spread.high_whisker), (1.0, 5.0));
        assert_eq!((spread.outliers, spread.count), (vec![-40.0, 50.0], 9));
    }

    #[test]
    fn one_value_is_a_flat_box_and_none_is_no_box() {
        let spread = Spread::of(&[7.0]).unwrap();
        assert_eq!((spread.low_whisker, spread.median, spread.high_whisker), (7.0, 7.0, 7.0));
        assert_eq!(Spread::of(&[f64::NAN]), None);
    }

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(quantile(&[0.0, 10.0], 0.25), 2.5);
    }
}
