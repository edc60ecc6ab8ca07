//! Graphs as the card sees them: measured in the unit of the model.

use itergnn_cuda::{CudaError, SampleView, Samples};
use itergnn_graph::Graph;
use itergnn_nn::GraphModelConfig;
use itergnn_nn::layers::Isolated;

/// No graphs yet, of the widths of a model.
pub(super) fn empty(model: &GraphModelConfig) -> Samples {
    Samples::new(model.node_width, model.edge_width)
}

/// Adds a graph with its targets; see [`with_view`].
pub(super) fn push(
    samples: &mut Samples,
    model: &GraphModelConfig,
    graph: &Graph,
    targets: &[f32],
    target_rows: &[u32],
) -> Result<(), CudaError> {
    with_view(model, graph, targets, target_rows, |view| samples.push(view).map(drop))
}

/// A graph with its targets in the unit of the model; what the card answers is in that unit too.
///
/// # Errors
/// [`CudaError::Unsupported`] for a graph that the kernels do not cover; what `take` reports.
pub(super) fn with_view<T>(
    model: &GraphModelConfig,
    graph: &Graph,
    targets: &[f32],
    target_rows: &[u32],
    take: impl FnOnce(&SampleView<'_>) -> Result<T, CudaError>,
) -> Result<T, CudaError> {
    let zeroed = model.blocks.iter().any(|block| block.layer.isolated == Isolated::Zero);
    if zeroed && graph.offsets().windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(CudaError::Unsupported("nodes without incoming edges that aggregate zero".to_owned()));
    }
    let unit = model.unit as f32;
    let measured = |values: &[f32]| values.iter().map(|value| value / unit).collect::<Vec<_>>();
    take(&SampleView {
        nodes: &measured(graph.node_attributes().values()),
        incoming: graph.offsets(),
        senders: graph.senders(),
        edges: &measured(graph.edge_attributes().values()),
        targets: &measured(targets),
        target_rows,
    })
}

/// Predictions in the unit of the samples.
pub(super) fn scaled(mut values: Vec<Vec<f32>>, unit: f64) -> Vec<Vec<f32>> {
    if unit != 1.0 {
        values.iter_mut().flatten().for_each(|value| *value *= unit as f32);
    }
    values
}
