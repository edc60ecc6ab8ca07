//! Models by name.

use itergnn_graph::nearest_name;

use itergnn_kernels::settings::HIDDEN_WIDTH;

use crate::Error;
use crate::activation::Activation;
use crate::aligned::max_plus::MaxPlusConfig;
use crate::aligned::one_tree::OneTreeConfig;
use crate::aligned::waves::WaveConfig;
use crate::architecture::GnnConfig;
use crate::config::{BlockConfig, GraphModelConfig, Prior};
use crate::controllers::{ControllerConfig, Scope, TRAINING_CAP};
use crate::grid_model::GridModelConfig;
use crate::jumping_knowledge::JumpingKnowledgeConfig;
use crate::layers::{Aggregation, LayerConfig, LayerKind};
use crate::readout::ReadoutKind;

/// The names [`preset`] knows.
pub const PRESETS: [&str; 22] = [
    "gcn",
    "gat",
    "gin",
    "iter-gin",
    "path",
    "homo-path",
    "iter-path",
    "iter-homo-path",
    "iter-homo-gat",
    "iter-homo-gcn",
    "iter-path-settle",
    "iter-homo-path-settle",
    "iter-homo-gat-settle",
    "iter-homo-gcn-settle",
    "act-homo-path",
    "act-graves-homo-path",
    "shared-homo-path",
    "max-plus",
    "waves",
    "one-tree",
    "pointnet",
    "cnn",
];

/// A name that only older files have: `iter-homo-path` with the layer of the paper's text, path with attention, instead
/// of that of the authors' code.
pub const OLD_NAME: &str = "iter-homo-path-paper";

/// Depth of the stacked models, and steps of the shared one.
const STACK_LAYERS: usize = TRAINING_CAP;

/// Price of probability left at the cap: with it every seed learned to stop, without it one in four (measured on
/// unweighted lobsters).
const SETTLE_COST: f64 = 0.3;

/// Most steps of each iterated GIN block.
const ITER_GIN_CAP: usize = 10;

/// What a task asks of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskWidths {
    /// Width of the node attributes (channels of an image).
    pub node_width: usize,
    /// Width of the edge attributes.
    pub edge_width: usize,
    /// Width of a prediction.
    pub output_width: usize,
    /// How node states become the prediction; [`ReadoutKind::Node`] for one prediction per node.
    pub readout: ReadoutKind,
}

impl TaskWidths {
    /// A task with one prediction per graph, read out by the maximum.
    pub fn graph(node_width: usize, edge_width: usize, output_width: usize) -> Self {
        Self { node_width, edge_width, output_width, readout: ReadoutKind::Max }
    }

    /// A task with one prediction per node.
    pub fn node(node_width: usize, edge_width: usize, output_width: usize) -> Self {
        Self { readout: ReadoutKind::Node, ..Self::graph(node_width, edge_width, output_width) }
    }

    /// A task with one prediction per edge.
    pub fn edge(node_width: usize, edge_width: usize, output_width: usize) -> Self {
        Self { readout: ReadoutKind::Edge, ..Self::graph(node_width, edge_width, output_width) }
    }

    /// A task in which every node points at one of its incoming edges or at itself.
    pub fn pointer(node_width: usize, edge_width: usize) -> Self {
        Self { readout: ReadoutKind::Pointer, ..Self::graph(node_width, edge_width, 1) }
    }

    /// The same task with another readout.
    #[must_use]
    pub fn with_readout(mut self, readout: ReadoutKind) -> Self {
        self.readout = readout;
        self
    }
}

/// The length of a path among nodes that may be in the way, which their first attribute, a number, tells: a gate learns
/// which nodes can be passed.
const PATH_AMONG_OBSTACLES: TaskWidths =
    TaskWidths { node_width: 4, edge_width: 1, output_width: 1, readout: ReadoutKind::Max };

