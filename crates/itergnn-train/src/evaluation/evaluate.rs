//! Drawing, predicting and judging test samples.

use std::time::Instant;

use itergnn_graph::solvers::diameter::{self, HopDiameter};
use itergnn_nn::controllers::RunOptions;
use itergnn_tasks::{Sample, Samples, Split, Task, TaskError, TaskSpec};
use rayon::prelude::*;

use super::batching::predict_all;
use super::judge::{judge, rows_with_target};
use super::{EvalOptions, EvalProgress, EvalReport, Predictor, SampleRecord, score_walks};
use crate::TrainError;
use crate::config::task_sizes;

/// Samples of an evaluation that are in memory at a time, in nodes and edges.
const HELD_ELEMENTS: usize = 1 << 24;

/// Edges that a search for one graph's diameter may look at; beyond it the diameter is a lower bound. Enough for any
/// tree and for what the paper tests on.
pub(crate) const DIAMETER_BUDGET: u64 = 20_000_000;

/// Most samples in memory at a time: enough to fill every batch of a round of walks.
const HELD_SAMPLES: usize = 512;

/// Judges a model on the first `count` test samples of a task under a seed.
///
/// `progress` is told now and then how far it has come.
///
/// # Errors
/// [`TrainError::Task`] if samples cannot be drawn, or [`EvalOptions::success`] is asked of a task without paths;
/// [`TrainError::Model`] if the model does not have the widths of the samples.
///
/// # Example
/// ```
/// use burn::tensor::Device;
/// use itergnn_nn::{InitRng, TaskWidths, preset};
/// use itergnn_tasks::{Task, TaskSpec};
/// use itergnn_train::evaluation::{EvalOptions, ModelPredictor, evaluate};
///
/// let untrained = preset("path", &TaskWidths::graph(3, 1, 1))?.init(&Device::flex(), &mut InitRng::new(1))?;
/// let predictor = ModelPredictor::new(&untrained, &Device::flex());
/// let mut spec = TaskSpec::paper(Task::ShortestPath);
/// spec.set_size("10".parse()?)?;
/// let report = evaluate(&predictor, &spec, 5, 0, &EvalOptions::default(), &mut |_| {})?;
/// assert!(report.count == 5 && report.relative_loss.is_some() && report.success_rate.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate(
    predictor: &dyn Predictor,
    spec: &TaskSpec,
    count: u64,
    seed: u64,
    options: &EvalOptions,
    progress: &mut dyn FnMut(EvalProgress),
) -> Result<EvalReport, TrainError> {
    let start = Instant::now();
    let sampler = spec.sampler()?;
    if options.success && !matches!(spec.task(), Task::ShortestPath | Task::Navigation) {
        let (what, why) = ("success rate".to_owned(), "is for tasks with a path to find".to_owned());
        return Err(TrainError::Task(TaskError::Setting { task: spec.task(), what, why }));
    }
    let mut run_options = RunOptions::inference().with_engine(options.engine);
    run_options.cap = options.cap;
    let held = (HELD_ELEMENTS / sampler.largest().max(1)).clamp(1, HELD_SAMPLES);
    let mut stream = Samples::new(&*sampler, Split::Test.seed(seed), 0..count);
    let mut records: Vec<SampleRecord> = Vec::new();
    let mut diameters: Vec<HopDiameter> = Vec::new();
    loop {
        let samples = stream.by_ref().take(held).collect::<Result<Vec<_>, TaskError>>()?;
        if samples.is_empty() {
            break;
        }
        let first = records.len();
        let measure = |sample: &Sample| diameter::hop_diameter(&sample.graph, DIAMETER_BUDGET);
        diameters.par_extend(samples.par_iter().map(measure));
        records.extend(predict_and_judge(predictor, &samples, first as u64, &run_options, options.memory)?);
        if options.success {
            let judged = first as u64;
            let mut walking = |walking| progress(EvalProgress { judged, walking, total: count });
            let mut scores: Vec<_> = records[first..].iter_mut().map(|record| &mut record.score).collect();
            score_walks(&samples, &mut scores, predictor, &run_options, options.memory, &mut walking)?;
        }
        progress(EvalProgress { judged: records.len() as u64, walking: 0, total: count });
    }
    let size = task_sizes(spec).map(|size| size.to_string());
    let mut report = EvalReport::new(spec, size, seed, records, &diameters, start.elapsed().as_secs_f64());
    report.architecture = Some(predictor.architecture());
    if !options.records {
        report.samples = Vec::new();
    }
    Ok(report)
}

/// Records of samples that are in memory, the first of which has number `first`.
pub(crate) fn predict_and_judge(
    predictor: &dyn Predictor,
    samples: &[Sample],
    first: u64,
    options: &RunOptions,
    memory: u64,
) -> Result<Vec<SampleRecord>, TrainError> {
    let sizes: Vec<_> = samples.iter().map(|sample| (sample.graph.nodes(), sample.graph.edges())).collect();
    let predicted = predict_all(predictor, &sizes, |index| Ok(&samples[index].graph), options, memory)?;
    let answers =
        predicted.values.iter().zip(&predicted.loops.iterations).zip(&predicted.loops.capped).zip(&predicted.overflows);
    let records = samples.iter().zip(answers).zip(first..).map(
        |((sample, (((values, &iterations), &capped), &overflow)), index)| {
            Ok(SampleRecord {
                index,
                size: sample.size,
                nodes: sample.graph.nodes(),
                target: sample.target.clone(),
                prediction: rows_with_target(sample, values),
                iterations,
                capped,
                overflow,
                score: judge(sample, values)?,
            })
        },
    );
    records.collect()
}
