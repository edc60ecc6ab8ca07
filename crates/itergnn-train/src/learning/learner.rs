//! A model that learns.

use std::collections::BTreeMap;
use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use itergnn_graph::GraphBatch;
use itergnn_nn::aligned::Refit;
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::{
    Engine, GnnConfig, GnnModel, GraphTensors, InitRng, Level, NamedTensor, named_tensors, pointer, replace_tensors,
    store,
};

use super::memory::keep_freed_memory;
use super::{HostGradients, Moments, Optimiser, batch_loss};
use crate::TrainError;
use crate::config::{LossKind, OptimiserConfig};
use crate::data::HostBatch;

/// A model with its optimiser.
///
/// # Example
/// ```
/// use burn::tensor::Device;
/// use itergnn_tasks::{Split, Task, TaskSpec};
/// use itergnn_train::{LossKind, ModelConfig, RunConfig, data::SampleSource, learning::Learner};
///
/// let task = TaskSpec::paper(Task::ShortestPath);
/// let mut config = RunConfig::new(task.clone(), ModelConfig::preset("iter-homo-path"));
/// config.model.hidden_width = Some(4);
/// let model = config.resolve()?.model;
/// let mut learner = Learner::new(&model, LossKind::Mse, &config.optimiser, 7, &Device::flex())?;
/// let samples = SampleSource::new(&task, Split::Train.seed(7), 2)?;
/// let report = learner.step(&samples.batch(&[0, 1])?, 1e-3, 0)?;
/// assert!(report.loss > 0.0 && report.gradient_norm > 0.0);
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
pub struct Learner {
    model: GnnModel,
    optimiser: Optimiser,
    loss: LossKind,
    device: Device,
    engine: Engine,
}

/// Everything a learner has learned, on the host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LearnerState {
    /// The weights by name.
    pub weights: BTreeMap<String, NamedTensor>,
    /// What the optimiser remembers, by the name of the weight.
    pub moments: BTreeMap<String, Moments>,
}

/// What one step saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// The loss of the predictions, before the update.
    pub loss: f64,
    /// What the controllers add to it.
    pub auxiliary_loss: f64,
    /// The norm of the gradient, before clipping.
    pub gradient_norm: f64,
    /// Iterations per graph, on average.
    pub iterations: f64,
    /// Share of the graphs whose loop was ended by the cap.
    pub capped: f64,
    /// Graphs in the batch.
    pub graphs: usize,
}

impl StepReport {
    /// The first of loss, auxiliary loss and gradient norm that is not a finite number.
    pub fn fault(&self) -> Option<(&'static str, f64)> {
        let watched = [
            ("the loss", self.loss),
            ("the auxiliary loss", self.auxiliary_loss),
            ("the gradient", self.gradient_norm),
        ];
        watched.into_iter().find(|(_, value)| !value.is_finite())
    }
}

impl Learner {
    /// A model with initial weights drawn from `seed`.
    ///
    /// # Errors
    /// [`TrainError::Model`] if the configuration makes no sense.
    pub fn new(
        model: &GnnConfig,
        loss: LossKind,
        optimiser: &OptimiserConfig,
        seed: u64,
        device: &Device,
    ) -> Result<Self, TrainError> {
        keep_freed_memory();
        let device = device.clone().autodiff();
        let model = model.init(&device, &mut InitRng::new(seed))?;
        Ok(Self { model, optimiser: Optimiser::new(optimiser), loss, device, engine: Engine::Auto })
    }

    /// With the weights of a model file in place of drawn ones.
    ///
    /// # Errors
    /// As [`started_from`].
    pub(crate) fn started_from(self, path: &Path) -> Result<Self, TrainError> {
        Ok(Self { model: started_from(self.model, path)?, ..self })
    }

    /// With another engine than the best that covers the model.
    #[must_use]
    pub fn with_engine(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }

    /// The model as it is now, for predictions; later steps do not change it.
    pub fn model(&self) -> GnnModel {
        // A clone would share the running statistics of batch normalisation, and not have those of the last step.
        self.model.valid()
    }

