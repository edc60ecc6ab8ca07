//! Stratified cross-validation.

use itergnn_graph::rng;
use rand::{Rng, RngExt};

use crate::{Task, TaskError};

/// A partition of samples into folds in which every class is spread evenly.
///
/// The samples of each class are shuffled and dealt to the folds in turn, each class going on where the one before
/// ended. So the folds differ by at most one in size, and by at most one in the number of samples of any class.
///
/// The GIN paper's code takes scikit-learn's `StratifiedKFold(shuffle, seed)`, which spreads classes equally evenly but
/// draws other samples for each fold, so single folds differ from theirs and only the mean over folds compares. Folds
/// from files can be given by [`Folds::from_tests`].
///
/// # Example
/// ```
/// use itergnn_tasks::graph_classification::Folds;
/// let folds = Folds::stratified(&[0, 0, 0, 0, 1, 1, 1, 1], 4, 0)?;
/// assert_eq!((folds.test(2).len(), folds.train(2).len()), (2, 6));
/// # Ok::<(), itergnn_tasks::TaskError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    samples: usize,
    tests: Vec<Vec<u32>>,
}

impl Folds {
    /// Deals samples with these classes to folds.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for fewer than two folds or more folds than samples.
    pub fn stratified(classes: &[u32], folds: usize, seed: u64) -> Result<Self, TaskError> {
        if folds < 2 || folds > classes.len() {
            let why = format!("cannot be made of {} samples", classes.len());
            return Err(TaskError::Setting { task: Task::GraphClassification, what: format!("{folds} folds"), why });
        }
        let mut rng = rng::seeded(seed);
        let mut order: Vec<u32> = (0..classes.len() as u32).collect();
        shuffle(&mut order, &mut rng);
        // Stable, so that within a class the shuffled order stays.
        order.sort_by_key(|&sample| classes[sample as usize]);
        let mut tests = vec![Vec::new(); folds];
        for (turn, sample) in order.into_iter().enumerate() {
            tests[turn % folds].push(sample);
        }
        for test in &mut tests {
            test.sort_unstable();
        }
        Ok(Self { samples: classes.len(), tests })
    }

    /// Folds from lists of test samples, as the index files of the published sets hold them.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if a sample does not exist or is tested twice. Samples that are never tested are allowed:
    /// the published files leave a few over.
    pub fn from_tests(samples: usize, tests: Vec<Vec<u32>>) -> Result<Self, TaskError> {
        let mut seen = vec![false; samples];
        for &sample in tests.iter().flatten() {
            let why = match seen.get_mut(sample as usize) {
                None => format!("does not exist among {samples}"),
                Some(true) => "is tested twice".to_owned(),
                Some(fresh) => {
                    *fresh = true;
                    continue;
                }
            };
            return Err(TaskError::Setting { task: Task::GraphClassification, what: format!("sample {sample}"), why });
        }
        Ok(Self { samples, tests })
    }

    /// How many folds there are.
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Whether there are no folds.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// The samples that a fold tests.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn test(&self, fold: usize) -> &[u32] {
        &self.tests[fold]
    }

    /// The samples that a fold trains on: all that it does not test, ascending.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn train(&self, fold: usize) -> Vec<u32> {
        let mut tested = vec![false; self.samples];
        for &sample in &self.tests[fold] {
            tested[sample as usize] = true;
        }
        (0..self.samples as u32).filter(|&sample| !tested[sample as usize]).collect()
    }
}

/// Fisher-Yates, with draws that do not depend on the platform's word size.
fn shuffle(list: &mut [u32], rng: &mut impl Rng) {
    for end in (1..list.len()).rev() {
        let other = rng.random_range(0..=end as u32);
        list.swap(end, other as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_a_partition_and_spread_every_class() {
        let classes: Vec<u32> =
            (0..188).map(|sample| if sample % 3 == 0 { 1 } else { (sample % 7 == 0) as u32 * 2 }).collect();
        let folds = Folds::stratified(&classes, 10, 4).unwrap();
        let mut tested: Vec<u32> = (0..10).flat_map(|fold| folds.test(fold).to_vec()).collect();
        tested.sort_unstable();
        assert_eq!(tested, (0..188).collect::<Vec<_>>());
        for class in 0..3 {
            let counts: Vec<usize> = (0..10)
                .map(|fold| folds.test(fold).iter().filter(|&&sample| classes[sample as usize] == class).count())
                .collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
        for fold in 0..10 {
            assert!((18..=19).contains(&folds.test(fold).len()));
            let mut all = folds.train(fold);
            all.extend_from_slice(folds.test(fold));
            all.sort_unstable();
            assert_eq!(all, (0..188).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_seed_decides() {
        let classes = vec![0; 50];
        let folds = |seed| Folds::stratified(&classes, 10, seed).unwrap();
        assert_eq!(folds(1), folds(1));
        assert_ne!(folds(1), folds(2));
    }

    #[test]
    fn bad_folds_are_refused() {
        assert!(Folds::stratified(&[0, 1], 3, 0).is_err());
        assert!(Folds::stratified(&[0, 1], 1, 0).is_err());
        assert!(Folds::from_tests(3, vec![vec![0], vec![3]]).is_err());
        assert!(Folds::from_tests(3, vec![vec![0], vec![0]]).is_err());
        assert_eq!(Folds::from_tests(3, vec![vec![0], vec![1]]).unwrap().train(0), [1, 2]);
    }
}
