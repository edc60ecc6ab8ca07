//! A classifier that learns, on the host.

use std::collections::BTreeMap;

use burn::tensor::Device;
use itergnn_graph::GraphBatch;
use itergnn_nn::{GnnConfig, GnnModel, HostClassifier, InitRng};

use crate::TrainError;
use crate::config::OptimiserConfig;
use crate::learning::{LearnerState, Moments, StepReport};

/// A [`HostClassifier`] with Adam.
pub(super) struct ClassifierLearner {
    classifier: HostClassifier,
    optimiser: OptimiserConfig,
    first: Vec<f32>,
    second: Vec<f32>,
    time: usize,
}

impl ClassifierLearner {
    /// A model with initial weights drawn from `seed`.
    pub(super) fn new(model: &GnnConfig, optimiser: OptimiserConfig, seed: u64) -> Result<Self, TrainError> {
        let classifier = HostClassifier::new(&model.init(&Device::flex(), &mut InitRng::new(seed))?)?;
        let count = classifier.parameters().len();
        Ok(Self { classifier, optimiser, first: vec![0.0; count], second: vec![0.0; count], time: 0 })
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
            self.update(&step.gradient, rate);
        }
        Ok(report)
    }

    /// Adam: `w <- w - rate m^ / (sqrt(v^) + epsilon)`.
    fn update(&mut self, gradient: &[f32], rate: f64) {
        self.time += 1;
        let (beta_1, beta_2) = (self.optimiser.beta_1, self.optimiser.beta_2);
        let correction = |beta: f64| 1.0 - beta.powi(self.time.min(1 << 30) as i32);
        // Both corrections and the rate as factors, so that the loop is a few operations a weight.
        let pace = (rate / correction(beta_1)) as f32;
        let root = (1.0 / correction(beta_2)) as f32;
        let epsilon = self.optimiser.epsilon as f32;
        let (beta_1, beta_2) = (beta_1 as f32, beta_2 as f32);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, (first, second)), &gradient) in
            self.classifier.parameters_mut().iter_mut().zip(moments).zip(gradient)
        {
            *first = beta_1 * *first + (1.0 - beta_1) * gradient;
            *second = beta_2 * *second + (1.0 - beta_2) * gradient * gradient;
            *weight -= pace * *first / ((*second * root).sqrt() + epsilon);
        }
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
        let (first, second) =
            (self.classifier.named_like_parameters(&self.first), self.classifier.named_like_parameters(&self.second));
        let moments = first.into_iter().zip(second).map(|((name, first), (_, second))| {
            (name, Moments { time: self.time, first: first.values, second: second.values })
        });
        LearnerState { weights: self.classifier.named(), moments: moments.collect() }
    }

    /// Takes over another learner's state.
    pub(super) fn restore(&mut self, state: &LearnerState) -> Result<(), String> {
        self.classifier.load(&state.weights).map_err(|error| error.to_string())?;
        let moments: &BTreeMap<String, Moments> = &state.moments;
        self.first = self.classifier.in_order(|name| moments.get(name).map(|moments| &moments.first[..]));
        self.second = self.classifier.in_order(|name| moments.get(name).map(|moments| &moments.second[..]));
        self.time = moments.values().map(|moments| moments.time).max().unwrap_or(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LossKind, ModelConfig, TrainConfig};
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
            let mut config = TrainConfig::new(task.clone(), ModelConfig::preset(name));
            config.model.hidden_width = Some(8);
            let model = config.model_config().unwrap();
            let mut tensors = Learner::new(&model, LossKind::CrossEntropy, &optimiser, 3, &Device::flex()).unwrap();
            let mut host = ClassifierLearner::new(&model, optimiser.clone(), 3).unwrap();
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
            let mut restored = ClassifierLearner::new(&model, optimiser.clone(), 4).unwrap();
            restored.restore(&ours).unwrap();
            host.step(&batch.graphs, &classes, 1e-3, 9).unwrap();
            restored.step(&batch.graphs, &classes, 1e-3, 9).unwrap();
            assert_eq!(host.state(), restored.state(), "{name}");
        }
    }
}
