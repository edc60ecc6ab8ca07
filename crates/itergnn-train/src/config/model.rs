//! A model by name, with changes.

use std::path::PathBuf;

use itergnn_nn::controllers::{ControllerConfig, Scope};
use itergnn_nn::layers::Aggregation;
use itergnn_nn::{Activation, GnnConfig, GraphModelConfig, LayerKind, Level, Prior, ReadoutKind, preset};
use itergnn_tasks::Task;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{MaxPlusChanges, NamesVersion, TaskShape};
use crate::TrainError;

/// A preset and what is different about it.
///
/// What is not given is the preset's, except where the task wants something else: component counting has two blocks,
/// one confidence per node and prior `core` instead of `full`, and keeps one confidence per node and its pooling with
/// another controller. A change that a preset has no place for is refused: the task-aligned families have neither
/// layers nor controllers; their channels are the hidden width, and `max_plus` changes the rest of a max-plus model.
///
/// # Example
/// ```
/// use itergnn_tasks::{Task, TaskSpec};
/// use itergnn_train::{ModelConfig, TaskShape};
/// let model: ModelConfig = toml::from_str("name = 'iter-homo-path'\nhidden_width = 8\ncontroller = 'iter'")?;
/// let shape = TaskShape::of(&TaskSpec::paper(Task::ShortestPath))?;
/// assert_eq!(model.for_task(&shape)?.widths().node_width, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Name of the preset.
    pub name: String,
    /// Marks what was written since names mean one thing.
    #[serde(default)]
    pub names: NamesVersion,
    /// The layer of every block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<LayerKind>,
    /// How messages are combined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Aggregation>,
    /// The activation after every layer (gcn, gat).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_activation: Option<Activation>,
    /// Where the homogeneous prior holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Prior>,
    /// Width of the hidden state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_width: Option<usize>,
    /// Number of controller blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// How node states become a graph's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readout: Option<ReadoutKind>,
    /// What has a confidence of its own: the graph or each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The controller of every block: a name, or a table with its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "controller")]
    pub controller: Option<ControllerConfig>,
    /// Settings of a max-plus model.
    #[serde(default, skip_serializing_if = "MaxPlusChanges::is_empty")]
    pub max_plus: MaxPlusChanges,
    /// A model file whose weights the run begins with, in place of drawn ones. They must have the same names and
    /// shapes; controller settings without weights, such as caps, may differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_from: Option<PathBuf>,
}

/// Reads `"iter"` like `{ kind = "iter" }`.
fn controller<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ControllerConfig>, D::Error> {
    let value = match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(kind) => serde_json::json!({ "kind": kind }),
        value => value,
    };
    serde_json::from_value(value).map(Some).map_err(D::Error::custom)
}

