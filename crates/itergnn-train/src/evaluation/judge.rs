//! Scores of predictions.

use itergnn_tasks::{Sample, Score};

use crate::TrainError;

/// The score of a sample's prediction, given flat: the rows of its graph or of all its nodes, of which those with a
/// target count.
///
/// # Errors
/// [`TrainError::Task`] if the prediction does not have the shape of the target.
pub fn judge(sample: &Sample, prediction: &[f32]) -> Result<Score, TrainError> {
    let rows = rows_with_target(sample, prediction);
    Ok(Score::of(sample, &rows)?)
}

/// The numbers of a prediction that answer the target.
pub(crate) fn rows_with_target(sample: &Sample, prediction: &[f32]) -> Vec<f32> {
    let outputs = sample.outputs();
    if sample.target_nodes.is_empty() || prediction.len() != sample.graph.nodes() * outputs {
        return prediction.to_vec();
    }
    let row = |&node: &u32| &prediction[node as usize * outputs..(node as usize + 1) * outputs];
    sample.target_nodes.iter().flat_map(row).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_tasks::{Task, TaskSpec};

    #[test]
    fn nodes_without_a_target_are_passed_over() {
        let sample = TaskSpec::paper(Task::NewtonBalls).sampler().unwrap().sample(0, 3).unwrap();
        let mut prediction = vec![1e9; 2 * sample.graph.nodes()];
        prediction[..2].copy_from_slice(&sample.target[..2]);
        let end = prediction.len() - 2;
        prediction[end..].copy_from_slice(&sample.target[2..]);
        assert_eq!(judge(&sample, &prediction).unwrap().mse, Some(0.0));
        assert_eq!(judge(&sample, &sample.target).unwrap().mse, Some(0.0));
        assert!(judge(&sample, &[1.0]).is_err());
    }
}
