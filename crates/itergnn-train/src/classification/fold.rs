//! Training on one fold.

use std::path::Path;
use std::time::{Duration, Instant};

use itergnn_graph::{Graph, GraphBatch, rng};
use itergnn_nn::GnnConfig;
use itergnn_nn::store::ModelCard;
use itergnn_tasks::{Sample, Score, Task};
use rand::{Rng, RngExt};

use super::fold_files::FoldFiles;
use super::learner::ClassifierLearner;
use super::{ClassificationConfig, ClassificationData, EpochOfFold, FoldCurve};
use crate::TrainError;
use crate::data::HostBatch;
use crate::run::{Checkpoint, LogLengths, Progress};

/// The state of a fold is saved at most this often, besides at its end.
const SAVE_EVERY: Duration = Duration::from_secs(20);

/// A fold in training.
pub(super) struct FoldRun<'a> {
    config: &'a ClassificationConfig,
    data: &'a ClassificationData,
    fold: usize,
    model: &'a GnnConfig,
    learner: ClassifierLearner,
    train: Vec<u32>,
    test: TestSet,
    files: FoldFiles,
    epochs: Vec<EpochOfFold>,
    seconds_before: f64,
    start: Instant,
}

impl<'a> FoldRun<'a> {
    /// Begins the fold, or goes on with what its directory holds.
    pub(super) fn open(
        config: &'a ClassificationConfig,
        data: &'a ClassificationData,
        model: &'a GnnConfig,
        fold: usize,
        run: &Path,
    ) -> Result<Self, TrainError> {
        let learner = ClassifierLearner::new(model, config.optimiser(), config.seed_of_fold(fold))?;
        let (files, found) = FoldFiles::open(run, fold)?;
        let mut run = Self {
            config,
            data,
            fold,
            model,
            learner,
            train: data.folds().train(fold),
            test: TestSet::new(data.test_samples(fold))?,
            files,
            epochs: Vec::new(),
            seconds_before: 0.0,
            start: Instant::now(),
        };
        if let Some((checkpoint, epochs)) = found {
            let damaged =
                |why: String| TrainError::Checkpoint { path: super::fold_directory(Path::new(""), fold), why };
            run.learner.restore(&checkpoint.learner).map_err(damaged)?;
            run.seconds_before = checkpoint.progress.seconds;
            run.epochs = epochs;
        }
        Ok(run)
    }

    /// Trains to the last epoch, or until `stop` says so after one; `observe` is told of every epoch.
    pub(super) fn train(&mut self, stop: impl Fn() -> bool, observe: impl Fn(&EpochOfFold)) -> Result<(), TrainError> {
        let mut saved = Instant::now();
        while !self.is_finished() && !stop() {
            let epoch = self.epoch()?;
            self.files.log(&epoch)?;
            self.epochs.push(epoch);
            observe(&epoch);
            if saved.elapsed() >= SAVE_EVERY && !self.is_finished() {
                self.save()?;
                saved = Instant::now();
            }
        }
        if self.is_finished() && self.files.has_model() {
            return Ok(());
        }
        self.save()?;
        if self.is_finished() {
            self.files.save_model(&self.learner.model(), &self.card())?;
        }
        Ok(())
    }

    pub(super) fn is_finished(&self) -> bool {
        self.epochs.len() as u64 >= self.config.epochs
    }

    pub(super) fn curve(&self) -> FoldCurve {
        FoldCurve {
            fold: self.fold,
            train_graphs: self.train.len(),
            test_graphs: self.test.samples.len(),
            accuracy: self.epochs.iter().map(|epoch| epoch.test_accuracy).collect(),
            train_loss: self.epochs.iter().map(|epoch| epoch.train_loss).collect(),
            iterations: self.epochs.iter().map(|epoch| epoch.iterations).collect(),
            seconds: self.epochs.last().map_or(0.0, |epoch| epoch.seconds),
        }
    }

