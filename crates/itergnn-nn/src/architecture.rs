//! The architectures: what each provides, and the one place that knows them all.

use burn::module::Module;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::aligned::Refit;
use crate::aligned::max_plus::{AllLengths, FixedEnd, MaxPlusConfig, MaxPlusModel, PairLengths};
use crate::aligned::one_tree::{OneTreeConfig, OneTreeModel};
use crate::aligned::waves::{WaveConfig, WaveModel};
use crate::config::GraphModelConfig;
use crate::controllers::RunOptions;
use crate::fused::Engine;
use crate::graph_model::{GraphModel, ModelOutput};
use crate::grid_model::{GridModel, GridModelConfig};
use crate::jumping_knowledge::{JumpingKnowledgeConfig, JumpingKnowledgeModel};
use crate::presets::TaskWidths;
use crate::{Error, GraphTensors, InitRng};

/// The settings of an architecture.
pub trait Settings {
    /// Checks that a model can be made of this.
    ///
    /// # Errors
    /// [`Error::Config`] names the field and what is wrong with it.
    fn validate(&self) -> Result<(), Error>;

    /// What the model takes and gives; the edge width is 0 if it reads no edge attributes.
    fn widths(&self) -> TaskWidths;

    /// The architecture in one line, for cards and reports.
    fn line(&self) -> String;

    /// Width of the state of a node.
    fn hidden_width(&self) -> usize;

    /// Changes the width of the state of a node.
    ///
    /// # Errors
    /// [`Error::Config`] if it has no width to change.
    fn set_hidden_width(&mut self, width: usize) -> Result<(), Error>;

    /// Whether edge attributes of another width than [`Settings::widths`] says are refused.
    fn reads_edges(&self) -> bool {
        self.widths().edge_width > 0
    }

    /// How it is trained, unless told otherwise.
    fn recipe(&self) -> Recipe {
        Recipe::Paper
    }

    /// Whether it takes fewer steps in training than at inference, so that a validation as in training tells something
    /// else.
    fn is_capped_in_training(&self) -> bool {
        false
    }

    /// Whether it has blocks that run fused or plain; the others have one engine of their own, and no choice.
    fn has_engines(&self) -> bool {
        false
    }

    /// What attributes and predictions are measured in; see [`GraphModelConfig::unit`].
    fn unit(&self) -> f64 {
        1.0
    }

    /// How many bytes a graph needs at most while it is predicted, roughly.
    fn bytes(&self, nodes: usize, edges: usize) -> u64 {
        rows(self.hidden_width(), (nodes, ROWS_PER_NODE), (edges, ROWS_PER_NODE))
    }

    /// How many bytes a batch with so many nodes and edges needs at most in a step of training, roughly.
    fn training_bytes(&self, nodes: usize, edges: usize, _engine: Engine) -> u64 {
        // What the prediction holds, the same kept for the gradients, and these.
        self.bytes(nodes, edges).saturating_mul(3)
    }
}

/// Bytes of rows of the hidden width: for nodes and for edges their number, and how many rows each has.
pub(crate) fn rows(width: usize, nodes: (usize, u64), edges: (usize, u64)) -> u64 {
    let row = width as u64 * size_of::<f32>() as u64;
    // Sizes may be asked about that no machine holds.
    let of = |(count, rows): (usize, u64)| (count as u64).saturating_mul(row.saturating_mul(rows));
    of(nodes).saturating_add(of(edges))
}

/// Rows of the hidden width that a step of the plain path holds for every node: inputs, both layers of a message, old
/// and new states.
pub(crate) const ROWS_PER_NODE: u64 = 8;

/// How an architecture is trained, unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipe {
    /// Adam with the paper's settings.
    Paper,
    /// Few steps of Adam along a cosine, and [`GnnModel::finish`](crate::GnnModel::finish) after the last.
    Finished,
    /// Few steps of Adam along a cosine on relative errors.
    Relative,
}

/// A model of an architecture.
pub trait Architecture: Sized {
    /// What it is made of.
    type Settings: Settings;

    /// A model with weights drawn from `rng`.
    ///
    /// # Errors
    /// As [`Settings::validate`].
    fn new(settings: &Self::Settings, device: &Device, rng: &mut InitRng) -> Result<Self, Error>;

    /// Runs the model on a batch of graphs.
    ///
    /// # Errors
    /// [`Error::Config`] if the options ask for what it cannot do, [`Error::Graph`] for graphs that it does not take.
    fn forward(&self, graph: &GraphTensors, options: &RunOptions) -> Result<ModelOutput, Error>;

    /// The model as it should be when `fraction` of its training is done, to be asked for before every step.
    #[must_use]
    fn at_progress(self, _fraction: f64) -> Self {
        self
    }

