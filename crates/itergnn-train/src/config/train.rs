//! Everything a training run depends on.

use itergnn_nn::fused::Engine;
use itergnn_nn::{GnnConfig, Recipe};
use itergnn_tasks::{SizeRange, Split, TaskSpec};
use serde::{Deserialize, Serialize};

use super::task_shape::sizes;
use super::{LossKind, Measure, ModelConfig, OptimiserConfig, SelectionConfig, TaskShape};
use crate::TrainError;

/// A training run: the same configuration gives the same weights, bit for bit, on any number of threads.
///
/// # Example
/// ```
/// use itergnn_train::TrainConfig;
/// let config = TrainConfig::from_toml(
///     r#"
///     epochs = 4
///     [task]
///     task = "shortest-path"
///     weights = "0.5..1.5"
///     [model]
///     name = "iter-homo-path"
///     [optimiser]
///     schedule = { kind = "cosine", warm_up_steps = 100 }
///     "#,
/// )?;
/// assert_eq!((config.batch_size, config.data.train), (32, 10_000));
/// assert_eq!(config.steps(), 4 * 313);
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// Seed of the initial weights, of the order of samples and, unless [`DataConfig::seed`] is given, of the samples.
    #[serde(default)]
    pub seed: u64,
    /// How often every training sample is seen.
    #[serde(default = "default_epochs")]
    pub epochs: u64,
    /// Graphs in a step.
    #[serde(default = "default_batch_size")]
    pub batch_size: usize,
    /// What is minimised; the task's own by default.
    #[serde(default)]
    pub loss: Option<LossKind>,
    /// Steps between records of the loss; 0 for none.
    #[serde(default = "default_log_every")]
    pub log_every: u64,
    /// Which engine runs the blocks. Engines agree to rounding, not to the bit, so it belongs to the run.
    #[serde(default, skip_serializing_if = "is_auto")]
    pub engine: Engine,
    /// The task, at training sizes.
    pub task: TaskSpec,
    /// The model.
    pub model: ModelConfig,
    /// How many samples.
    #[serde(default)]
    pub data: DataConfig,
    /// Adam.
    #[serde(default)]
    pub optimiser: OptimiserConfig,
    /// Choice of the best epoch.
    #[serde(default)]
    pub selection: SelectionConfig,
    /// How often the state is saved.
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
}

/// The samples of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// Samples to learn from.
    pub train: u64,
    /// Samples that the best epoch is chosen on.
    pub validation: u64,
    /// Seed of the samples, if it is not the seed of the run.
    pub seed: Option<u64>,
}

impl Default for DataConfig {
    /// The paper's 10,000 and 1,000.
    fn default() -> Self {
        Self { train: Split::Train.samples(), validation: Split::Validation.samples(), seed: None }
    }
}

/// When the state of a run is saved, besides at its end and when it is stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointConfig {
    /// After this many steps.
    pub every_steps: Option<u64>,
    /// After this many seconds.
    pub every_seconds: f64,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        Self { every_steps: None, every_seconds: 60.0 }
    }
}

fn default_epochs() -> u64 {
    20
}

fn default_batch_size() -> usize {
    32
}

fn is_auto(engine: &Engine) -> bool {
    *engine == Engine::Auto
}

fn default_log_every() -> u64 {
    50
}

/// Most graphs in a step: far more than any experiment uses, and few enough that a mistyped number does not ask for the whole memory.
const LARGEST_BATCH: usize = 1 << 16;

impl TrainConfig {
    /// A run with the defaults of the paper.
    pub fn new(task: TaskSpec, model: ModelConfig) -> Self {
        Self {
            seed: 0,
            epochs: default_epochs(),
            batch_size: default_batch_size(),
            loss: None,
            log_every: default_log_every(),
            engine: Engine::Auto,
            task,
            model,
            data: DataConfig::default(),
            optimiser: OptimiserConfig::default(),
            selection: SelectionConfig::default(),
            checkpoint: CheckpointConfig::default(),
        }
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] if the text is not TOML, or has fields that do not exist; see [`TrainConfig::resolved`] for the rest.
    pub fn from_toml(text: &str) -> Result<Self, TrainError> {
        read_toml(text)
    }

    /// The configuration as TOML.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] for numbers that TOML cannot hold (integers beyond 63 bits).
    pub fn to_toml(&self) -> Result<String, TrainError> {
        toml::to_string(self).map_err(|error| TrainError::ConfigText(error.to_string()))
    }

