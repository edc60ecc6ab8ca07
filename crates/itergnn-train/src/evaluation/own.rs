//! Judging predictions for own graphs.

use itergnn_nn::Level;
use itergnn_nn::controllers::RunOptions;
use itergnn_tasks::Score;
use itergnn_tasks::metric::{argmax, mean_squared_error, relative_loss};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::batching::predict_all;
use super::{EvalOptions, IterationSummary, Predictor};
use crate::TrainError;
use crate::config::OwnTask;
use crate::data::{Dataset, Example};

/// How a model fares on own graphs; what does not apply is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnReport {
    /// What targets belong to.
    pub level: Level,
    /// Graphs.
    pub count: u64,
    /// Rows of their targets.
    pub rows: u64,
    /// Mean of |y - p| / |y| over all numbers, where targets are numbers and none is 0.
    pub relative_loss: Option<f64>,
    /// Mean squared error, where targets are numbers.
    pub mse: Option<f64>,
    /// Share of rows with the right class or pointer; where all targets are whole numbers, of rows that round to
    /// theirs.
    pub accuracy: Option<f64>,
    /// Share of graphs all of whose rows are right.
    pub graph_accuracy: Option<f64>,
    /// Mean over the classes of the harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// How often each class (row) was taken for each (column).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
    /// Iterations per graph.
    pub iterations: IterationSummary,
    /// Graphs whose loop was ended by a cap.
    pub capped: u64,
}

/// How one prediction fared.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OwnScore {
    pub(crate) score: Score,
    pub(crate) rows: usize,
    /// The share of rows that round to their targets, where all of these are whole numbers.
    rounded: Option<f64>,
    /// Right class and predicted one, row after row.
    pub(crate) classes: Vec<(usize, usize)>,
}

/// Graphs that are in memory at a time.
const PART: u64 = 128;

