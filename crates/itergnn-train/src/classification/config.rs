//! Settings of a cross-validation.

use itergnn_nn::controllers::ControllerConfig;
use itergnn_nn::{GnnConfig, ReadoutKind, TaskWidths, preset};
use itergnn_tasks::TaskSpec;
use itergnn_tasks::graph_classification::GraphClassificationSpec;
use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};

use super::ClassificationData;
use crate::TrainError;
use crate::config::{MethodConfig, ModelConfig, RunConfig, RunTask, at_least_one};

/// Where the folds come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FoldChoice {
    /// Ten stratified folds of all graphs, as scikit-learn deals them under the fold seed.
    #[default]
    Stratified,
    /// The index files beside the set. They leave a few graphs untested: 8 of MUTAG, 4 of PTC, 3 of PROTEINS.
    Published,
}

/// The protocol of the GIN paper: 350 epochs of 50 steps, each of 32 graphs drawn without replacement.
///
/// # Example
/// ```
/// use itergnn_train::RunConfig;
/// let config = RunConfig::from_toml(
///     r#"
///     epochs = 100
///     task = { task = "graph-classification", data = "data", dataset = "IMDB-B" }
///     model = { name = "iter-gin" }
///     "#,
/// )?;
/// let method = config.cross_validation()?;
/// assert_eq!((method.steps_per_epoch, method.batch_size, config.optimiser.learning_rate), (50, 32, 0.01));
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrossValidationConfig {
    /// Epochs of every fold.
    pub epochs: u64,
    /// Steps in an epoch; an epoch here is not one pass over the data.
    pub steps_per_epoch: u64,
    /// Graphs in a step.
    pub batch_size: usize,
    /// Where the folds come from.
    pub folds: FoldChoice,
    /// Seed of stratified folds; 0 in the paper.
    pub fold_seed: u64,
    /// The fold that a run trains, counted from 0; none in the configuration of all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<usize>,
    /// Probability of dropping a class score of a layer; 0.5 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropout: Option<f64>,
    /// Most iterations of every block of `iter-gin`; 10 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_iterations: Option<usize>,
}

impl Default for CrossValidationConfig {
    fn default() -> Self {
        Self {
            epochs: 350,
            steps_per_epoch: 50,
            batch_size: 32,
            folds: FoldChoice::default(),
            fold_seed: 0,
            fold: None,
            dropout: None,
            most_iterations: None,
        }
    }
}

/// Channels where nodes have tags: the larger of the two that the GIN paper tries on bioinformatics sets.
const TAGGED_WIDTH: usize = 32;

/// Channels where they have none: the GIN paper's for social sets.
const UNTAGGED_WIDTH: usize = 64;

impl CrossValidationConfig {
    /// Steps of a fold.
    pub fn steps(&self) -> u64 {
        self.epochs.saturating_mul(self.steps_per_epoch)
    }

    pub(crate) fn validate(&self) -> Result<(), TrainError> {
        at_least_one("epochs", self.epochs)?;
        at_least_one("steps_per_epoch", self.steps_per_epoch)?;
        at_least_one("most_iterations", self.most_iterations.unwrap_or(1) as u64)?;
        if self.batch_size < 2 {
            return Err(TrainError::config("batch_size", "must be at least 2: batch normalisation compares graphs"));
        }
        Ok(())
    }

    /// The model's whole configuration for a set. What is not given follows the GIN paper's choice for the kind of set:
    /// 32 channels and sum pooling where nodes have tags (molecules, proteins), 64 channels and mean pooling where they
    /// have none (social graphs).
    ///
    /// # Errors
    /// [`TrainError::Config`] for another model than `gin` and `iter-gin` and changes that these do not take;
    /// [`TrainError::Model`] for settings that do not go together.
    pub fn model_config(&self, own: &ModelConfig, data: &ClassificationData) -> Result<GnnConfig, TrainError> {
        check_model(self, own)?;
        let mut config = preset(&own.name, &TaskWidths::graph(data.node_width(), 1, data.classes()))?;
        if let GnnConfig::JumpingKnowledge(config) = &mut config {
            let tagged = data.tagged();
            config.hidden_width = own.hidden_width.unwrap_or(if tagged { TAGGED_WIDTH } else { UNTAGGED_WIDTH });
            config.blocks = own.blocks.unwrap_or(config.blocks);
            config.dropout = self.dropout.unwrap_or(config.dropout);
            config.pooling = own.readout.unwrap_or(if tagged { ReadoutKind::Sum } else { ReadoutKind::Mean });
            config.controller = config.controller.take().map(|controller| self.capped(controller));
        }
        config.validate()?;
        Ok(config)
    }

