//! Which linear maps the training samples follow.

use super::features::Rows;
use super::tree::{Tree, apply};
use crate::Error;
use crate::aligned::least_squares::least_squares_of_rank;

/// A feature counts as a combination of others if less than this share of it is new. Attributes come as `f32`, so what
/// differs by less is their rounding (6e-8 of a number, some ten times that in a difference), and a weight on rounding
/// means nothing on other samples.
const NEW: f64 = 1e-5;

/// A map explains a sample if it is off by no more than this share of the mean size of targets.
const SLACK: f64 = 1e-4;

/// Rounds of fitting and reassigning; a division that has not come to rest by then rarely does.
const ROUNDS: usize = 60;

/// Divisions that are tried from other beginnings when the trained one does not lead to an exact one.
const RESTARTS: u64 = 20;

/// How much worse the fit may get when a map is given up.
const MAP_PRICE: f64 = 1.1;

/// Training samples as the head sees them.
pub(super) struct Evidence {
    pub(super) rows: Rows,
    /// `[outputs]` a row.
    pub(super) targets: Vec<Vec<f64>>,
    pub(super) outputs: usize,
    /// The largest error of a map that explains a sample.
    pub(super) slack: f64,
}

/// Samples divided among maps.
#[derive(Debug, Clone)]
pub(super) struct Division {
    pub(super) maps: Vec<Vec<f64>>,
    /// The map of every sample.
    pub(super) labels: Vec<usize>,
    /// Root of the mean squared error.
    pub(super) error: f64,
}

impl Evidence {
    /// Rows with their targets; a row whose target is not a number is left out. One number per row where `outputs` are
    /// asked for is a class.
    ///
    /// # Errors
    /// [`Error::Graph`] if there is not one target for each row.
    pub(super) fn new(rows: Rows, targets: &[f64], outputs: usize) -> Result<Self, Error> {
        let count = rows.features.len();
        let rows_of_targets: Vec<Vec<f64>> = if targets.len() == count * outputs {
            targets.chunks_exact(outputs).map(<[f64]>::to_vec).collect()
        } else if targets.len() == count {
            let one_hot = |&class: &f64| (0..outputs).map(|at| f64::from(u8::from(at as f64 == class))).collect();
            targets.iter().map(one_hot).collect()
        } else {
            let found = targets.len();
            return Err(Error::Graph(format!("{found} targets for {count} predictions of width {outputs}")));
        };
        let mut kept = Rows { features: Vec::new(), origins: Vec::new() };
        let mut targets = Vec::new();
        for ((features, origins), target) in rows.features.into_iter().zip(rows.origins).zip(rows_of_targets) {
            if target.iter().all(|number| number.is_finite()) {
                kept.features.push(features);
                kept.origins.push(origins);
                targets.push(target);
            }
        }
        let sizes: f64 = targets.iter().flatten().map(|target| target.abs()).sum();
        let slack = SLACK * sizes / (targets.len() * outputs).max(1) as f64;
        Ok(Self { rows: kept, targets, outputs, slack })
    }

    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    /// The least-squares map for some rows with some of the features, 0 for the others.
    pub(super) fn fit(&self, rows: &[usize], active: &[usize]) -> Vec<f64> {
        let width = self.rows.features.first().map_or(0, Vec::len);
        let columns: Vec<Vec<f64>> =
            active.iter().map(|&at| rows.iter().map(|&row| self.rows.features[row][at]).collect()).collect();
        let mut map = vec![0.0; width * self.outputs];
        for output in 0..self.outputs {
            let target: Vec<f64> = rows.iter().map(|&row| self.targets[row][output]).collect();
            for (&at, weight) in active.iter().zip(least_squares_of_rank(&columns, &target, NEW)) {
                map[at * self.outputs + output] = weight;
            }
        }
        map
    }

    /// The same with all features.
    pub(super) fn fit_all(&self, rows: &[usize]) -> Vec<f64> {
        let width = self.rows.features.first().map_or(0, Vec::len);
        self.fit(rows, &(0..width).collect::<Vec<_>>())
    }

    /// Sum of squares of what a map misses of a row.
    pub(super) fn squares(&self, map: &[f64], row: usize) -> f64 {
        let values = apply(map, &self.rows.features[row], self.outputs);
        values.iter().zip(&self.targets[row]).map(|(value, target)| (value - target).powi(2)).sum()
    }

    /// Root of the mean squared error of a map over rows.
    pub(super) fn error(&self, map: &[f64], rows: &[usize]) -> f64 {
        let squares: f64 = rows.iter().map(|&row| self.squares(map, row)).sum();
        (squares / (rows.len() * self.outputs).max(1) as f64).sqrt()
    }

    /// Root of the mean squared error of a whole head.
    pub(super) fn error_of(&self, tree: &Tree) -> f64 {
        let rows = self.rows.features.iter().zip(&self.rows.origins).zip(&self.targets);
        let squares: f64 = rows
            .flat_map(|((features, origins), target)| {
                let values = tree.predict(features, origins);
                values.into_iter().zip(target).map(|(value, target)| (value - target).powi(2))
            })
            .sum();
        (squares / (self.len() * self.outputs).max(1) as f64).sqrt()
    }

