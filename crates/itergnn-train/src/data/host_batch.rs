//! Samples side by side, not yet on a device.

use itergnn_graph::GraphBatch;
use itergnn_tasks::Sample;

use crate::TrainError;

/// Several samples as one graph, with their targets.
///
/// # Shapes
/// `targets` holds `[graphs, outputs]` numbers, or `[target_rows.len(), outputs]` where targets belong to nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct HostBatch {
    /// The graphs.
    pub graphs: GraphBatch,
    /// The targets, sample after sample.
    pub targets: Vec<f32>,
    /// Numbers in a row of the target.
    pub outputs: usize,
    /// The nodes of the batch that the rows of the target belong to; empty where rows belong to graphs.
    pub target_rows: Vec<u32>,
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
        let rows = |(sample, &offset): (&&Sample, &u32)| {
            let nodes = sample.target_nodes.clone();
            nodes.into_iter().map(move |node| node + offset)
        };
        let target_rows = samples.iter().zip(graphs.node_offsets()).flat_map(rows).collect();
        let outputs = samples.first().map_or(0, |sample| sample.outputs());
        Ok(Self { graphs, targets, outputs, target_rows })
    }
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
