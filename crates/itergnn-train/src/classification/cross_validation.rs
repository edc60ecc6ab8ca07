//! All folds, side by side.

use std::path::Path;
use std::sync::Arc;

use burn::tensor::Device;
use itergnn_nn::{InitRng, named_tensors};

use super::fold::FoldMethod;
use super::folder::RunFolder;
use super::old_fold::adopt;
use super::{ClassificationData, ClassificationResult, FoldCurve, fold_directory};
use crate::config::{ResolvedRun, RunConfig};
use crate::records::Observer;
use crate::run::{Start, write_json};
use crate::session::Session;
use crate::train::side_by_side;
use crate::{TrainError, TrainOptions};

/// Trains and judges a model on every fold, in a run directory, and chooses the epoch. The result is `None` while folds
/// are missing: because [`CrossValidationConfig::fold`](super::CrossValidationConfig::fold) asks for one only, or
/// because the run was stopped; the same call with [`Start::ResumeOrNew`] goes on.
///
/// `workers` folds are in training at a time, each on one thread; `observe` makes the observer of a fold.
///
/// # Errors
/// What is wrong with configuration, data or directory before anything is trained; [`TrainError::NotFinite`] if a fold
/// diverges.
pub fn cross_validate<O: Observer>(
    config: &RunConfig,
    directory: &Path,
    options: &TrainOptions,
    workers: usize,
    observe: impl Fn(usize) -> O + Sync,
) -> Result<(Vec<FoldCurve>, Option<ClassificationResult>), TrainError> {
    config.validate()?;
    let asked = config.cross_validation()?.fold;
    let config = config.clone().of_all_folds();
    let data = Arc::new(ClassificationData::read(&config)?);
    let model = config.cross_validation()?.model_config(&config.model, &data)?;
    let count = data.folds().len();
    let wanted: Vec<usize> = match asked {
        Some(fold) if fold >= count => {
            return Err(TrainError::config("fold", format!("{fold} does not exist, folds are 0 to {}", count - 1)));
        }
        Some(fold) => vec![fold],
        None => (0..count).collect(),
    };
    let folder = RunFolder::open(directory, &config, options.start)?;
    write_json(&folder.path.join("model.json"), &model)?;
    let own = TrainOptions { start: Start::ResumeOrNew, ..options.clone() };
    let mut curves = side_by_side(&wanted, workers, |&fold| {
        let run = ResolvedRun { config: config.of_fold(fold)?, model: model.clone() };
        let path = fold_directory(directory, fold);
        adopt(&path, &run.config)?;
        let mut observer = observe(fold);
        let session = Session::begin(run, |run| FoldMethod::new(run, &data), Some(&path), &own, &mut observer)?;
        Ok(session.run(&mut observer)?.1.curve())
    })?;
    curves.sort_by_key(|curve| curve.fold);
    let epochs = config.cross_validation()?.epochs;
    let complete = curves.len() == count && curves.iter().all(|curve| curve.accuracy.len() as u64 == epochs);
    if !complete {
        return Ok((curves, None));
    }
    let tensors = named_tensors(&model.init(&Device::flex(), &mut InitRng::new(0))?);
    let learned = tensors.iter().filter(|(name, _)| !name.contains(".running_"));
    let parameters = learned.map(|(_, tensor)| tensor.values.len()).sum();
    let result = ClassificationResult::new(&config, &data, parameters, curves.clone())?;
    write_json(&folder.path.join("result.json"), &result)?;
    Ok((curves, Some(result)))
}
