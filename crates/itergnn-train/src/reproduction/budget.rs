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
    /// Epochs of the paper's models.
    pub epochs: u64,
    /// Most training samples of our own models, whose recipe is short in any case.
    pub own_samples: u64,
    /// Most epochs of our own models.
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
            own_samples: RECIPE,
            own_epochs: RECIPE,
        }
    }

    /// The paper's samples, 20 epochs, three seeds.
    pub fn full() -> Self {
        Self {
            quick: false,
            seeds: vec![0, 1, 2],
            samples: 10_000,
            validation: 1_000,
            epochs: 20,
            own_samples: RECIPE,
            own_epochs: RECIPE,
        }
    }

    /// The same with other trainings: these many samples and epochs, ours included where that is less than their recipe.
    #[must_use]
    pub fn with_training(mut self, samples: Option<u64>, epochs: Option<u64>) -> Self {
        self.samples = samples.unwrap_or(self.samples);
        self.epochs = epochs.unwrap_or(self.epochs);
        self.own_samples = samples.unwrap_or(self.own_samples);
        self.own_epochs = epochs.unwrap_or(self.own_epochs);
        self
    }

    /// The number of test graphs: `full` of them, or a tenth in the short version, at least two.
    pub(super) fn graphs(&self, full: u64) -> u64 {
        if self.quick { (full / 10).max(2) } else { full }
    }
}
