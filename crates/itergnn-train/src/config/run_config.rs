//! Everything a run depends on.

use std::path::Path;

use burn::tensor::Device;
use itergnn_nn::fused::Engine;
use itergnn_nn::store::ModelCard;
use itergnn_nn::{GnnConfig, InitRng};
use itergnn_tasks::{Split, TaskSpec};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{
    CheckpointConfig, CrossValidationConfig, DqnConfig, MethodConfig, ModelConfig, OptimiserConfig, OwnTask, RunTask,
    SelectionConfig, SupervisedConfig, TaskShape, limits::check_training_steps, short_form,
};
use crate::TrainError;
use crate::data::{AlgorithmData, OwnData};
use crate::learning::started_from;

/// A run: the same configuration gives the same weights, bit for bit, on any number of threads.
///
/// How a task is learned follows from the task unless `method` says it, and what is not given is the method's own. In a
/// file the settings of the method may stand at the top, without a table of their own; files of older versions do.
///
/// # Example
/// ```
/// use itergnn_train::RunConfig;
/// let config = RunConfig::from_toml(
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
/// let method = config.supervised()?;
/// assert_eq!((method.batch_size, method.data.train), (32, 10_000));
/// assert_eq!(method.steps(), 4 * 313);
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct RunConfig {
    /// Seed of the initial weights, of every order and draw and, unless [`DataConfig::seed`](super::DataConfig::seed)
    /// is given, of the samples.
    #[serde(default)]
    pub seed: u64,
    /// Steps between records of the loss; 0 for none.
    #[serde(default = "default_log_every")]
    pub log_every: u64,
    /// Which engine runs the blocks. Engines agree to rounding, not to the bit, so it belongs to the run.
    #[serde(default, skip_serializing_if = "is_auto")]
    pub engine: Engine,
    /// The task, at training sizes.
    pub task: RunTask,
    /// The model.
    pub model: ModelConfig,
    /// How it learns.
    pub method: MethodConfig,
    /// Adam.
    #[serde(default)]
    pub optimiser: OptimiserConfig,
    /// Choice of the best epoch, for supervised learning.
    #[serde(default)]
    pub selection: SelectionConfig,
    /// How often the state is saved.
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
}

/// A configuration that was checked and filled in, with the model it asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedRun {
    /// The configuration, complete.
    pub config: RunConfig,
    /// The whole configuration of the model.
    pub model: GnnConfig,
}

impl ResolvedRun {
    /// Refuses more steps than there can be, and weights to begin with that are another network's.
    fn check(&self) -> Result<(), TrainError> {
        check_training_steps(&self.model)?;
        if let Some(path) = &self.config.model.start_from {
            started_from(self.model.init(&Device::flex(), &mut InitRng::new(0))?, path)?;
        }
        Ok(())
    }
}

/// Samples that are looked at for the widths of an algorithm's: some graphs have no edges.
const PROBES: u64 = 100;

fn default_log_every() -> u64 {
    50
}

fn is_auto(engine: &Engine) -> bool {
    *engine == Engine::Auto
}

