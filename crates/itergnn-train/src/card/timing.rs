//! How long training steps take on a card.

use std::time::Instant;

use itergnn_cuda::{Ensemble, EnsembleOptions, Gpu, ModelSpec, Tuning};
use itergnn_nn::{GnnModel, named_tensors};

use super::member::upload;
use super::network::{flatten, graph_model, network, recipe, single, slots};
use crate::TrainError;
use crate::config::{LossKind, OptimiserConfig};
use crate::data::SampleSource;

/// Steps that are timed together: they are ordered at once, as in training.
const STEPS: usize = 50;

/// Milliseconds of a whole training step of `models` copies of a model side by side on the first card, each on all
/// samples of the source: one number for each of `repetitions` rounds. Rates of zero keep the weights, and so the work,
/// the same from step to step.
///
/// # Errors
/// [`TrainError::Cuda`] where there is no card or the network is not covered.
pub fn time_steps_on_card(
    model: &GnnModel,
    optimiser: &OptimiserConfig,
    samples: &SampleSource,
    models: usize,
    repetitions: usize,
) -> Result<Vec<f64>, TrainError> {
    let graph = graph_model(model.config())?;
    let tensors = named_tensors(model);
    let spec = ModelSpec {
        network: network(graph)?,
        recipe: recipe(graph, LossKind::Mse, optimiser)?,
        parameters: flatten(&slots(graph, &tensors)?, |name| single(&tensors[name].values)),
    };
    let batch_size = samples.count() as usize;
    let options = EnsembleOptions { batch_size, tuning: Tuning::default() };
    let mut ensemble =
        Ensemble::new(&Gpu::open()?, &vec![spec; models], upload(samples, samples.level()?, graph)?, options)?;
    let batch = |_: usize, _: usize, list: &mut Vec<u32>| {
        list.extend(0..batch_size as u32);
        0.0
    };
    ensemble.train(STEPS, batch)?;
    let mut milliseconds = Vec::with_capacity(repetitions);
    for _ in 0..repetitions {
        let start = Instant::now();
        ensemble.train(STEPS, batch)?;
        milliseconds.push(1e3 * start.elapsed().as_secs_f64() / STEPS as f64);
    }
    Ok(milliseconds)
}
