//! A trained network, ready for use.

use std::ops::Range;
use std::path::{Path, PathBuf};

use itergnn_graph::{Attributes, EdgeWeights, Graph, GraphBatch, nearest_name};
use itergnn_nn::controllers::Trace;
use itergnn_nn::store::{self, ModelCard};
use itergnn_nn::{Device, GnnConfig, GnnModel, GraphTensors, ReadoutKind, RunOptions};
use itergnn_tasks::TaskSpec;
use itergnn_train::evaluation::{EvalOptions, EvalReport, Found, Marks, ModelPredictor, PathFinder, evaluate};
use itergnn_train::{Outcome, RunDirectory};

use crate::Error;

/// A network with its weights and its card: load one, ask it, keep it.
///
/// # Example
/// ```no_run
/// use itergnn::prelude::*;
/// let model = Model::load("models/shortest-path-lobster.safetensors")?;
/// println!("{}", model.architecture());
/// let roads = Graph::undirected(4, &[[0, 1], [1, 2], [2, 3]])?;
/// let found = model.solve(&roads, 0, 3)?;
/// println!("{:?} in {} iterations", found.path, found.iterations);
/// # Ok::<(), itergnn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    network: GnnModel,
    card: ModelCard,
    device: Device,
}

/// What a model says about one graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// One row for the graph, or one per node, edge or choice, as the model's level says.
    pub values: Vec<Vec<f64>>,
    /// Iterations used, over all blocks.
    pub iterations: usize,
    /// Whether a cap ended a loop: then the values are not the model's own last word.
    pub capped: bool,
    /// Every iteration of every block, if asked for.
    pub traces: Vec<Trace>,
}

