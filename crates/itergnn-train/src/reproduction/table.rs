//! Tables of the paper as data.

use super::{ExperimentResult, Measured};

/// A share that is less likely than this under the paper's is below the paper's.
const LEAST_LIKELY: f64 = 0.05;

/// What a column measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Mean of |y - p| / y.
    RelativeLoss,
    /// Share of shortest paths by the released walk.
    SuccessRate,
    /// Share of shortest paths by the walk as written.
    SuccessRateAsWritten,
    /// Share of shortest paths over free pixels by the released walk.
    WalkableSuccessRate,
    /// Share of right answers.
    Accuracy,
    /// Mean squared error.
    Mse,
}

impl Quantity {
    /// Its value in a result.
    pub fn of(self, measured: &Measured) -> Option<f64> {
        match self {
            Self::RelativeLoss => measured.relative_loss,
            Self::SuccessRate => measured.success_rate,
            Self::SuccessRateAsWritten => measured.success_rate_as_written,
            Self::WalkableSuccessRate => measured.walkable_success_rate,
            Self::Accuracy => measured.accuracy,
            Self::Mse => measured.mse,
        }
    }

    /// Whether the first value is worse than the second.
    pub fn is_worse(self, ours: f64, paper: f64) -> bool {
        match self {
            Self::RelativeLoss | Self::Mse => ours > paper,
            _ => ours < paper,
        }
    }

    /// Whether so few graphs can tell a share from a larger one: with `paper` as the true share, `ours` of `count` graphs
    /// or less has a probability below 5%. Errors are told apart by their values alone.
    pub fn can_tell(self, ours: f64, paper: f64, count: u64) -> bool {
        match self {
            Self::RelativeLoss | Self::Mse => true,
            _ => at_most((ours * count as f64).round() as u64, count, paper) < LEAST_LIKELY,
        }
    }

    /// A value as the tables print it.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::RelativeLoss | Self::Mse if value == 0.0 => "0".to_owned(),
            Self::RelativeLoss | Self::Mse if !(1e-3..1e4).contains(&value) => format!("{value:.1e}"),
            Self::RelativeLoss => format!("{value:.4}"),
            Self::Mse => format!("{value:.3}"),
            _ => format!("{:.1}%", 100.0 * value),
        }
    }

    /// Whether paths have to be walked for it.
    pub fn needs_walks(self) -> bool {
        matches!(self, Self::SuccessRate | Self::SuccessRateAsWritten | Self::WalkableSuccessRate)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::RelativeLoss => "relative loss",
            Self::SuccessRate => "success rate",
            Self::SuccessRateAsWritten => "success rate of the walk as written",
            Self::WalkableSuccessRate => "success rate over free pixels",
            Self::Accuracy => "accuracy",
            Self::Mse => "mean squared error",
        }
    }
}

/// The probability of at most `successes` in `count` trials of probability `share`.
fn at_most(successes: u64, count: u64, share: f64) -> f64 {
    if successes >= count {
        return 1.0;
    }
    if !(0.0 < share && share < 1.0) {
        return if share <= 0.0 { 1.0 } else { 0.0 };
    }
    let mut choices = 0.0; // the logarithm of the binomial coefficient
    let mut total = 0.0;
    for k in 0..=successes {
        total += (choices + k as f64 * share.ln() + (count - k) as f64 * (-share).ln_1p()).exp();
        choices += ((count - k) as f64 / (k + 1) as f64).ln();
    }
    total.min(1.0)
}

/// A table: rows of models, columns of test settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name on the command line.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its heading.
    pub label: String,
    /// What it measures.
    pub quantity: Quantity,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The model.
    pub label: String,
    /// One cell per column; `None` where neither the paper nor we have one.
    pub cells: Vec<Option<Cell>>,
}

/// A number of the paper and where ours comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The paper's number; `None` where it gives none.
    pub paper: Option<f64>,
    /// The experiment that measures ours.
    pub experiment: String,
    /// The evaluation within it.
    pub evaluation: String,
}

