//! What a run learns.

use std::path::PathBuf;

use itergnn_nn::Level;
use itergnn_tasks::TaskSpec;
use itergnn_tasks::algorithms::{Algorithm, AlgorithmSpec};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::TaskShape;
use crate::TrainError;
use crate::data::{Dataset, Example, epoch_order};

/// What a run learns: a built-in task, the answers of an algorithm, or what somebody's own labelled graphs say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RunTask {
    /// A task whose samples are drawn here.
    BuiltIn(TaskSpec),
    /// An algorithm whose graphs are drawn here.
    Algorithm(AlgorithmSpec),
    /// Own graphs.
    Own(OwnTask),
}

/// Own labelled graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename = "own", deny_unknown_fields)]
pub struct OwnTask {
    /// What targets belong to.
    pub level: Level,
    /// Number of classes, where targets are classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<usize>,
    /// The file of the training samples, one JSON object per line; none where they are in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// What the best epoch is chosen on.
    #[serde(default)]
    pub validation: Holdout,
}

/// What the best epoch of a training on own graphs is chosen on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holdout {
    /// Samples of another file.
    File(PathBuf),
    /// A share of the samples, drawn by the seed of the data.
    Share(f64),
    /// The samples with at least this many nodes, so that what is chosen extrapolates.
    FromSize(usize),
}

impl Default for Holdout {
    fn default() -> Self {
        Self::Share(0.1)
    }
}

impl OwnTask {
    /// Own graphs with targets at a level.
    pub fn new(level: Level) -> Self {
        Self { level, classes: None, data: None, validation: Holdout::default() }
    }

    /// How the targets of an algorithm are read.
    pub fn of_algorithm(algorithm: Algorithm) -> Self {
        let level = match algorithm.level() {
            "pointer" => Level::Pointer,
            "node" => Level::Node,
            _ => Level::Graph,
        };
        Self { classes: algorithm.classes(), ..Self::new(level) }
    }

    /// The shape of the samples, seen on the first of them.
    pub(crate) fn shape(&self, data: &dyn Dataset) -> Result<TaskShape, TrainError> {
        if data.is_empty() {
            return Err(TrainError::config("data", "there are no samples"));
        }
        let first = data.sample(0)?;
        // A graph without edges does not say how wide their attributes are.
        let mut edge_width = first.edge_width();
        for index in 1..data.len() {
            if edge_width.is_some() {
                break;
            }
            edge_width = data.sample(index)?.edge_width();
        }
        let outputs = first.outputs(self.level).map_err(|why| TrainError::config("data", why))?;
        if self.classes.is_some() && (outputs != 1 || self.level == Level::Pointer) {
            return Err(TrainError::config("task.classes", "classes are one whole number per row of the target"));
        }
        Ok(TaskShape {
            task: None,
            name: "own",
            node_width: first.graph.node_attributes().width(),
            edge_width: edge_width.unwrap_or(0),
            outputs,
            level: self.level,
            classes: self.classes,
            trees: false,
        })
    }

    /// Refuses a sample that does not have the shape of the first, or whose target is none of the classes or choices.
    pub(crate) fn check(&self, shape: &TaskShape, data: &dyn Dataset) -> Result<(), TrainError> {
        for index in 0..data.len() {
            let sample = data.sample(index)?;
            let refused = |why: String| Err(TrainError::config("data", format!("sample {index}: {why}")));
            let edge_width = sample.edge_width().unwrap_or(shape.edge_width);
            let widths = (sample.graph.node_attributes().width(), edge_width);
            match sample.outputs(self.level) {
                Err(why) => return refused(why),
                // No edge, no target.
                Ok(0) if self.level == Level::Edge && widths.0 == shape.node_width => {}
                Ok(outputs) if (widths, outputs) != ((shape.node_width, shape.edge_width), shape.outputs) => {
                    return refused("its widths differ from those of the first".to_owned());
                }
                Ok(_) => {}
            }
            let is_class =
                |target: &f32| target.fract() == 0.0 && (0.0..shape.classes.unwrap_or(0) as f32).contains(target);
            if let Some(classes) = shape.classes
                && let Some(target) = sample.target.iter().find(|target| !is_class(target))
            {
                return refused(format!("{target} is no class of {classes}, counted from 0"));
            }
            if self.level == Level::Pointer
                && let Err(why) = sample.pointers()
            {
                return refused(why);
            }
        }
        Ok(())
    }

