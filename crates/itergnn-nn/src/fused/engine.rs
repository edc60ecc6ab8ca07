//! Which engine runs a block.

use std::fmt;

use burn::tensor::{DType, Device};
use itergnn_kernels::settings::Isolated;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

use super::clock::KernelClock;
use super::fault::FaultLog;
use crate::controllers::RunOptions;
use crate::{BlockConfig, Error, GraphTensors};

/// Which engine is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Display, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Engine {
    /// Fused where it covers the block, plain elsewhere.
    #[default]
    Auto,
    /// Fused, and an error where it does not cover the block.
    Fused,
    /// Plain tensor operations.
    Plain,
}

/// Why the fused engine does not run a block.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The plain engine was asked for.
    #[error("it was asked for")]
    NotWanted,
    /// The tensors live elsewhere.
    #[error("the tensors are not on the CPU")]
    Device,
    /// The kernels compute in `f32` and `f64`.
    #[error("the tensors hold {0:?}")]
    FloatType(DType),
    /// A record of every step was asked for.
    #[error("a trace is recorded")]
    Trace,
    /// No graph or no step.
    #[error("there is nothing to compute")]
    Nothing,
    /// Nodes without incoming edges aggregate zero, and there are such nodes.
    #[error("nodes without incoming edges aggregate zero")]
    Isolated,
    /// Settings that the kernels do not cover; see [`BlockConfig::uncovered`].
    #[error("{0}")]
    Block(String),
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
    /// Per graph and step, the share of nodes that had changed in the step before and so had to send again (1 at first;
    /// nodes that the kernels follow as one count as one). Only the fused engine measures it, and only for predictions;
    /// empty elsewhere.
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
    let reason = || {
        if let Some(reason) = block.uncovered() {
            return Some(Unsupported::Block(reason));
        }
        if block.controller.most_steps(options.mode, options.cap) == 0 {
            return Some(Unsupported::Nothing);
        }
        let isolated = || graph.incoming().iter().any(|edges| edges.is_empty());
        let refuses = !block.is_convolution() && block.layer.isolated == Isolated::Zero;
        (refuses && isolated()).then_some(Unsupported::Isolated)
    };
    choose(reason, graph, options)
}

/// Chooses the engine for modules on a batch; `uncovered` says why the kernels do not cover them, if they do not.
///
/// # Errors
/// As [`engine_for`].
pub(crate) fn choose(
    uncovered: impl FnOnce() -> Option<Unsupported>,
    graph: &GraphTensors,
    options: &RunOptions,
) -> Result<EngineChoice, Error> {
    if options.engine == Engine::Plain {
        return Ok(EngineChoice::Plain(Unsupported::NotWanted));
    }
    let float = graph.node_attributes().dtype();
    let reason = if graph.device() != Device::flex() {
        Some(Unsupported::Device)
    } else if !matches!(float, DType::F32 | DType::F64) {
        Some(Unsupported::FloatType(float))
    } else if options.trace {
        Some(Unsupported::Trace)
    } else if graph.graphs() == 0 {
        Some(Unsupported::Nothing)
    } else {
        uncovered()
    };
    match reason {
        None => Ok(EngineChoice::Fused),
        Some(reason) if options.engine == Engine::Fused => {
            Err(Error::config("engine", format!("the fused engine cannot run this block: {reason}")))
        }
        Some(reason) => Ok(EngineChoice::Plain(reason)),
    }
}