/// The model of that name for a task. A name means the same network for every task.
///
/// | name | layer | prior | controller |
/// |---|---|---|---|
/// | `gcn`, `gat` | the same, LeakyReLU after each | none | stack of 30 |
/// | `path`, `homo-path` | path-sim, maximum | none, full | stack of 30 |
/// | `iter-path`, `iter-homo-path` | path-sim, maximum | none, full | iter-decay |
/// | `iter-homo-gat`, `iter-homo-gcn` | the same, LeakyReLU after each | full | iter-decay |
/// | one of these four with `-settle` | | | iter-decay, normalised, settle(0.3) |
/// | `act-homo-path`, `act-graves-homo-path` | path-sim, maximum | full | act(0.01) fed back as in the authors' code, as in Graves' text |
/// | `shared-homo-path` | path-sim, maximum | full | shared(30) |
/// | `pointnet` | pointnet | none | stack of 1 |
/// | `gin`, `iter-gin` | GIN classifier with jumping knowledge | | once, iter-decay of at most 10 steps |
/// | `cnn` | 5 convolutions of kernel 3 | | |
/// | `max-plus`, `waves`, `one-tree` | task-aligned families of their own | | their own |
///
/// `iter-homo-path` is the network of the authors' released code (`DecIterGNN30-HomoPathSimConv-Max`); its text says
/// the full path layer with attention, which [`GraphModelConfig::with_layer`] gives.
/// [`GraphModelConfig::with_controller`] and [`GraphModelConfig::with_prior`] change the rest. A `max-plus` model for
/// four node attributes has a gate that learns from the first of them which nodes can be passed.
///
/// [`OLD_NAME`] is understood too, for files written before the names meant one thing.
///
/// # Errors
/// [`Error::Config`] for an unknown name, with the nearest one that exists.
///
/// # Example
/// ```
/// use itergnn_nn::{TaskWidths, preset};
/// let error = preset("iter-homo-paht", &TaskWidths::graph(3, 1, 1)).unwrap_err();
/// assert_eq!(error.to_string(), "model: unknown name `iter-homo-paht`, did you mean `iter-homo-path`?");
/// ```
pub fn preset(name: &str, task: &TaskWidths) -> Result<GnnConfig, Error> {
    let (base, iterated) = match name.strip_suffix("-settle") {
        Some(base) if PRESETS.contains(&name) => (base, settled()),
        _ => (name, ControllerConfig::iter_decay()),
    };
    let stack = || ControllerConfig::stack(STACK_LAYERS);
    let path = (LayerKind::PathSim, Aggregation::Max);
    let plain = |kind| (kind, Aggregation::default());
    let (layer, prior, controller) = match base {
        "gcn" => (plain(LayerKind::Gcn), Prior::None, stack()),
        "gat" => (plain(LayerKind::Gat), Prior::None, stack()),
        "path" => (path, Prior::None, stack()),
        "homo-path" => (path, Prior::Full, stack()),
        "iter-path" => (path, Prior::None, iterated),
        "iter-homo-path" => (path, Prior::Full, iterated),
        "iter-homo-gat" => (plain(LayerKind::Gat), Prior::Full, iterated),
        "iter-homo-gcn" => (plain(LayerKind::Gcn), Prior::Full, iterated),
        OLD_NAME => ((LayerKind::Path, Aggregation::Attention), Prior::Full, iterated),
        "act-homo-path" => (path, Prior::Full, ControllerConfig::released_act(0.01)),
        "act-graves-homo-path" => (path, Prior::Full, ControllerConfig::act(0.01)),
        "shared-homo-path" => (path, Prior::Full, ControllerConfig::shared(STACK_LAYERS)),
        "pointnet" => (plain(LayerKind::PointNet), Prior::None, ControllerConfig::stack(1)),
        "max-plus" => return Ok(GnnConfig::MaxPlus(max_plus(task))),
        "waves" => {
            let TaskWidths { node_width, edge_width, output_width, readout } = *task;
            return Ok(GnnConfig::Waves(WaveConfig::new(node_width, edge_width, output_width, readout)));
        }
        "one-tree" => return Ok(GnnConfig::OneTree(OneTreeConfig::new(task.node_width, task.output_width))),
        "gin" | "iter-gin" => return Ok(GnnConfig::JumpingKnowledge(gin(name == "iter-gin", task))),
        "cnn" => {
            return Ok(GnnConfig::Grid(GridModelConfig {
                channels: task.node_width,
                output_width: task.output_width,
                hidden_width: HIDDEN_WIDTH,
                kernel: 3,
                depth: 5,
            }));
        }
        _ => return Err(unknown(name)),
    };
    Ok(GnnConfig::Graph(GraphModelConfig::new(task, prior, layer.0, layer.1, controller)))
}

