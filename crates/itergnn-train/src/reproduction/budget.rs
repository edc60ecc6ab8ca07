//! How much a reproduction spends.

/// Samples, epochs, seeds and test graphs of a reproduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Whether this is the short version, which shows that everything runs and roughly where it ends.
    pub quick: bool,
    /// Seeds of every training.
    pub seeds: Vec<u64>,
    /// Training samples of the paper's models.
    pub samples: u64,
    /// Validation samples.
    pub validation: u64,
    /// Epochs of the paper's models of a fixed depth.
    pub epochs: u64,
    /// Epochs of the paper's models that learn when to stop, which takes longer.
    pub iterated_epochs: u64,
    /// Most training samples of task-aligned families, whose recipe is short in any case.
    pub own_samples: u64,
    /// Most epochs of task-aligned families.
    pub own_epochs: u64,
}

/// No limit but the recipe's own.
const RECIPE: u64 = u64::MAX;

impl Budget {
    /// Everything once, small.
    pub fn quick() -> Self {
        Self {
            quick: true,
            seeds: vec![0],
            samples: 1_000,
            validation: 100,
            epochs: 2,
            iterated_epochs: 2,
            own_samples: RECIPE,
            own_epochs: RECIPE,
        }
    }

    /// What is compared with the paper: 100,000 samples as in the authors' code, 65,625 steps for networks of a fixed
    /// depth and 200,000 for those that learn when to stop, three seeds.
    pub fn full() -> Self {
        Self {
            quick: false,
            seeds: vec![0, 1, 2],
            samples: 100_000,
            validation: 1_000,
            epochs: 21,
            iterated_epochs: 64,
            own_samples: RECIPE,
            own_epochs: RECIPE,
        }
    }

    /// The same with other trainings: these many samples and epochs, also of task-aligned families where that is less
    /// than their recipe.
    #[must_use]
    pub fn with_training(mut self, samples: Option<u64>, epochs: Option<u64>) -> Self {
        self.samples = samples.unwrap_or(self.samples);
        self.epochs = epochs.unwrap_or(self.epochs);
        self.iterated_epochs = epochs.unwrap_or(self.iterated_epochs);
        self.own_samples = samples.unwrap_or(self.own_samples);
        self.own_epochs = epochs.unwrap_or(self.own_epochs);
        self
    }

    /// The number of test graphs: `full` of them, or a tenth in the short version, at least two.
    pub(super) fn graphs(&self, full: u64) -> u64 {
        if self.quick { (full / 10).max(2) } else { full }
    }
}
