//! What a model of tour lengths has to be better than.

use itergnn_graph::solvers::tsp::{DistanceMatrix, LocalSearchOptions, local_search};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::sampler::{TspSampler, UNITS};
use crate::{Sample, Sampler, Samples, Score, Split, Summary, TaskError};

/// `a sqrt(n) + b`: how the tour through n uniform points grows, without a look at where the points are.
///
/// # Paper
/// The form of Beardwood, Halton and Hammersley (1959) with a constant for the border.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LengthFormula {
    /// Factor of the root.
    pub a: f64,
    /// Constant.
    pub b: f64,
}

impl LengthFormula {
    /// The least-squares fit to samples.
    ///
    /// # Panics
    /// If there is no sample, or all have the same size.
    ///
    /// # Example
    /// ```
    /// use itergnn_tasks::tsp::{LengthFormula, TspSampler};
    /// let square = TspSampler::label(&[(0.0, 0.0), (0.0, 2.0), (2.0, 2.0), (2.0, 0.0)])?;
    /// let middle = TspSampler::label(&[(1.0, 1.0)])?;
    /// let formula = LengthFormula::fit(&[square, middle]);
    /// assert!((formula.a - 8.0).abs() < 1e-9 && (formula.b + 8.0).abs() < 1e-9);
    /// # Ok::<(), itergnn_tasks::TaskError>(())
    /// ```
    pub fn fit(samples: &[Sample]) -> Self {
        let count = samples.len() as f64;
        let mean = |value: &dyn Fn(&Sample) -> f64| samples.iter().map(value).sum::<f64>() / count;
        let root = |sample: &Sample| f64::from(sample.size).sqrt();
        let length = |sample: &Sample| f64::from(sample.target[0]);
        let (mean_root, mean_length) = (mean(&root), mean(&length));
        let spread = mean(&|sample: &Sample| (root(sample) - mean_root).powi(2));
        assert!(spread > 0.0, "two sizes at least");
        let a = mean(&|sample: &Sample| (root(sample) - mean_root) * (length(sample) - mean_length)) / spread;
        Self { a, b: mean_length - a * mean_root }
    }

    /// The length it gives for a number of points.
    pub fn length(&self, points: u32) -> f64 {
        self.a * f64::from(points).sqrt() + self.b
    }
}

/// The relative losses of what is no model; see [`yardsticks`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Yardsticks {
    /// The formula that was fitted.
    pub fitted: LengthFormula,
    /// Relative loss of the formula.
    pub formula: Summary,
    /// How much longer the tour of a descent by 2-opt and Or-opt steps is, relative to the optimum.
    pub descent: Summary,
    /// The same for the iterated local search with its default number of kicks. It also gives the exact solver its
    /// first tour.
    pub local_search: Summary,
}

/// Measures, on the first `test_count` test samples, what two numbers fitted to training samples and what searching for
/// a tour achieve.
///
/// The formula sees the number of points only. The searches see the instance and return a tour, so they can only be too
/// long; a model that predicts lengths is not held to that.
///
/// # Errors
/// What the sampler reports; [`TaskError::Setting`] if the training sizes do not vary or there are no test samples.
pub fn yardsticks(
    train: &TspSampler,
    train_count: u64,
    test: &TspSampler,
    test_count: u64,
    seed: u64,
) -> Result<Yardsticks, TaskError> {
    let draw = |sampler: &TspSampler, split: Split, count| {
        Samples::new(sampler, split.seed(seed), 0..count).collect::<Result<Vec<Sample>, _>>()
    };
    let known = draw(train, Split::Train, train_count)?;
    let refuse = |what: String, why: &str| Err(TaskError::Setting { task: train.task(), what, why: why.to_owned() });
    if known.iter().all(|sample| sample.size == known[0].size) {
        return refuse(format!("{train_count} training samples"), "do not have two sizes");
    }
    let fitted = LengthFormula::fit(&known);
    let samples = draw(test, Split::Test, test_count)?;
    if samples.is_empty() {
        return refuse("0 test samples".to_owned(), "measure nothing");
    }
    let losses = |predict: &(dyn Fn(&Sample) -> f64 + Sync)| -> Result<Summary, TaskError> {
        let losses = samples.par_iter().map(|sample| {
            let score = Score::of(sample, &[predict(sample) as f32])?;
            Ok(score.relative_loss.unwrap_or_default())
        });
        let losses = losses.collect::<Result<Vec<f64>, TaskError>>()?;
        Ok(Summary::of(losses).expect("there are samples"))
    };
    Ok(Yardsticks {
        fitted,
        formula: losses(&|sample| fitted.length(sample.size))?,
        descent: losses(&|sample| searched(sample, Some(0)))?,
        local_search: losses(&|sample| searched(sample, None))?,
    })
}

/// Length of the tour that local search finds through the points of a sample.
fn searched(sample: &Sample, kicks: Option<u32>) -> f64 {
    let coordinates = sample.graph.node_attributes().values();
    let points: Vec<(f64, f64)> =
        coordinates.chunks_exact(2).map(|point| (f64::from(point[0]), f64::from(point[1]))).collect();
    let matrix = DistanceMatrix::from_points_scaled(&points, UNITS).expect("the sampler solved these points");
    local_search(&matrix, &LocalSearchOptions { kicks, ..Default::default() }).length as f64 / UNITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SizeRange, tsp::TspSpec};

    fn sampler(size: SizeRange) -> TspSampler {
        TspSpec { size, ..Default::default() }.sampler().unwrap()
    }

    #[test]
    fn searching_beats_the_formula_and_kicks_beat_the_descent() {
        let (train, test) = (sampler(SizeRange::TRAINING), sampler(SizeRange::exactly(40).unwrap()));
        let found = yardsticks(&train, 200, &test, 5, 3).unwrap();
        assert!(found.local_search.mean <= found.descent.mean && found.descent.mean < found.formula.mean, "{found:?}");
        // No tour is shorter than the optimum, but targets are rounded to f32.
        assert!(found.local_search.min >= 0.0 && found.local_search.mean < 1e-3, "{found:?}");
        assert!(found.fitted.a > 500.0 && found.fitted.a < 1_000.0, "{found:?}");
    }

    #[test]
    fn one_size_fits_no_formula() {
        let one = sampler(SizeRange::exactly(5).unwrap());
        assert!(yardsticks(&one, 3, &one, 1, 0).unwrap_err().to_string().contains("two sizes"));
    }
}
