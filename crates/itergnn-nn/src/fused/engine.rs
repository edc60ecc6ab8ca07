//! Which engine runs a block.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::clock::KernelClock;
use super::fault::FaultLog;
use super::translation::{Unsupported, supports};
use crate::controllers::RunOptions;
use crate::{BlockConfig, Error, GraphTensors};

/// Which engine is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Fused where it covers the block, plain elsewhere.
    #[default]
    Auto,
    /// Fused, and an error where it does not cover the block.
    Fused,
    /// Plain tensor operations.
    Plain,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Fused, Self::Plain];

    /// The name in configuration files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Fused => "fused",
            Self::Plain => "plain",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let find = Self::ALL.into_iter().find(|engine| engine.name() == name);
        let names = Self::ALL.map(Self::name).join(", ");
        find.ok_or_else(|| Error::config("engine", format!("there is no engine '{name}', only {names}")))
    }
}

/// The engine that runs a block, and why if it is the slower one.
#[derive(Debug, Clone, PartialEq)]
pub enum EngineChoice {
    /// The kernels, as one operation.
    Fused,
    /// Tensor operations, step by step.
    Plain(Unsupported),
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fused => formatter.write_str("fused"),
            Self::Plain(reason) => write!(formatter, "plain ({reason})"),
        }
    }
}

/// What a run says about the engine it used.
#[derive(Debug, Clone)]
pub struct EngineUse {
    /// Which one it was.
    pub choice: EngineChoice,
    /// Values that overflowed, as far as the engine watches for them: the fused one does, at every iteration.
    pub faults: FaultLog,
    /// How long the kernels worked; stands still in a plain run.
    pub clock: KernelClock,
    /// Per graph and step, the share of nodes that had changed in the step before and so had to send again (1 at first; nodes that the kernels follow as one
    /// count as one). Only the fused engine measures it, and only for predictions; empty elsewhere.
    pub active_shares: Vec<Vec<f32>>,
}

impl EngineUse {
    /// A plain run that was called for directly.
    pub(crate) fn plain() -> Self {
        Self {
            choice: EngineChoice::Plain(Unsupported::NotWanted),
            faults: FaultLog::default(),
            clock: KernelClock::default(),
            active_shares: Vec::new(),
        }
    }
}

/// Chooses the engine for a block on a batch: the only place where that is decided.
///
/// # Errors
/// [`Error::Config`] with the reason, if [`Engine::Fused`] is asked for and cannot run the block.
///
/// # Complexity
/// O(graphs); O(nodes) for layers whose nodes without incoming edges aggregate zero.
///
/// # Example
/// ```
/// use burn::tensor::Device;
/// use itergnn_graph::{Attributes, Graph};
/// use itergnn_nn::fused::{Engine, EngineChoice, engine_for};
/// use itergnn_nn::{BlockConfig, ControllerConfig, GraphTensors, LayerConfig, LayerKind, RunOptions};
///
/// let line = Graph::undirected(2, &[[0, 1]])?
///     .with_node_attributes(Attributes::new(1, vec![1.0, 0.0]))?
///     .with_edge_attributes(Attributes::new(1, vec![1.0; 2]))?;
/// let graph = GraphTensors::from_graph(&line, &Device::flex());
/// let block = |kind| BlockConfig { layer: LayerConfig::new(kind, 1, 8, 1), controller: ControllerConfig::iter() };
/// let options = RunOptions::inference();
/// assert_eq!(engine_for(&block(LayerKind::Path), &graph, &options)?, EngineChoice::Fused);
/// let other = engine_for(&block(LayerKind::PointNet), &graph, &options)?;
/// assert_eq!(other.to_string(), "plain (the layer is point-net)");
/// assert!(engine_for(&block(LayerKind::PointNet), &graph, &options.with_engine(Engine::Fused)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn engine_for(block: &BlockConfig, graph: &GraphTensors, options: &RunOptions) -> Result<EngineChoice, Error> {
    if options.engine == Engine::Plain {
        return Ok(EngineChoice::Plain(Unsupported::NotWanted));
    }
    match supports(block, graph, options) {
        Ok(()) => Ok(EngineChoice::Fused),
        Err(reason) if options.engine == Engine::Fused => {
            Err(Error::config("engine", format!("the fused engine cannot run this block: {reason}")))
        }
        Err(reason) => Ok(EngineChoice::Plain(reason)),
    }
}