/// Ours over the seeds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spread {
    /// Values of the seeds that gave one, in the order of the seeds.
    pub values: Vec<f64>,
    /// The value of the seed that does best on the largest sizes of training, if it gave one.
    pub chosen: Option<f64>,
    /// Whether any seed could be chosen.
    pub has_choice: bool,
    /// Seeds without a value: trainings that failed, predictions that are no numbers.
    pub failed: usize,
    /// Test graphs per seed.
    pub count: u64,
    /// Test graphs of all seeds whose loop a cap ended.
    pub capped: u64,
}

impl Spread {
    /// The values of a cell in the results of its experiment.
    pub fn of<'a>(cell: &Cell, quantity: Quantity, results: impl Iterator<Item = &'a ExperimentResult>) -> Self {
        let mut spread = Self::default();
        let mut best = f64::NAN;
        let is_made = |result: &&ExperimentResult| {
            let made = result.evaluations.get(&cell.evaluation);
            result.id == cell.experiment && made.is_some_and(|made| quantity.needs_walks() <= !made.walks.is_empty())
        };
        for result in results.filter(is_made) {
            let measured = result.measured.get(&cell.evaluation);
            let value = measured.and_then(|measured| quantity.of(measured));
            match value {
                Some(value) => spread.values.push(value),
                None => spread.failed += 1,
            }
            if let Some(choice) = result.choice().filter(|&choice| result.measure().improves(choice, best)) {
                best = choice;
                (spread.has_choice, spread.chosen) = (true, value);
            }
            if let Some(measured) = measured {
                spread.count = measured.count;
                spread.capped += measured.capped;
            }
        }
        spread
    }

    /// The best of the values.
    pub fn best(&self, quantity: Quantity) -> Option<f64> {
        let better = |best: f64, value: f64| if quantity.is_worse(best, value) { value } else { best };
        self.values.iter().copied().reduce(better)
    }

    /// Mean and standard deviation (of the sample) of the values.
    pub fn mean_and_deviation(&self) -> Option<(f64, f64)> {
        let count = self.values.len() as f64;
        if self.values.is_empty() {
            return None;
        }
        let mean = self.values.iter().sum::<f64>() / count;
        let squares: f64 = self.values.iter().map(|value| (value - mean).powi(2)).sum();
        Some((mean, if count > 1.0 { (squares / (count - 1.0)).sqrt() } else { 0.0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worse_depends_on_the_quantity() {
        assert!(Quantity::Mse.is_worse(2.0, 1.0) && !Quantity::RelativeLoss.is_worse(0.0, 0.1));
        assert!(Quantity::Accuracy.is_worse(0.9, 1.0) && !Quantity::SuccessRate.is_worse(1.0, 1.0));
    }

    /// Values of the sum over `math.comb` in Python.
    #[test]
    fn few_graphs_cannot_tell_close_shares_apart() {
        for (successes, count, share, expected) in
            [(16, 20, 0.917, 0.078_691), (2, 20, 0.103, 0.659_793), (8, 20, 0.651, 0.019_119)]
        {
            assert!((at_most(successes, count, share) - expected).abs() < 1e-6, "{successes} of {count}");
        }
        assert_eq!((at_most(99, 100, 1.0), at_most(100, 100, 1.0), at_most(0, 5, 0.0)), (0.0, 1.0, 1.0));
        assert!(at_most(499, 1000, 0.5) > 0.48 && at_most(499, 1000, 0.5) < 0.5);
        assert!(!Quantity::SuccessRate.can_tell(0.8, 0.917, 20) && Quantity::SuccessRate.can_tell(0.99, 1.0, 100));
        assert!(Quantity::Mse.can_tell(1.01, 1.0, 5));
    }

    #[test]
    fn values_are_printed_for_people() {
        assert_eq!(Quantity::SuccessRate.show(0.975), "97.5%");
        assert_eq!(Quantity::RelativeLoss.show(0.0007), "7.0e-4");
        assert_eq!(Quantity::Mse.show(1.68), "1.680");
        assert_eq!(Quantity::RelativeLoss.show(0.0), "0");
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let spread = Spread { values: vec![1.0, 3.0], ..Spread::default() };
        assert_eq!(spread.mean_and_deviation(), Some((2.0, 2f64.sqrt())));
        assert_eq!(Spread::default().mean_and_deviation(), None);
        assert_eq!((spread.best(Quantity::Mse), spread.best(Quantity::Accuracy)), (Some(1.0), Some(3.0)));
    }
}
