//! Samples side by side, not yet on a device.

use itergnn_graph::GraphBatch;
use itergnn_nn::Level;
use itergnn_tasks::Sample;

use super::Dataset;
use crate::TrainError;

/// Several samples as one graph, with their targets.
///
/// # Shapes
/// `targets` holds `[graphs, outputs]`, `[nodes, outputs]` or `[edges, outputs]` numbers as the level says, or
/// `[target_rows.len(), outputs]` where only some nodes have a target. Pointers stand in `pointers` instead.
#[derive(Debug, Clone, PartialEq)]
pub struct HostBatch {
    /// The graphs.
    pub graphs: GraphBatch,
    /// The targets, sample after sample.
    pub targets: Vec<f32>,
    /// Numbers in a row of the target.
    pub outputs: usize,
    /// The nodes of the batch that have a target, where not all of them have; empty elsewhere.
    pub target_rows: Vec<u32>,
    /// What the targets belong to.
    pub level: Level,
    /// For every node the edge of the batch that it should point at, or `None` for itself; empty at other levels.
    pub pointers: Vec<Option<u32>>,
}

impl HostBatch {
    /// Puts samples side by side.
    ///
    /// # Errors
    /// [`TrainError::Graph`] if their widths differ or there are too many nodes.
    pub fn new(samples: &[&Sample]) -> Result<Self, TrainError> {
        let graphs: Vec<_> = samples.iter().map(|sample| &sample.graph).collect();
        let graphs = GraphBatch::new(&graphs)?;
        let targets = samples.iter().flat_map(|sample| sample.target.iter().copied()).collect();
        let target_rows = counted_over(&graphs, samples.iter().map(|sample| &sample.target_nodes[..]));
        let outputs = samples.first().map_or(0, |sample| sample.outputs());
        let level = if target_rows.is_empty() { Level::Graph } else { Level::Node };
        Ok(Self { graphs, targets, outputs, target_rows, level, pointers: Vec::new() })
    }

    /// The samples `indices` of a dataset side by side.
    ///
    /// # Errors
    /// As [`HostBatch::new`], and whatever keeps a sample from being had; [`TrainError::Config`] for a target that does
    /// not have the shape of the level.
    pub fn of(data: &dyn Dataset, indices: &[u32], level: Level) -> Result<Self, TrainError> {
        let examples = indices.iter().map(|&index| data.sample(index.into())).collect::<Result<Vec<_>, _>>()?;
        let graphs = GraphBatch::new(&examples.iter().map(|example| &example.graph).collect::<Vec<_>>())?;
        let unfit = |why: String| TrainError::config("data", why);
        let (mut targets, mut pointers, mut outputs) = (Vec::new(), Vec::new(), 0);
        let mut first_edge = 0_u32;
        for example in &examples {
            outputs = outputs.max(example.outputs(level).map_err(unfit)?);
            if level == Level::Pointer {
                let own = example.pointers().map_err(unfit)?;
                pointers.extend(own.into_iter().map(|edge| edge.map(|edge| edge + first_edge)));
                first_edge += example.graph.edges() as u32;
            } else {
                targets.extend_from_slice(&example.target_by_position(level));
            }
        }
        let target_rows = counted_over(&graphs, examples.iter().map(|example| &example.target_nodes[..]));
        Ok(Self { graphs, targets, outputs, target_rows, level, pointers })
    }
}

/// Nodes of several graphs, counted over their batch.
fn counted_over<'a>(graphs: &GraphBatch, nodes: impl Iterator<Item = &'a [u32]>) -> Vec<u32> {
    nodes.zip(graphs.node_offsets()).flat_map(|(nodes, &offset)| nodes.iter().map(move |node| node + offset)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_tasks::{Task, TaskSpec};

    #[test]
    fn target_nodes_are_counted_over_the_batch() {
        let sampler = TaskSpec::paper(Task::NewtonBalls).sampler().unwrap();
        let (first, second) = (sampler.sample(0, 0).unwrap(), sampler.sample(0, 1).unwrap());
        let batch = HostBatch::new(&[&first, &second]).unwrap();
        let (one, two) = (first.graph.nodes() as u32, second.graph.nodes() as u32);
        assert_eq!(batch.target_rows, [0, one - 1, one, one + two - 1]);
        assert_eq!((batch.outputs, batch.targets.len()), (2, 8));
    }
}
