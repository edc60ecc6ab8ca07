//! Stratified cross-validation.

use super::legacy_shuffle::LegacyRandomState;
use crate::{Task, TaskError};

/// A partition of samples into folds in which every class is spread evenly.
///
/// The folds differ by at most one in size, and by at most one in the number of samples of any class.
///
/// [`Folds::stratified`] repeats scikit-learn's `StratifiedKFold(folds, shuffle=True, random_state=seed)`, which the
/// GIN paper's code calls, sample for sample (`reference/folds` holds scikit-learn's own for comparison). Versions of
/// it before 0.22 (2019) dealt differently, so the folds of the paper itself, made with an older one, are others. Folds
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
    /// Classes are taken in the order of their first sample. If all samples stood sorted by class, fold `f` would get
    /// every `folds`-th of them from number `f` on; that fixes how many of each class it tests. Which ones is decided
    /// by shuffling, for each class, the list of the folds its samples go to.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for fewer than two folds, more folds than samples, or a seed beyond 32 bits, which
    /// numpy's generator does not take.
    pub fn stratified(classes: &[u32], folds: usize, seed: u64) -> Result<Self, TaskError> {
        let refused = |what, why| TaskError::Setting { task: Task::GraphClassification, what, why };
        if folds < 2 || folds > classes.len() {
            let why = format!("cannot be made of {} samples", classes.len());
            return Err(refused(format!("{folds} folds"), why));
        }
        let Ok(seed) = u32::try_from(seed) else {
            return Err(refused(format!("fold seed {seed}"), "is more than 32 bits hold".to_owned()));
        };
        let mut random = LegacyRandomState::new(seed);
        let mut tests = vec![Vec::new(); folds];
        let mut dealt = 0;
        for class in in_order_of_appearance(classes) {
            let members = (0..classes.len() as u32).filter(|&sample| classes[sample as usize] == class);
            let count = members.clone().count();
            let mut fold_of_member: Vec<usize> = (dealt..dealt + count).map(|turn| turn % folds).collect();
            // numpy shuffles the ascending list.
            fold_of_member.sort_unstable();
            random.shuffle(&mut fold_of_member);
            for (sample, fold) in members.zip(fold_of_member) {
                tests[fold].push(sample);
            }
            dealt += count;
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

fn in_order_of_appearance(classes: &[u32]) -> Vec<u32> {
    let mut order = Vec::new();
    for &class in classes {
        if !order.contains(&class) {
            order.push(class);
        }
    }
    order
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
    fn folds_are_those_of_scikit_learn() {
        #[derive(serde::Deserialize)]
        struct Case {
            classes: Vec<u32>,
            folds: usize,
            seed: u64,
            tests: Vec<Vec<u32>>,
        }
        let text = include_str!("../../../../reference/folds/values.json");
        let cases: Vec<Case> = serde_json::from_str(text).unwrap();
        assert!(cases.len() >= 8);
        for case in cases {
            let ours = Folds::stratified(&case.classes, case.folds, case.seed).unwrap();
            assert_eq!(ours.tests, case.tests, "{} folds of {}, seed {}", case.folds, case.classes.len(), case.seed);
        }
    }

    #[test]
    fn bad_folds_are_refused() {
        assert!(Folds::stratified(&[0, 1], 3, 0).is_err());
        assert!(Folds::stratified(&[0, 1], 1, 0).is_err());
        assert!(Folds::stratified(&[0, 1], 2, 1 << 32).is_err());
        assert!(Folds::from_tests(3, vec![vec![0], vec![3]]).is_err());
        assert!(Folds::from_tests(3, vec![vec![0], vec![0]]).is_err());
        assert_eq!(Folds::from_tests(3, vec![vec![0], vec![1]]).unwrap().train(0), [1, 2]);
    }
}
