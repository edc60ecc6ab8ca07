//! How to evaluate.

use itergnn_nn::fused::Engine;

/// Settings of an evaluation that do not belong to the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvalOptions {
    /// Whether to walk from source to target by predicted lengths, by every
    /// [`WalkRule`](itergnn_tasks::shortest_path::WalkRule), and count shortest paths.
    pub success: bool,
    /// Whether to keep a record of every sample.
    pub records: bool,
    /// Most iterations of a loop; `None` leaves only the safety cap, which is reported when it is reached.
    pub cap: Option<usize>,
    /// Which engine runs the blocks.
    pub engine: Engine,
    /// Memory that batches may take together, in bytes.
    pub memory: u64,
}

impl Default for EvalOptions {
    fn default() -> Self {
        Self { success: false, records: false, cap: None, engine: Engine::Auto, memory: 1 << 29 }
    }
}

/// How far an evaluation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvalProgress {
    /// Samples that are judged.
    pub judged: u64,
    /// Samples of the current part whose walk goes on.
    pub walking: u64,
    /// All samples.
    pub total: u64,
}
