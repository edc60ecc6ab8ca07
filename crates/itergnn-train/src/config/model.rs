//! A model by name, with changes.

use itergnn_nn::controllers::ControllerConfig;
use itergnn_nn::layers::Aggregation;
use itergnn_nn::{GnnConfig, GraphModelConfig, LayerKind, Prior, ReadoutKind, preset};
use itergnn_tasks::Task;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{MaxPlusChanges, TaskShape};
use crate::TrainError;

/// A preset and what is different about it.
///
/// `iter-homo-path` with a change to layer, aggregation, prior, blocks, readout or controller is `iter-homo-path-settle` with that change, since max-plus models
/// have none of these; their channels are the hidden width, and `max_plus` changes the rest.
///
/// On component counting, Newton's balls and regular graphs `iter-homo-path` is `waves`; there too a change leads to `iter-homo-path-settle`, and channels are the hidden width.
///
/// What is not given is the preset's, except where the task wants something else: component counting has two blocks, one confidence a node and prior
/// `core` instead of `full`.
///
/// # Example
/// ```
/// use itergnn_tasks::{Task, TaskSpec};
/// use itergnn_train::{ModelConfig, TaskShape};
/// let model: ModelConfig = toml::from_str("name = 'iter-homo-path'\nhidden_width = 8\ncontroller = 'iter'")?;
/// let shape = TaskShape::of(&TaskSpec::paper(Task::ShortestPath))?;
/// assert_eq!(model.for_task(&shape)?.node_width(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Name of the preset.
    pub name: String,
    /// The layer of every block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<LayerKind>,
    /// How messages are combined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Aggregation>,
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
    /// The controller of every block: a name, or a table with its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "controller")]
    pub controller: Option<ControllerConfig>,
    /// Settings of a max-plus model.
    #[serde(default, skip_serializing_if = "MaxPlusChanges::is_empty")]
    pub max_plus: MaxPlusChanges,
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
            layer: None,
            aggregation: None,
            prior: None,
            hidden_width: None,
            blocks: None,
            readout: None,
            controller: None,
            max_plus: MaxPlusChanges::default(),
        }
    }

    /// The whole configuration of the model for a task.
    ///
    /// # Errors
    /// [`TrainError::Model`] for an unknown name or settings that do not go together; [`TrainError::Config`] for a change that the preset does not
    /// take.
    pub fn for_task(&self, shape: &TaskShape) -> Result<GnnConfig, TrainError> {
        let mut widths = shape.widths();
        if let Some(readout) = self.readout {
            widths = widths.with_readout(readout);
            if shape.node_level && readout == ReadoutKind::HeadTail {
                // Both ends side by side are one row.
                widths.output_width *= 2;
            }
        }
        let config = preset(self.preset_name(shape.task), &widths)?;
        if !self.max_plus.is_empty() && !matches!(config, GnnConfig::MaxPlus(_)) {
            return Err(TrainError::config("model.max_plus", format!("`{}` does not take it", self.name)));
        }
        let config = match config {
            GnnConfig::Graph(config) => GnnConfig::Graph(self.change(config, shape.task)),
            GnnConfig::Grid(_) => {
                let why = format!("`{}` takes images, and the samples are graphs", self.name);
                return Err(TrainError::ModelMismatch { task: shape.task, why });
            }
            GnnConfig::OneTree(config) => {
                self.refuse_blocks(shape)?;
                if self.hidden_width.is_some() {
                    return Err(TrainError::config(
                        "model.hidden_width",
                        format!("`{}` has one price a node", self.name),
                    ));
                }
                if shape.edge_width != 1 {
                    let why = format!("`{}` needs the length of every edge", self.name);
                    return Err(TrainError::ModelMismatch { task: shape.task, why });
                }
                GnnConfig::OneTree(config)
            }
            GnnConfig::MaxPlus(mut config) => {
                self.refuse_blocks(shape)?;
                config.channels = self.hidden_width.unwrap_or(config.channels);
                GnnConfig::MaxPlus(self.max_plus.apply(config, shape))
            }
            GnnConfig::Waves(mut config) => {
                self.refuse_block_changes()?;
                if self.blocks.is_some() || self.controller.is_some() {
                    let field = if self.blocks.is_some() { "model.blocks" } else { "model.controller" };
                    return Err(TrainError::config(field, format!("`{}` does not take it", self.name)));
                }
                config.channels = self.hidden_width.unwrap_or(config.channels);
                GnnConfig::Waves(config)
            }
            GnnConfig::JumpingKnowledge(mut config) => {
                self.refuse_block_changes()?;
                config.hidden_width = self.hidden_width.unwrap_or(config.hidden_width);
                config.blocks = self.blocks.unwrap_or(config.blocks);
                config.controller = self.controller.clone().or(config.controller);
                GnnConfig::JumpingKnowledge(config)
            }
        };
        config.validate()?;
        Ok(config)
    }

    /// Changes to layers or controllers are changes to the recipe that has some; without any, `iter-homo-path` is what extrapolates best on the task.
    fn preset_name(&self, task: Task) -> &str {
        let changes_blocks = self.layer.is_some()
            || self.aggregation.is_some()
            || self.prior.is_some()
            || self.blocks.is_some()
            || self.readout.is_some()
            || self.controller.is_some();
        match (self.name.as_str(), task) {
            ("iter-homo-path", _) if changes_blocks => "iter-homo-path-settle",
            ("iter-homo-path", Task::ComponentCount | Task::NewtonBalls | Task::RegularGraphs) => "waves",
            ("iter-homo-path", Task::Tsp) => "one-tree",
            (name, _) => name,
        }
    }

    fn change(&self, mut config: GraphModelConfig, task: Task) -> GraphModelConfig {
        let counting = task == Task::ComponentCount;
        if let Some(block) = config.blocks.first()
            && (self.layer.is_some() || self.aggregation.is_some())
        {
            let kind = self.layer.unwrap_or(block.layer.kind);
            let aggregation = self.aggregation.unwrap_or(block.layer.aggregation);
            config = config.with_layer(kind, aggregation);
        }
        if let Some(controller) = &self.controller {
            config = config.with_controller(controller);
        } else if counting && let Some(controller) = config.blocks.first().map(|block| block.controller.clone()) {
            config = config.with_controller(&controller.node_wise());
        }
        let prior = match config.prior {
            Prior::Full if counting => Prior::Core,
            prior => prior,
        };
        let config = config.with_prior(self.prior.unwrap_or(prior));
        let config = config.with_blocks(self.blocks.unwrap_or(if counting { 2 } else { 1 }));
        match self.hidden_width {
            Some(width) => config.with_hidden_width(width),
            None => config,
        }
    }

    /// Refuses changes to blocks of a model without any, and tasks that ask for something else than numbers of graphs.
    fn refuse_blocks(&self, shape: &TaskShape) -> Result<(), TrainError> {
        self.refuse_block_changes()?;
        if self.blocks.is_some() || self.controller.is_some() {
            let field = if self.blocks.is_some() { "model.blocks" } else { "model.controller" };
            return Err(TrainError::config(field, format!("`{}` does not take it", self.name)));
        }
        if shape.node_level || shape.classes.is_some() {
            let why = format!("`{}` predicts numbers of graphs", self.name);
            return Err(TrainError::ModelMismatch { task: shape.task, why });
        }
        Ok(())
    }

    fn refuse_block_changes(&self) -> Result<(), TrainError> {
        let given = [
            ("model.layer", self.layer.is_some()),
            ("model.aggregation", self.aggregation.is_some()),
            ("model.prior", self.prior.is_some()),
            ("model.readout", self.readout.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((field, _)) => Err(TrainError::config(field, format!("`{}` does not take it", self.name))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let config = graph_model(&ModelConfig::preset("iter-homo-path-settle"), Task::ComponentCount);
        assert_eq!((config.blocks.len(), config.prior, config.readout), (2, Prior::Core, ReadoutKind::Sum));
        let one = ModelConfig { blocks: Some(1), prior: Some(Prior::Full), ..ModelConfig::preset("iter-homo-path") };
        let config = graph_model(&one, Task::ComponentCount);
        assert_eq!((config.blocks.len(), config.prior), (1, Prior::Full));
        assert_eq!(graph_model(&ModelConfig::preset("path"), Task::ComponentCount).prior, Prior::None);
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
    fn changes_that_a_preset_does_not_take_are_refused() {
        let shape = TaskShape::of(&TaskSpec::paper(Task::RegularGraphs)).unwrap();
        let model = ModelConfig { prior: Some(Prior::Full), ..ModelConfig::preset("gin") };
        assert_eq!(model.for_task(&shape).unwrap_err().to_string(), "config: model.prior: `gin` does not take it");
        assert!(ModelConfig::preset("cnn").for_task(&shape).is_err());
        assert!(ModelConfig::preset("pathh").for_task(&shape).unwrap_err().to_string().contains("`path`"));
    }
}
