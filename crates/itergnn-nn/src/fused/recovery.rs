//! What is left of a batch when a value overflows.

use itergnn_kernels::block::{self as kernel, BlockConfig, BlockInputs, BlockOutput, Stops};
use itergnn_kernels::{GraphStructure, KernelError, Real};

use super::fault::{Fault, FaultLog};

/// Runs every graph of a batch alone, after the batch as a whole met a value that is not finite.
///
/// Graphs do not depend on each other, so the sound ones get the results they have in any batch. The others get NaN
/// everywhere, the iteration at which they went wrong as their number of steps, and an entry in `faults`.
///
/// # Errors
/// Any other error of the kernels.
pub(super) fn graph_by_graph<T: Real>(
    engine: kernel::Engine,
    config: &BlockConfig,
    structure: &GraphStructure,
    inputs: &BlockInputs<'_, T>,
    faults: &FaultLog,
) -> Result<BlockOutput<T>, KernelError> {
    let mut all = BlockOutput { output: Vec::new(), stops: Stops::default(), active_shares: Vec::new() };
    for graph in 0..inputs.batch.graphs() {
        let (nodes, edges) = (inputs.batch.node_range(graph), inputs.batch.edge_range(graph));
        let own = structure.select_graphs(&[graph]);
        let rows = |range: &std::ops::Range<usize>, width: usize| range.start * width..range.end * width;
        let alone = BlockInputs {
            batch: own.view(),
            node_inputs: &inputs.node_inputs[rows(&nodes, config.input_width())],
            hidden: &inputs.hidden[rows(&nodes, config.hidden_width())],
            edge_features: &inputs.edge_features[rows(&edges, config.edge_width())],
            parameters: inputs.parameters,
        };
        let output = match kernel::infer(engine, config, &alone) {
            Err(KernelError::NonFinite { iteration, .. }) => {
                faults.push(Fault::Value { graph, iteration });
                undefined(config, nodes.len(), iteration)
            }
            other => other?,
        };
        all.output.extend(output.output);
        all.stops.extend(output.stops);
        all.active_shares.extend(output.active_shares);
    }
    Ok(all)
}

fn undefined<T: Real>(config: &BlockConfig, nodes: usize, iteration: usize) -> BlockOutput<T> {
    let units = if config.node_wise() { nodes } else { 1 };
    let nan = vec![f64::NAN; units];
    BlockOutput {
        output: vec![T::from_f64(f64::NAN); nodes * config.hidden_width()],
        stops: Stops {
            confidences: nan.clone(),
            remaining: nan.clone(),
            unspent: nan,
            ..Stops::after(units, iteration)
        },
        active_shares: vec![Vec::new()],
    }
}