    fn epoch(&mut self) -> Result<EpochOfFold, TrainError> {
        let epoch = self.epochs.len() as u64 + 1;
        let learning_rate = self.config.rate(epoch);
        let (mut loss, mut iterations) = (0.0, 0.0);
        let steps = self.config.steps_an_epoch;
        for step in (epoch - 1) * steps..epoch * steps {
            // A stream a step, so that a resumed fold needs no state of a generator.
            let mut generator = rng::sample(self.config.seed_of_fold(self.fold), step);
            let batch = self.data.batch(&draw(&mut self.train.clone(), self.config.batch_size, &mut generator))?;
            let report = self.learner.step(&batch.graphs, &classes(&batch), learning_rate, generator.next_u64())?;
            if let Some((what, value)) = report.fault() {
                return Err(TrainError::NotFinite { what, value, step: step + 1, epoch });
            }
            loss += report.loss / steps as f64;
            iterations += report.iterations / steps as f64;
        }
        Ok(EpochOfFold {
            fold: self.fold,
            epoch,
            train_loss: loss,
            test_accuracy: self.test.accuracy(&self.learner)?,
            iterations,
            learning_rate,
            seconds: self.seconds(),
        })
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.start.elapsed().as_secs_f64()
    }

    fn save(&self) -> Result<(), TrainError> {
        let epoch = self.epochs.len() as u64;
        let progress = Progress {
            step: epoch * self.config.steps_an_epoch,
            epoch,
            seconds: self.seconds(),
            finished: self.is_finished(),
            ..Progress::default()
        };
        self.files.save(&Checkpoint {
            model: self.model.clone(),
            learner: self.learner.state(),
            best_weights: Default::default(),
            progress,
            logs: LogLengths::default(),
        })
    }

    fn card(&self) -> ModelCard {
        ModelCard {
            name: self.config.model.name.clone(),
            task: Task::GraphClassification.name().to_owned(),
            seed: self.config.seed_of_fold(self.fold),
            training: serde_json::json!({
                "config": self.config,
                "fold": self.fold,
                "epoch": self.epochs.len(),
                "test_accuracy": self.epochs.last().map(|epoch| epoch.test_accuracy),
                "itergnn": env!("CARGO_PKG_VERSION"),
            }),
        }
    }
}

/// `count` different graphs, all choices equally likely: the beginning of a shuffle.
fn draw(graphs: &mut [u32], count: usize, generator: &mut impl Rng) -> Vec<u32> {
    let all = graphs.len();
    for place in 0..count.min(all) {
        let chosen = generator.random_range(place as u32..all as u32);
        graphs.swap(place, chosen as usize);
    }
    graphs[..count.min(all)].to_vec()
}

fn classes(batch: &HostBatch) -> Vec<u32> {
    batch.targets.iter().map(|&class| class as u32).collect()
}

/// The test graphs of a fold, batched once for all epochs.
struct TestSet {
    samples: Vec<Sample>,
    batch: GraphBatch,
}

impl TestSet {
    fn new(samples: Vec<Sample>) -> Result<Self, TrainError> {
        let graphs: Vec<&Graph> = samples.iter().map(|sample| &sample.graph).collect();
        let batch = GraphBatch::new(&graphs)?;
        Ok(Self { samples, batch })
    }

    fn accuracy(&self, learner: &ClassifierLearner) -> Result<f64, TrainError> {
        let mut right = 0.0;
        for (sample, scores) in self.samples.iter().zip(learner.scores(&self.batch)?) {
            right += Score::of(sample, &scores)?.accuracy.unwrap_or(0.0);
        }
        Ok(right / self.samples.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_has_no_graph_twice_and_follows_from_its_stream() {
        let graphs: Vec<u32> = (100..130).collect();
        let drawn = |stream| draw(&mut graphs.clone(), 12, &mut rng::sample(3, stream));
        let mut first = drawn(0);
        assert_eq!(first, drawn(0));
        assert_ne!(first, drawn(1));
        first.sort_unstable();
        first.dedup();
        assert!(first.len() == 12 && first.iter().all(|graph| graphs.contains(graph)));
        assert_eq!(draw(&mut [5, 6], 9, &mut rng::sample(0, 0)).len(), 2);
    }
}
