//! The two forms of a model that learns.

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use itergnn_graph::GraphBatch;
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::{
    Engine, GnnModel, GraphTensors, HostClassifier, InitRng, Level, named_tensors, pointer, replace_tensors,
};

use super::{LearnerState, Optimiser, StepReport, batch_loss};
use crate::TrainError;
use crate::config::LossKind;
use crate::data::HostBatch;

/// A model that learns.
pub(super) enum Network {
    /// As tensors; blocks with a fused engine use it.
    Tensors(Box<GnnModel>),
    /// A classifier of GIN blocks, whose whole step is one fused call.
    Classifier(Box<HostClassifier>),
}

impl Network {
    /// The form that an engine asks for: the fused one where it covers model and loss, unless told otherwise.
    pub(super) fn new(model: GnnModel, loss: LossKind, engine: Engine) -> Self {
        let fused = (engine != Engine::Plain && loss == LossKind::CrossEntropy).then(|| HostClassifier::new(&model));
        match fused {
            Some(Ok(classifier)) => Self::Classifier(Box::new(classifier)),
            _ => Self::Tensors(Box::new(model)),
        }
    }

    /// The same weights in the form that an engine asks for.
    pub(super) fn with_engine(self, loss: LossKind, engine: Engine, device: &Device) -> Result<Self, TrainError> {
        let model = match self {
            Self::Tensors(model) => *model,
            Self::Classifier(classifier) => {
                let fresh = classifier.model().config().init(device, &mut InitRng::new(0))?;
                replace_tensors(fresh, &classifier.named())
            }
        };
        Ok(Self::new(model, loss, engine))
    }

    /// The model as it is now, for predictions; later steps do not change it.
    pub(super) fn model(&self) -> GnnModel {
        match self {
            // A clone would share the running statistics of batch normalisation, and not have those of the last step.
            Self::Tensors(model) => model.valid(),
            Self::Classifier(classifier) => classifier.model(),
        }
    }

    /// Weights and running statistics by name, and what the optimiser remembers of them.
    pub(super) fn state(&self, optimiser: &Optimiser) -> LearnerState {
        let weights = match self {
            Self::Tensors(model) => named_tensors(&model.valid()),
            Self::Classifier(classifier) => classifier.named(),
        };
        LearnerState { weights, moments: optimiser.moments() }
    }

    /// Takes over the weights of a state.
    pub(super) fn restore(&mut self, state: &LearnerState) -> Result<(), String> {
        match self {
            Self::Tensors(model) => **model = replace_tensors((**model).clone(), &state.weights),
            Self::Classifier(classifier) => {
                classifier.load(&state.weights).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// One step, or only its report if a number in it is not finite.
    pub(super) fn step(
        &mut self,
        batch: &HostBatch,
        how: &StepSettings<'_>,
        optimiser: &mut Optimiser,
    ) -> Result<StepReport, TrainError> {
        match self {
            Self::Tensors(model) => step_of_tensors(model, batch, how, optimiser),
            Self::Classifier(classifier) => step_of_classifier(classifier, batch, how, optimiser),
        }
    }

    /// The outputs of every graph.
    pub(super) fn scores(&self, graphs: &GraphBatch, device: &Device) -> Result<Vec<Vec<f32>>, TrainError> {
        match self {
            Self::Classifier(classifier) => Ok(classifier.scores(graphs)?),
            Self::Tensors(model) => {
                let tensors = GraphTensors::from_batch(graphs, &device.clone().inner());
                let values = model.valid().forward(&tensors, &RunOptions::inference())?.values;
                let width = values.dims()[1].max(1);
                let flat: Vec<f32> = values.into_data().convert::<f32>().iter::<f32>().collect();
                Ok(flat.chunks_exact(width).map(<[f32]>::to_vec).collect())
            }
        }
    }
}

/// What a step needs besides the batch.
pub(super) struct StepSettings<'a> {
    pub(super) loss: LossKind,
    pub(super) engine: Engine,
    pub(super) device: &'a Device,
    pub(super) rate: f64,
    /// For what the model draws in this step (dropout).
    pub(super) seed: u64,
}

fn step_of_tensors(
    model: &mut GnnModel,
    batch: &HostBatch,
    how: &StepSettings<'_>,
    optimiser: &mut Optimiser,
) -> Result<StepReport, TrainError> {
    let graph = GraphTensors::from_batch(&batch.graphs, how.device);
    let options = RunOptions::training().with_seed(how.seed).with_engine(how.engine);
    let output = model.forward(&graph, &options)?;
    let graphs = batch.graphs.len();
    let mean = |total: usize| total as f64 / graphs.max(1) as f64;
    let iterations = mean(output.iterations(&graph).into_iter().sum());
    let capped = mean(output.capped(&graph).into_iter().filter(|&capped| capped).count());

    // Squares of labels in units of a thousand would drown the prices that controllers add.
    let unit = model.config().settings().unit();
    let measured = if how.loss == LossKind::Mse { unit * unit } else { 1.0 };
    let loss = match batch.level {
        Level::Pointer => pointer::cross_entropy(output.values, graph.structure(), &batch.pointers),
        _ => batch_loss(how.loss, output.values, batch) / measured,
    };
    let auxiliary = output.auxiliary_loss.as_ref().map_or(0.0, |loss| loss.clone().into_scalar::<f64>());
    let total = output.auxiliary_loss.into_iter().fold(loss.clone(), |total, loss| total + loss);
    let gradients = GradientsParams::from_grads(total.backward(), model);
    let report = StepReport {
        loss: loss.into_scalar::<f64>(),
        auxiliary_loss: auxiliary,
        gradient_norm: Optimiser::norm(model, &gradients),
        iterations,
        capped,
        graphs,
    };
    if report.fault().is_none() {
        *model = optimiser.step(how.rate, model.clone(), gradients, report.gradient_norm);
    }
    Ok(report)
}

fn step_of_classifier(
    classifier: &mut HostClassifier,
    batch: &HostBatch,
    how: &StepSettings<'_>,
    optimiser: &mut Optimiser,
) -> Result<StepReport, TrainError> {
    let classes: Vec<u32> = batch.targets.iter().map(|&class| class as u32).collect();
    let step = classifier.loss_and_gradient(&batch.graphs, &classes, how.seed)?;
    let squares: f64 = step.gradient.iter().map(|&value| f64::from(value).powi(2)).sum();
    let graphs = batch.graphs.len();
    let report = StepReport {
        loss: step.loss,
        auxiliary_loss: 0.0,
        gradient_norm: squares.sqrt(),
        iterations: step.iterations.iter().sum::<usize>() as f64 / graphs.max(1) as f64,
        capped: 0.0,
        graphs,
    };
    if report.fault().is_none() {
        classifier.update(&step.gradient, |name, values, gradient| {
            optimiser.update(name, how.rate, values, gradient, report.gradient_norm);
        });
    }
    Ok(report)
}
