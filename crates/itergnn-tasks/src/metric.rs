//! How predictions are judged, over all tasks.

use serde::{Deserialize, Serialize};

use crate::{Sample, Task, TaskError};

/// |target - prediction| / |target|.
///
/// The paper's relative loss, for targets that are lengths. A target of 0 (points on top of each other) counts as 0
/// when it is met exactly and as infinite otherwise.
pub fn relative_loss(target: f64, prediction: f64) -> f64 {
    if target == prediction { 0.0 } else { (target - prediction).abs() / target.abs() }
}

/// Whether a prediction, rounded to the nearest integer, is the target.
pub fn rounds_to(target: f64, prediction: f64) -> bool {
    prediction.round() == target
}

/// The position of the largest number, the first one among equals; `None` if there is none or one is NaN.
pub fn argmax(scores: &[f32]) -> Option<usize> {
    if scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let mut best = None;
    for (position, &score) in scores.iter().enumerate() {
        if best.is_none_or(|best: usize| score > scores[best]) {
            best = Some(position);
        }
    }
    best
}

/// The mean of the squared differences.
///
/// # Panics
/// If the lengths differ.
pub fn mean_squared_error(target: &[f32], prediction: &[f32]) -> f64 {
    assert_eq!(target.len(), prediction.len(), "one prediction for each target");
    let squares = target.iter().zip(prediction).map(|(&t, &p)| (f64::from(t) - f64::from(p)).powi(2));
    squares.sum::<f64>() / target.len().max(1) as f64
}

/// How one prediction fared; what does not apply to the task is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Score {
    /// |target - prediction| / target.
    pub relative_loss: Option<f64>,
    /// 1 if the task was solved: the released walk has the shortest length, or the share of reachable dots that was
    /// eaten.
    pub success_rate: Option<f64>,
    /// 1 if the walk as written is a shortest path.
    #[serde(default)]
    pub success_rate_as_written: Option<f64>,
    /// 1 if the released walk has the shortest length and keeps to free pixels (navigation).
    #[serde(default)]
    pub walkable_success_rate: Option<f64>,
    /// 1 if the walk as written is a shortest path and keeps to free pixels (navigation).
    #[serde(default)]
    pub walkable_success_rate_as_written: Option<f64>,
    /// 1 if the class or count is right.
    pub accuracy: Option<f64>,
    /// Mean squared error over the rows of the target.
    pub mse: Option<f64>,
}

impl Score {
    /// Judges a model's output for a sample.
    ///
    /// | task | prediction | measures |
    /// |---|---|---|
    /// | shortest path, TSP, navigation | `[1]`, a length | relative loss, mse |
    /// | component count | `[1]`, a count | accuracy after rounding, mse |
    /// | Newton's balls | `[target_nodes, 2]`, the rows of the target nodes only | mse |
    /// | graph classification, regular graphs | `[classes]`, scores, or `[1]`, rounded | accuracy |
    ///
    /// Success rates need a walk or an episode, not one prediction: see [`Score::add_walk`] and `pacman`.
    ///
    /// # Errors
    /// [`TaskError::PredictionShape`] if the prediction does not have the stated shape; [`TaskError::Setting`] for
    /// Pacman.
    pub fn of(sample: &Sample, prediction: &[f32]) -> Result<Self, TaskError> {
        let task = sample.task;
        let classes = matches!(task, Task::GraphClassification | Task::RegularGraphs);
        if prediction.len() != sample.target.len() && !(classes && prediction.len() > 1) {
            let (expected, found) = (sample.target.len(), prediction.len());
            return Err(TaskError::PredictionShape { task, expected, found });
        }
        let mse = || mean_squared_error(&sample.target, prediction);
        let first = || (f64::from(sample.target[0]), f64::from(prediction[0]));
        Ok(match task {
            Task::ShortestPath | Task::Tsp | Task::Navigation => {
                let (target, predicted) = first();
                Self { relative_loss: Some(relative_loss(target, predicted)), mse: Some(mse()), ..Self::default() }
            }
            Task::ComponentCount => {
                let (target, predicted) = first();
                let right = rounds_to(target, predicted);
                Self { accuracy: Some(f64::from(u8::from(right))), mse: Some(mse()), ..Self::default() }
            }
            Task::NewtonBalls => Self { mse: Some(mse()), ..Self::default() },
            Task::GraphClassification | Task::RegularGraphs => {
                let class = sample.target[0];
                let right = match prediction {
                    [rounded] => rounds_to(f64::from(class), f64::from(*rounded)),
                    scores => argmax(scores) == Some(class as usize),
                };
                Self { accuracy: Some(f64::from(u8::from(right))), ..Self::default() }
            }
            Task::Pacman => {
                let why = "is judged by episodes, not by single predictions".to_owned();
                return Err(TaskError::Setting { task, what: "a policy".to_owned(), why });
            }
        })
    }
}