impl ModelConfig {
    /// The preset of that name, unchanged.
    pub fn preset(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            names: NamesVersion,
            layer: None,
            aggregation: None,
            output_activation: None,
            prior: None,
            hidden_width: None,
            blocks: None,
            readout: None,
            scope: None,
            controller: None,
            max_plus: MaxPlusChanges::default(),
            start_from: None,
        }
    }

    /// The whole configuration of the model for a task.
    ///
    /// # Errors
    /// [`TrainError::Model`] for an unknown name or settings that do not go together; [`TrainError::Config`] for a
    /// change that the preset does not take.
    pub fn for_task(&self, shape: &TaskShape) -> Result<GnnConfig, TrainError> {
        let mut widths = shape.widths();
        if let Some(readout) = self.readout {
            widths = widths.with_readout(readout);
            if matches!(shape.level, Level::Edge | Level::Pointer) {
                return Err(TrainError::config(
                    "model.readout",
                    format!("there is none at the level of the {}", shape.level),
                ));
            }
            if shape.level == Level::Node && readout == ReadoutKind::HeadTail {
                // Both ends side by side are one row.
                widths.output_width *= 2;
            }
        }
        let mut config = preset(&self.name, &widths)?;
        let mismatch = |why: &str| TrainError::ModelMismatch {
            task: shape.name.to_owned(),
            why: format!("`{}` {why}", self.name),
        };
        if !self.max_plus.is_empty() && !matches!(config, GnnConfig::MaxPlus(_)) {
            return Err(TrainError::config("model.max_plus", format!("`{}` does not take it", self.name)));
        }
        match &mut config {
            GnnConfig::Graph(_) => {}
            GnnConfig::JumpingKnowledge(_) if shape.level != Level::Graph => {
                return Err(mismatch("classifies whole graphs"));
            }
            GnnConfig::JumpingKnowledge(_) => self.refuse_block_changes(&ALL_OF_A_BLOCK[..6])?,
            _ => self.refuse_block_changes(&ALL_OF_A_BLOCK)?,
        }
        if let Some(width) = self.hidden_width {
            config.settings_mut().set_hidden_width(width)?;
        }
        match &mut config {
            GnnConfig::Graph(graph) => self.change(graph, shape)?,
            GnnConfig::JumpingKnowledge(classifier) => {
                classifier.blocks = self.blocks.unwrap_or(classifier.blocks);
                classifier.controller = self.controller.or(classifier.controller.take());
            }
            GnnConfig::Grid(_) => return Err(mismatch("takes images, and the samples are graphs")),
            GnnConfig::OneTree(_) if shape.edge_width != 1 => return Err(mismatch("needs the length of every edge")),
            GnnConfig::OneTree(_) | GnnConfig::MaxPlus(_) if shape.level != Level::Graph || shape.classes.is_some() => {
                return Err(mismatch("predicts numbers of graphs"));
            }
            GnnConfig::Waves(_) if matches!(shape.level, Level::Edge | Level::Pointer) => {
                return Err(mismatch("predicts for graphs and nodes"));
            }
            GnnConfig::MaxPlus(paths) => self.max_plus.apply(paths, shape),
            GnnConfig::OneTree(_) | GnnConfig::Waves(_) => {}
        }
        config.validate()?;
        Ok(config)
    }

    fn change(&self, model: &mut GraphModelConfig, shape: &TaskShape) -> Result<(), TrainError> {
        let counting = shape.task == Some(Task::ComponentCount);
        let Some(block) = model.blocks.first() else { return Ok(()) };
        let refused = |field, why: String| Err(TrainError::config(field, why));
        let kind = self.layer.unwrap_or(block.layer.kind);
        if self.layer.is_some() && !is_path(block.layer.kind) {
            return refused("model.layer", format!("`{}` is named after its layer, {}", self.name, block.layer.kind));
        }
        let aggregation = self.aggregation.unwrap_or(block.layer.aggregation);
        let fixed = kind == LayerKind::MpnnMax && aggregation == Aggregation::Max;
        if self.aggregation.is_some() && !fixed && !matches!(kind, LayerKind::Path | LayerKind::PathSim) {
            return refused("model.aggregation", format!("the layer {kind} has no choice of it"));
        }
        let given = self.controller.map(|controller| pooled_for(controller, shape));
        let controller = given.unwrap_or(block.controller);
        if self.scope.is_some() && controller.confidence().is_none() {
            return refused("model.scope", format!("`{controller}` has no confidences"));
        }
        let scope = self.scope.or(counting.then_some(Scope::Node));
        let prior = if counting && model.prior == Prior::Full { Prior::Core } else { model.prior };
        let mut changed = model
            .clone()
            .with_controller(&scope.map_or(controller, |scope| scoped(controller, scope)))
            .with_prior(self.prior.unwrap_or(prior))
            .with_blocks(self.blocks.unwrap_or(if counting { 2 } else { 1 }))
            .with_unit(if shape.task == Some(Task::Tsp) { TOUR_UNIT } else { model.unit });
        if self.layer.is_some() || self.aggregation.is_some() {
            changed = changed.with_layer(kind, aggregation);
        }
        if let Some(activation) = self.output_activation {
            if !matches!(kind, LayerKind::Gcn | LayerKind::Gat) {
                return refused("model.output_activation", "only gcn and gat have one after the layer".to_owned());
            }
            changed.blocks.iter_mut().for_each(|block| block.layer.output_activation = activation);
        }
        *model = changed;
        Ok(())
    }

    /// Refuses the changes that the model has no place for.
    fn refuse_block_changes(&self, fields: &[&'static str]) -> Result<(), TrainError> {
        let given = |field: &&&'static str| match **field {
            "model.layer" => self.layer.is_some(),
            "model.aggregation" => self.aggregation.is_some(),
            "model.output_activation" => self.output_activation.is_some(),
            "model.prior" => self.prior.is_some(),
            "model.readout" => self.readout.is_some(),
            "model.scope" => self.scope.is_some(),
            "model.blocks" => self.blocks.is_some(),
            _ => self.controller.is_some(),
        };
        match fields.iter().find(given) {
            Some(field) => Err(TrainError::config(field, format!("`{}` does not take it", self.name))),
            None => Ok(()),
        }
    }
}