    /// Whether a map explains a row.
    pub(super) fn explains(&self, map: &[f64], row: usize) -> bool {
        self.squares(map, row) <= self.outputs as f64 * self.slack * self.slack
    }

    /// Divides the rows among at most `count` maps, from the division of a trained head on, and gives up the maps that
    /// are not needed.
    pub(super) fn divide(&self, labels: Vec<usize>, count: usize) -> Division {
        let mut best = self.settle(labels, count);
        for seed in 0..RESTARTS {
            if best.error <= self.slack || count == 1 {
                break;
            }
            let other = self.settle(self.cuts(seed, count), count);
            if other.error < best.error {
                best = other;
            }
        }
        let mut removable: Vec<usize> = (0..best.maps.len()).rev().collect();
        while let Some(map) = removable.pop() {
            if best.maps.len() == 1 {
                break;
            }
            let mut maps = best.maps.clone();
            maps.remove(map);
            let fewer = self.settle(self.nearest(&maps), maps.len());
            if fewer.error <= (MAP_PRICE * best.error).max(self.slack) {
                best = fewer;
                removable = (0..best.maps.len()).rev().collect();
            }
        }
        best
    }

    /// Fits and reassigns until nothing changes.
    fn settle(&self, mut labels: Vec<usize>, count: usize) -> Division {
        let mut maps: Vec<Vec<f64>> = Vec::new();
        for _ in 0..ROUNDS {
            let members = |map: usize| (0..self.len()).filter(|&row| labels[row] == map).collect::<Vec<_>>();
            maps = (0..count).map(members).filter(|rows| !rows.is_empty()).map(|rows| self.fit_all(&rows)).collect();
            let next = self.nearest(&maps);
            if std::mem::replace(&mut labels, next) == labels {
                break;
            }
        }
        let squares: f64 = labels.iter().enumerate().map(|(row, &map)| self.squares(&maps[map], row)).sum();
        let error = (squares / (self.len() * self.outputs).max(1) as f64).sqrt();
        Division { maps, labels, error }
    }

    /// The map that is nearest to each row.
    fn nearest(&self, maps: &[Vec<f64>]) -> Vec<usize> {
        let nearest = |row: usize| {
            let errors = maps.iter().map(|map| self.squares(map, row)).enumerate();
            errors.min_by(|left, right| left.1.total_cmp(&right.1)).map_or(0, |(map, _)| map)
        };
        (0..self.len()).map(nearest).collect()
    }

    /// Rows by the largest of some arbitrary combinations of features.
    fn cuts(&self, seed: u64, count: usize) -> Vec<usize> {
        let mut rng = crate::InitRng::new(seed);
        let width = self.rows.features.first().map_or(0, Vec::len);
        let directions: Vec<Vec<f64>> =
            (0..count).map(|_| (0..width).map(|_| f64::from(rng.symmetric(1.0))).collect()).collect();
        let side = |features: &Vec<f64>| {
            let along = |direction: &Vec<f64>| direction.iter().zip(features).map(|(a, b)| a * b).sum::<f64>();
            let values = directions.iter().map(along).enumerate();
            values.max_by(|left, right| left.1.total_cmp(&right.1)).map_or(0, |(place, _)| place)
        };
        self.rows.features.iter().map(side).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = |x| as two maps of one feature.
    #[test]
    fn a_kink_is_two_maps() {
        /// Sums of forty numbers up to 400.
        const ROUNDING: f64 = 1e-12;
        let xs: Vec<f64> = (-20..20).map(|x| f64::from(x) + 0.5).collect();
        let rows = Rows { features: xs.iter().map(|&x| vec![x]).collect(), origins: vec![Vec::new(); xs.len()] };
        let targets: Vec<f64> = xs.iter().map(|x| x.abs()).collect();
        let evidence = Evidence::new(rows, &targets, 1).unwrap();
        let division = evidence.divide((0..xs.len()).map(|row| row % 3).collect(), 3);
        assert!(division.error < ROUNDING, "{}", division.error);
        let mut slopes: Vec<f64> = division.maps.iter().map(|map| map[0]).collect();
        slopes.sort_by(f64::total_cmp);
        assert_eq!(slopes.len(), 2);
        assert!((slopes[0] + 1.0).abs() < ROUNDING && (slopes[1] - 1.0).abs() < ROUNDING, "{slopes:?}");
    }

    #[test]
    fn rows_without_a_target_are_left_out_and_classes_are_numbers() {
        let rows = || Rows { features: vec![vec![1.0]; 3], origins: vec![Vec::new(); 3] };
        assert_eq!(Evidence::new(rows(), &[1.0, f64::NAN, 2.0], 1).unwrap().len(), 2);
        let classes = Evidence::new(rows(), &[0.0, 1.0, 1.0], 2).unwrap();
        assert_eq!(classes.targets, [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]);
        assert!(Evidence::new(rows(), &[0.0; 5], 2).is_err());
    }
}
