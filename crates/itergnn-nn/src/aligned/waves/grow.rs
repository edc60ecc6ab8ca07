//! The tree that tells where each map holds.

use super::experts::{Division, Evidence};
use super::tree::Tree;

/// A tree while it is searched.
#[derive(Debug, Clone)]
enum Branch {
    Leaf { rows: Vec<usize>, map: usize },
    Test { weights: Vec<f64>, sides: Box<[Branch; 2]> },
}

struct Search<'a> {
    evidence: &'a Evidence,
    division: &'a Division,
    /// For every row and map whether the map explains the row.
    explained: Vec<Vec<bool>>,
}

/// A head, and the rows at each of its leaves.
pub(super) struct Grown {
    pub(super) tree: Tree,
    pub(super) leaves: Vec<Vec<usize>>,
}

impl Evidence {
    /// The smallest tree of at most `depth` levels whose leaves each hold rows that one map explains; the one with the
    /// fewest misses if there is none.
    ///
    /// The search is exhaustive over its tests: is the row an origin of wave c; which of two maps, fitted to the rows
    /// at hand, gives more.
    ///
    /// # Complexity
    /// Time like the number of tests to the power of `depth`, times a least-squares fit.
    pub(super) fn grow(&self, division: &Division, depth: usize) -> Grown {
        let explained = |row: usize| {
            let own = division.labels[row];
            // A map is the right one for the rows it was fitted to even where it is not exact.
            let right = |map: usize| map == own || self.explains(&division.maps[map], row);
            (0..division.maps.len()).map(right).collect()
        };
        let search = Search { evidence: self, division, explained: (0..self.len()).map(explained).collect() };
        let all: Vec<usize> = (0..self.len()).collect();
        let mut best = search.leaf(all.clone());
        for levels in 1..=depth {
            if best.0 == 0 {
                break;
            }
            best = search.branch(&all, levels);
        }
        let (features, channels) =
            (self.rows.features.first().map_or(0, Vec::len), self.rows.origins.first().map_or(0, Vec::len));
        let leaves = 1_usize << depth;
        let mut grown = Grown {
            tree: Tree {
                depth,
                outputs: self.outputs,
                tests: vec![vec![0.0; features + channels]; (leaves - 1).max(1)],
                maps: vec![vec![0.0; features * self.outputs]; leaves],
            },
            leaves: vec![Vec::new(); leaves],
        };
        grown.place(best.1, 0, division);
        grown
    }
}

impl Grown {
    /// Writes a branch into the complete tree; a leaf above the bottom is the leftmost below it, since a test of zeros
    /// goes left.
    fn place(&mut self, branch: Branch, at: usize, division: &Division) {
        match branch {
            Branch::Test { weights, sides } => {
                self.tree.tests[at] = weights;
                let [left, right] = *sides;
                self.place(left, 2 * at + 1, division);
                self.place(right, 2 * at + 2, division);
            }
            Branch::Leaf { rows, map } => {
                let mut bottom = at;
                while bottom + 1 < self.tree.maps.len() {
                    bottom = 2 * bottom + 1;
                }
                let leaf = bottom + 1 - self.tree.maps.len();
                self.tree.maps[leaf] = division.maps[map].clone();
                self.leaves[leaf] = rows;
            }
        }
    }
}

impl Search<'_> {
    /// The map that explains most of the rows, and how many it does not.
    fn leaf(&self, rows: Vec<usize>) -> (usize, Branch) {
        let missed = |map: usize| rows.iter().filter(|&&row| !self.explained[row][map]).count();
        let best = (0..self.division.maps.len()).map(|map| (missed(map), map)).min().unwrap_or((0, 0));
        (best.0, Branch::Leaf { rows, map: best.1 })
    }

    fn branch(&self, rows: &[usize], levels: usize) -> (usize, Branch) {
        let mut best = self.leaf(rows.to_vec());
        if levels == 0 || best.0 == 0 {
            return best;
        }
        for weights in self.tests(rows) {
            let (right, left): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| self.passes(&weights, row));
            if left.is_empty() || right.is_empty() {
                continue;
            }
            let (left, right) = (self.branch(&left, levels - 1), self.branch(&right, levels - 1));
            if left.0 + right.0 < best.0 {
                best = (left.0 + right.0, Branch::Test { weights, sides: Box::new([left.1, right.1]) });
            }
            if best.0 == 0 {
                break;
            }
        }
        best
    }

    fn passes(&self, weights: &[f64], row: usize) -> bool {
        let values = self.evidence.rows.features[row].iter().chain(&self.evidence.rows.origins[row]);
        weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f64>() > 0.0
    }

    /// What may be asked about these rows.
    fn tests(&self, rows: &[usize]) -> Vec<Vec<f64>> {
        let evidence = self.evidence;
        let (features, channels) = (evidence.rows.features[0].len(), evidence.rows.origins[0].len());
        let mut tests = Vec::new();
        for channel in 0..channels {
            let mut weights = vec![0.0; features + channels];
            weights[features + channel] = 1.0;
            tests.push(weights);
        }
        let members = |map: usize| rows.iter().copied().filter(move |&row| self.division.labels[row] == map);
        let maps: Vec<Vec<f64>> = (0..self.division.maps.len())
            .map(|map| members(map).collect::<Vec<_>>())
            .filter(|rows| !rows.is_empty())
            .map(|rows| evidence.fit_all(&rows))
            .collect();
        for (place, first) in maps.iter().enumerate() {
            for second in &maps[..place] {
                for output in 0..evidence.outputs {
                    let difference = first.iter().zip(second).skip(output).step_by(evidence.outputs);
                    let mut weights: Vec<f64> = difference.map(|(first, second)| first - second).collect();
                    let largest = weights.iter().fold(0.0_f64, |largest, weight| largest.max(weight.abs()));
                    if largest > 0.0 {
                        weights.iter_mut().for_each(|weight| *weight /= largest);
                        weights.resize(features + channels, 0.0);
                        tests.push(weights);
                    }
                }
            }
        }
        tests
    }
}

#[cfg(test)]
mod tests {
    use super::super::features::Rows;
    use super::*;

    /// Origins follow `x - a` where it is positive and else 0; the others `2 x`.
    fn evidence() -> Evidence {
        let mut rows = Rows { features: Vec::new(), origins: Vec::new() };
        let mut targets = Vec::new();
        for index in 0..200 {
            let (x, a, origin) = (f64::from(index * 7 % 41), f64::from(index * 5 % 37), f64::from(index % 2));
            rows.features.push(vec![x, a]);
            rows.origins.push(vec![1.0, origin]);
            targets.push(if origin == 0.0 { 2.0 * x } else { (x - a).max(0.0) });
        }
        Evidence::new(rows, &targets, 1).unwrap()
    }

    #[test]
    fn regions_of_origins_and_of_kinks_are_found() {
        let evidence = evidence();
        let labels = evidence.rows.features.iter().zip(&evidence.rows.origins);
        let labels = labels.map(|(f, o)| if o[1] == 0.0 { 0 } else { 1 + usize::from(f[0] > f[1]) }).collect();
        let division = evidence.divide(labels, 4);
        assert_eq!(division.maps.len(), 3);
        let grown = evidence.grow(&division, 2);
        assert_eq!(grown.leaves.iter().map(Vec::len).sum::<usize>(), evidence.len());
        assert!(evidence.error_of(&grown.tree) < 1e-9);
        // One level is one too few.
        assert!(evidence.error_of(&evidence.grow(&division, 1).tree) > 1.0);
    }
}
