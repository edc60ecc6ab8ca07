//! A cross-validation as data.

use itergnn_nn::controllers::ControllerConfig;
use itergnn_nn::{GnnConfig, ReadoutKind, TaskWidths, preset};
use itergnn_tasks::Task;
use itergnn_tasks::graph_classification::GraphClassificationSpec;
use serde::{Deserialize, Serialize};

use crate::TrainError;
use crate::config::OptimiserConfig;

/// Where the folds come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoldChoice {
    /// Ten stratified folds of all graphs, as scikit-learn deals them under the fold seed.
    #[default]
    Stratified,
    /// The index files beside the set. They leave a few graphs untested: 8 of MUTAG, 4 of PTC, 3 of PROTEINS.
    Published,
}

/// Everything a cross-validation depends on: the same configuration gives the same result, whatever the number of threads.
///
/// The defaults are the GIN paper's: 350 epochs of 50 steps, each of 32 graphs drawn without replacement, Adam at 0.01, halved every 50 epochs.
///
/// # Example
/// ```
/// use itergnn_train::classification::ClassificationConfig;
/// let config = ClassificationConfig::from_toml(
///     r#"
///     epochs = 100
///     task = { task = "graph-classification", data = "data", dataset = "IMDB-B" }
///     model = { name = "iter-gin" }
///     "#,
/// )?;
/// assert_eq!((config.steps_an_epoch, config.batch_size, config.learning_rate), (50, 32, 0.01));
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassificationConfig {
    /// Seed of the initial weights and the order of graphs; fold `k` has a seed of its own made of it.
    #[serde(default)]
    pub seed: u64,
    /// Epochs of every fold.
    #[serde(default = "default_epochs")]
    pub epochs: u64,
    /// Steps in an epoch; an epoch here is not one pass over the data.
    #[serde(default = "default_steps_an_epoch")]
    pub steps_an_epoch: u64,
    /// Graphs in a step.
    #[serde(default = "default_batch_size")]
    pub batch_size: usize,
    /// Learning rate of the first epochs.
    #[serde(default = "default_learning_rate")]
    pub learning_rate: f64,
    /// The rate is halved after every so many epochs.
    #[serde(default = "default_halving")]
    pub halve_every_epochs: u64,
    /// Where the folds come from.
    #[serde(default)]
    pub folds: FoldChoice,
    /// Seed of stratified folds; 0 in the paper.
    #[serde(default)]
    pub fold_seed: u64,
    /// The set.
    pub task: ClassificationTask,
    /// The model.
    pub model: ClassifierConfig,
}

/// The set, tagged like the tasks of other training files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
pub enum ClassificationTask {
    /// The only task that is cross-validated.
    GraphClassification(GraphClassificationSpec),
}

/// GIN or Iter-GIN, and what is different about it.
///
/// What is not given follows the GIN paper's choice for the kind of set: 32 channels and sum pooling where nodes have tags (molecules, proteins), 64 channels and
/// mean pooling where they have none (social graphs).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassifierConfig {
    /// `gin` or `iter-gin`.
    pub name: String,
    /// Width of the hidden states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_width: Option<usize>,
    /// Number of GIN blocks, the input not counted; 4 in the GIN paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// Probability of dropping a class score of a layer; 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropout: Option<f64>,
    /// How graphs are pooled: `sum` or `mean`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooling: Option<ReadoutKind>,
    /// Most iterations of every block of `iter-gin`; 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_iterations: Option<usize>,
}

fn default_epochs() -> u64 {
    350
}

fn default_steps_an_epoch() -> u64 {
    50
}

fn default_batch_size() -> usize {
    32
}

fn default_learning_rate() -> f64 {
    0.01
}

fn default_halving() -> u64 {
    50
}

/// Channels where nodes have tags: the larger of the two that the GIN paper tries on bioinformatics sets.
const TAGGED_WIDTH: usize = 32;

/// Channels where they have none: the GIN paper's for social sets.
const UNTAGGED_WIDTH: usize = 64;

