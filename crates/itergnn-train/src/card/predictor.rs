//! Predictions on a card.

use burn::module::Module;
use itergnn_cuda::{CudaError, Gpu, Mode, Network, Predictor as CardAnswers, Question, Tuning};
use itergnn_graph::Graph;
use itergnn_nn::controllers::{Mode as RunMode, RunOptions};
use itergnn_nn::{GnnModel, GraphModelConfig, named_tensors};

use super::network::{flatten, graph_model, network, slots};
use super::samples::{empty, push, scaled};
use crate::TrainError;
use crate::evaluation::{Predicted, Predictor};

/// Graphs of one launch: enough to fill a card several times.
const LARGEST_BATCH: usize = 4_096;

/// A model that predicts on the first card.
///
/// It agrees with [`ModelPredictor`](crate::evaluation::ModelPredictor) to rounding.
pub struct CardPredictor {
    gpu: Gpu,
    model: GraphModelConfig,
    parameters: Vec<f32>,
    architecture: String,
}

impl CardPredictor {
    /// For a model whose network the card covers.
    ///
    /// # Errors
    /// [`TrainError::Cuda`] where there is no card, or says what is not covered.
    pub fn new(model: &GnnModel) -> Result<Self, TrainError> {
        let config = graph_model(model.config())?.clone();
        network(&config)?;
        let tensors = named_tensors(&model.valid());
        let slots = slots(&config, &tensors)?;
        let parameters = flatten(&slots, |name| tensors[name].values.iter().map(|&value| value as f32).collect());
        Ok(Self { gpu: Gpu::open()?, model: config, parameters, architecture: model.config().architecture_line() })
    }

    /// The network as a run with these options has it.
    fn network(&self, options: &RunOptions) -> Result<Network, CudaError> {
        Ok(Network { blocks: self.model.resolved_blocks(options.mode, options.cap), ..network(&self.model)? })
    }
}

impl Predictor for CardPredictor {
    fn predict(&self, graphs: &[&Graph], options: &RunOptions) -> Result<Predicted, TrainError> {
        if graphs.is_empty() {
            return Ok(Predicted::default());
        }
        let mut samples = empty(&self.model);
        for graph in graphs {
            push(&mut samples, &self.model, graph, &[], &[])?;
        }
        let network = self.network(options)?;
        let card = CardAnswers::new(&self.gpu, &network, samples, &Tuning::default())?;
        let all: Vec<u32> = (0..graphs.len() as u32).collect();
        let question = Question { network: &network, parameters: &self.parameters, samples: &all };
        let mode = Mode { cap: None, settles: options.mode == RunMode::Training };
        let answers = card.predict(&[question], mode)?;
        let Some(answers) = answers.into_iter().next() else { return Ok(Predicted::default()) };
        let values: Vec<Vec<f32>> = (0..graphs.len())
            .map(|graph| card.rows(graph).flat_map(|row| answers.values[row].iter().copied()).collect())
            .collect();
        let overflow =
            |(values, &steps): (&Vec<f32>, &usize)| values.iter().any(|value| !value.is_finite()).then_some(steps);
        let overflows = values.iter().zip(&answers.iterations).map(overflow).collect();
        let values = scaled(values, self.model.unit);
        Ok(Predicted { values, iterations: answers.iterations, capped: answers.capped, overflows })
    }

    fn bytes(&self, nodes: usize, edges: usize) -> u64 {
        // Inputs, lists of edges both ways and their features, on the host and on the card.
        let (node, edge) = (self.model.node_width as u64 + 3, self.model.edge_width as u64 + 3);
        8 * (nodes as u64 * node + edges as u64 * edge)
    }

    fn largest_batch(&self) -> usize {
        LARGEST_BATCH
    }

    fn architecture(&self) -> String {
        self.architecture.clone()
    }
}