impl RunConfig {
    /// A run with the defaults of the paper, learned as the task is learned.
    pub fn new(task: impl Into<RunTask>, model: ModelConfig) -> Self {
        let task = task.into();
        let method = task.built_in().map_or_else(Default::default, |spec| MethodConfig::of_task(spec.task()));
        Self {
            seed: 0,
            log_every: if matches!(method, MethodConfig::DoubleDqn(_)) { 2_000 } else { default_log_every() },
            engine: Engine::Auto,
            task,
            model,
            optimiser: method.default_optimiser(),
            method,
            selection: SelectionConfig::default(),
            checkpoint: CheckpointConfig::default(),
        }
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] if the text is not TOML, or has fields that do not exist; see [`RunConfig::resolve`]
    /// for the rest.
    pub fn from_toml(text: &str) -> Result<Self, TrainError> {
        let at = |line: Option<usize>, message: &str| {
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            TrainError::ConfigText(format!("{place}{}", message.lines().collect::<Vec<_>>().join("; ")))
        };
        let table: toml::Table = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            at(line, error.message())
        })?;
        serde_json::to_value(table).and_then(serde_json::from_value).map_err(|error: serde_json::Error| {
            let message = error.to_string();
            at(line_of_key(text, &message), &message)
        })
    }

    /// The configuration as TOML.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] for numbers that TOML cannot hold (integers beyond 63 bits).
    pub fn to_toml(&self) -> Result<String, TrainError> {
        toml::to_string(self).map_err(|error| TrainError::ConfigText(error.to_string()))
    }

    /// The configuration that a model was trained with, if its card says it.
    pub fn of_card(card: &ModelCard) -> Option<Self> {
        let config = card.training.get("config").or_else(|| card.training.get("play"))?;
        serde_json::from_value(config.clone()).ok()
    }

    /// The settings of supervised learning.
    ///
    /// # Errors
    /// [`TrainError::NotSupervised`] for another method.
    pub fn supervised(&self) -> Result<&SupervisedConfig, TrainError> {
        match &self.method {
            MethodConfig::Supervised(method) => Ok(method),
            other => Err(other.not_supervised(&self.task)),
        }
    }

    /// The settings of supervised learning, to change.
    ///
    /// # Errors
    /// [`TrainError::NotSupervised`] for another method.
    pub fn supervised_mut(&mut self) -> Result<&mut SupervisedConfig, TrainError> {
        match &mut self.method {
            MethodConfig::Supervised(method) => Ok(method),
            other => Err(other.not_supervised(&self.task)),
        }
    }

    /// The settings of a cross-validation.
    ///
    /// # Errors
    /// [`TrainError::Config`] for another method.
    pub fn cross_validation(&self) -> Result<&CrossValidationConfig, TrainError> {
        match &self.method {
            MethodConfig::CrossValidation(method) => Ok(method),
            other => Err(TrainError::config("method", format!("{} is not cross-validation", other.name()))),
        }
    }

    /// The settings of double DQN.
    ///
    /// # Errors
    /// [`TrainError::Config`] for another method.
    pub fn dqn(&self) -> Result<&DqnConfig, TrainError> {
        match &self.method {
            MethodConfig::DoubleDqn(method) => Ok(method),
            other => Err(TrainError::config("method", format!("{} is not double-dqn", other.name()))),
        }
    }

    /// The configuration with everything filled in that was left open, checked, and the model it asks for. A sample of
    /// the task is drawn for that, so this is done once for a run.
    ///
    /// # Errors
    /// [`TrainError::Config`] names the field that makes no sense; [`TrainError::Model`] and [`TrainError::Task`] say
    /// what model and task refuse. A cross-validation is resolved with its data, in
    /// [`cross_validate`](crate::classification::cross_validate).
    pub fn resolve(&self) -> Result<ResolvedRun, TrainError> {
        self.validate()?;
        let run = match &self.method {
            MethodConfig::Supervised(method) => match &self.task {
                RunTask::BuiltIn(spec) => method.resolve(self, &TaskShape::of(spec)?)?,
                RunTask::Algorithm(spec) => {
                    let probe = AlgorithmData::new(spec.clone(), Split::Train.seed(0), PROBES);
                    let mut shape = OwnTask::of_algorithm(spec.algorithm).shape(&probe)?;
                    shape.name = self.task.name();
                    method.resolve(self, &shape)?
                }
                RunTask::Own(_) => return Err(TrainError::config("task", "own graphs are given to `train_on`")),
            },
            MethodConfig::DoubleDqn(method) => {
                ResolvedRun { model: method.model_config(&self.model)?, config: self.clone() }
            }
            other => return Err(other.not_supervised(&self.task)),
        };
        run.check()?;
        Ok(run)
    }

    /// As [`RunConfig::resolve`], for own graphs: how many there are, and the shape of the first, is filled in.
    ///
    /// # Errors
    /// As [`RunConfig::resolve`]; [`TrainError::Config`] for a built-in task.
    pub fn resolve_for(&self, data: &OwnData) -> Result<ResolvedRun, TrainError> {
        let RunTask::Own(task) = &self.task else {
            return Err(TrainError::config("task", format!("{} has samples of its own", self.task.name())));
        };
        let shape = task.shape(&*data.train)?;
        let mut run = self.clone();
        let method = run.supervised_mut()?;
        (method.data.train, method.data.validation) = (data.train.len(), data.validation.len());
        run.validate()?;
        task.check(&shape, &*data.train)?;
        task.check(&shape, &*data.validation)?;
        let resolved = run.supervised()?.resolve(&run, &shape)?;
        resolved.check()?;
        Ok(resolved)
    }

    /// Refuses what makes no sense whatever task and model are.
    pub(crate) fn validate(&self) -> Result<(), TrainError> {
        let task = self.task.name();
        let own = self.task.built_in().map_or_else(Default::default, |spec| MethodConfig::of_task(spec.task())).name();
        if own != self.method.name() {
            return Err(TrainError::config(
                "method",
                format!("{task} is learned by {own}, not {}", self.method.name()),
            ));
        }
        at_least_one("checkpoint.every_steps", self.checkpoint.every_steps.unwrap_or(1))?;
        if self.checkpoint.every_seconds.is_nan() || self.checkpoint.every_seconds < 0.0 {
            let why = format!("{} is not a duration", self.checkpoint.every_seconds);
            return Err(TrainError::config("checkpoint.every_seconds", why));
        }
        if !matches!(self.method, MethodConfig::Supervised(_)) {
            let refused = |field| Err(TrainError::config(field, format!("{} does not take it", self.method.name())));
            if self.selection != SelectionConfig::default() {
                return refused("selection");
            }
            if self.engine != Engine::Auto {
                return refused("engine");
            }
            if self.model.start_from.is_some() {
                return refused("model.start_from");
            }
        }
        self.optimiser.validate()?;
        self.method.validate(&self.task)
    }

    /// The text of everything that decides the result of a run: all but its length, how often it is saved and logged,
    /// and the folder of its data.
    ///
    /// # Errors
    /// As [`RunConfig::to_toml`].
    pub(crate) fn deciding(&self) -> Result<String, TrainError> {
        let mut config = self.clone();
        (config.log_every, config.checkpoint) = (0, CheckpointConfig::default());
        match &mut config.method {
            MethodConfig::Supervised(method) => method.epochs = 0,
            MethodConfig::CrossValidation(method) => method.epochs = 0,
            MethodConfig::DoubleDqn(method) => method.steps = 0,
        }
        if let RunTask::BuiltIn(TaskSpec::GraphClassification(spec)) = &mut config.task {
            spec.data.clear();
        }
        config.to_toml()
    }

    /// Refuses to go on in the directory `path` from `held`, the deciding settings of a configuration or a checkpoint
    /// that is there, if they are others than these.
    pub(crate) fn check_same(&self, held: &str, path: &Path) -> Result<(), TrainError> {
        let wanted = self.deciding()?;
        if held == wanted {
            return Ok(());
        }
        let lines = held.lines().zip(wanted.lines()).find(|(held, wanted)| held != wanted);
        let what =
            lines.map_or_else(|| "its length".to_owned(), |(held, wanted)| format!("`{held}` against `{wanted}`"));
        Err(TrainError::OtherConfig { path: path.to_owned(), what })
    }
}