    /// The configuration with everything filled in that was left to the task. An optimiser with nothing but defaults becomes
    /// [`OptimiserConfig::max_plus`] for max-plus and wave models and [`OptimiserConfig::one_tree`] for one-tree models, which minimise the relative error unless told otherwise.
    ///
    /// # Errors
    /// [`TrainError::Config`] names the field that makes no sense; [`TrainError::Model`] and [`TrainError::Task`] say what model and task refuse.
    pub fn resolved(&self) -> Result<Self, TrainError> {
        let shape = TaskShape::of(&self.task)?;
        let mut config = self.clone();
        config.loss = Some(self.loss.unwrap_or(LossKind::of_task(shape.task)));
        config.selection.measure = Some(self.selection.measure.unwrap_or(Measure::of_task(shape.task)));
        config.validate(&shape)?;
        let recipe = config.model_config()?.settings().recipe();
        if recipe == Recipe::Relative {
            config.loss = Some(self.loss.unwrap_or(LossKind::Relative));
        }
        if config.optimiser == OptimiserConfig::default() {
            config.optimiser = match recipe {
                Recipe::Paper => OptimiserConfig::default(),
                Recipe::Finished => OptimiserConfig::max_plus(),
                Recipe::Relative => OptimiserConfig::one_tree(),
            };
        }
        Ok(config)
    }

    fn validate(&self, shape: &TaskShape) -> Result<(), TrainError> {
        let at_least_one = |field, count: u64| {
            if count == 0 { Err(TrainError::config(field, "must be at least 1")) } else { Ok(()) }
        };
        at_least_one("epochs", self.epochs)?;
        at_least_one("batch_size", self.batch_size as u64)?;
        at_least_one("data.train", self.data.train)?;
        at_least_one("data.validation", self.data.validation)?;
        at_least_one("selection.lifted_cap", self.selection.lifted_cap as u64)?;
        at_least_one("selection.patience", self.selection.patience.unwrap_or(1))?;
        at_least_one("checkpoint.every_steps", self.checkpoint.every_steps.unwrap_or(1))?;
        if self.batch_size > LARGEST_BATCH {
            return Err(TrainError::config("batch_size", format!("{} is more than {LARGEST_BATCH}", self.batch_size)));
        }
        if self.checkpoint.every_seconds.is_nan() || self.checkpoint.every_seconds < 0.0 {
            let why = format!("{} is not a duration", self.checkpoint.every_seconds);
            return Err(TrainError::config("checkpoint.every_seconds", why));
        }
        if (self.loss == Some(LossKind::CrossEntropy)) != shape.classes.is_some() {
            let kind = if shape.classes.is_some() { "classes" } else { "numbers" };
            let why = format!("{} does not fit {}, whose targets are {kind}", self.loss_kind(), shape.task);
            return Err(TrainError::config("loss", why));
        }
        let measure = self.measure();
        let judged_by_class = shape.classes.is_some() && measure != Measure::Accuracy;
        let own = Measure::of_task(shape.task);
        if judged_by_class || (measure == Measure::Accuracy && own != Measure::Accuracy) {
            let why = format!("{measure} is not measured for {}; use {own}", shape.task);
            return Err(TrainError::config("selection.measure", why));
        }
        self.optimiser.validate()?;
        self.splits()?;
        self.model.for_task(shape).map(drop)
    }

    /// The model's whole configuration.
    ///
    /// # Errors
    /// As [`ModelConfig::for_task`].
    pub fn model_config(&self) -> Result<GnnConfig, TrainError> {
        self.model.for_task(&TaskShape::of(&self.task)?)
    }

    /// The loss in use.
    pub fn loss_kind(&self) -> LossKind {
        self.loss.unwrap_or(LossKind::of_task(self.task.task()))
    }

    /// The measure that chooses the best epoch.
    pub fn measure(&self) -> Measure {
        self.selection.measure.unwrap_or(Measure::of_task(self.task.task()))
    }

    /// Seed of the samples.
    pub fn data_seed(&self) -> u64 {
        self.data.seed.unwrap_or(self.seed)
    }

    /// Steps in an epoch; the last one may have fewer graphs.
    pub fn steps_an_epoch(&self) -> u64 {
        self.data.train.div_ceil(self.batch_size.max(1) as u64)
    }

    /// Steps of the whole run, if it does not stop early.
    pub fn steps(&self) -> u64 {
        self.epochs.saturating_mul(self.steps_an_epoch())
    }