impl Model {
    /// The model of a `.safetensors` file, or the best one of a run directory.
    ///
    /// # Errors
    /// [`Error::NoModel`] if there is none; [`Error::Store`] if the file is damaged or not ours.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let file = locate(path.as_ref())?;
        let device = Device::flex();
        let loaded = store::load(&file, &device);
        let (network, card) = loaded.map_err(|source| Error::Store { path: file, source })?;
        Ok(Self { network, card, device })
    }

    /// A model of its parts, such as those of a training's outcome.
    pub fn new(network: GnnModel, card: ModelCard) -> Self {
        Self { network, card, device: Device::flex() }
    }

    /// Writes the model into a `.safetensors` file; one that is there is replaced.
    ///
    /// # Errors
    /// [`Error::Store`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        store::save(&self.network, &self.card, path).map_err(|source| Error::Store { path: path.to_owned(), source })
    }

    /// Where it comes from: name, task, seed, training record.
    pub fn card(&self) -> &ModelCard {
        &self.card
    }

    /// Its settings.
    pub fn config(&self) -> &GnnConfig {
        self.network.config()
    }

    /// The network, for programs that use layers and tensors themselves.
    pub fn network(&self) -> &GnnModel {
        &self.network
    }

    /// The architecture in one line.
    pub fn architecture(&self) -> String {
        self.config().architecture_line()
    }

    /// What it says about a graph.
    ///
    /// # Errors
    /// [`Error::Model`] if the attributes do not have the model's widths; [`Error::NotFinite`] if a value overflows.
    pub fn predict(&self, graph: &Graph) -> Result<Answer, Error> {
        self.predict_with(graph, &RunOptions::inference())
    }

    /// What it says about a graph, with a cap on iterations, a trace or another engine.
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn predict_with(&self, graph: &Graph, options: &RunOptions) -> Result<Answer, Error> {
        let tensors = GraphTensors::from_graph(graph, &self.device);
        let prediction = self.network.predict_with(&tensors, options)?;
        if let Some(Some(iteration)) = prediction.overflows().first() {
            return Err(Error::NotFinite { iteration: *iteration });
        }
        Ok(Answer {
            values: prediction.values,
            iterations: prediction.loops.iterations[0],
            capped: prediction.loops.capped[0],
            traces: prediction.traces,
        })
    }

    /// What it says about many graphs, computed together; the answers are those of [`Model::predict`] one by one.
    ///
    /// # Errors
    /// As [`Model::predict`], for the first graph that has one.
    pub fn predict_many(&self, graphs: &[&Graph], options: &RunOptions) -> Result<Vec<Answer>, Error> {
        if graphs.is_empty() {
            return Ok(Vec::new());
        }
        let tensors = GraphTensors::from_batch(&GraphBatch::new(graphs)?, &self.device);
        let prediction = self.network.predict_with(&tensors, options)?;
        if let Some(iteration) = prediction.overflows().into_iter().flatten().next() {
            return Err(Error::NotFinite { iteration });
        }
        let rows = prediction.row_offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
        let answer = |(place, rows): (usize, Range<usize>)| Answer {
            values: prediction.values[rows].to_vec(),
            iterations: prediction.loops.iterations[place],
            capped: prediction.loops.capped[place],
            traces: Vec::new(),
        };
        Ok(rows.enumerate().map(answer).collect())
    }

    /// Every iteration of a prediction: confidences, mass left, changes.
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn trace(&self, graph: &Graph) -> Result<Answer, Error> {
        self.predict_with(graph, &RunOptions::inference().with_trace())
    }

    /// A path between two nodes, found by nothing but predicted lengths. The first edge attribute is the weight;
    /// without one every edge weighs 1. Models of image navigation read heights from the first node attribute.
    ///
    /// # Errors
    /// [`Error::NotForPaths`] if the model does not predict path lengths; [`Error::Graph`] if a node does not exist or
    /// a weight is negative; [`Error::Train`] if a value overflows.
    pub fn solve(&self, graph: &Graph, from: u32, to: u32) -> Result<Found, Error> {
        let widths = self.config().widths();
        let marks = match (widths.node_width, widths.edge_width, widths.output_width, widths.readout) {
            (3, 1, 1, readout) if readout != ReadoutKind::Node => None,
            (4, 1, 1, readout) if readout != ReadoutKind::Node => Some(Marks::EndsBehindHeight),
            _ => return Err(Error::NotForPaths { found: format!("{widths:?}") }),
        };
        let unit = graph.edge_attributes().width() == 0;
        let weights = if unit { EdgeWeights::unit(graph) } else { EdgeWeights::from_attribute(graph, 0)? };
        let ones = || graph.clone().with_edge_attributes(Attributes::new(1, vec![1.0; graph.edges()]));
        let weighted = if unit { Some(ones()?) } else { None };
        let finder = PathFinder {
            predictor: &ModelPredictor::new(&self.network, &self.device),
            graph: weighted.as_ref().unwrap_or(graph),
            weights: &weights,
            marks: marks.unwrap_or(Marks::for_weights(&weights)),
            options: RunOptions::inference(),
            memory: EvalOptions::default().memory,
        };
        Ok(finder.find(from, to, &mut |_| true)?)
    }

    /// Judges the model on `count` test samples of a task.
    ///
    /// # Errors
    /// [`Error::Train`] if samples cannot be drawn or do not fit the model.
    pub fn evaluate(&self, task: &TaskSpec, count: u64, seed: u64, options: &EvalOptions) -> Result<EvalReport, Error> {
        let predictor = ModelPredictor::new(&self.network, &self.device);
        Ok(evaluate(&predictor, task, count, seed, options, &mut |_| {})?)
    }
}

impl From<Outcome> for Model {
    /// The model that a training ended with; its card is empty. A run directory has it with its card.
    fn from(outcome: Outcome) -> Self {
        Self::new(outcome.model, ModelCard::default())
    }
}

/// The file that holds the model of a path: itself, or the best one of a run directory.
fn locate(path: &Path) -> Result<PathBuf, Error> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let missing = |why: String| Error::NoModel { path: path.to_owned(), why };
    if !path.is_dir() {
        let hint = nearest(path).map_or(String::new(), |near| format!("; did you mean {}?", near.display()));
        return Err(missing(format!("there is no such model{hint}")));
    }
    let best = RunDirectory::best_model_in(path);
    if best.is_file() {
        Ok(best)
    } else {
        Err(missing("a folder without a model; is it a run that has finished an epoch?".to_owned()))
    }
}

/// The model whose name is nearest to one that does not exist: in the same folder, or in `models`.
fn nearest(path: &Path) -> Option<PathBuf> {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let wanted = stem(path)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = [parent, Path::new("models")].into_iter().filter_map(|folder| std::fs::read_dir(folder).ok());
    let is_model = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "safetensors")
            || RunDirectory::best_model_in(path).is_file()
    };
    let paths = entries.flatten().filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(is_model);
    let named: Vec<(String, PathBuf)> = paths.filter_map(|path| Some((stem(&path)?, path))).collect();
    let near = nearest_name(&wanted, named.iter().map(|(name, _)| name))?.clone();
    named.into_iter().find(|(name, _)| *name == near).map(|(_, path)| path)
}