/// Refuses a count of 0.
pub(crate) fn at_least_one(field: &'static str, count: u64) -> Result<(), TrainError> {
    if count == 0 { Err(TrainError::config(field, "must be at least 1")) } else { Ok(()) }
}

/// The line of a file that sets the field which an error names in backquotes.
fn line_of_key(text: &str, message: &str) -> Option<usize> {
    let key = message.split('`').nth(1)?;
    let sets = |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
    Some(text.lines().position(sets)? + 1)
}

impl Serialize for RunConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for RunConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Map::deserialize(deserializer)?;
        Self::deserialize(serde_json::Value::Object(short_form::complete(value))).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LossKind, Measure};
    use itergnn_tasks::Task;

    fn config(task: Task) -> RunConfig {
        RunConfig::new(TaskSpec::paper(task), ModelConfig::preset("max-plus"))
    }

    #[test]
    fn defaults_are_the_specifications() {
        let resolved = config(Task::ShortestPath).resolve().unwrap().config;
        let method = resolved.supervised().unwrap();
        assert_eq!((method.batch_size, method.data.train, method.data.validation), (32, 10_000, 1_000));
        assert_eq!(resolved.optimiser, OptimiserConfig::max_plus());
        assert_eq!((method.loss, resolved.selection.measure), (Some(LossKind::Mse), Some(Measure::RelativeLoss)));
        assert_eq!(resolved.resolve().unwrap().config, resolved);
        let path = RunConfig::new(TaskSpec::paper(Task::Tsp), ModelConfig::preset("path"));
        let resolved = path.resolve().unwrap().config;
        assert_eq!((resolved.optimiser.learning_rate, resolved.optimiser.epsilon), (1e-3, 1e-5));
    }

    #[test]
    fn toml_round_trip() {
        for &task in Task::ALL {
            let mut config = config(task);
            config.optimiser.clip_norm = Some(1.0);
            config.model.name = "iter-homo-path-settle".to_owned();
            config.model.controller = Some(itergnn_nn::controllers::ControllerConfig::iter_decay());
            let text = config.to_toml().unwrap();
            assert_eq!(RunConfig::from_toml(&text).unwrap(), config, "{text}");
            let json = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<RunConfig>(&json).unwrap(), config, "{json}");
        }
    }

    #[test]
    fn faults_are_one_line_that_names_the_field() {
        let change = |change: fn(&mut RunConfig)| {
            let mut config = config(Task::ShortestPath);
            change(&mut config);
            config.resolve().unwrap_err().to_string()
        };
        for (message, starts) in [
            (change(|config| config.supervised_mut().unwrap().epochs = 0), "config: epochs: must be at least 1"),
            (change(|config| config.supervised_mut().unwrap().batch_size = 1 << 40), "config: batch_size: "),
            (change(|config| config.optimiser.learning_rate = -1.0), "config: optimiser.learning_rate: -1"),
            (change(|config| config.optimiser.clip_norm = Some(0.0)), "config: optimiser.clip_norm: 0"),
            (
                change(|config| config.supervised_mut().unwrap().loss = Some(LossKind::CrossEntropy)),
                "config: loss: cross-entropy does not fit",
            ),
            (
                change(|config| config.selection.measure = Some(Measure::Accuracy)),
                "config: selection.measure: accuracy",
            ),
            (change(|config| config.selection.held_out_from = Some(4)), "config: selection.held_out_from: 4 does not"),
            (change(|config| config.model.name = "homo-pat".to_owned()), "model: unknown name `homo-pat`"),
            (
                change(|config| config.method = MethodConfig::of_task(Task::Pacman)),
                "config: method: shortest-path is learned by supervised, not double-dqn",
            ),
        ] {
            assert!(message.starts_with(starts) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn settings_of_another_method_are_refused() {
        for task in [Task::Pacman, Task::GraphClassification] {
            let mut selecting = config(task);
            selecting.selection.patience = Some(3);
            assert!(selecting.validate().unwrap_err().to_string().starts_with("config: selection: "));
            let engine = RunConfig { engine: Engine::Plain, ..config(task) };
            assert!(engine.validate().unwrap_err().to_string().starts_with("config: engine: "));
        }
    }

    #[test]
    fn misspelt_fields_are_refused_with_their_line() {
        let text = "epochs = 1\nlearning_rat = 2\n[task]\ntask = 'shortest-path'\n[model]\nname = 'path'\n";
        let message = RunConfig::from_toml(text).unwrap_err().to_string();
        assert!(message.starts_with("config: line 2: ") && message.contains("learning_rat"), "{message}");
        assert!(!message.contains('\n'));
    }
}