    fn capped(&self, controller: ControllerConfig) -> ControllerConfig {
        let Some(most) = self.most_iterations else { return controller };
        controller.with_iter(|iter| (iter.training_cap, iter.inference_cap) = (most, Some(most)))
    }
}

fn check_model(method: &CrossValidationConfig, model: &ModelConfig) -> Result<(), TrainError> {
    if !matches!(model.name.as_str(), "gin" | "iter-gin") {
        let why = format!("`{}` does not classify graphs; use gin or iter-gin", model.name);
        return Err(TrainError::config("model.name", why));
    }
    let known = ModelConfig {
        hidden_width: model.hidden_width,
        blocks: model.blocks,
        readout: model.readout,
        ..ModelConfig::preset(model.name.as_str())
    };
    if *model != known {
        let why = format!("`{}` takes hidden_width, blocks and readout here", model.name);
        return Err(TrainError::config("model", why));
    }
    if !matches!(model.readout, None | Some(ReadoutKind::Sum | ReadoutKind::Mean)) {
        return Err(TrainError::config("model.readout", "use sum or mean"));
    }
    if method.most_iterations.is_some() && model.name == "gin" {
        return Err(TrainError::config("most_iterations", "`gin` does not iterate; use iter-gin"));
    }
    Ok(())
}

impl RunConfig {
    /// A fold of a cross-validation as a run of its own. Folds learn from mostly the same graphs, so each has a seed of
    /// its own: equal weights to start with would make their results less independent than they are.
    ///
    /// # Errors
    /// As [`RunConfig::cross_validation`].
    pub(super) fn of_fold(&self, fold: usize) -> Result<Self, TrainError> {
        let method = CrossValidationConfig { fold: Some(fold), ..self.cross_validation()?.clone() };
        let method = MethodConfig::CrossValidation(method);
        Ok(Self { method, seed: self.seed.wrapping_mul(1_000).wrapping_add(fold as u64), ..self.clone() })
    }

    /// The cross-validation that a fold belongs to.
    pub(super) fn of_all_folds(mut self) -> Self {
        if let MethodConfig::CrossValidation(method) = &mut self.method {
            method.fold = None;
        }
        self
    }

    /// The set of a cross-validation.
    ///
    /// # Errors
    /// [`TrainError::Config`] for another task.
    pub(super) fn set(&self) -> Result<&GraphClassificationSpec, TrainError> {
        match &self.task {
            RunTask::BuiltIn(TaskSpec::GraphClassification(spec)) => Ok(spec),
            other => Err(TrainError::config("task", format!("{} has no folds", other.name()))),
        }
    }

    /// The configuration with the sets in another folder, if one is given.
    pub(super) fn with_data(mut self, folder: Option<&std::path::Path>) -> Self {
        if let (RunTask::BuiltIn(TaskSpec::GraphClassification(spec)), Some(folder)) = (&mut self.task, folder) {
            folder.clone_into(&mut spec.data);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_tasks::Task;

    fn refused(change: fn(&mut CrossValidationConfig, &mut ModelConfig)) -> String {
        let (mut method, mut model) = (CrossValidationConfig::default(), ModelConfig::preset("gin"));
        change(&mut method, &mut model);
        method.validate().and_then(|()| check_model(&method, &model)).unwrap_err().to_string()
    }

    #[test]
    fn faults_name_their_field() {
        assert!(refused(|method, _| method.epochs = 0).starts_with("config: epochs: "));
        assert!(refused(|method, _| method.batch_size = 1).starts_with("config: batch_size: "));
        assert!(refused(|_, model| model.name = "path".to_owned()).starts_with("config: model.name: `path`"));
        assert!(refused(|_, model| model.prior = Some(itergnn_nn::Prior::Full)).starts_with("config: model: `gin`"));
        assert!(refused(|_, model| model.readout = Some(ReadoutKind::Max)).contains("sum or mean"));
        assert!(refused(|method, _| method.most_iterations = Some(4)).contains("iter-gin"));
    }

    #[test]
    fn folds_have_seeds_of_their_own() {
        let run = RunConfig::new(TaskSpec::paper(Task::GraphClassification), ModelConfig::preset("gin"));
        let run = RunConfig { seed: 3, ..run };
        let fold = run.of_fold(7).unwrap();
        assert_eq!((fold.seed, fold.cross_validation().unwrap().fold), (3_007, Some(7)));
        assert_eq!(RunConfig::from_toml(&fold.to_toml().unwrap()).unwrap(), fold);
    }
}
