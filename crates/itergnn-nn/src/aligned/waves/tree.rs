//! A tree of linear maps, on the host.

/// A complete binary tree: tests in heap order, maps at the leaves from left to right.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    pub(super) depth: usize,
    pub(super) outputs: usize,
    /// Weights of features and origins, a row a test; a test of zeros always goes left.
    pub(super) tests: Vec<Vec<f64>>,
    /// `[features, outputs]` of every leaf.
    pub(super) maps: Vec<Vec<f64>>,
}

impl Tree {
    /// The leaf that a row belongs to.
    pub(super) fn leaf(&self, features: &[f64], origins: &[f64]) -> usize {
        let mut place = 0;
        for _ in 0..self.depth {
            place = 2 * place + 1 + usize::from(test(&self.tests[place], features, origins) > 0.0);
        }
        place + 1 - self.maps.len()
    }

    /// The prediction for a row with exact tests.
    pub(super) fn predict(&self, features: &[f64], origins: &[f64]) -> Vec<f64> {
        apply(&self.maps[self.leaf(features, origins)], features, self.outputs)
    }

    /// The weight of every leaf with soft tests.
    pub(super) fn shares(&self, features: &[f64], origins: &[f64], gain: f64) -> Vec<f64> {
        let size: f64 = features.iter().map(|feature| feature.abs()).sum();
        let scaled: Vec<f64> = features.iter().map(|feature| feature / size.max(f64::MIN_POSITIVE)).collect();
        let right: Vec<f64> =
            self.tests.iter().map(|weights| 1.0 / (1.0 + (-gain * test(weights, &scaled, origins)).exp())).collect();
        let share = |leaf: usize| {
            let (mut place, mut share) = (leaf + self.maps.len() - 1, 1.0);
            while place > 0 {
                let parent = (place - 1) / 2;
                share *= if place == 2 * parent + 2 { right[parent] } else { 1.0 - right[parent] };
                place = parent;
            }
            share
        };
        (0..self.maps.len()).map(share).collect()
    }

    /// The mean of the leaves' predictions.
    pub(super) fn predict_softly(&self, features: &[f64], origins: &[f64], gain: f64) -> Vec<f64> {
        let mut mean = vec![0.0; self.outputs];
        for (map, share) in self.maps.iter().zip(self.shares(features, origins, gain)) {
            let values = apply(map, features, self.outputs);
            mean.iter_mut().zip(values).for_each(|(mean, value)| *mean += share * value);
        }
        mean
    }
}

fn test(weights: &[f64], features: &[f64], origins: &[f64]) -> f64 {
    weights.iter().zip(features.iter().chain(origins)).map(|(weight, value)| weight * value).sum()
}

/// `M f`.
pub(super) fn apply(map: &[f64], features: &[f64], outputs: usize) -> Vec<f64> {
    let mut values = vec![0.0; outputs];
    for (weights, feature) in map.chunks_exact(outputs).zip(features) {
        values.iter_mut().zip(weights).for_each(|(value, weight)| *value += weight * feature);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_tests() -> Tree {
        // Right if the feature is positive; then right if the row is an origin.
        let tests = vec![vec![1.0, 0.0], vec![0.0, 0.0], vec![0.0, 1.0]];
        Tree { depth: 2, outputs: 1, tests, maps: vec![vec![1.0], vec![2.0], vec![3.0], vec![4.0]] }
    }

    #[test]
    fn rows_fall_to_their_leaves() {
        let tree = two_tests();
        assert_eq!(tree.predict(&[-2.0], &[1.0]), [-2.0]);
        assert_eq!(tree.predict(&[2.0], &[0.0]), [6.0]);
        assert_eq!(tree.predict(&[2.0], &[1.0]), [8.0]);
    }

    #[test]
    fn a_large_gain_makes_soft_tests_exact() {
        // A feature of size 1 after scaling, so the first logit is 1,000; the second test has a tie and halves.
        let shares = two_tests().shares(&[5.0], &[1.0], 1_000.0);
        assert_eq!(shares, [0.0, 0.0, 0.0, 1.0]);
        let shares = two_tests().shares(&[-5.0], &[1.0], 1_000.0);
        assert_eq!(shares, [0.5, 0.5, 0.0, 0.0]);
    }
}
