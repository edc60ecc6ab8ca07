//! Whoever predicts.

use burn::module::Module;
use burn::tensor::Device;
use itergnn_graph::{Graph, GraphBatch};
use itergnn_nn::aligned::max_plus::{AllLengths, FixedEnd, PairLengths};
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::{GnnModel, GraphTensors, Loops, Network, NodeVariants};

use super::batching::LARGEST_BATCH;
use crate::TrainError;

/// What is predicted for several graphs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Predicted {
    /// For every graph the numbers of the prediction: one row, or a row for every node.
    pub values: Vec<Vec<f32>>,
    /// How the loops of every graph ended.
    pub loops: Loops,
    /// For every graph the iteration at which one of its values overflowed or became undefined, if one did: then its
    /// prediction is not a number.
    pub overflows: Vec<Option<usize>>,
}

/// Predicts for graphs, the same whatever the batch they come in.
///
/// [`ModelPredictor`] is one. A faster engine for the same weights can be another: validation, evaluation and walks
/// only know this trait.
pub trait Predictor: Sync {
    /// Predictions for graphs.
    ///
    /// # Errors
    /// [`TrainError::Model`] if a graph does not have the widths of the model.
    fn predict(&self, graphs: &[&Graph], options: &RunOptions) -> Result<Predicted, TrainError>;

    /// Roughly how many bytes a graph needs while it is predicted.
    fn bytes(&self, nodes: usize, edges: usize) -> u64;

    /// Most graphs that are worth predicting together.
    fn largest_batch(&self) -> usize {
        LARGEST_BATCH
    }

    /// The predicted lengths between one node and every other, where a single pass gives exactly what one prediction
    /// per node would; `None` where it does not. Only the size of the graph's marks is read.
    ///
    /// # Errors
    /// As [`Predictor::predict`].
    fn lengths_to_all(&self, _graph: &Graph, _fixed: FixedEnd) -> Result<Option<AllLengths>, TrainError> {
        Ok(None)
    }

    /// The model on one graph, ready for the lengths of many pairs of its nodes; `None` where that saves nothing. Only
    /// the size of the graph's marks is read.
    ///
    /// # Errors
    /// As [`Predictor::predict`].
    fn pair_lengths(&self, _graph: &Graph) -> Result<Option<PairLengths>, TrainError> {
        Ok(None)
    }

    /// The model on one graph, ready to be asked what other attributes of single nodes would give; `None` where that is
    /// no less work than predicting each changed graph. `memory` bounds the bytes that are kept.
    ///
    /// # Errors
    /// As [`Predictor::predict`].
    fn variants(
        &self,
        _graph: &Graph,
        _options: &RunOptions,
        _memory: u64,
    ) -> Result<Option<NodeVariants>, TrainError> {
        Ok(None)
    }

    /// Bytes that [`Predictor::variants`] keep of each iteration of a graph of so many nodes, at most; `None` where
    /// there are none.
    fn record_bytes(&self, _nodes: usize) -> Option<u64> {
        None
    }

    /// What predicts, in one line.
    fn architecture(&self) -> String;
}

/// Predicts with a model, without keeping anything for gradients.
///
/// # Example
/// ```
/// use burn::tensor::Device;
/// use itergnn_nn::{InitRng, TaskWidths, controllers::RunOptions, preset};
/// use itergnn_tasks::{Task, TaskSpec};
/// use itergnn_train::evaluation::{ModelPredictor, Predictor};
///
/// let model = preset("path", &TaskWidths::graph(3, 1, 1))?.init(&Device::flex(), &mut InitRng::new(1))?;
/// let sample = TaskSpec::paper(Task::ShortestPath).sampler()?.sample(0, 0)?;
/// let predicted = ModelPredictor::new(&model, &Device::flex()).predict(&[&sample.graph], &RunOptions::inference())?;
/// assert_eq!((predicted.values[0].len(), predicted.loops.iterations[0]), (1, 30));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModelPredictor {
    model: GnnModel,
    device: Device,
}

impl ModelPredictor {
    /// A predictor with a copy of the model.
    pub fn new(model: &GnnModel, device: &Device) -> Self {
        Self { model: model.valid(), device: device.clone().without_autodiff() }
    }
}

impl Predictor for ModelPredictor {
    fn predict(&self, graphs: &[&Graph], options: &RunOptions) -> Result<Predicted, TrainError> {
        if graphs.is_empty() {
            return Ok(Predicted::default());
        }
        let tensors = GraphTensors::from_batch(&GraphBatch::new(graphs)?, &self.device);
        let prediction = self.model.predict_with(&tensors, options)?;
        let overflows = prediction.overflows();
        let flat = |rows: &[Vec<f64>]| rows.iter().flatten().map(|&value| value as f32).collect();
        let ends = prediction.row_offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
        let values = ends.map(|rows| flat(&prediction.values[rows])).collect();
        Ok(Predicted { values, loops: prediction.loops, overflows })
    }

    fn lengths_to_all(&self, graph: &Graph, fixed: FixedEnd) -> Result<Option<AllLengths>, TrainError> {
        let Network::MaxPlus(_) = self.model.network() else { return Ok(None) };
        Ok(self.model.lengths_to_all(&GraphTensors::from_graph(graph, &self.device), fixed)?)
    }

    fn pair_lengths(&self, graph: &Graph) -> Result<Option<PairLengths>, TrainError> {
        let Network::MaxPlus(_) = self.model.network() else { return Ok(None) };
        Ok(self.model.pair_lengths(&GraphTensors::from_graph(graph, &self.device))?)
    }

    fn variants(&self, graph: &Graph, options: &RunOptions, memory: u64) -> Result<Option<NodeVariants>, TrainError> {
        let Network::Graph(_) = self.model.network() else { return Ok(None) };
        Ok(self.model.variants(&GraphTensors::from_graph(graph, &self.device), options, memory)?)
    }

    fn bytes(&self, nodes: usize, edges: usize) -> u64 {
        self.model.config().settings().bytes(nodes, edges)
    }

    fn record_bytes(&self, nodes: usize) -> Option<u64> {
        self.model.record_bytes(nodes)
    }

    fn architecture(&self) -> String {
        self.model.config().architecture_line()
    }
}
