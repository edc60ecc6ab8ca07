//! All folds, side by side.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use burn::tensor::Device;
use itergnn_nn::{HostClassifier, InitRng};

use super::fold::FoldRun;
use super::fold_files::RunFolder;
use super::{ClassificationConfig, ClassificationData, ClassificationResult, EpochOfFold, FoldCurve};
use crate::TrainError;
use crate::run::Start;

/// What a cross-validation needs besides its configuration; nothing here changes its result.
#[derive(Debug, Clone)]
pub struct ClassificationOptions {
    /// What to do with a directory that may already hold a run.
    pub start: Start,
    /// Once true, every fold saves its state after the epoch it is in.
    pub stop: Arc<AtomicBool>,
    /// Train only this fold, counted from 0.
    pub only_fold: Option<usize>,
    /// Folds in training at a time, each on one thread.
    pub workers: usize,
}

impl Default for ClassificationOptions {
    /// A new run of all folds, one at a time.
    fn default() -> Self {
        Self { start: Start::New, stop: Arc::default(), only_fold: None, workers: 1 }
    }
}

/// Trains and judges a model on every fold, in a run directory, and chooses the epoch. The result is `None` while folds are missing: because only one was asked for,
/// or the run was stopped; the same call with [`Start::ResumeOrNew`] goes on.
///
/// `observe` is told of every epoch, from the threads that train.
///
/// # Errors
/// What is wrong with configuration, data or directory before anything is trained; [`TrainError::NotFinite`] if a fold diverges.
pub fn cross_validate(
    config: &ClassificationConfig,
    directory: &Path,
    options: &ClassificationOptions,
    observe: impl Fn(&EpochOfFold) + Sync,
) -> Result<(Vec<FoldCurve>, Option<ClassificationResult>), TrainError> {
    config.validate()?;
    let data = ClassificationData::read(config)?;
    let model = config.model_config(data.node_width(), data.classes(), data.tagged())?;
    let count = data.folds().len();
    let wanted: Vec<usize> = match options.only_fold {
        Some(fold) if fold >= count => {
            return Err(TrainError::config("fold", format!("{fold} does not exist, folds are 0 to {}", count - 1)));
        }
        Some(fold) => vec![fold],
        None => (0..count).collect(),
    };
    let folder = RunFolder::open(directory, config, options.start)?;
    folder.write_json("model.json", &model)?;
    let train = |fold: usize| -> Result<FoldCurve, TrainError> {
        let mut run = FoldRun::open(config, &data, &model, fold, &folder.path)?;
        run.train(|| options.stop.load(Ordering::Relaxed), &observe)?;
        Ok(run.curve())
    };
    let curves = side_by_side(&wanted, options.workers, train)?;
    let complete = curves.len() == count && curves.iter().all(|curve| curve.accuracy.len() as u64 == config.epochs);
    if !complete {
        return Ok((curves, None));
    }
    let parameters = HostClassifier::new(&model.init(&Device::flex(), &mut InitRng::new(0))?)?.parameters().len();
    let result = ClassificationResult::new(config, &data, parameters, curves.clone())?;
    folder.write_json("result.json", &result)?;
    Ok((curves, Some(result)))
}

/// Runs `train` for every fold on `workers` threads and gives the curves in order; the first failure ends the rest before their next fold.
fn side_by_side(
    folds: &[usize],
    workers: usize,
    train: impl Fn(usize) -> Result<FoldCurve, TrainError> + Sync,
) -> Result<Vec<FoldCurve>, TrainError> {
    let next = AtomicUsize::new(0);
    let curves: Mutex<Vec<FoldCurve>> = Mutex::new(Vec::new());
    let work = || -> Result<(), TrainError> {
        // A pool of one thread: what a fold computes in parallel then stays within its worker.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| TrainError::Worker(error.to_string()))?;
        while let Some(&fold) = folds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let curve = pool.install(|| train(fold)).inspect_err(|_| next.store(folds.len(), Ordering::Relaxed))?;
            if let Ok(mut curves) = curves.lock() {
                curves.push(curve);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.clamp(1, folds.len().max(1))).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|_| Err(TrainError::Worker("it panicked".to_owned()))))
    })?;
    let mut curves = curves.into_inner().map_err(|_| TrainError::Worker("it panicked".to_owned()))?;
    curves.sort_by_key(|curve| curve.fold);
    Ok(curves)
}
