//! The plainest way to compute a block: loops over edges and channels, every intermediate value kept, any float.
//!
//! It shares with the fused engine only the contract and the scalar formulas of the controller, and is itself tested
//! against finite differences.

mod convolution;
mod graph;
mod layer;
mod softmax;

use super::batch::{BlockInputs, expect_length};
use super::config::BlockConfig;
use super::output::{BlockGradients, BlockOutput, OutputGradients};
use super::parameters::ParameterLayout;
use super::stops::Stops;
use crate::error::KernelError;
use crate::real::Real;
use graph::GraphRun;

/// What [`forward`] keeps for [`backward`].
#[derive(Debug, Clone)]
pub struct ReferenceTape<T> {
    graphs: Vec<GraphRun<T>>,
}

/// Runs a block.
///
/// # Errors
/// As the fused [`forward`](super::forward).
pub fn forward<T: Real>(
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
) -> Result<(BlockOutput<T>, ReferenceTape<T>), KernelError> {
    inputs.validate(config)?;
    let layout = ParameterLayout::new(config);
    let (mut output, mut stops, mut graphs) = (Vec::new(), Stops::default(), Vec::new());
    for graph in 0..inputs.batch.graphs() {
        let run = GraphRun::forward(config, &layout, inputs, graph)?;
        let (values, units) = run.results(config);
        output.extend(values);
        stops.extend(units);
        graphs.push(run);
    }
    Ok((BlockOutput { output, stops, active_shares: Vec::new() }, ReferenceTape { graphs }))
}

/// All gradients of a block, those of node inputs and edge features included.
///
/// # Errors
/// [`KernelError::Length`] when a gradient has the wrong length.
pub fn backward<T: Real>(
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
    tape: &ReferenceTape<T>,
    gradients: &OutputGradients<'_, T>,
) -> Result<BlockGradients<T>, KernelError> {
    gradients.validate(config, &inputs.batch)?;
    expect_length("tape", &tape.graphs, inputs.batch.graphs())?;
    let layout = ParameterLayout::new(config);
    let mut result = BlockGradients {
        parameters: vec![T::ZERO; layout.len()],
        hidden: vec![T::ZERO; inputs.hidden.len()],
        node_inputs: vec![T::ZERO; inputs.node_inputs.len()],
        edge_features: vec![T::ZERO; inputs.edge_features.len()],
    };
    for (graph, run) in tape.graphs.iter().enumerate() {
        run.backward(config, &layout, inputs, graph, gradients, &mut result);
    }
    Ok(result)
}