/// Mean and spread of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many values there were.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (of the sample, divisor count - 1; 0 for a single value).
    pub standard_deviation: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// Summarises values; `None` if there are none. A NaN among them makes mean and deviation NaN, so it cannot hide.
    ///
    /// # Example
    /// ```
    /// use itergnn_tasks::Summary;
    /// let summary = Summary::of([1.0, 2.0, 3.0]).expect("three values");
    /// assert_eq!((summary.mean, summary.standard_deviation), (2.0, 1.0));
    /// ```
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        // Welford's update: one pass, no cancellation.
        let (mut count, mut mean, mut squares) = (0_u64, 0.0, 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            count += 1;
            let difference = value - mean;
            mean += difference / count as f64;
            squares += difference * (value - mean);
            min = min.min(value);
            max = max.max(value);
        }
        if count == 0 {
            return None;
        }
        let standard_deviation = if count == 1 { 0.0 } else { (squares / (count - 1) as f64).sqrt() };
        Some(Self { count, mean, standard_deviation, min, max })
    }
}

/// The scores of many samples together, measure by measure.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Scores {
    /// Over the samples that have one.
    pub relative_loss: Option<Summary>,
    /// Over the samples that have one.
    pub success_rate: Option<Summary>,
    /// Over the samples that have one.
    #[serde(default)]
    pub success_rate_as_written: Option<Summary>,
    /// Over the samples that have one.
    #[serde(default)]
    pub walkable_success_rate: Option<Summary>,
    /// Over the samples that have one.
    #[serde(default)]
    pub walkable_success_rate_as_written: Option<Summary>,
    /// Over the samples that have one.
    pub accuracy: Option<Summary>,
    /// Over the samples that have one.
    pub mse: Option<Summary>,
}

impl Scores {
    /// Summarises scores, each measure over those scores that have it.
    pub fn of(scores: &[Score]) -> Self {
        let over = |measure: fn(&Score) -> Option<f64>| Summary::of(scores.iter().filter_map(measure));
        Self {
            relative_loss: over(|score| score.relative_loss),
            success_rate: over(|score| score.success_rate),
            success_rate_as_written: over(|score| score.success_rate_as_written),
            walkable_success_rate: over(|score| score.walkable_success_rate),
            walkable_success_rate_as_written: over(|score| score.walkable_success_rate_as_written),
            accuracy: over(|score| score.accuracy),
            mse: over(|score| score.mse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::Graph;

    fn sample(task: Task, target: Vec<f32>) -> Sample {
        Sample::graph_level(task, 1, Graph::new(1, &[]).unwrap(), target)
    }

    #[test]
    fn relative_loss_of_zero_targets_is_defined() {
        assert_eq!(relative_loss(4.0, 5.0), 0.25);
        assert_eq!(relative_loss(0.0, 0.0), 0.0);
        assert_eq!(relative_loss(0.0, 0.1), f64::INFINITY);
        assert!(relative_loss(1.0, f64::NAN).is_nan());
    }

    #[test]
    fn argmax_takes_the_first_among_equals_and_no_nan() {
        assert_eq!(argmax(&[1.0, 3.0, 3.0]), Some(1));
        assert_eq!(argmax(&[f32::NEG_INFINITY]), Some(0));
        assert_eq!(argmax(&[1.0, f32::NAN]), None);
        assert_eq!(argmax(&[]), None);
    }

    #[test]
    fn each_task_has_its_measures() {
        let path = Score::of(&sample(Task::ShortestPath, vec![4.0]), &[3.0]).unwrap();
        assert_eq!((path.relative_loss, path.mse, path.accuracy), (Some(0.25), Some(1.0), None));
        let count = Score::of(&sample(Task::ComponentCount, vec![3.0]), &[3.4]).unwrap();
        assert_eq!(count.accuracy, Some(1.0));
        assert_eq!(Score::of(&sample(Task::ComponentCount, vec![3.0]), &[3.6]).unwrap().accuracy, Some(0.0));
        let class = sample(Task::RegularGraphs, vec![1.0]);
        assert_eq!(Score::of(&class, &[0.2, 0.8]).unwrap().accuracy, Some(1.0));
        assert_eq!(Score::of(&class, &[0.3]).unwrap().accuracy, Some(0.0));
        assert_eq!(Score::of(&class, &[f32::NAN, f32::NAN]).unwrap().accuracy, Some(0.0));
        assert!(Score::of(&sample(Task::Pacman, vec![1.0]), &[1.0]).is_err());
        assert!(Score::of(&sample(Task::Tsp, vec![1.0]), &[1.0, 2.0]).is_err());
    }

    #[test]
    fn a_nan_prediction_is_not_lost_in_the_mean() {
        let sample = sample(Task::Tsp, vec![1.0]);
        let scores = [Score::of(&sample, &[1.0]).unwrap(), Score::of(&sample, &[f32::NAN]).unwrap()];
        let summary = Scores::of(&scores).relative_loss.unwrap();
        assert!(summary.mean.is_nan());
        assert_eq!(summary.count, 2);
        assert!(Scores::of(&scores).accuracy.is_none());
    }
}