    /// The outputs of every graph by the model as it is now.
    ///
    /// # Errors
    /// [`TrainError::Model`] if the batch does not have the model's widths.
    pub fn scores(&self, graphs: &GraphBatch) -> Result<Vec<Vec<f32>>, TrainError> {
        let tensors = GraphTensors::from_batch(graphs, &self.device.clone().inner());
        let options = RunOptions::inference().with_engine(self.engine);
        let values = self.model().forward(&tensors, &options)?.values;
        let width = values.dims()[1].max(1);
        let flat: Vec<f32> = values.into_data().convert::<f32>().iter::<f32>().collect();
        Ok(flat.chunks_exact(width).map(<[f32]>::to_vec).collect())
    }

    /// Takes one step, unless loss or gradient are no finite numbers: then the report says so and the weights stay as
    /// they were.
    ///
    /// `seed` is for what the model draws in this step (dropout).
    ///
    /// # Errors
    /// [`TrainError::Model`] if the batch does not have the model's widths.
    pub fn step(&mut self, batch: &HostBatch, rate: f64, seed: u64) -> Result<StepReport, TrainError> {
        let graph = GraphTensors::from_batch(&batch.graphs, &self.device);
        let options = RunOptions::training().with_seed(seed).with_engine(self.engine);
        let output = self.model.forward(&graph, &options)?;
        let graphs = batch.graphs.len();
        let mean = |total: usize| total as f64 / graphs.max(1) as f64;
        let iterations = mean(output.iterations(&graph).into_iter().sum());
        let capped = mean(output.capped(&graph).into_iter().filter(|&capped| capped).count());

        // Squares of labels in units of a thousand would drown the prices that controllers add.
        let unit = self.model.config().settings().unit();
        let measured = if self.loss == LossKind::Mse { unit * unit } else { 1.0 };
        let loss = match batch.level {
            Level::Pointer => pointer::cross_entropy(output.values, graph.structure(), &batch.pointers),
            _ => batch_loss(self.loss, output.values, batch) / measured,
        };
        let auxiliary = output.auxiliary_loss.as_ref().map_or(0.0, |loss| loss.clone().into_scalar::<f64>());
        let total = output.auxiliary_loss.into_iter().fold(loss.clone(), |total, loss| total + loss);
        let gradients = HostGradients::of(&self.model, total.backward());
        let report = StepReport {
            loss: loss.into_scalar::<f64>(),
            auxiliary_loss: auxiliary,
            gradient_norm: gradients.norm(),
            iterations,
            capped,
            graphs,
        };
        if report.fault().is_none() {
            self.model = self.optimiser.step(rate, self.model.clone(), gradients);
        }
        Ok(report)
    }

    /// Tells the model that `fraction` of the training is done; before every step. Only models whose formulas change in
    /// training ([`GnnModel::at_progress`]) do anything with it.
    pub fn at_progress(&mut self, fraction: f64) {
        if self.model.needs_finish() {
            self.model = self.model.clone().at_progress(fraction);
        }
    }

    /// Whether the model needs [`Learner::finish`] after its last step.
    pub fn needs_finish(&self) -> bool {
        self.model.needs_finish()
    }

    /// Ends the training of a model that needs it, with a batch of training samples; see [`GnnModel::finish`].
    ///
    /// # Errors
    /// [`TrainError::Model`] if the batch does not fit the model.
    pub fn finish(&mut self, batch: &HostBatch) -> Result<Option<Refit>, TrainError> {
        let graph = GraphTensors::from_batch(&batch.graphs, &self.device);
        let targets = batch.targets.iter().map(|&target| f64::from(target));
        let targets: Vec<f64> = if batch.target_rows.is_empty() {
            targets.collect()
        } else {
            // Nodes without a target are rows too, without one.
            let mut rows = vec![f64::NAN; graph.nodes() * batch.outputs];
            let places = batch.target_rows.iter().flat_map(|&row| {
                let first = row as usize * batch.outputs;
                first..first + batch.outputs
            });
            places.zip(targets).for_each(|(place, target)| rows[place] = target);
            rows
        };
        let (model, refit) = self.model.clone().finish(&graph, &targets)?;
        self.model = model;
        Ok(refit)
    }

