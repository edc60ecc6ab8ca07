//! A model of any architecture, and its predictions.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use crate::aligned::Refit;
use crate::aligned::max_plus::{AllLengths, FixedEnd, PairLengths};
use crate::architecture::{GnnConfig, Network, Recipe};
use crate::controllers::{ControllerOutput, RunOptions, Trace};
use crate::fused::Fault;
use crate::graph_model::ModelOutput;
use crate::{Error, GraphTensors, InitRng, Loops, NodeVariants};

/// A model with its configuration.
///
/// # Example
/// ```
/// use burn::tensor::Device;
/// use itergnn_graph::{Attributes, Graph};
/// use itergnn_nn::{GraphTensors, InitRng, TaskWidths, preset};
///
/// let device = Device::flex();
/// let model = preset("path", &TaskWidths::graph(1, 1, 1))?.init(&device, &mut InitRng::new(7))?;
/// let graph = Graph::undirected(3, &[[0, 1], [1, 2]])
///     .and_then(|graph| graph.with_node_attributes(Attributes::new(1, vec![1.0, 0.0, 0.5])))
///     .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, vec![1.0; 4])))
///     .expect("a line of three");
/// let prediction = model.predict(&GraphTensors::from_graph(&graph, &device))?;
/// assert_eq!(prediction.loops.iterations, [30]);
/// # Ok::<(), itergnn_nn::Error>(())
/// ```
#[derive(Module, Debug)]
pub struct GnnModel {
    network: Network,
    #[module(skip)]
    config: GnnConfig,
}

/// What a model predicts, on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// One row per graph, node, edge or choice, as the [`Level`](crate::Level) of the model says.
    pub values: Vec<Vec<f64>>,
    /// Where the rows of each graph begin, `[graphs + 1]`.
    pub row_offsets: Vec<u32>,
    /// How the loops of each graph ended; where a cap ended one, the prediction is not the model's own final word.
    pub loops: Loops,
    /// Values that overflowed, with graph and iteration, block after block; what is predicted for such a graph is NaN.
    /// Only the fused engine watches.
    pub faults: Vec<Fault>,
    /// For each graph the mean share of nodes that were active, over all steps of all blocks; see
    /// [`EngineUse::active_shares`](crate::fused::EngineUse). Empty where no engine measured it.
    pub active_shares: Vec<f64>,
    /// Every step of every block, if asked for.
    pub traces: Vec<Trace>,
}

impl Prediction {
    /// For every graph the iteration at which one of its values overflowed or became undefined, if one did.
    ///
    /// Where the engine did not watch, a prediction that is not finite tells; then it is the last iteration.
    pub fn overflows(&self) -> Vec<Option<usize>> {
        let rows = self.row_offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
        let mut overflows: Vec<Option<usize>> = rows
            .zip(&self.loops.iterations)
            .map(|(rows, &iterations)| {
                let finite = self.values[rows].iter().flatten().all(|value| value.is_finite());
                (!finite).then_some(iterations)
            })
            .collect();
        for &fault in self.faults.iter().rev() {
            if let Fault::Value { graph, iteration } = fault {
                overflows[graph] = Some(iteration);
            }
        }
        overflows
    }
}

impl GnnModel {
    /// A model with weights drawn from `rng`.
    ///
    /// # Errors
    /// [`Error::Config`] if the configuration makes no sense.
    pub fn new(config: GnnConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        config.validate()?;
        let network = config.network(device, rng)?;
        Ok(Self { network, config })
    }

    /// What the model was made of.
    pub fn config(&self) -> &GnnConfig {
        &self.config
    }

    /// The network itself.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Runs the model on a batch of graphs.
    ///
    /// # Errors
    /// [`Error::Graph`] if the attributes do not have the widths of the configuration, or if the model takes images;
    /// [`Error::Config`] for a choice of engine where there is none.
    pub fn forward(&self, graph: &GraphTensors, options: &RunOptions) -> Result<ModelOutput, Error> {
        self.config.check_engine(options.engine)?;
        self.network.forward(&self.checked(graph)?, options)
    }

    /// The model as it should be when `fraction` of its training is done, to be asked for before every step. Only
    /// max-plus and wave models change.
    #[must_use]
    pub fn at_progress(self, fraction: f64) -> Self {
        Self { network: self.network.at_progress(fraction), ..self }
    }

    /// Whether training ends with [`GnnModel::finish`]; what comes before it is not a result then.
    pub fn needs_finish(&self) -> bool {
        self.config.settings().recipe() == Recipe::Finished
    }

    /// The model at the end of its training, cleaned with training samples. Only max-plus and wave models change.
    ///
    /// # Errors
    /// [`Error::Graph`] if the samples do not fit the model.
    pub fn finish(self, graph: &GraphTensors, targets: &[f64]) -> Result<(Self, Option<Refit>), Error> {
        let graph = self.checked(graph)?;
        let (network, refit) = self.network.finish(&graph, targets)?;
        Ok((Self { network, config: self.config }, refit))
    }

    /// Predictions for one graph with every node in turn as the other end of a path, in one pass; `None` for models and
    /// graphs where one pass does not give exactly what predicting each pair would.
    ///
    /// The node attributes of the graph end in marks (source, target, other), of which only the size is read. Max-plus
    /// models can: their state is the distance from the fixed end.
    ///
    /// # Errors
    /// [`Error::Graph`] if the attributes do not have the widths of the configuration.
    pub fn lengths_to_all(&self, graph: &GraphTensors, fixed: FixedEnd) -> Result<Option<AllLengths>, Error> {
        Ok(self.network.lengths_to_all(&self.checked(graph)?, fixed))
    }

