//! The steps and epochs of one fold.

use std::sync::Arc;

use burn::tensor::Device;
use itergnn_graph::{Graph, GraphBatch, rng};
use itergnn_nn::GnnModel;
use itergnn_tasks::{Sample, Score};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ClassificationData, CrossValidationConfig, EpochOfFold, FoldCurve};
use crate::TrainError;
use crate::config::{LossKind, OptimiserConfig, ResolvedRun};
use crate::learning::Learner;
use crate::records::Record;
use crate::run::{Best, EpochTotals, MethodState, Progress};
use crate::session::{Advance, Clock, Facts, Method};

/// Learning from all folds but one, and testing on that one.
pub(super) struct FoldMethod {
    seed: u64,
    fold: usize,
    settings: CrossValidationConfig,
    optimiser: OptimiserConfig,
    data: Arc<ClassificationData>,
    learner: Learner,
    train: Vec<u32>,
    test: TestSet,
    place: Place,
}

/// Where a fold is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Place {
    /// The epochs that are done.
    epochs: Vec<EpochOfFold>,
    /// Sums over the steps of the epoch in progress.
    totals: EpochTotals,
}

impl FoldMethod {
    pub(super) fn new(run: &ResolvedRun, data: &Arc<ClassificationData>) -> Result<Self, TrainError> {
        let config = &run.config;
        let settings = config.cross_validation()?.clone();
        let fold = settings.fold.unwrap_or(0);
        Ok(Self {
            seed: config.seed,
            fold,
            settings,
            optimiser: config.optimiser.clone(),
            learner: Learner::new(&run.model, LossKind::CrossEntropy, &config.optimiser, config.seed, &Device::flex())?,
            train: data.folds().train(fold),
            test: TestSet::new(data.test_samples(fold))?,
            data: Arc::clone(data),
            place: Place::default(),
        })
    }

    pub(super) fn curve(&self) -> FoldCurve {
        let epochs = &self.place.epochs;
        FoldCurve {
            fold: self.fold,
            train_graphs: self.train.len(),
            test_graphs: self.test.samples.len(),
            accuracy: epochs.iter().map(|epoch| epoch.test_accuracy).collect(),
            train_loss: epochs.iter().map(|epoch| epoch.train_loss).collect(),
            iterations: epochs.iter().map(|epoch| epoch.iterations).collect(),
            seconds: epochs.last().map_or(0.0, |epoch| epoch.seconds),
        }
    }

    fn is_over(&self) -> bool {
        self.place.epochs.len() as u64 >= self.settings.epochs
    }

    fn rate(&self, step: u64) -> f64 {
        self.optimiser.learning_rate * self.optimiser.schedule.factor(step, self.settings.steps())
    }

    fn step(&mut self, progress: &mut Progress) -> Result<(), TrainError> {
        // A stream per step, so that a resumed fold needs no state of a generator.
        let mut generator = rng::sample(self.seed, progress.step);
        let batch = self.data.batch(&draw(&mut self.train.clone(), self.settings.batch_size, &mut generator))?;
        let rate = self.rate(progress.step);
        let report = self.learner.step(&batch, rate, generator.next_u64())?;
        if let Some((what, value)) = report.fault() {
            let epoch = self.place.epochs.len() as u64 + 1;
            return Err(TrainError::NotFinite { what, value, step: progress.step + 1, epoch });
        }
        progress.step += 1;
        self.place.totals.add(&report);
        Ok(())
    }
}

impl Method for FoldMethod {
    fn plan(&self) -> (u64, u64) {
        (self.settings.epochs, self.settings.steps())
    }

    fn advance(&mut self, progress: &mut Progress, clock: &mut Clock) -> Result<Advance, TrainError> {
        self.step(progress)?;
        if !progress.step.is_multiple_of(self.settings.steps_per_epoch) {
            return Ok(Advance::default());
        }
        let mean = std::mem::take(&mut self.place.totals).mean();
        let epoch = EpochOfFold {
            fold: self.fold,
            epoch: self.place.epochs.len() as u64 + 1,
            train_loss: mean.loss,
            test_accuracy: self.test.accuracy(&self.learner)?,
            iterations: mean.iterations,
            learning_rate: self.rate(progress.step - 1),
            seconds: clock.seconds(),
        };
        self.place.epochs.push(epoch);
        progress.finished = self.is_over();
        if progress.finished {
            // The model is that of the last epoch, which no test sample chose.
            progress.best = Some(Best { epoch: epoch.epoch, step: progress.step, value: epoch.test_accuracy });
        }
        Ok(Advance { is_best: progress.finished, records: vec![Record::Fold(epoch)] })
    }

    fn model(&self) -> GnnModel {
        self.learner.model()
    }

    fn state(&self) -> MethodState {
        let place = match serde_json::to_value(&self.place) {
            Ok(Value::Object(place)) => place,
            _ => Default::default(),
        };
        MethodState { learner: self.learner.state(), place, ..MethodState::default() }
    }

    fn restore(&mut self, state: MethodState, progress: &mut Progress) -> Result<(), String> {
        self.learner.restore(&state.learner)?;
        self.place = serde_json::from_value(Value::Object(state.place)).map_err(|error| error.to_string())?;
        let done = self.place.epochs.len() as u64;
        if done > self.settings.epochs {
            return Err(format!("{done} epochs are done, more than the {} asked for", self.settings.epochs));
        }
        progress.finished = self.is_over();
        Ok(())
    }

    fn measure(&self) -> &'static str {
        "accuracy"
    }

    fn facts(&self) -> Facts {
        let last = self.place.epochs.last();
        let card = json!({
            "fold": self.fold,
            "epoch": self.place.epochs.len(),
            "test_accuracy": last.map(|epoch| epoch.test_accuracy),
        });
        Facts { card: card.as_object().cloned().unwrap_or_default(), ..Facts::default() }
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

    fn accuracy(&self, learner: &Learner) -> Result<f64, TrainError> {
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
