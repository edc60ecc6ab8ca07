//! The last confidence of every graph or node.

use itergnn_kernels::Real;
use itergnn_kernels::block::{
    BlockConfig, BlockInputs, BlockOutput, ConfidenceReadout, Iterative, ParameterKind, ParameterLayout,
};

/// The confidence of the last step of every graph (or node); 1 for controllers that do not learn to stop.
///
/// A run for predictions keeps no history. Then the confidence is computed again from the last state, which is that of the last step of a graph; of a node
/// that was done before its graph nothing is left, and its confidence is NaN.
pub(super) fn last_confidences<T: Real>(
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
    output: &BlockOutput<T>,
) -> Vec<f64> {
    let Some(options) = config.iterative() else { return vec![1.0; output.iterations.len()] };
    let again = Again::new(config, options, inputs.parameters);
    let mut confidences = Vec::with_capacity(output.iterations.len());
    for graph in 0..inputs.batch.graphs() {
        let nodes = inputs.batch.node_range(graph);
        let recorded = &output.confidences[graph];
        let states = &output.last_hidden[nodes.start * config.hidden_width..nodes.end * config.hidden_width];
        if !options.node_wise {
            let recorded = recorded.last().map(|confidence| confidence.to_f64());
            confidences.push(recorded.unwrap_or_else(|| again.of_graph(states)));
            continue;
        }
        let steps = &output.iterations[nodes.clone()];
        let most = steps.iter().copied().max().unwrap_or(0);
        for (node, &steps) in steps.iter().enumerate() {
            let at = (steps as usize).wrapping_sub(1).wrapping_mul(nodes.len()).wrapping_add(node);
            confidences.push(match recorded.get(at) {
                Some(confidence) => confidence.to_f64(),
                None if steps == most => again.of_state(&states[node * config.hidden_width..][..config.hidden_width]),
                None => f64::NAN,
            });
        }
    }
    confidences
}

/// The confidence as a function of states.
struct Again<'a, T> {
    options: &'a Iterative,
    weight: &'a [T],
    bias: f64,
}

impl<'a, T: Real> Again<'a, T> {
    fn new(config: &BlockConfig, options: &'a Iterative, parameters: &'a [T]) -> Self {
        let layout = ParameterLayout::new(config);
        let slot = |kind| layout.range(0, kind).map_or(&[][..], |range| &parameters[range]);
        let bias = slot(ParameterKind::ConfidenceBias).first().map_or(0.0, |bias| bias.to_f64());
        Self { options, weight: slot(ParameterKind::ConfidenceWeight), bias }
    }

    /// `sigmoid(linear(state))`, the state divided by its L1 norm if the confidence is scale-free.
    fn of_state(&self, state: &[T]) -> f64 {
        self.of_values(&state.iter().map(|value| value.to_f64()).collect::<Vec<_>>())
    }

    fn of_values(&self, values: &[f64]) -> f64 {
        let norm: f64 = values.iter().map(|value| value.abs()).sum();
        let scale = if self.options.scale_free && norm > 0.0 { norm } else { 1.0 };
        let product: f64 = values.iter().zip(self.weight).map(|(value, weight)| value * weight.to_f64()).sum();
        1.0 / (1.0 + (-(product / scale + self.bias)).exp())
    }

    /// The same for the pooled states of a graph, `[nodes, hidden width]`; a graph without nodes pools to zero.
    fn of_graph(&self, states: &[T]) -> f64 {
        let width = self.weight.len();
        let nodes = states.len() / width.max(1);
        let empty = if nodes > 0 && self.options.readout == ConfidenceReadout::Max { f64::NEG_INFINITY } else { 0.0 };
        let mut pooled = vec![empty; width];
        for row in states.chunks_exact(width) {
            for (pooled, value) in pooled.iter_mut().zip(row) {
                let value = value.to_f64();
                *pooled = match self.options.readout {
                    // Unlike f64::max, an undefined state does not go unnoticed.
                    ConfidenceReadout::Max if value <= *pooled => *pooled,
                    ConfidenceReadout::Max => value,
                    ConfidenceReadout::Mean | ConfidenceReadout::Sum => *pooled + value,
                };
            }
        }
        if self.options.readout == ConfidenceReadout::Mean && nodes > 0 {
            pooled.iter_mut().for_each(|pooled| *pooled /= nodes as f64);
        }
        self.of_values(&pooled)
    }
}
