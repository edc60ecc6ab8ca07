//! What a value network is shown of a game.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use itergnn_graph::{Graph, GraphBatch};
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::{GnnConfig, GnnModel, GraphTensors};
use itergnn_tasks::pacman::{COMPASS_EDGE_ATTRIBUTES, IMAGE_CHANNELS, Observation, Pacman, Picture, Symmetry};
use rayon::prelude::*;

use crate::TrainError;

/// Graph or picture, whichever the network takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewKind {
    /// Agent, dots and landmarks.
    Graph,
    /// The map.
    Picture,
}

impl ViewKind {
    /// What a model takes.
    pub fn of(model: &GnnConfig) -> Self {
        if matches!(model, GnnConfig::Grid(_)) { Self::Picture } else { Self::Graph }
    }
}

/// A game as a network sees it, in few bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameView {
    /// Agent, dots and landmarks.
    Graph(Observation),
    /// The map.
    Picture(Picture),
}

impl GameView {
    /// What is seen of a game.
    pub fn of(game: &Pacman, kind: ViewKind) -> Self {
        match kind {
            ViewKind::Graph => Self::Graph(game.observation()),
            ViewKind::Picture => Self::Picture(game.picture()),
        }
    }

    /// The same game, rotated or reflected.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> Self {
        match self {
            Self::Graph(observation) => Self::Graph(observation.transformed(symmetry)),
            Self::Picture(picture) => Self::Picture(picture.transformed(symmetry)),
        }
    }
}

/// Games side by side, ready for a model.
pub(super) enum ViewBatch {
    Graphs(Box<GraphBatch>),
    Pictures { values: Vec<f32>, count: usize, side: usize },
}

/// What stands on the edges of the graphs that a model takes.
fn takes_compass(model: &GnnConfig) -> bool {
    model.widths().edge_width == COMPASS_EDGE_ATTRIBUTES
}

impl ViewBatch {
    pub(super) fn new(views: &[&GameView], model: &GnnConfig) -> Result<Self, TrainError> {
        let mut side = 0;
        let mut values = Vec::new();
        let mut observations = Vec::new();
        for view in views {
            match view {
                GameView::Graph(observation) => observations.push(observation),
                GameView::Picture(picture) => {
                    side = usize::from(picture.side());
                    values.extend(picture.image());
                }
            }
        }
        if observations.is_empty() {
            return Ok(Self::Pictures { values, count: views.len(), side });
        }
        let graphs = observations
            .par_iter()
            .map(|observation| if takes_compass(model) { observation.compass_graph() } else { observation.graph() });
        let graphs = graphs.collect::<Result<Vec<Graph>, _>>()?;
        Ok(Self::Graphs(Box::new(GraphBatch::new(&graphs.iter().collect::<Vec<_>>())?)))
    }

    /// The model's outputs, `[games, 4]`, and what its controllers add to the loss.
    pub(super) fn forward(
        &self,
        model: &GnnModel,
        options: &RunOptions,
        device: &Device,
    ) -> Result<(Tensor<2>, Option<Tensor<1>>), TrainError> {
        match self {
            Self::Graphs(batch) => {
                let output = model.forward(&GraphTensors::from_batch(batch, device), options)?;
                Ok((output.values, output.auxiliary_loss))
            }
            Self::Pictures { values, count, side } => {
                let shape = [*count, IMAGE_CHANNELS, *side, *side];
                let images = Tensor::<4>::from_data(TensorData::new(values.clone(), shape), device);
                Ok((model.forward_images(images)?, None))
            }
        }
    }

    /// The model's outputs on the host, one row of four per game, without gradients.
    pub(super) fn outputs(&self, model: &GnnModel, options: &RunOptions) -> Result<Vec<[f32; 4]>, TrainError> {
        Ok(self.outputs_and_iterations(model, options)?.0)
    }

    /// As [`ViewBatch::outputs`], with the iterations of every game.
    pub(super) fn outputs_and_iterations(
        &self,
        model: &GnnModel,
        options: &RunOptions,
    ) -> Result<(Vec<[f32; 4]>, Vec<usize>), TrainError> {
        let device = Device::flex();
        let (values, iterations) = match self {
            Self::Graphs(batch) => {
                let graph = GraphTensors::from_batch(batch, &device);
                let output = model.valid().forward(&graph, options)?;
                let iterations = output.iterations(&graph);
                (output.values, iterations)
            }
            Self::Pictures { count, .. } => {
                let (values, _) = self.forward(&model.valid(), options, &device)?;
                (values, vec![0; *count])
            }
        };
        let values: Vec<f32> = values.try_into_vec_as().expect("the device gives its tensors back");
        Ok((values.as_chunks::<4>().0.to_vec(), iterations))
    }
}

/// How a model is run while it learns: with the cap of training, but without what a classifier drops at random.
pub(super) fn learning_options(model: &GnnConfig) -> RunOptions {
    if model.settings().is_capped_in_training() { RunOptions::training() } else { RunOptions::inference() }
}

/// The place of the largest number, the first of several.
pub(super) fn best_of(outputs: &[f32; 4]) -> usize {
    let mut best = 0;
    for index in 1..outputs.len() {
        if outputs[index] > outputs[best] {
            best = index;
        }
    }
    best
}
