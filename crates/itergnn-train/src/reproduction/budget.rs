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
}

impl Budget {
    /// Everything once in under 20 minutes on two cores.
    pub fn quick() -> Self {
        Self { quick: true, seeds: vec![0], samples: 1_000, validation: 100, epochs: 2 }
    }

    /// The paper's samples, 20 epochs, three seeds.
    pub fn full() -> Self {
        Self { quick: false, seeds: vec![0, 1, 2], samples: 10_000, validation: 1_000, epochs: 20 }
    }

    /// The number of test graphs: `full` of them, or a tenth in the short version, at least two.
    pub(super) fn graphs(&self, full: u64) -> u64 {
        if self.quick { (full / 10).max(2) } else { full }
    }
}