/// What a controller block has; a classifier of GIN blocks has only the last two.
const ALL_OF_A_BLOCK: [&str; 8] = [
    "model.layer",
    "model.aggregation",
    "model.output_activation",
    "model.prior",
    "model.readout",
    "model.scope",
    "model.blocks",
    "model.controller",
];

/// Coordinates of tours are whole numbers up to this.
const TOUR_UNIT: f64 = 1_000.0;

/// Whether a layer is one of the three of the path networks, which `layer` chooses among.
fn is_path(kind: LayerKind) -> bool {
    matches!(kind, LayerKind::Path | LayerKind::PathSim | LayerKind::MpnnMax)
}

/// The controller with one confidence per graph or per node; one without confidences stays as it is.
fn scoped(mut controller: ControllerConfig, scope: Scope) -> ControllerConfig {
    match &mut controller {
        ControllerConfig::Iter(config) | ControllerConfig::IterDecay(config) => config.scope = scope,
        ControllerConfig::Act(config) => config.scope = scope,
        ControllerConfig::Stack(_) | ControllerConfig::Shared(_) => {}
    }
    controller
}

/// A controller that says nothing about pooling pools as the task reads out, where that makes one state of many.
fn pooled_for(controller: ControllerConfig, shape: &TaskShape) -> ControllerConfig {
    let readout = shape.widths().readout;
    match controller.confidence() {
        Some((_, pooling)) if pooling == ReadoutKind::default() && readout.pools() => controller.pooled_by(readout),
        _ => controller,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use itergnn_nn::controllers::StackConfig;
    use itergnn_nn::{InitRng, named_tensors};
    use itergnn_tasks::TaskSpec;

    fn graph_model(model: &ModelConfig, task: Task) -> GraphModelConfig {
        let shape = TaskShape::of(&TaskSpec::paper(task)).unwrap();
        match model.for_task(&shape).unwrap() {
            GnnConfig::Graph(config) => config,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn counting_has_its_own_defaults_and_they_can_be_changed() {
        let config = graph_model(&ModelConfig::preset("iter-homo-path"), Task::ComponentCount);
        assert_eq!((config.blocks.len(), config.prior, config.readout), (2, Prior::Core, ReadoutKind::Sum));
        let one = ModelConfig { blocks: Some(1), prior: Some(Prior::Full), ..ModelConfig::preset("iter-homo-path") };
        let config = graph_model(&one, Task::ComponentCount);
        assert_eq!((config.blocks.len(), config.prior), (1, Prior::Full));
        assert_eq!(graph_model(&ModelConfig::preset("path"), Task::ComponentCount).prior, Prior::None);
    }

    #[test]
    fn another_controller_keeps_what_belongs_to_the_task() {
        for name in ["iter-homo-path", "path"] {
            for controller in [ControllerConfig::iter(), ControllerConfig::iter_decay(), ControllerConfig::act(0.1)] {
                let model = ModelConfig { controller: Some(controller), ..ModelConfig::preset(name) };
                let counting = graph_model(&model, Task::ComponentCount);
                let confidences: Vec<_> = counting.blocks.iter().map(|block| block.controller.confidence()).collect();
                assert_eq!(confidences, [Some((Scope::Node, ReadoutKind::Sum)); 2]);
                let path = graph_model(&model, Task::ShortestPath);
                assert_eq!(path.blocks[0].controller.confidence(), Some((Scope::Graph, ReadoutKind::Max)));
            }
        }
        let pointers =
            TaskShape { level: Level::Pointer, ..TaskShape::of(&TaskSpec::paper(Task::ShortestPath)).unwrap() };
        let named = ModelConfig { controller: Some(ControllerConfig::iter()), ..ModelConfig::preset("iter-path") };
        named.for_task(&pointers).expect("a state per node is pooled for the confidence");
        let stack = ModelConfig { controller: Some(ControllerConfig::stack(3)), ..ModelConfig::preset("iter-path") };
        assert_eq!(graph_model(&stack, Task::ComponentCount).blocks[0].controller, ControllerConfig::stack(3));
    }

    #[test]
    fn the_families_are_chosen_by_their_own_names_only_and_take_no_changes_to_blocks() {
        let tasks = [
            Task::ShortestPath,
            Task::ComponentCount,
            Task::Tsp,
            Task::NewtonBalls,
            Task::Navigation,
            Task::RegularGraphs,
        ];
        for task in tasks {
            for name in ["iter-homo-path", "iter-path", "iter-homo-gat", "iter-homo-gcn"] {
                let config = graph_model(&ModelConfig::preset(name), task);
                let paper = ControllerConfig::iter_decay();
                let controller = &config.blocks[0].controller;
                let (_, pooling) = controller.confidence().unwrap();
                let scope = if task == Task::ComponentCount { paper.node_wise() } else { paper };
                assert_eq!(*controller, scope.pooled_by(pooling), "{name} on {task}");
            }
        }
        for (name, task) in [("max-plus", Task::ShortestPath), ("waves", Task::ComponentCount), ("one-tree", Task::Tsp)]
        {
            let shape = TaskShape::of(&TaskSpec::paper(task)).unwrap();
            ModelConfig::preset(name).for_task(&shape).unwrap();
            for change in [
                ModelConfig { layer: Some(LayerKind::Path), ..ModelConfig::preset(name) },
                ModelConfig { aggregation: Some(Aggregation::Max), ..ModelConfig::preset(name) },
                ModelConfig { prior: Some(Prior::Full), ..ModelConfig::preset(name) },
                ModelConfig { readout: Some(ReadoutKind::Max), ..ModelConfig::preset(name) },
                ModelConfig { blocks: Some(2), ..ModelConfig::preset(name) },
                ModelConfig { controller: Some(ControllerConfig::iter()), ..ModelConfig::preset(name) },
            ] {
                let message = change.for_task(&shape).unwrap_err().to_string();
                assert!(message.ends_with(&format!("`{name}` does not take it")), "{message}");
            }
        }
    }

    #[test]
    fn networks_measure_tours_in_thousands() {
        for name in ["gcn", "path", "iter-homo-path"] {
            assert_eq!(graph_model(&ModelConfig::preset(name), Task::Tsp).unit, 1_000.0);
            assert_eq!(graph_model(&ModelConfig::preset(name), Task::ShortestPath).unit, 1.0);
        }
    }

    #[test]
    fn layers_of_a_stack_begin_as_copies_if_asked() {
        for copies in [true, false] {
            let controller = Some(ControllerConfig::Stack(StackConfig { layers: 3, copies }));
            let model = ModelConfig { hidden_width: Some(4), controller, ..ModelConfig::preset("path") };
            let config = GnnConfig::Graph(graph_model(&model, Task::ShortestPath));
            let named = named_tensors(&config.init(&Device::flex(), &mut InitRng::new(1)).unwrap());
            let first = |name: &str| named.get(&name.replace(".blocks.0.layers.2.", ".blocks.0.layers.0."));
            let last: Vec<_> = named.iter().filter(|(name, _)| name.contains(".blocks.0.layers.2.")).collect();
            assert!(!last.is_empty(), "{:?}", named.keys());
            assert!(last.iter().all(|(name, tensor)| (first(name) == Some(*tensor)) == copies), "{copies}");
        }
    }

    #[test]
    fn the_activation_after_a_layer_belongs_to_convolutions() {
        let with =
            |name: &str| ModelConfig { output_activation: Some(Activation::Identity), ..ModelConfig::preset(name) };
        for name in ["gcn", "gat"] {
            let model = graph_model(&with(name), Task::ShortestPath);
            assert!(model.blocks.iter().all(|block| block.layer.output_activation == Activation::Identity), "{name}");
        }
        let shape = TaskShape::of(&TaskSpec::paper(Task::ShortestPath)).unwrap();
        for name in ["path", "gin", "max-plus"] {
            assert!(with(name).for_task(&shape).is_err(), "{name}");
        }
    }

    #[test]
    fn a_table_or_a_name_is_a_controller() {
        let named: ModelConfig = toml::from_str("name = 'path'\ncontroller = 'iter-decay'").unwrap();
        let table: ModelConfig = toml::from_str("name = 'path'\ncontroller = { kind = 'iter-decay' }").unwrap();
        assert_eq!(named, table);
        assert_eq!(named.controller, Some(ControllerConfig::iter_decay()));
        let error = toml::from_str::<ModelConfig>("name = 'path'\ncontroller = { kind = 'iter', epsilom = 1 }");
        assert!(error.unwrap_err().to_string().contains("epsilom"));
        assert!(toml::from_str::<ModelConfig>("name = 'path'\nwidth = 3").is_err());
    }

    #[test]
    fn changes_that_mean_nothing_for_a_network_are_refused() {
        let shape = TaskShape::of(&TaskSpec::paper(Task::ShortestPath)).unwrap();
        let layer = |name, layer| ModelConfig { layer: Some(layer), ..ModelConfig::preset(name) };
        let aggregation = |model, by| ModelConfig { aggregation: Some(by), ..model };
        let mpnn = || layer("iter-homo-path", LayerKind::MpnnMax);
        aggregation(mpnn(), Aggregation::Max).for_task(&shape).unwrap();
        aggregation(layer("path", LayerKind::Path), Aggregation::Sparsemax).for_task(&shape).unwrap();
        let scope = ModelConfig { scope: Some(Scope::Node), ..ModelConfig::preset("path") };
        for (model, message) in [
            (layer("gcn", LayerKind::Path), "config: model.layer: `gcn` is named after its layer, gcn"),
            (
                layer("iter-homo-gat", LayerKind::PathSim),
                "config: model.layer: `iter-homo-gat` is named after its layer, gat",
            ),
            (layer("pointnet", LayerKind::Path), "config: model.layer: `pointnet` is named after its layer, point-net"),
            (
                aggregation(ModelConfig::preset("gcn"), Aggregation::Max),
                "config: model.aggregation: the layer gcn has no choice of it",
            ),
            (
                aggregation(mpnn(), Aggregation::Attention),
                "config: model.aggregation: the layer mpnn-max has no choice of it",
            ),
            (scope, "config: model.scope: `stack of 30` has no confidences"),
        ] {
            assert_eq!(model.for_task(&shape).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn changes_that_a_preset_does_not_take_are_refused() {
        let shape = TaskShape::of(&TaskSpec::paper(Task::RegularGraphs)).unwrap();
        let model = ModelConfig { prior: Some(Prior::Full), ..ModelConfig::preset("gin") };
        assert_eq!(model.for_task(&shape).unwrap_err().to_string(), "config: model.prior: `gin` does not take it");
        assert!(ModelConfig::preset("cnn").for_task(&shape).is_err());
        assert!(ModelConfig::preset("pathh").for_task(&shape).unwrap_err().to_string().contains("`path`"));
    }
}