    /// The model at the end of its training, cleaned with training samples: a batch of graphs and their targets, row by
    /// row.
    ///
    /// # Errors
    /// [`Error::Graph`] if the samples do not fit the model.
    fn finish(self, _graph: &GraphTensors, _targets: &[f64]) -> Result<(Self, Option<Refit>), Error> {
        Ok((self, None))
    }

    /// Predictions for one graph with every node in turn as the other end of a path, where one pass gives exactly
    /// these; else `None`.
    fn lengths_to_all(&self, _graph: &GraphTensors, _fixed: FixedEnd) -> Option<AllLengths> {
        None
    }

    /// The model on one graph, ready for many pairs of ends; `None` where that saves nothing.
    fn pair_lengths(&self, _graph: &GraphTensors) -> Option<PairLengths> {
        None
    }
}

/// Declares the architectures and passes every call on to the one at hand.
macro_rules! architectures {
    ($($(#[$doc:meta])* $name:ident($config:ty, $model:ty),)*) => {
        /// A model of any architecture, as data.
        ///
        /// # Example
        /// ```
        /// use itergnn_nn::{GnnConfig, TaskWidths, preset};
        /// let config = preset("iter-homo-path", &TaskWidths::graph(3, 1, 1))?;
        /// let text = serde_json::to_string(&config).expect("a config is plain data");
        /// assert_eq!(serde_json::from_str::<GnnConfig>(&text).expect("and reads back"), config);
        /// # Ok::<(), itergnn_nn::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "architecture", rename_all = "kebab-case")]
        pub enum GnnConfig {
            $($(#[$doc])* $name($config),)*
        }

        /// The network of a model.
        #[derive(Module, Debug)]
        // A model has one network, so a kilobyte that small ones do not use is nothing to save.
        #[allow(clippy::large_enum_variant)]
        pub enum Network {
            $($(#[$doc])* $name($model),)*
        }

        impl GnnConfig {
            /// The settings, of whichever architecture they are.
            pub fn settings(&self) -> &dyn Settings {
                match self {
                    $(Self::$name(config) => config,)*
                }
            }

            /// The settings, to be changed.
            pub fn settings_mut(&mut self) -> &mut dyn Settings {
                match self {
                    $(Self::$name(config) => config,)*
                }
            }

            pub(crate) fn network(&self, device: &Device, rng: &mut InitRng) -> Result<Network, Error> {
                match self {
                    $(Self::$name(config) => Ok(Network::$name(<$model as Architecture>::new(config, device, rng)?)),)*
                }
            }
        }

        impl Network {
            pub(crate) fn forward(&self, graph: &GraphTensors, options: &RunOptions) -> Result<ModelOutput, Error> {
                match self {
                    $(Self::$name(model) => Architecture::forward(model, graph, options),)*
                }
            }

            pub(crate) fn lengths_to_all(&self, graph: &GraphTensors, fixed: FixedEnd) -> Option<AllLengths> {
                match self {
                    $(Self::$name(model) => Architecture::lengths_to_all(model, graph, fixed),)*
                }
            }

            pub(crate) fn pair_lengths(&self, graph: &GraphTensors) -> Option<PairLengths> {
                match self {
                    $(Self::$name(model) => Architecture::pair_lengths(model, graph),)*
                }
            }

            pub(crate) fn at_progress(self, fraction: f64) -> Self {
                match self {
                    $(Self::$name(model) => Self::$name(Architecture::at_progress(model, fraction)),)*
                }
            }

            pub(crate) fn finish(self, graph: &GraphTensors, targets: &[f64]) -> Result<(Self, Option<Refit>), Error> {
                match self {
                    $(Self::$name(model) => {
                        let (model, refit) = Architecture::finish(model, graph, targets)?;
                        Ok((Self::$name(model), refit))
                    })*
                }
            }
        }
    };
}

architectures! {
    /// Embedding, controller blocks, readout, head: the networks of the paper.
    Graph(GraphModelConfig, GraphModel),
    /// GIN or Iter-GIN blocks with jumping knowledge, for graph classification.
    JumpingKnowledge(JumpingKnowledgeConfig, JumpingKnowledgeModel),
    /// A convolutional network on images.
    Grid(GridModelConfig, GridModel),
    /// Task-aligned: waves that travel by addition and maximum, for path lengths.
    MaxPlus(MaxPlusConfig, MaxPlusModel),
    /// Task-aligned: waves that run until nothing changes, for counts and chains of causes.
    Waves(WaveConfig, WaveModel),
    /// Task-aligned: prices on nodes that make a cheapest tree look like a tour, for tour lengths.
    OneTree(OneTreeConfig, OneTreeModel),
}