    /// Everything learned so far.
    pub fn state(&self) -> LearnerState {
        LearnerState { weights: named_tensors(&self.model()), moments: self.optimiser.moments() }
    }

    /// Takes over another learner's state.
    ///
    /// # Errors
    /// A line that names the weight that is missing, superfluous or of another shape.
    pub fn restore(&mut self, state: &LearnerState) -> Result<(), String> {
        check_names(&self.state().weights, state)?;
        self.model = replace_tensors(self.model.clone(), &state.weights);
        self.optimiser = self.optimiser.clone().with_moments(&state.moments);
        Ok(())
    }
}

/// The model with the weights of a model file.
///
/// # Errors
/// [`TrainError::Store`] if the file cannot be read; [`TrainError::Config`] names the weight that is missing,
/// superfluous or of another shape.
pub(crate) fn started_from(model: GnnModel, path: &Path) -> Result<GnnModel, TrainError> {
    let (other, _) = store::load(path, &Device::flex())?;
    let state = LearnerState { weights: named_tensors(&other), ..LearnerState::default() };
    check_names(&named_tensors(&model), &state).map_err(|why| {
        TrainError::config("model.start_from", format!("{} is another network: {why}", path.display()))
    })?;
    Ok(replace_tensors(model, &state.weights))
}

