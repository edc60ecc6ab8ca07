//! What goes into a run of a controller besides the graph, and what comes out.

use burn::tensor::Tensor;
use itergnn_kernels::block::Stops;

use super::{Mode, NodeWatch, Scope, Trace};
use crate::fused::{Engine, EngineUse};

/// How to run a controller.
///
/// # Example
/// ```
/// use itergnn_nn::controllers::RunOptions;
/// let options = RunOptions::inference().with_cap(5_000).with_trace();
/// assert_eq!(options.cap, Some(5_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// Training or inference.
    pub mode: Mode,
    /// Most steps of a loop (and the number of steps of a shared layer), instead of the configured one.
    pub cap: Option<usize>,
    /// Whether to record every step.
    pub trace: bool,
    /// What a recorded step keeps of every node, if anything. Wave and one-tree models keep nothing.
    pub watch: Option<NodeWatch>,
    /// Seed of what a training pass draws (dropout); give every pass its own.
    pub seed: u64,
    /// Which engine runs the blocks.
    pub engine: Engine,
}

impl RunOptions {
    /// For a forward pass that will be differentiated.
    pub fn training() -> Self {
        Self { mode: Mode::Training, cap: None, trace: false, watch: None, seed: 0, engine: Engine::Auto }
    }

    /// For predictions.
    pub fn inference() -> Self {
        Self { mode: Mode::Inference, cap: None, trace: false, watch: None, seed: 0, engine: Engine::Auto }
    }

    /// With at most `cap` steps.
    #[must_use]
    pub fn with_cap(mut self, cap: usize) -> Self {
        self.cap = Some(cap);
        self
    }

    /// With this seed for what the pass draws.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// With this engine.
    #[must_use]
    pub fn with_engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// With a record of every step.
    #[must_use]
    pub fn with_trace(mut self) -> Self {
        self.trace = true;
        self
    }

    /// With a record of every step and of the nodes in it.
    #[must_use]
    pub fn with_watch(mut self, watch: NodeWatch) -> Self {
        self.watch = Some(watch);
        self.with_trace()
    }
}

/// What a controller computed.
///
/// `stops` have one entry per graph or one per node, as `scope` says.
#[derive(Debug, Clone)]
pub struct ControllerOutput {
    /// The new hidden state, `[nodes, hidden]`.
    pub hidden: Tensor<2>,
    /// What stops: graphs or nodes.
    pub scope: Scope,
    /// When every graph or node stopped.
    pub stops: Stops,
    /// What the controller adds to the loss: unspent probability (`settle`) or ponder cost (`act`), averaged over
    /// graphs or nodes.
    pub auxiliary_loss: Option<Tensor<1>>,
    /// Every step, if asked for.
    pub trace: Option<Trace>,
    /// Which engine ran, and what went wrong in it.
    pub engine: EngineUse,
}
