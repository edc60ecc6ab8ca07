//! From the modules of a block to what its controller returns.

use burn::nn::Linear;
use burn::tensor::Tensor;

use super::call::{BlockCall, Outcome};
use super::engine::{EngineChoice, EngineUse};
use super::operation::fused_block;
use super::parameters::flatten;
use crate::controllers::{ControllerOutput, RunOptions, Scope};
use crate::{BlockConfig, Error, GraphTensors, Layer};

/// The modules of a controller block.
pub(crate) struct FusedBlock<'a> {
    /// What they were made of.
    pub(crate) config: &'a BlockConfig,
    /// The layers with weights of their own, in order.
    pub(crate) layers: &'a [Layer],
    /// The linear map of the confidence, if the controller learns to stop.
    pub(crate) confidence: Option<&'a Linear>,
}

/// Runs a block with the fused engine; [`engine_for`](super::engine_for) must have chosen it.
///
/// # Shapes
/// `input` is `[nodes, input]`, `hidden` and the output's state `[nodes, hidden]`.
///
/// # Errors
/// [`Error::Config`] with what the kernels refuse, such as an instruction set that the environment asks for and the
/// processor lacks.
pub(crate) fn run(
    block: &FusedBlock<'_>,
    graph: &GraphTensors,
    input: Tensor<2>,
    hidden: Tensor<2>,
    options: &RunOptions,
) -> Result<ControllerOutput, Error> {
    let refused = |problem: String| Error::config("fused engine", problem);
    let config = block.config.resolved(options.mode, options.cap);
    let parameters = flatten(block.layers, block.confidence, &config);
    let call = BlockCall::new(config, graph.structure().clone()).map_err(|error| refused(error.to_string()))?;
    let shape = hidden.shape();
    let values = fused_block(input, hidden, graph.edge_attributes(), parameters, call.clone());
    let outcome = call.outcome().map_err(|error| refused(error.to_string()))?;

    let states = call.state_values();
    let unspent = values.dims()[0] - states;
    let mut hidden = values.clone();
    let mut auxiliary_loss = None;
    if unspent > 0 {
        hidden = hidden.narrow(0, 0, states);
        let charged = || values.narrow(0, states, unspent).sum();
        auxiliary_loss = price(&config, &outcome).map(|price| charged().mul_scalar(price));
    }
    Ok(ControllerOutput {
        hidden: hidden.reshape(shape),
        scope: if config.node_wise() { Scope::Node } else { Scope::Graph },
        stops: outcome.stops,
        auxiliary_loss,
        trace: None,
        engine: EngineUse {
            choice: EngineChoice::Fused,
            faults: call.faults(),
            clock: call.clock(),
            active_shares: outcome.active_shares,
        },
    })
}

/// What a unit of unspent probability costs, averaged over graphs (or nodes); `None` if no graph reached the cap.
fn price(config: &BlockConfig, outcome: &Outcome) -> Option<f64> {
    let reached = outcome.stops.steps.contains(&config.max_iterations());
    reached.then_some(config.iterative()?.settle? / outcome.stops.steps.len().max(1) as f64)
}