/// Adam's epsilon in PyTorch, which the GIN paper's code leaves alone.
const PYTORCH_EPSILON: f64 = 1e-8;

impl ClassificationConfig {
    /// A cross-validation with the defaults.
    pub fn new(spec: GraphClassificationSpec, model: &str) -> Self {
        Self {
            seed: 0,
            epochs: default_epochs(),
            steps_an_epoch: default_steps_an_epoch(),
            batch_size: default_batch_size(),
            learning_rate: default_learning_rate(),
            halve_every_epochs: default_halving(),
            folds: FoldChoice::default(),
            fold_seed: 0,
            task: ClassificationTask::GraphClassification(spec),
            model: ClassifierConfig::preset(model),
        }
    }

    /// Whether the text of a configuration file is one of these rather than a [`TrainConfig`](crate::TrainConfig).
    pub fn describes(text: &str) -> bool {
        let table: Option<toml::Table> = toml::from_str(text).ok();
        let task = table.as_ref().and_then(|table| table.get("task")?.get("task")?.as_str());
        task == Some(Task::GraphClassification.name())
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] if the text is not TOML or has fields that do not exist.
    pub fn from_toml(text: &str) -> Result<Self, TrainError> {
        crate::config::read_toml(text)
    }

    /// The configuration as TOML.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] for numbers that TOML cannot hold (integers beyond 63 bits).
    pub fn to_toml(&self) -> Result<String, TrainError> {
        toml::to_string(self).map_err(|error| TrainError::ConfigText(error.to_string()))
    }

    /// The set.
    pub fn spec(&self) -> &GraphClassificationSpec {
        let ClassificationTask::GraphClassification(spec) = &self.task;
        spec
    }

    /// The set, to change.
    pub fn spec_mut(&mut self) -> &mut GraphClassificationSpec {
        let ClassificationTask::GraphClassification(spec) = &mut self.task;
        spec
    }

    /// Refuses what makes no sense whatever the data.
    ///
    /// # Errors
    /// [`TrainError::Config`] names the field.
    pub fn validate(&self) -> Result<(), TrainError> {
        for (field, count) in [
            ("epochs", self.epochs),
            ("steps_an_epoch", self.steps_an_epoch),
            ("halve_every_epochs", self.halve_every_epochs),
            ("model.most_iterations", self.model.most_iterations.unwrap_or(1) as u64),
        ] {
            if count == 0 {
                return Err(TrainError::config(field, "must be at least 1"));
            }
        }
        if self.batch_size < 2 {
            return Err(TrainError::config("batch_size", "must be at least 2: batch normalisation compares graphs"));
        }
        if !matches!(self.model.name.as_str(), "gin" | "iter-gin") {
            let why = format!("`{}` does not classify graphs; use gin or iter-gin", self.model.name);
            return Err(TrainError::config("model.name", why));
        }
        if !matches!(self.model.pooling, None | Some(ReadoutKind::Sum | ReadoutKind::Mean)) {
            return Err(TrainError::config("model.pooling", "use sum or mean"));
        }
        if self.model.most_iterations.is_some() && self.model.name == "gin" {
            return Err(TrainError::config("model.most_iterations", "`gin` does not iterate; use iter-gin"));
        }
        self.optimiser().validate()
    }

    /// The model's whole configuration for nodes of this width and that many classes.
    ///
    /// # Errors
    /// [`TrainError::Model`] for settings that do not go together.
    pub fn model_config(&self, node_width: usize, classes: usize, tagged: bool) -> Result<GnnConfig, TrainError> {
        let own = &self.model;
        let mut config = preset(&own.name, &TaskWidths::graph(node_width, 1, classes))?;
        if let GnnConfig::JumpingKnowledge(config) = &mut config {
            config.hidden_width = own.hidden_width.unwrap_or(if tagged { TAGGED_WIDTH } else { UNTAGGED_WIDTH });
            config.blocks = own.blocks.unwrap_or(config.blocks);
            config.dropout = own.dropout.unwrap_or(config.dropout);
            config.pooling = own.pooling.unwrap_or(if tagged { ReadoutKind::Sum } else { ReadoutKind::Mean });
            config.controller = config.controller.take().map(|controller| own.capped(controller));
        }
        config.validate()?;
        Ok(config)
    }

