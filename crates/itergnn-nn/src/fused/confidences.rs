//! The last confidence of every graph or node.

use itergnn_kernels::Real;
use itergnn_kernels::block::{BlockConfig, BlockInputs, BlockOutput};

/// The confidence of the last step of every graph (or node) of a run that was recorded; 1 for controllers that do not learn to stop, 0 for a graph that took no
/// step.
pub(super) fn last_confidences<T: Real>(
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
    output: &BlockOutput<T>,
) -> Vec<f64> {
    let Some(options) = config.iterative() else { return vec![1.0; output.iterations.len()] };
    let mut confidences = Vec::with_capacity(output.iterations.len());
    for (graph, recorded) in output.confidences.iter().enumerate() {
        let nodes = inputs.batch.node_range(graph);
        if !options.node_wise() {
            confidences.push(recorded.last().map_or(0.0, |confidence| confidence.to_f64()));
            continue;
        }
        for (node, &steps) in output.iterations[nodes.clone()].iter().enumerate() {
            let last = (steps as usize).checked_sub(1).map(|step| recorded[step * nodes.len() + node]);
            confidences.push(last.map_or(0.0, |confidence| confidence.to_f64()));
        }
    }
    confidences
}
