//! Judging classifiers that are already trained.

use std::path::Path;
use std::time::Instant;

use burn::tensor::Device;
use itergnn_graph::solvers::diameter::{HopDiameter, hop_diameter};
use itergnn_nn::GnnModel;
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::store::{self, ModelCard};
use itergnn_tasks::{Sample, Summary, TaskSpec};

use super::{ClassificationData, fold_directory};
use crate::TrainError;
use crate::config::RunConfig;
use crate::evaluation::{DIAMETER_BUDGET, EvalOptions, EvalReport, ModelPredictor, SampleRecord, predict_and_judge};
use crate::run::RunDirectory;

/// Judges every fold's model of a run directory, as it is after its last epoch, on the graphs that it has not been
/// trained on.
///
/// `data` is where the sets are, if not where they were in training. The report covers all tested graphs; the summary
/// is over folds.
///
/// # Errors
/// [`TrainError::Store`] if a fold's model is missing; what is wrong with configuration or data.
pub fn evaluate_run(run: &Path, data: Option<&Path>, device: &Device) -> Result<(EvalReport, Summary), TrainError> {
    let config = RunDirectory::config_of(run)?.with_data(data);
    let start = Instant::now();
    let data = ClassificationData::read(&config)?;
    let (mut records, mut accuracies) = (Vec::new(), Vec::new());
    for fold in 0..data.folds().len() {
        let (model, _) = store::load(RunDirectory::best_model_in(&fold_directory(run, fold)), device)?;
        let judged = judged(&model, &data.test_samples(fold), data.folds().test(fold), device)?;
        let right: f64 = judged.iter().filter_map(|record| record.score.accuracy).sum();
        accuracies.push(right / judged.len().max(1) as f64);
        records.extend(judged);
    }
    let report = report(&config, &data, records, start);
    let summary = Summary::of(accuracies).ok_or_else(|| TrainError::NoRun { path: run.to_owned() })?;
    Ok((report, summary))
}

/// Judges one model: on the test graphs of its fold if its card names one, else on all graphs.
///
/// Gives `None` if the card is not that of a cross-validated model.
///
/// # Errors
/// As [`evaluate_run`].
pub fn evaluate_classifier(
    model: &GnnModel,
    card: &ModelCard,
    data: Option<&Path>,
    device: &Device,
) -> Result<Option<EvalReport>, TrainError> {
    let Some(config) = RunConfig::of_card(card).filter(|config| config.cross_validation().is_ok()) else {
        return Ok(None);
    };
    let config = config.with_data(data);
    let start = Instant::now();
    let data = ClassificationData::read(&config)?;
    let fold = card.training.get("fold").and_then(serde_json::Value::as_u64).map(|fold| fold as usize);
    let records = match fold.filter(|&fold| fold < data.folds().len()) {
        Some(fold) => judged(model, &data.test_samples(fold), data.folds().test(fold), device)?,
        None => {
            let all: Vec<u32> = (0..data.samples().len() as u32).collect();
            judged(model, data.samples(), &all, device)?
        }
    };
    Ok(Some(report(&config, &data, records, start)))
}

fn judged(
    model: &GnnModel,
    samples: &[Sample],
    numbers: &[u32],
    device: &Device,
) -> Result<Vec<SampleRecord>, TrainError> {
    let predictor = ModelPredictor::new(model, device);
    let memory = EvalOptions::default().memory;
    let mut records = predict_and_judge(&predictor, samples, 0, &RunOptions::inference(), memory)?;
    for (record, &number) in records.iter_mut().zip(numbers) {
        record.index = u64::from(number);
    }
    Ok(records)
}

fn report(config: &RunConfig, data: &ClassificationData, records: Vec<SampleRecord>, start: Instant) -> EvalReport {
    let seed = config.cross_validation().map_or(0, |settings| settings.fold_seed);
    let measure = |record: &SampleRecord| hop_diameter(&data.samples()[record.index as usize].graph, DIAMETER_BUDGET);
    let diameters: Vec<HopDiameter> = records.iter().map(measure).collect();
    let spec = TaskSpec::GraphClassification(config.set().cloned().unwrap_or_default());
    EvalReport::new(&spec, None, seed, records, &diameters, start.elapsed().as_secs_f64())
}