    /// Adam as PyTorch has it.
    pub fn optimiser(&self) -> OptimiserConfig {
        OptimiserConfig { learning_rate: self.learning_rate, epsilon: PYTORCH_EPSILON, ..OptimiserConfig::default() }
    }

    /// The learning rate of an epoch, counted from 1.
    pub fn rate(&self, epoch: u64) -> f64 {
        let halvings = epoch.saturating_sub(1) / self.halve_every_epochs.max(1);
        self.learning_rate * 0.5_f64.powi(halvings.min(1_000) as i32)
    }

    /// Seed of the weights and batches of a fold.
    pub fn seed_of_fold(&self, fold: usize) -> u64 {
        // Folds learn from mostly the same graphs, so equal weights to start with would make their results less independent than they are.
        self.seed.wrapping_mul(1_000).wrapping_add(fold as u64)
    }
}

impl ClassifierConfig {
    /// The preset of that name.
    pub fn preset(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            hidden_width: None,
            blocks: None,
            dropout: None,
            pooling: None,
            most_iterations: None,
        }
    }

    fn capped(&self, controller: ControllerConfig) -> ControllerConfig {
        let Some(most) = self.most_iterations else { return controller };
        controller.with_iter(|iter| (iter.training_cap, iter.inference_cap) = (most, Some(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> ClassificationConfig {
        ClassificationConfig::new(GraphClassificationSpec::default(), "gin")
    }

    #[test]
    fn toml_round_trip_and_recognition() {
        let mut config = config();
        config.model.dropout = Some(0.0);
        config.model.pooling = Some(ReadoutKind::Mean);
        let text = config.to_toml().unwrap();
        assert_eq!(ClassificationConfig::from_toml(&text).unwrap(), config, "{text}");
        assert!(ClassificationConfig::describes(&text));
        assert!(!ClassificationConfig::describes("[task]\ntask = 'shortest-path'\n"));
        let error = ClassificationConfig::from_toml(&format!("epoch = 3\n{text}")).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("epoch"), "{error}");
    }

    #[test]
    fn the_rate_is_halved() {
        let config = config();
        let rates: Vec<f64> = [1, 50, 51, 101, 350].iter().map(|&epoch| config.rate(epoch)).collect();
        assert_eq!(rates, [0.01, 0.01, 0.005, 0.0025, 0.01 / 64.0]);
    }

    #[test]
    fn the_kind_of_set_decides_width_and_pooling() {
        for (tagged, width, pooling) in [(true, 32, ReadoutKind::Sum), (false, 64, ReadoutKind::Mean)] {
            let GnnConfig::JumpingKnowledge(model) = config().model_config(7, 2, tagged).unwrap() else {
                panic!("a classifier");
            };
            assert_eq!((model.hidden_width, model.pooling, model.blocks), (width, pooling, 4));
        }
        let mut iterated = config();
        iterated.model = ClassifierConfig { most_iterations: Some(3), ..ClassifierConfig::preset("iter-gin") };
        let text = serde_json::to_string(&iterated.model_config(7, 2, true).unwrap()).unwrap();
        assert!(text.contains("\"training_cap\":3") && text.contains("\"inference_cap\":3"), "{text}");
    }

    #[test]
    fn faults_name_their_field() {
        let refused = |change: fn(&mut ClassificationConfig)| {
            let mut config = config();
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        assert!(refused(|config| config.epochs = 0).starts_with("config: epochs: "));
        assert!(refused(|config| config.batch_size = 1).starts_with("config: batch_size: "));
        assert!(refused(|config| config.model.name = "path".to_owned()).starts_with("config: model.name: `path`"));
        assert!(refused(|config| config.model.most_iterations = Some(4)).contains("gin"));
        assert!(refused(|config| config.learning_rate = f64::NAN).contains("learning_rate"));
    }
}