    /// Samples to learn from and samples to choose by.
    ///
    /// # Errors
    /// [`TrainError::Config`] if one of both would be empty.
    pub fn divide(&self, examples: Vec<Example>, seed: u64) -> Result<(Vec<Example>, Vec<Example>), TrainError> {
        let (validation, train): (Vec<_>, Vec<_>) = match &self.validation {
            Holdout::File(_) => return Ok((examples, Vec::new())),
            Holdout::Share(share) => {
                if !(*share > 0.0 && *share < 1.0) {
                    return Err(TrainError::config("task.validation", format!("{share} is not between 0 and 1")));
                }
                let count = ((examples.len() as f64 * share).round() as usize).max(1);
                let mut is_held_out = vec![false; examples.len()];
                // The order of an epoch that no training has.
                let order = epoch_order(seed, 0, examples.len() as u64);
                order.iter().take(count).for_each(|&index| is_held_out[index as usize] = true);
                let (validation, train): (Vec<_>, Vec<_>) =
                    examples.into_iter().zip(is_held_out).partition(|(_, held_out)| *held_out);
                let only = |part: Vec<(Example, bool)>| part.into_iter().map(|(example, _)| example).collect();
                (only(validation), only(train))
            }
            Holdout::FromSize(size) => examples.into_iter().partition(|example| example.graph.nodes() >= *size),
        };
        if train.is_empty() || validation.is_empty() {
            let why = format!("{} samples to learn from and {} to choose by", train.len(), validation.len());
            return Err(TrainError::config("task.validation", why));
        }
        Ok((train, validation))
    }
}

impl RunTask {
    /// The task's name: `own` for own graphs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BuiltIn(spec) => spec.task().name(),
            Self::Algorithm(spec) => spec.algorithm.into(),
            Self::Own(_) => "own",
        }
    }

    /// The settings of a built-in task.
    pub fn built_in(&self) -> Option<&TaskSpec> {
        match self {
            Self::BuiltIn(spec) => Some(spec),
            _ => None,
        }
    }

    /// How the targets of labelled graphs are read: own ones, and those of an algorithm; `None` for built-in tasks,
    /// which read theirs themselves.
    pub fn labels(&self) -> Option<OwnTask> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Algorithm(spec) => Some(OwnTask::of_algorithm(spec.algorithm)),
            Self::Own(task) => Some(task.clone()),
        }
    }
}

impl From<TaskSpec> for RunTask {
    fn from(spec: TaskSpec) -> Self {
        Self::BuiltIn(spec)
    }
}

impl From<AlgorithmSpec> for RunTask {
    fn from(spec: AlgorithmSpec) -> Self {
        Self::Algorithm(spec)
    }
}

impl From<OwnTask> for RunTask {
    fn from(task: OwnTask) -> Self {
        Self::Own(task)
    }
}

impl<'de> Deserialize<'de> for RunTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = serde_json::Map::deserialize(deserializer)?;
        let read = match value.get("task").and_then(|task| task.as_str()) {
            Some("own") => {
                value.remove("task");
                serde_json::from_value(value.into()).map(Self::Own)
            }
            Some(name) if name.parse::<Algorithm>().is_ok() => {
                serde_json::from_value(value.into()).map(Self::Algorithm)
            }
            _ => serde_json::from_value(value.into()).map(Self::BuiltIn),
        };
        read.map_err(D::Error::custom)
    }
}