/// `iter-decay` with a normalised output and a price on not stopping.
fn settled() -> ControllerConfig {
    ControllerConfig::iter_decay().with_iter(|iter| {
        iter.normalised = true;
        iter.settle = Some(SETTLE_COST);
    })
}

fn max_plus(task: &TaskWidths) -> MaxPlusConfig {
    let attributes = usize::from(*task == PATH_AMONG_OBSTACLES);
    let classes = task.node_width - attributes;
    MaxPlusConfig { attributes, readout: task.readout, ..MaxPlusConfig::new(classes, task.output_width) }
}

fn gin(iterated: bool, task: &TaskWidths) -> JumpingKnowledgeConfig {
    let controller = iterated.then(|| {
        ControllerConfig::iter_decay().with_iter(|iter| {
            iter.training_cap = ITER_GIN_CAP;
            iter.inference_cap = Some(ITER_GIN_CAP);
        })
    });
    JumpingKnowledgeConfig { controller, ..JumpingKnowledgeConfig::new(task.node_width, task.output_width) }
}

impl GraphModelConfig {
    /// The paper's assembly around one block.
    pub fn new(
        task: &TaskWidths,
        prior: Prior,
        kind: LayerKind,
        aggregation: Aggregation,
        controller: ControllerConfig,
    ) -> Self {
        let layer = layer_config(kind, aggregation, task.node_width, HIDDEN_WIDTH, task.edge_width)
            .with_homogeneous(prior != Prior::None);
        // A confidence needs a vector per graph; where the model has none, the maximum pools.
        let pooling = if task.readout.pools() { task.readout } else { ReadoutKind::Max };
        let controller = controller.pooled_by(pooling);
        Self {
            node_width: task.node_width,
            edge_width: task.edge_width,
            output_width: task.output_width,
            hidden_width: HIDDEN_WIDTH,
            prior,
            embedding_layers: 2,
            embedding_final_activation: true,
            blocks: vec![BlockConfig { layer, controller }],
            readout: task.readout,
            head_layers: 1,
            head_final_activation: false,
            unit: 1.0,
        }
    }

    /// With another layer in every block.
    #[must_use]
    pub fn with_layer(mut self, kind: LayerKind, aggregation: Aggregation) -> Self {
        for block in &mut self.blocks {
            let old = &block.layer;
            block.layer = layer_config(kind, aggregation, old.input_width, old.hidden_width, old.edge_width)
                .with_homogeneous(old.homogeneous);
        }
        self
    }

    /// With another controller in every block; a model with one confidence per node keeps that.
    #[must_use]
    pub fn with_controller(mut self, controller: &ControllerConfig) -> Self {
        for block in &mut self.blocks {
            let controller = *controller;
            let node_wise = block.controller.confidence().is_some_and(|(scope, _)| scope == Scope::Node);
            block.controller = if node_wise { controller.node_wise() } else { controller };
        }
        self
    }

    /// With another prior.
    #[must_use]
    pub fn with_prior(mut self, prior: Prior) -> Self {
        self.prior = prior;
        for block in &mut self.blocks {
            block.layer.homogeneous = prior != Prior::None;
        }
        self
    }

    /// With another width of the hidden state.
    #[must_use]
    pub fn with_hidden_width(mut self, hidden_width: usize) -> Self {
        self.hidden_width = hidden_width;
        self.blocks.iter_mut().for_each(|block| block.layer.hidden_width = hidden_width);
        self
    }