pub(crate) fn check_names(expected: &BTreeMap<String, NamedTensor>, state: &LearnerState) -> Result<(), String> {
    for (name, tensor) in expected {
        let found = state.weights.get(name).ok_or_else(|| format!("weight `{name}` is missing"))?;
        if found.shape != tensor.shape {
            return Err(format!("weight `{name}` has shape {:?}, expected {:?}", found.shape, tensor.shape));
        }
    }
    if let Some(name) = state.weights.keys().find(|name| !expected.contains_key(*name)) {
        return Err(format!("weight `{name}` does not belong to the model"));
    }
    for (name, moments) in &state.moments {
        let Some(tensor) = expected.get(name) else {
            return Err(format!("optimiser state `{name}` does not belong to the model"));
        };
        if moments.first.len() != tensor.values.len() || moments.second.len() != tensor.values.len() {
            return Err(format!("optimiser state `{name}` does not have the size of its weight"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ModelConfig, RunConfig};
    use crate::data::SampleSource;
    use itergnn_nn::named_tensors;
    use itergnn_tasks::{Split, Task, TaskSpec};

    fn learner(name: &str) -> (Learner, HostBatch) {
        let task = TaskSpec::paper(Task::RegularGraphs);
        let mut config = RunConfig::new(task.clone(), ModelConfig::preset(name));
        config.model.hidden_width = Some(4);
        let model = config.resolve().unwrap().model;
        let learner = Learner::new(&model, LossKind::CrossEntropy, &config.optimiser, 1, &Device::flex()).unwrap();
        let samples = SampleSource::new(&task, Split::Train.seed(1), 6).unwrap();
        (learner, samples.batch(&[0, 1, 2, 3, 4, 5]).unwrap())
    }

    #[test]
    fn a_restored_learner_goes_on_to_the_bit() {
        // GIN has running statistics and dropout besides.
        for name in ["iter-homo-path-settle", "act-homo-path", "gat", "gin", "iter-gin"] {
            let (mut original, batch) = learner(name);
            original.step(&batch, 1e-2, 1).unwrap();
            original.step(&batch, 1e-2, 2).unwrap();
            let state = original.state();
            let (mut restored, _) = learner(name);
            assert_ne!(restored.state(), state, "{name}");
            restored.restore(&state).unwrap();
            assert_eq!(restored.state(), state, "{name}");
            let (left, right) = (original.step(&batch, 1e-2, 3).unwrap(), restored.step(&batch, 1e-2, 3).unwrap());
            assert_eq!(left, right, "{name}");
            assert_eq!(original.state(), restored.state(), "{name}");
        }
    }

    #[test]
    fn a_model_that_was_taken_stays_as_it_was() {
        for name in ["iter-homo-path-settle", "gin"] {
            let (mut learner, batch) = learner(name);
            learner.step(&batch, 1e-2, 1).unwrap();
            let (taken, state) = (learner.model(), learner.state());
            learner.step(&batch, 1e-2, 2).unwrap();
            assert_eq!(named_tensors(&taken), state.weights, "{name}");
            assert_ne!(learner.state().weights, state.weights, "{name}");
        }
    }

    #[test]
    fn moments_have_the_names_of_their_weights() {
        let (mut learner, batch) = learner("iter-homo-path-settle");
        learner.step(&batch, 1e-2, 1).unwrap();
        let state = learner.state();
        assert!(state.moments.keys().eq(state.weights.keys()));
    }

    #[test]
    fn a_state_of_another_model_is_refused_by_name() {
        let (mut learner, _) = learner("iter-homo-path-settle");
        let mut state = learner.state();
        let name = state.weights.keys().next().unwrap().clone();
        let mut tensor = state.weights.remove(&name).unwrap();
        let mut refused = |state: &LearnerState| learner.restore(state).unwrap_err();
        assert_eq!(refused(&state), format!("weight `{name}` is missing"));
        tensor.shape.push(1);
        state.weights.insert(name.clone(), tensor);
        assert!(refused(&state).starts_with(&format!("weight `{name}` has shape")));
    }

    /// f32 rounding of the first steps; Adam divides by the gradient, so the update of a weight with next to none is
    /// arbitrary.
    const TOLERANCE: f64 = 2e-3;

    #[test]
    fn the_fused_step_of_a_classifier_is_that_of_its_tensors() {
        // An epsilon above the gradients that are pure rounding (those of biases before a normalisation), so that both
        // agree to do next to nothing there.
        let optimiser = OptimiserConfig { epsilon: 1e-3, ..OptimiserConfig::default() };
        let task = TaskSpec::paper(Task::RegularGraphs);
        let batch = SampleSource::new(&task, Split::Train.seed(1), 12).unwrap();
        let batch = batch.batch(&(0..12).collect::<Vec<_>>()).unwrap();
        for name in ["gin", "iter-gin"] {
            let mut config = RunConfig::new(task.clone(), ModelConfig::preset(name));
            config.model.hidden_width = Some(8);
            let model = config.resolve().unwrap().model;
            let new = || Learner::new(&model, LossKind::CrossEntropy, &optimiser, 3, &Device::flex()).unwrap();
            let (mut fused, mut plain) = (new(), new().with_engine(Engine::Plain));
            assert_eq!(fused.state().weights, plain.state().weights, "{name}");
            // Forty normalised steps of Iter-GIN enlarge rounding so much that Adam may take the smallest gradients
            // either way; in double precision they agree with PyTorch (`itergnn-nn/tests/classifier_golden.rs`).
            // So only the loss of its first step is compared.
            let steps = if name == "gin" { 3 } else { 1 };
            for seed in 0..steps {
                let (ours, theirs) = (fused.step(&batch, 1e-3, seed).unwrap(), plain.step(&batch, 1e-3, seed).unwrap());
                assert!((theirs.loss - ours.loss).abs() < TOLERANCE, "{name}: {} {}", theirs.loss, ours.loss);
            }
            let (ours, theirs) = (fused.state(), plain.state());
            assert!(ours.moments.keys().eq(theirs.moments.keys()), "{name}");
            for (place, tensor) in ours.weights.iter().filter(|_| name == "gin") {
                for (ours, theirs) in tensor.values.iter().zip(&theirs.weights[place].values) {
                    let allowed = TOLERANCE * theirs.abs().max(1.0);
                    assert!((ours - theirs).abs() < allowed, "{name} {place}: {ours} {theirs}");
                }
            }
            let scores = (fused.scores(&batch.graphs).unwrap(), plain.scores(&batch.graphs).unwrap());
            for (ours, theirs) in scores.0.iter().flatten().zip(scores.1.iter().flatten()).filter(|_| name == "gin") {
                assert!(f64::from((ours - theirs).abs()) < 10.0 * TOLERANCE, "{name}: {ours} {theirs}");
            }
        }
    }
}