/// Judges a model on own graphs; `progress` is told how many are done.
///
/// # Errors
/// [`TrainError::Model`] if the model does not have the widths of the samples, [`TrainError::Config`] if a target does
/// not have the shape of the predictions.
pub fn evaluate_own(
    predictor: &dyn Predictor,
    task: &OwnTask,
    data: &dyn Dataset,
    options: &EvalOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<OwnReport, TrainError> {
    let mut run = RunOptions::inference().with_engine(options.engine);
    run.cap = options.cap;
    let mut scores: Vec<OwnScore> = Vec::new();
    let (mut steps, mut most, mut capped) = (0_usize, 0_usize, 0_u64);
    for start in (0..data.len()).step_by(PART as usize) {
        let part = start..data.len().min(start + PART);
        let examples = part.into_par_iter().map(|index| data.sample(index)).collect::<Result<Vec<_>, _>>()?;
        let sizes: Vec<_> = examples.iter().map(|example| (example.graph.nodes(), example.graph.edges())).collect();
        let predicted = predict_all(predictor, &sizes, |index| Ok(&examples[index].graph), &run, options.memory)?;
        for (example, values) in examples.iter().zip(&predicted.values) {
            scores.push(judge_own(task, example, values)?);
        }
        steps += predicted.loops.iterations.iter().sum::<usize>();
        most = most.max(predicted.loops.iterations.iter().copied().max().unwrap_or(0));
        capped += predicted.loops.capped.iter().filter(|&&capped| capped).count() as u64;
        progress(scores.len() as u64);
    }
    let mean = steps as f64 / scores.len().max(1) as f64;
    Ok(report(task, &scores, IterationSummary { mean, max: most }, capped))
}

fn report(task: &OwnTask, scores: &[OwnScore], iterations: IterationSummary, capped: u64) -> OwnReport {
    let rows: usize = scores.iter().map(|score| score.rows).sum();
    // Weighted by rows, so that every row counts the same.
    let mean = |measure: fn(&OwnScore) -> Option<f64>| {
        let parts: Option<Vec<f64>> = scores.iter().map(|one| Some(measure(one)? * one.rows as f64)).collect();
        parts.map(|parts| parts.iter().sum::<f64>() / rows.max(1) as f64)
    };
    let right = |one: &OwnScore| one.score.accuracy.or(one.rounded);
    let accuracy = mean(right);
    let whole = scores.iter().filter(|one| right(one) == Some(1.0)).count();
    let mut confusion = vec![vec![0_u64; task.classes.unwrap_or(0)]; task.classes.unwrap_or(0)];
    for &(right, found) in scores.iter().flat_map(|one| &one.classes) {
        confusion[right][found] += 1;
    }
    OwnReport {
        level: task.level,
        count: scores.len() as u64,
        rows: rows as u64,
        relative_loss: mean(|one| one.score.relative_loss),
        mse: mean(|one| one.score.mse),
        accuracy,
        graph_accuracy: accuracy.map(|_| whole as f64 / scores.len().max(1) as f64),
        f1: (!confusion.is_empty()).then(|| macro_f1(&confusion)),
        confusion,
        iterations,
        capped,
    }
}

/// The mean over the classes that occur of `2 right / (in the targets + in the predictions)`.
fn macro_f1(confusion: &[Vec<u64>]) -> f64 {
    let of_class = |class: usize| {
        let right = confusion[class][class];
        let asked: u64 = confusion[class].iter().sum();
        let said: u64 = confusion.iter().map(|row| row[class]).sum();
        (asked + said > 0).then(|| 2.0 * right as f64 / (asked + said) as f64)
    };
    let scores: Vec<f64> = (0..confusion.len()).filter_map(of_class).collect();
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

/// Judges the prediction for a graph, given flat.
pub(crate) fn judge_own(task: &OwnTask, example: &Example, values: &[f32]) -> Result<OwnScore, TrainError> {
    let refused = |why: String| TrainError::config("data", why);
    let rows = example.rows(task.level);
    if task.level == Level::Pointer {
        let right = example.pointers().map_err(refused)?;
        let found = (0..example.graph.nodes()).map(|node| pointed_at(example, node, values));
        let hits = right.iter().zip(found).filter(|(right, found)| *right == found).count();
        let score = Score { accuracy: Some(hits as f64 / rows.max(1) as f64), ..Score::default() };
        return Ok(OwnScore { score, rows, ..OwnScore::default() });
    }
    let width = task.classes.unwrap_or(example.target.len() / rows.max(1));
    let targets = example.target_by_position(task.level);
    let values: Vec<f32> = if example.target_nodes.is_empty() {
        values.to_vec()
    } else {
        let row = |&node: &u32| values.iter().skip(node as usize * width).take(width);
        example.target_nodes.iter().flat_map(row).copied().collect()
    };
    if values.len() != rows * width {
        return Err(refused(format!("{} numbers are predicted where {} are asked for", values.len(), rows * width)));
    }
    let Some(classes) = task.classes else {
        let relative: f64 = targets.iter().zip(&values).map(|(&y, &p)| relative_loss(y.into(), p.into())).sum();
        let score = Score {
            relative_loss: Some(relative / targets.len().max(1) as f64).filter(|loss| loss.is_finite()),
            mse: Some(mean_squared_error(&targets, &values)),
            ..Score::default()
        };
        return Ok(OwnScore { score, rows, rounded: rounded_accuracy(&targets, &values, rows), ..OwnScore::default() });
    };
    let mut pairs = Vec::with_capacity(rows);
    for (&target, scores) in targets.iter().zip(values.chunks_exact(classes)) {
        if !(target >= 0.0 && target.fract() == 0.0 && (target as usize) < classes) {
            return Err(refused(format!("{target} is no class of {classes}, counted from 0")));
        }
        pairs.push((target as usize, argmax(scores).unwrap_or(0)));
    }
    let hits = pairs.iter().filter(|(right, found)| right == found).count();
    let score = Score { accuracy: Some(hits as f64 / rows.max(1) as f64), ..Score::default() };
    Ok(OwnScore { score, rows, classes: pairs, ..OwnScore::default() })
}

/// The share of rows all of whose numbers round to their targets; `None` where a target is no whole number.
fn rounded_accuracy(targets: &[f32], values: &[f32], rows: usize) -> Option<f64> {
    let width = targets.len() / rows.max(1);
    if rows == 0 || targets.iter().any(|target| target.fract() != 0.0) {
        return None;
    }
    let is_right = |(targets, values): (&[f32], &[f32])| targets.iter().zip(values).all(|(y, p)| p.round() == *y);
    let right = targets.chunks_exact(width).zip(values.chunks_exact(width)).filter(|&pair| is_right(pair)).count();
    Some(right as f64 / rows as f64)
}

/// What a node points at: the choice with the largest score, the first among equals.
pub(crate) fn pointed_at(example: &Example, node: usize, scores: &[f32]) -> Option<u32> {
    let incoming = example.graph.incoming_positions(node as u32);
    let own = incoming.end + node;
    let best = (incoming.start + node..=own).fold(own, |best, row| {
        let better = scores[row] > scores[best] || (scores[row] == scores[best] && row < best);
        if better { row } else { best }
    });
    (best != own).then(|| (best - node) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::Graph;

    fn task(level: Level, classes: Option<usize>) -> OwnTask {
        OwnTask { classes, ..OwnTask::new(level) }
    }

    fn line(target: Vec<f32>) -> Example {
        Example::new(Graph::new(3, &[[0, 1], [1, 2]]).unwrap(), target)
    }

    #[test]
    fn classes_of_nodes_have_accuracy_f1_and_a_table() {
        let task = task(Level::Node, Some(2));
        let right = judge_own(&task, &line(vec![0.0, 1.0, 1.0]), &[1.0, 0.0, 0.0, 1.0, 0.0, 1.0]).unwrap();
        let half = judge_own(&task, &line(vec![0.0, 1.0, 1.0]), &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]).unwrap();
        let report = report(&task, &[right, half], IterationSummary { mean: 1.0, max: 1 }, 0);
        assert_eq!((report.accuracy, report.graph_accuracy), (Some(4.0 / 6.0), Some(0.5)));
        assert_eq!(report.confusion, [[2, 0], [2, 2]]);
        assert!((report.f1.unwrap() - 0.5 * (4.0 / 6.0 + 4.0 / 6.0)).abs() < 1e-12);
        assert!(judge_own(&task, &line(vec![0.0, 2.0, 1.0]), &[0.0; 6]).is_err());
    }

    #[test]
    fn numbers_have_an_error_and_pointers_an_accuracy() {
        let edges = judge_own(&task(Level::Edge, None), &line(vec![2.0, 4.0]), &[3.0, 4.0]).unwrap().score;
        assert_eq!((edges.mse, edges.relative_loss), (Some(0.5), Some(0.25)));
        // Rows: node 0 itself; edge 0 and node 1; edge 1 and node 2.
        let pointers = judge_own(&task(Level::Pointer, None), &line(vec![-1.0, 0.0, -1.0]), &[0.0, 5.0, 1.0, 3.0, 2.0]);
        assert_eq!(pointers.unwrap().score.accuracy, Some(2.0 / 3.0));
    }
}