    /// What is trained on and what is validated on: the same, unless larger sizes are held out.
    ///
    /// # Errors
    /// [`TrainError::Config`] if no size would be left on either side.
    pub fn splits(&self) -> Result<(TaskSpec, TaskSpec), TrainError> {
        let Some(from) = self.selection.held_out_from else {
            return Ok((self.task.clone(), self.task.clone()));
        };
        let refused = |why: String| TrainError::config("selection.held_out_from", why);
        let Some(range) = sizes(&self.task) else {
            return Err(refused(format!("{} has no sizes to hold out", self.task.task())));
        };
        if from <= range.smallest() || from > range.largest() {
            return Err(refused(format!("{from} does not divide the sizes {range}")));
        }
        let (mut train, mut validation) = (self.task.clone(), self.task.clone());
        train.set_size(SizeRange::new(range.smallest()..from)?)?;
        validation.set_size(SizeRange::new(from..range.largest() + 1)?)?;
        Ok((train, validation))
    }
}

/// Reads a configuration; what is wrong with it is one line that says where.
pub(crate) fn read_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, TrainError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = line.map_or(String::new(), |line| format!("line {line}: "));
        TrainError::ConfigText(format!("{place}{}", error.message().lines().collect::<Vec<_>>().join("; ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_tasks::Task;

    fn config(task: Task) -> TrainConfig {
        TrainConfig::new(TaskSpec::paper(task), ModelConfig::preset("iter-homo-path"))
    }

    #[test]
    fn defaults_are_the_specifications() {
        let resolved = config(Task::ShortestPath).resolved().unwrap();
        assert_eq!((resolved.batch_size, resolved.data.train, resolved.data.validation), (32, 10_000, 1_000));
        assert_eq!(resolved.optimiser, OptimiserConfig::default());
        assert_eq!((resolved.loss, resolved.selection.measure), (Some(LossKind::Mse), Some(Measure::RelativeLoss)));
        assert_eq!(resolved.resolved().unwrap(), resolved);
        let resolved = TrainConfig::new(TaskSpec::paper(Task::Tsp), ModelConfig::preset("path")).resolved().unwrap();
        assert_eq!((resolved.optimiser.learning_rate, resolved.optimiser.epsilon), (1e-3, 1e-5));
        let family = TrainConfig::new(TaskSpec::paper(Task::ShortestPath), ModelConfig::preset("max-plus"));
        assert_eq!(family.resolved().unwrap().optimiser, OptimiserConfig::max_plus());
    }

    #[test]
    fn toml_round_trip() {
        for task in [Task::ShortestPath, Task::ComponentCount, Task::NewtonBalls, Task::RegularGraphs] {
            let mut resolved = config(task).resolved().unwrap();
            resolved.optimiser.clip_norm = Some(1.0);
            resolved.model.name = "iter-homo-path-settle".to_owned();
            resolved.model.controller = Some(itergnn_nn::controllers::ControllerConfig::iter_decay());
            let text = resolved.to_toml().unwrap();
            assert_eq!(TrainConfig::from_toml(&text).unwrap(), resolved, "{text}");
        }
    }

    #[test]
    fn faults_are_one_line_that_names_the_field() {
        let change = |change: fn(&mut TrainConfig)| {
            let mut config = config(Task::ShortestPath);
            change(&mut config);
            config.resolved().unwrap_err().to_string()
        };
        for (message, starts) in [
            (change(|config| config.epochs = 0), "config: epochs: must be at least 1"),
            (change(|config| config.batch_size = 1 << 40), "config: batch_size: "),
            (change(|config| config.optimiser.learning_rate = -1.0), "config: optimiser.learning_rate: -1"),
            (change(|config| config.optimiser.clip_norm = Some(0.0)), "config: optimiser.clip_norm: 0"),
            (change(|config| config.loss = Some(LossKind::CrossEntropy)), "config: loss: cross-entropy does not fit"),
            (
                change(|config| config.selection.measure = Some(Measure::Accuracy)),
                "config: selection.measure: accuracy",
            ),
            (change(|config| config.selection.held_out_from = Some(4)), "config: selection.held_out_from: 4 does not"),
            (change(|config| config.model.name = "homo-pat".to_owned()), "model: unknown name `homo-pat`"),
        ] {
            assert!(message.starts_with(starts) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn misspelt_fields_are_refused_with_their_line() {
        let text = "epochs = 1\nlearning_rat = 2\n[task]\ntask = 'shortest-path'\n[model]\nname = 'path'\n";
        let message = TrainConfig::from_toml(text).unwrap_err().to_string();
        assert!(message.starts_with("config: line 2: ") && message.contains("learning_rat"), "{message}");
        assert!(!message.contains('\n'));
    }

    #[test]
    fn held_out_sizes_divide_the_training_range() {
        let mut config = config(Task::ShortestPath);
        config.selection.held_out_from = Some(26);
        let (train, validation) = config.splits().unwrap();
        assert_eq!(sizes(&train).unwrap().to_string(), "4..26");
        assert_eq!(sizes(&validation).unwrap().to_string(), "26..34");
    }
}
