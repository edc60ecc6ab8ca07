//! A block of which many variants are asked.

use burn::tensor::{DType, Tensor};
use itergnn_kernels::block::{self as kernel, BlockInputs, Variants};

use super::block::FusedBlock;
use super::engine::{EngineChoice, engine_for};
use super::parameters::flatten;
use crate::controllers::{Mode, RunOptions};
use crate::{Error, GraphTensors};

/// A block on one graph, recorded; `None` where [`Variants`] does not cover it or the fused engine is not chosen.
///
/// # Errors
/// As [`run`](super::run).
pub(crate) fn record(
    block: &FusedBlock<'_>,
    graph: &GraphTensors,
    hidden: Tensor<2>,
    options: &RunOptions,
    memory: u64,
) -> Result<Option<Variants<f32>>, Error> {
    let config = block.config.resolved(options.mode, options.cap);
    let is_covered = graph.graphs() == 1 && Variants::<f32>::covers(&config, graph.nodes());
    if !is_covered || hidden.dtype() != DType::F32 || engine_for(block.config, graph, options)? != EngineChoice::Fused {
        return Ok(None);
    }
    let refused = |error: itergnn_kernels::KernelError| Error::config("fused engine", error.to_string());
    let parameters = numbers(flatten(block.layers, block.confidence, &config));
    let (node_inputs, hidden) = (numbers(graph.node_attributes()), numbers(hidden));
    let edge_features = if config.edge_width() == 0 { Vec::new() } else { numbers(graph.edge_attributes()) };
    let inputs = BlockInputs {
        batch: graph.structure().view(),
        node_inputs: &node_inputs,
        hidden: &hidden,
        edge_features: &edge_features,
        parameters: &parameters,
    };
    let engine = kernel::Engine::new().map_err(refused)?;
    let memory = usize::try_from(memory).unwrap_or(usize::MAX);
    match Variants::new(engine, config, graph.structure().clone(), &inputs, memory) {
        // The ordinary way says which graph and iteration it was.
        Err(itergnn_kernels::KernelError::NonFinite { .. }) => Ok(None),
        other => other.map(Some).map_err(refused),
    }
}

/// Bytes of a record for each iteration, at most; `None` where there is none.
pub(crate) fn record_bytes(config: &kernel::BlockConfig, nodes: usize) -> Option<u64> {
    let config = config.resolved(Mode::Inference, None);
    Variants::<f32>::covers(&config, nodes).then(|| Variants::<f32>::bytes_per_step(&config, nodes))
}

/// The values of a tensor.
pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("the device gives its tensors back")
}