    /// The model on one graph, ready to predict lengths of many pairs of ends, each as if they were marked; `None` for
    /// models that gain nothing from it. Of the node attributes' marks only the size is read.
    ///
    /// # Errors
    /// [`Error::Graph`] if the attributes do not have the widths of the configuration.
    pub fn pair_lengths(&self, graph: &GraphTensors) -> Result<Option<PairLengths>, Error> {
        Ok(self.network.pair_lengths(&self.checked(graph)?))
    }

    /// The model on one graph, ready to predict what other attributes of single nodes would give; `None` for models
    /// and graphs where that is no less work than predicting each changed graph. `memory` bounds the bytes that are
    /// kept.
    ///
    /// # Errors
    /// As [`GnnModel::forward`].
    pub fn variants(
        &self,
        graph: &GraphTensors,
        options: &RunOptions,
        memory: u64,
    ) -> Result<Option<NodeVariants>, Error> {
        let graph = without_autodiff(&self.checked(graph)?);
        match &self.network {
            Network::Graph(model) if self.config.widths().output_width == 1 => {
                model.valid().variants(&graph, options, memory)
            }
            _ => Ok(None),
        }
    }

    /// Bytes that [`variants`](Self::variants) keep of each iteration of a graph of so many nodes, at most; `None`
    /// where there are none.
    pub fn record_bytes(&self, nodes: usize) -> Option<u64> {
        match &self.network {
            Network::Graph(model) if self.config.widths().output_width == 1 => model.record_bytes(nodes),
            _ => None,
        }
    }

    /// Runs a grid model on images.
    ///
    /// # Shapes
    /// `[images, channels, height, width]` to `[images, output]`.
    ///
    /// # Errors
    /// [`Error::Graph`] if the model takes graphs, or images of other channels.
    pub fn forward_images(&self, images: Tensor<4>) -> Result<Tensor<2>, Error> {
        let Network::Grid(model) = &self.network else {
            return Err(Error::Graph("this model takes graphs, not images".to_owned()));
        };
        let (found, expected) = (images.dims()[1], self.config.widths().node_width);
        if found != expected {
            return Err(Error::Graph(format!("images have {found} channels, the model expects {expected}")));
        }
        Ok(model.forward_images(images))
    }

    /// Predictions for a batch of graphs, without gradients.
    ///
    /// # Errors
    /// As [`GnnModel::forward`].
    pub fn predict(&self, graph: &GraphTensors) -> Result<Prediction, Error> {
        self.predict_with(graph, &RunOptions::inference())
    }

    /// Predictions for a batch of graphs, without gradients, with a cap or a trace.
    ///
    /// # Errors
    /// As [`GnnModel::forward`].
    pub fn predict_with(&self, graph: &GraphTensors, options: &RunOptions) -> Result<Prediction, Error> {
        // Without this, a model on a training device would keep every step for a backward pass that never comes.
        let output = self.valid().forward(&without_autodiff(graph), options)?;
        let loops = Loops { iterations: output.iterations(graph), capped: output.capped(graph) };
        let width = output.values.dims()[1].max(1);
        let values = output.values.try_into_vec_as::<f64>().expect("the device gives its tensors back");
        let values = values.chunks_exact(width).map(<[f64]>::to_vec).collect();
        let faults = output.blocks.iter().flat_map(|block| block.engine.faults.list()).collect();
        let active_shares = mean_active_shares(&output.blocks, graph.graphs());
        let traces = output.blocks.into_iter().filter_map(|block| block.trace).collect();
        let row_offsets = graph.structure().row_offsets(self.config.widths().readout.level());
        Ok(Prediction { values, row_offsets, loops, faults, active_shares, traces })
    }

    /// The batch, if its attributes have the widths of the configuration.
    fn checked(&self, graph: &GraphTensors) -> Result<GraphTensors, Error> {
        let check = |what, found: usize, expected: usize| {
            if found == expected {
                return Ok(());
            }
            Err(Error::Graph(format!("{what} attributes of width {found}, the model expects {expected}")))
        };
        let widths = self.config.widths();
        check("node", graph.node_attributes().dims()[1], widths.node_width)?;
        if graph.edges() == 0 {
            // A graph without edges cannot say how wide their attributes would be.
            let nodes = graph.node_attributes();
            let none = Tensor::zeros([0, widths.edge_width], (&nodes.device(), nodes.dtype()));
            return Ok(graph.clone().with_edge_attributes(none));
        }
        if self.config.settings().reads_edges() {
            check("edge", graph.edge_attributes().dims()[1], widths.edge_width)?;
        }
        Ok(graph.clone())
    }
}

/// The mean active share of each graph, or nothing if some block did not measure it.
fn mean_active_shares(blocks: &[ControllerOutput], graphs: usize) -> Vec<f64> {
    if blocks.is_empty() || blocks.iter().any(|block| block.engine.active_shares.len() != graphs) {
        return Vec::new();
    }
    let mean = |graph: usize| {
        let shares = || blocks.iter().flat_map(|block| &block.engine.active_shares[graph]);
        let steps = shares().count();
        // Without a step nothing was active, but nothing rested either.
        if steps == 0 { 1.0 } else { shares().map(|&share| f64::from(share)).sum::<f64>() / steps as f64 }
    };
    (0..graphs).map(mean).collect()
}

/// The batch on the same device without autodiff. Every tensor must be: one index tensor with it makes each result an
/// autodiff tensor, which keeps what it was made of.
fn without_autodiff(graph: &GraphTensors) -> GraphTensors {
    let device = graph.device();
    if device.is_autodiff() { graph.to_device(&device.without_autodiff()) } else { graph.clone() }
}
