//! A classifier that learns, on the host.

use std::collections::BTreeMap;

use burn::tensor::Device;
use itergnn_graph::GraphBatch;
use itergnn_nn::{GnnConfig, GnnModel, HostClassifier, InitRng};

use crate::TrainError;
use crate::config::OptimiserConfig;
use crate::learning::{LearnerState, Moments, Optimiser, StepReport};

/// A [`HostClassifier`] with its optimiser.
pub(super) struct ClassifierLearner {
    classifier: HostClassifier,
    optimiser: Optimiser,
}

/// The optimiser sees all parameters as one.
const ALL: &str = "parameters";

impl ClassifierLearner {
    /// A model with initial weights drawn from `seed`.
    pub(super) fn new(model: &GnnConfig, optimiser: &OptimiserConfig, seed: u64) -> Result<Self, TrainError> {
        let classifier = HostClassifier::new(&model.init(&Device::flex(), &mut InitRng::new(seed))?)?;
        Ok(Self { classifier, optimiser: Optimiser::new(optimiser) })
    }

    /// Takes one step, unless loss or gradient are no finite numbers: then the report says so and the model stays as it was.
    pub(super) fn step(
        &mut self,
        batch: &GraphBatch,
        classes: &[u32],
        rate: f64,
        seed: u64,
    ) -> Result<StepReport, TrainError> {
        let step = self.classifier.loss_and_gradient(batch, classes, seed)?;
        let squares: f64 = step.gradient.iter().map(|&value| f64::from(value).powi(2)).sum();
        let iterations: usize = step.iterations.iter().sum();
        let report = StepReport {
            loss: step.loss,
            auxiliary_loss: 0.0,
            gradient_norm: squares.sqrt(),
            iterations: iterations as f64 / batch.len().max(1) as f64,
            capped: 0.0,
            graphs: batch.len(),
        };
        if report.fault().is_none() {
            let parameters = self.classifier.parameters_mut();
            self.optimiser.update(ALL, rate, parameters, &step.gradient, report.gradient_norm);
        }
        Ok(report)
    }

    /// Class scores of every graph.
    pub(super) fn scores(&self, batch: &GraphBatch) -> Result<Vec<Vec<f32>>, TrainError> {
        Ok(self.classifier.scores(batch)?)
    }

    /// The model as it is now.
    pub(super) fn model(&self) -> GnnModel {
        self.classifier.model()
    }

    /// Everything learned so far.
    pub(super) fn state(&self) -> LearnerState {
        let mut moments = BTreeMap::new();
        if let Some(all) = self.optimiser.moments().get(ALL) {
            let named = |values: &[f64]| {
                let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
                self.classifier.named_like_parameters(&values)
            };
            for ((name, first), (_, second)) in named(&all.first).into_iter().zip(named(&all.second)) {
                moments.insert(name, Moments { time: all.time, first: first.values, second: second.values });
            }
        }
        LearnerState { weights: self.classifier.named(), moments }
    }

    /// Takes over another learner's state.
    pub(super) fn restore(&mut self, state: &LearnerState) -> Result<(), String> {
        self.classifier.load(&state.weights).map_err(|error| error.to_string())?;
        let moments = &state.moments;
        let all = |part: fn(&Moments) -> &[f64]| {
            let flat = self.classifier.in_order(|name| moments.get(name).map(part));
            flat.into_iter().map(f64::from).collect()
        };
        let all = Moments {
            time: moments.values().map(|moments| moments.time).max().unwrap_or(0),
            first: all(|moments| &moments.first),
            second: all(|moments| &moments.second),
        };
        self.optimiser = self.optimiser.clone().with_moments(&BTreeMap::from([(ALL.to_owned(), all)]));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LossKind, ModelConfig, RunConfig};
    use crate::data::SampleSource;
    use crate::learning::Learner;
    use itergnn_tasks::{Split, Task, TaskSpec};

    /// f32 rounding of the first steps; Adam divides by the gradient, so the update of a weight with next to none is arbitrary.
    const TOLERANCE: f64 = 2e-3;

    #[test]
    fn steps_are_those_of_the_tensor_learner_and_survive_a_restart() {
        let task = TaskSpec::paper(Task::RegularGraphs);
        let samples = SampleSource::new(&task, Split::Train.seed(1), 12).unwrap();
        let batch = samples.batch(&(0..12).collect::<Vec<_>>()).unwrap();
        let classes: Vec<u32> = batch.targets.iter().map(|&class| class as u32).collect();
        // An epsilon above the gradients that are pure rounding (those of biases before a normalisation), so that both learners agree to do next to nothing there.
        let optimiser = OptimiserConfig { epsilon: 1e-3, ..OptimiserConfig::default() };
        for name in ["gin", "iter-gin"] {
            let mut config = RunConfig::new(task.clone(), ModelConfig::preset(name));
            config.model.hidden_width = Some(8);
            let model = config.resolve().unwrap().model;
            let mut tensors = Learner::new(&model, LossKind::CrossEntropy, &optimiser, 3, &Device::flex()).unwrap();
            let mut host = ClassifierLearner::new(&model, &optimiser, 3).unwrap();
            assert_eq!(host.state().weights, tensors.state().weights, "{name}");
            // Forty normalised steps of Iter-GIN enlarge rounding so much that Adam may take the smallest gradients either way; in double precision they agree with
            // PyTorch (`itergnn-kernels/tests/classifier_golden.rs`). So only the loss of its first step is compared.
            let steps = if name == "gin" { 3 } else { 1 };
            for seed in 0..steps {
                let theirs = tensors.step(&batch, 1e-3, seed).unwrap();
                let ours = host.step(&batch.graphs, &classes, 1e-3, seed).unwrap();
                assert!((theirs.loss - ours.loss).abs() < TOLERANCE, "{name}: {} {}", theirs.loss, ours.loss);
            }
            let (ours, theirs) = (host.state(), tensors.state());
            for (name_of, tensor) in ours.weights.iter().filter(|_| name == "gin") {
                for (ours, theirs) in tensor.values.iter().zip(&theirs.weights[name_of].values) {
                    assert!(
                        (ours - theirs).abs() < TOLERANCE * theirs.abs().max(1.0),
                        "{name} {name_of}: {ours} {theirs}"
                    );
                }
            }
            assert!(ours.moments.keys().eq(theirs.moments.keys()), "{name}");
            let mut restored = ClassifierLearner::new(&model, &optimiser, 4).unwrap();
            restored.restore(&ours).unwrap();
            host.step(&batch.graphs, &classes, 1e-3, 9).unwrap();
            restored.step(&batch.graphs, &classes, 1e-3, 9).unwrap();
            assert_eq!(host.state(), restored.state(), "{name}");
        }
    }
}