    /// With attributes and predictions measured in another unit.
    #[must_use]
    pub fn with_unit(mut self, unit: f64) -> Self {
        self.unit = unit;
        self
    }

    /// With the first block repeated, each copy with its own weights; component counting has two blocks.
    #[must_use]
    pub fn with_blocks(mut self, count: usize) -> Self {
        self.blocks = self.blocks.first().cloned().into_iter().cycle().take(count).collect();
        self
    }
}

fn layer_config(kind: LayerKind, aggregation: Aggregation, input: usize, hidden: usize, edge: usize) -> LayerConfig {
    let mut layer = LayerConfig::new(kind, input, hidden, edge).with_aggregation(aggregation);
    if matches!(kind, LayerKind::Gcn | LayerKind::Gat) {
        // Thirty of them without activation would be one linear map.
        layer.output_activation = Activation::LeakyRelu;
    }
    layer
}

fn unknown(name: &str) -> Error {
    let nearest = nearest_name(name, PRESETS).unwrap_or_default();
    Error::config("model", format!("unknown name `{name}`, did you mean `{nearest}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Settings;

    #[test]
    fn every_preset_is_valid_at_every_level() {
        for name in PRESETS {
            for task in [TaskWidths::graph(3, 1, 2), TaskWidths::node(3, 1, 2)] {
                let config = preset(name, &task).unwrap();
                config.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }

    #[test]
    fn a_name_is_one_network_whatever_the_widths() {
        // Path lengths, path lengths among obstacles, counts, tour lengths, ends of a chain.
        let tasks = [
            TaskWidths::graph(3, 1, 1),
            PATH_AMONG_OBSTACLES,
            TaskWidths::graph(1, 1, 1).with_readout(ReadoutKind::Sum),
            TaskWidths::graph(2, 1, 1),
            TaskWidths::node(2, 1, 2),
        ];
        for task in &tasks {
            for (name, prior, normalised, settle) in [
                ("iter-homo-path", Prior::Full, false, None),
                ("iter-path", Prior::None, false, None),
                ("iter-homo-path-settle", Prior::Full, true, Some(SETTLE_COST)),
                ("iter-path-settle", Prior::None, true, Some(SETTLE_COST)),
            ] {
                let GnnConfig::Graph(config) = preset(name, task).unwrap() else { panic!("{name}: a graph model") };
                let block = &config.blocks[0];
                assert_eq!((block.layer.kind, block.layer.aggregation), (LayerKind::PathSim, Aggregation::Max));
                let ControllerConfig::IterDecay(iter) = &block.controller else { panic!("{name}: iter-decay") };
                assert_eq!((config.prior, iter.normalised, iter.settle), (prior, normalised, settle), "{name}");
            }
            assert!(matches!(preset("max-plus", task).unwrap(), GnnConfig::MaxPlus(_)));
            assert!(matches!(preset("waves", task).unwrap(), GnnConfig::Waves(_)));
            assert!(matches!(preset("one-tree", task).unwrap(), GnnConfig::OneTree(_)));
        }
        for name in ["path-settle", "max-plus-settle", "iter-settle", "-settle"] {
            assert!(preset(name, &tasks[0]).is_err(), "{name}");
        }
    }

    #[test]
    fn changes_reach_every_block() {
        let GnnConfig::Graph(config) = preset("iter-homo-path", &TaskWidths::graph(1, 1, 1)).unwrap() else {
            panic!("a graph model");
        };
        let config = config
            .with_blocks(2)
            .with_prior(Prior::Core)
            .with_layer(LayerKind::Path, Aggregation::Sparsemax)
            .with_controller(&ControllerConfig::iter().node_wise())
            .with_hidden_width(8);
        config.validate().unwrap();
        assert_eq!(config.blocks.len(), 2);
        assert!(config.blocks.iter().all(|block| block.layer.aggregation == Aggregation::Sparsemax));
        assert!(config.blocks.iter().all(|block| block.layer.homogeneous && block.layer.hidden_width == 8));
    }
}
