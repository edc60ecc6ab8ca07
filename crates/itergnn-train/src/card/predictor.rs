//! Predictions on a card.

use burn::module::Module;
use itergnn_cuda::{CudaError, Gpu, LargeGraph, Mode, Network, Predictor as CardAnswers, Question, Tuning};
use itergnn_graph::Graph;
use itergnn_nn::controllers::{Mode as RunMode, RunOptions};
use itergnn_nn::{GnnModel, GraphModelConfig, Loops, ReadoutKind, named_tensors};

use super::network::{flatten, graph_model, network, single, slots};
use super::samples::{empty, push, scaled, with_view};
use crate::TrainError;
use crate::evaluation::{Predicted, Predictor};

/// Graphs of one launch: enough to fill a card several times.
const LARGEST_BATCH: usize = 4_096;

/// Nodes beyond which a graph takes one thread block longer than the whole card takes for many such graphs, one after
/// the other.
const LARGE_NODES: usize = 4_096;

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
        let parameters = flatten(&slots, |name| single(&tensors[name].values));
        Ok(Self { gpu: Gpu::open()?, model: config, parameters, architecture: model.config().architecture_line() })
    }

    /// The network as a run with these options has it.
    fn network(&self, options: &RunOptions) -> Result<Network, CudaError> {
        Ok(Network { blocks: self.model.resolved_blocks(options.mode, options.cap), ..network(&self.model)? })
    }
}

impl CardPredictor {
    /// Graphs that share launches, a thread block for each or for several.
    fn predict_together(&self, network: &Network, graphs: &[&Graph], mode: Mode) -> Result<Predicted, TrainError> {
        let mut samples = empty(&self.model);
        for graph in graphs {
            push(&mut samples, &self.model, graph, &[], &[])?;
        }
        let card = CardAnswers::new(&self.gpu, network, samples, &Tuning::default())?;
        let all: Vec<u32> = (0..graphs.len() as u32).collect();
        let question = Question { network, parameters: &self.parameters, samples: &all };
        let answers = card.predict(&[question], mode)?;
        let Some(answers) = answers.into_iter().next() else { return Ok(Predicted::default()) };
        let values = (0..graphs.len())
            .map(|graph| card.rows(graph).flat_map(|row| answers.values[row].iter().copied()).collect())
            .collect();
        Ok(self.predicted(values, answers.loops))
    }

    /// One graph that the whole card works on.
    fn predict_alone(&self, network: &Network, graph: &Graph, mode: Mode) -> Result<Predicted, TrainError> {
        let graph = with_view(&self.model, graph, &[], &[], |view| LargeGraph::new(&self.gpu, network, view))?;
        let answer = graph.predict(network, &self.parameters, mode)?;
        Ok(self.predicted(vec![answer.values], [(answer.iterations, answer.capped)].into_iter().collect()))
    }

    fn predicted(&self, values: Vec<Vec<f32>>, loops: Loops) -> Predicted {
        let mut values = scaled(values, self.model.unit);
        if self.model.readout == ReadoutKind::HeadTail {
            // The card predicts for every node; the model is asked about the first and the last.
            let width = self.model.output_width / 2;
            for rows in &mut values {
                let tail = rows[rows.len() - width..].to_vec();
                rows.truncate(width);
                rows.extend(tail);
            }
        }
        let overflow =
            |(values, &steps): (&Vec<f32>, &usize)| values.iter().any(|value| !value.is_finite()).then_some(steps);
        let overflows = values.iter().zip(&loops.iterations).map(overflow).collect();
        Predicted { values, loops, overflows }
    }
}

impl Predictor for CardPredictor {
    fn predict(&self, graphs: &[&Graph], options: &RunOptions) -> Result<Predicted, TrainError> {
        let network = self.network(options)?;
        let mode = Mode { cap: None, settles: options.mode == RunMode::Training };
        let is_large = |graph: &Graph| graph.nodes() > LARGE_NODES && LargeGraph::covers(&network);
        let mut all = Predicted::default();
        for part in graphs.chunk_by(|left, right| !is_large(left) && !is_large(right)) {
            let part = match part {
                [graph] if is_large(graph) => self.predict_alone(&network, graph, mode)?,
                _ => self.predict_together(&network, part, mode)?,
            };
            all.values.extend(part.values);
            all.loops.iterations.extend(part.loops.iterations);
            all.loops.capped.extend(part.loops.capped);
            all.overflows.extend(part.overflows);
        }
        Ok(all)
    }

    fn bytes(&self, nodes: usize, edges: usize) -> u64 {
        // Inputs, lists of edges both ways and their features, on the host and on the card.
        let (node, edge) = (self.model.node_width as u64 + 3, self.model.edge_width as u64 + 3);
        let of = |count: usize, width: u64| (count as u64).saturating_mul(8 * width);
        of(nodes, node).saturating_add(of(edges, edge))
    }

    fn largest_batch(&self) -> usize {
        LARGEST_BATCH
    }

    fn architecture(&self) -> String {
        self.architecture.clone()
    }
}
