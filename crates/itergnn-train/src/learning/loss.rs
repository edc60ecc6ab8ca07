//! The loss of a batch, on the device.

use burn::tensor::{Int, Tensor, TensorData};
use itergnn_nn::ops::cross_entropy;

use crate::config::LossKind;
use crate::data::HostBatch;

/// The loss of predictions for a batch; see [`LossKind`] for the formulas.
///
/// # Shapes
/// `predictions` is `[graphs, outputs]`, or `[nodes, outputs]` where targets belong to nodes, of which only the rows
/// with a target count; with the head-tail readout `[graphs, 2 outputs]`, both rows of a graph side by side. For
/// `cross-entropy` it is `[graphs, classes]`. The result is `[1]`.
///
/// # Panics
/// If the predictions have another shape.
pub fn batch_loss(kind: LossKind, predictions: Tensor<2>, batch: &HostBatch) -> Tensor<1> {
    let predictions = rows_with_targets(predictions, batch);
    let [rows, width] = predictions.dims();
    let device = predictions.device();
    if kind == LossKind::CrossEntropy {
        assert_eq!(rows, batch.targets.len(), "one class for each graph");
        let classes: Vec<u32> = batch.targets.iter().map(|&class| class as u32).collect();
        return cross_entropy(predictions, &classes);
    }
    assert_eq!(rows * width, batch.targets.len(), "one prediction for each target");
    let targets = Tensor::<2>::from_data(TensorData::new(batch.targets.clone(), [rows, width]), &device);
    let difference = predictions - targets.clone();
    let difference = if kind == LossKind::Relative { difference / targets } else { difference };
    difference.square().mean()
}

/// The rows of node-level predictions that have a target; graph-level ones as they are.
fn rows_with_targets(predictions: Tensor<2>, batch: &HostBatch) -> Tensor<2> {
    let by_node = predictions.dims()[0] == batch.graphs.union().nodes() && predictions.dims()[1] == batch.outputs;
    if batch.target_rows.is_empty() || !by_node {
        return predictions;
    }
    let rows: Vec<i64> = batch.target_rows.iter().map(|&row| i64::from(row)).collect();
    let count = rows.len();
    let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [count]), &predictions.device());
    predictions.select(0, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use itergnn_tasks::{Task, TaskSpec};

    fn batch(task: Task, count: u64) -> HostBatch {
        let sampler = TaskSpec::paper(task).sampler().unwrap();
        let samples: Vec<_> = (0..count).map(|index| sampler.sample(5, index).unwrap()).collect();
        HostBatch::new(&samples.iter().collect::<Vec<_>>()).unwrap()
    }

    fn loss(kind: LossKind, predictions: Vec<f32>, width: usize, batch: &HostBatch) -> f64 {
        let rows = predictions.len() / width;
        let predictions = Tensor::from_data(TensorData::new(predictions, [rows, width]), &Device::flex());
        batch_loss(kind, predictions, batch).into_scalar::<f64>()
    }

    /// f32 sums of a few numbers near 1.
    const ROUNDING: f64 = 1e-5;

    #[test]
    fn squares_are_averaged() {
        let batch = batch(Task::ShortestPath, 3);
        let off: Vec<f32> = batch.targets.iter().map(|target| target + 2.0).collect();
        assert!((loss(LossKind::Mse, off, 1, &batch) - 4.0).abs() < ROUNDING);
        let half_more: Vec<f32> = batch.targets.iter().map(|target| target * 1.5).collect();
        assert!((loss(LossKind::Relative, half_more, 1, &batch) - 0.25).abs() < ROUNDING);
    }

    #[test]
    fn only_nodes_with_a_target_count() {
        let batch = batch(Task::NewtonBalls, 2);
        let nodes = batch.graphs.union().nodes();
        let mut predictions = vec![1e6_f32; 2 * nodes];
        for (position, &row) in batch.target_rows.iter().enumerate() {
            let range = 2 * row as usize..2 * row as usize + 2;
            predictions[range].copy_from_slice(&batch.targets[2 * position..2 * position + 2]);
        }
        assert_eq!(loss(LossKind::Mse, predictions, 2, &batch), 0.0);
        // Both ends side by side, as the head-tail readout gives them.
        assert_eq!(loss(LossKind::Mse, batch.targets.clone(), 4, &batch), 0.0);
    }

    #[test]
    fn even_scores_cost_the_logarithm_of_the_classes() {
        let batch = batch(Task::RegularGraphs, 4);
        assert!((loss(LossKind::CrossEntropy, vec![3.0; 8], 2, &batch) - 2_f64.ln()).abs() < ROUNDING);
        let right: Vec<f32> = batch.targets.iter().flat_map(|&class| [20.0 * (1.0 - class), 20.0 * class]).collect();
        assert!(loss(LossKind::CrossEntropy, right, 2, &batch) < ROUNDING);
    }
}
