//! What is left of a batch when a value overflows.

use itergnn_kernels::block::{self as kernel, BatchView, BlockConfig, BlockInputs, Inference};
use itergnn_kernels::{KernelError, Real};

use super::fault::{Fault, FaultLog};

/// Runs every graph of a batch alone, after the batch as a whole met a value that is not finite.
///
/// Graphs do not depend on each other, so the sound ones get the results they have in any batch. The others get NaN everywhere, the iteration at which they
/// went wrong as their number of steps, and an entry in `faults`.
///
/// # Errors
/// Any other error of the kernels.
pub(super) fn graph_by_graph<T: Real>(
    engine: kernel::Engine,
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
    faults: &FaultLog,
) -> Result<Inference<T>, KernelError> {
    let mut all = Inference {
        output: Vec::with_capacity(inputs.hidden.len()),
        last_hidden: Vec::new(),
        iterations: Vec::new(),
        remaining: Vec::new(),
        unspent: Vec::new(),
        capped: Vec::new(),
        last_confidences: Vec::new(),
        active_shares: Vec::new(),
    };
    for graph in 0..inputs.batch.graphs() {
        let output = match run_alone(engine, config, inputs, graph) {
            Ok(output) => output,
            Err(KernelError::NonFinite { iteration, .. }) => {
                faults.push(Fault::Value { graph, iteration });
                undefined(config, inputs.batch.node_range(graph).len(), iteration)
            }
            Err(other) => return Err(other),
        };
        all.output.extend(output.output);
        all.iterations.extend(output.iterations);
        all.remaining.extend(output.remaining);
        all.unspent.extend(output.unspent);
        all.capped.extend(output.capped);
        all.last_confidences.extend(output.last_confidences);
        all.active_shares.extend(output.active_shares);
    }
    Ok(all)
}

fn run_alone<T: Real>(
    engine: kernel::Engine,
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
    graph: usize,
) -> Result<Inference<T>, KernelError> {
    let (nodes, edges) = (inputs.batch.node_range(graph), inputs.batch.edge_range(graph));
    let from = |values: &[u32], first: usize| values.iter().map(|&value| value - first as u32).collect::<Vec<_>>();
    let senders = from(&inputs.batch.senders[edges.clone()], nodes.start);
    let receiver_offsets = from(&inputs.batch.receiver_offsets[nodes.start..=nodes.end], edges.start);
    let batch = BatchView {
        node_offsets: &[0, nodes.len() as u32],
        edge_offsets: &[0, edges.len() as u32],
        senders: &senders,
        receiver_offsets: &receiver_offsets,
    };
    let alone = BlockInputs {
        batch,
        node_inputs: &inputs.node_inputs[nodes.start * config.input_width()..nodes.end * config.input_width()],
        hidden: &inputs.hidden[nodes.start * config.hidden_width()..nodes.end * config.hidden_width()],
        edge_features: &inputs.edge_features[edges.start * config.edge_width()..edges.end * config.edge_width()],
        parameters: inputs.parameters,
    };
    kernel::infer(engine, config, &alone)
}

fn undefined<T: Real>(config: &BlockConfig, nodes: usize, iteration: usize) -> Inference<T> {
    let nan = T::from_f64(f64::NAN);
    let units = if config.node_wise() { nodes } else { 1 };
    Inference {
        output: vec![nan; nodes * config.hidden_width()],
        last_hidden: Vec::new(),
        iterations: vec![iteration as u32; units],
        remaining: vec![nan; units],
        unspent: vec![nan; units],
        capped: vec![false; units],
        last_confidences: vec![nan; units],
        active_shares: vec![Vec::new()],
    }
}
