//! Graphs as the card sees them: measured in the unit of the model.

use std::borrow::Cow;

use itergnn_cuda::{CudaError, SampleView, Samples};
use itergnn_graph::Graph;
use itergnn_nn::layers::Isolated;
use itergnn_nn::{GraphModelConfig, Level};

use crate::data::Example;

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

/// Targets and the nodes of their rows.
type Targets<'a> = (Cow<'a, [f32]>, Cow<'a, [u32]>);

/// Targets as the card reads them, and the nodes that their rows belong to; the message of a failure is one line.
pub(super) fn targets(sample: &Example, level: Level) -> Result<Targets<'_>, String> {
    let rows = match level {
        Level::Node if sample.target_nodes.is_empty() => Cow::Owned((0..sample.graph.nodes() as u32).collect()),
        _ => Cow::Borrowed(&sample.target_nodes[..]),
    };
    let targets = match level {
        Level::Pointer => {
            // Which choice of its node is right: the incoming edges, then the node itself.
            let choice = |(node, edge): (usize, Option<u32>)| {
                let incoming = sample.graph.incoming_positions(node as u32);
                edge.map_or(incoming.len(), |edge| edge as usize - incoming.start) as f32
            };
            Cow::Owned(sample.pointers()?.into_iter().enumerate().map(choice).collect())
        }
        _ => sample.target_by_position(level),
    };
    Ok((targets, rows))
}

/// Predictions in the unit of the samples.
pub(super) fn scaled(mut values: Vec<Vec<f32>>, unit: f64) -> Vec<Vec<f32>> {
    if unit != 1.0 {
        values.iter_mut().flatten().for_each(|value| *value *= unit as f32);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_rows_of_nodes_edges_by_position_or_choices() {
        // Two edges into node 0, one into node 2, given in another order than the graph keeps them in.
        let graph = Graph::new(3, &[[0, 2], [2, 0], [1, 0]]).unwrap();
        let example = |target: Vec<f32>| Example::new(graph.clone(), target);
        let (nodes, edges, pointers) =
            (example(vec![7.0, 8.0, 9.0]), example(vec![20.0, 1.0, 2.0]), example(vec![2.0, -1.0, 0.0]));
        assert_eq!(targets(&nodes, Level::Node).unwrap(), (nodes.target[..].into(), [0, 1, 2][..].into()));
        let by_position = edges.target_by_position(Level::Edge);
        assert_eq!(targets(&edges, Level::Edge).unwrap(), (by_position, [][..].into()));
        let (choices, _) = targets(&pointers, Level::Pointer).unwrap();
        let own_place = graph.senders().iter().position(|&sender| sender == 1).unwrap() as f32;
        assert_eq!(&*choices, [own_place, 0.0, 0.0]);
        assert!(targets(&edges, Level::Pointer).unwrap_err().contains("cannot point"));
    }
}
