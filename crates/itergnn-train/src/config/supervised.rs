//! Settings of supervised learning.

use itergnn_nn::{Level, Recipe};
use itergnn_tasks::{SizeRange, Split, TaskSpec};
use serde::{Deserialize, Serialize};

use super::run_config::at_least_one;
use super::task_shape::sizes;
use super::{LossKind, Measure, OptimiserConfig, ResolvedRun, RunConfig, RunTask, SelectionConfig, TaskShape};
use crate::TrainError;

/// Learning from labelled samples, with the paper's numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SupervisedConfig {
    /// How often every training sample is seen.
    pub epochs: u64,
    /// Graphs in a step.
    pub batch_size: usize,
    /// What is minimised; the task's own by default.
    pub loss: Option<LossKind>,
    /// How many samples.
    pub data: DataConfig,
    /// What becomes of a model that is fitted to samples at the end of its training.
    #[serde(skip_serializing_if = "Finishing::is_usual")]
    pub finishing: Finishing,
}

impl Default for SupervisedConfig {
    fn default() -> Self {
        let finishing = Finishing::default();
        Self { epochs: 20, batch_size: 32, loss: None, data: DataConfig::default(), finishing }
    }
}

/// When a task-aligned model is finished: fitted to samples at once, not by gradient steps. Other models have nothing
/// to finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finishing {
    /// After the last gradient step.
    #[default]
    After,
    /// Never: gradient steps alone.
    Never,
    /// At once, without any gradient step before.
    Alone,
}

impl Finishing {
    fn is_usual(&self) -> bool {
        *self == Self::After
    }
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

/// Most graphs in a step: far more than any experiment uses, and few enough that a mistyped number does not ask for the
/// whole memory.
const LARGEST_BATCH: usize = 1 << 16;

/// Most samples of a split: the order of an epoch counts them in 32 bits and holds them all, 16 GiB at most.
const MOST_SAMPLES: u64 = u32::MAX as u64;

impl SupervisedConfig {
    /// Steps in an epoch; the last one may have fewer graphs.
    pub fn steps_per_epoch(&self) -> u64 {
        if self.finishing == Finishing::Alone { 0 } else { self.data.train.div_ceil(self.batch_size.max(1) as u64) }
    }

    /// Steps of the whole run, if it does not stop early.
    pub fn steps(&self) -> u64 {
        self.epochs.saturating_mul(self.steps_per_epoch())
    }

    pub(super) fn validate(&self) -> Result<(), TrainError> {
        at_least_one("epochs", self.epochs)?;
        at_least_one("batch_size", self.batch_size as u64)?;
        at_least_one("data.train", self.data.train)?;
        at_least_one("data.validation", self.data.validation)?;
        if self.finishing == Finishing::Alone && self.epochs != 1 {
            return Err(TrainError::config("epochs", "finishing alone takes no step, so there is 1 epoch"));
        }
        for (field, count) in [("data.train", self.data.train), ("data.validation", self.data.validation)] {
            if count > MOST_SAMPLES {
                return Err(TrainError::config(
                    field,
                    format!("{count} samples are too many; at most {MOST_SAMPLES} fit"),
                ));
            }
        }
        if self.batch_size > LARGEST_BATCH {
            return Err(TrainError::config("batch_size", format!("{} is more than {LARGEST_BATCH}", self.batch_size)));
        }
        Ok(())
    }

    /// The run with loss, measure and recipe filled in. An optimiser with nothing but defaults becomes
    /// [`OptimiserConfig::max_plus`] for max-plus and wave models and [`OptimiserConfig::one_tree`] for one-tree
    /// models, which minimise the relative error unless told otherwise.
    pub(super) fn resolve(&self, run: &RunConfig, shape: &TaskShape) -> Result<ResolvedRun, TrainError> {
        run.selection.validate()?;
        match (&run.task, run.selection.held_out_from) {
            (RunTask::BuiltIn(task), _) => drop(splits(task, &run.selection)?),
            (RunTask::Algorithm(spec), Some(from)) => drop(spec.divided(from)?),
            (RunTask::Own(_), Some(_)) => {
                return Err(TrainError::config(
                    "selection.held_out_from",
                    "own graphs are held out by task.validation",
                ));
            }
            (_, None) => {}
        }
        let model = run.model.for_task(shape)?;
        model.check_engine(run.engine)?;
        let recipe = model.settings().recipe();
        if self.finishing != Finishing::After && recipe == Recipe::Paper {
            let why = format!("`{}` is not finished at the end of its training", run.model.name);
            return Err(TrainError::config("finishing", why));
        }
        let has_classes = shape.classes.is_some() || shape.level == Level::Pointer;
        let own_loss = match recipe {
            _ if has_classes => LossKind::CrossEntropy,
            Recipe::Relative => LossKind::Relative,
            _ => LossKind::Mse,
        };
        let loss = self.loss.unwrap_or(own_loss);
        let own_measure = match shape.task {
            Some(task) => Measure::of_task(task),
            None if has_classes => Measure::Accuracy,
            None if loss == LossKind::Relative => Measure::RelativeLoss,
            None => Measure::Mse,
        };
        let measure = run.selection.measure.unwrap_or(own_measure);
        if (loss == LossKind::CrossEntropy) != has_classes {
            let kind = if has_classes { "classes" } else { "numbers" };
            let why = format!("{loss} does not fit {}, whose targets are {kind}", shape.name);
            return Err(TrainError::config("loss", why));
        }
        if (measure == Measure::Accuracy) != (own_measure == Measure::Accuracy)
            && (has_classes || measure == Measure::Accuracy)
        {
            let why = format!("{measure} is not measured for {}; use {own_measure}", shape.name);
            return Err(TrainError::config("selection.measure", why));
        }
        let mut config = run.clone();
        config.supervised_mut()?.loss = Some(loss);
        config.selection.measure = Some(measure);
        if config.optimiser == OptimiserConfig::default() {
            config.optimiser = match recipe {
                Recipe::Paper => OptimiserConfig::default(),
                Recipe::Finished => OptimiserConfig::max_plus(),
                Recipe::Relative => OptimiserConfig::one_tree(),
            };
        }
        Ok(ResolvedRun { config, model })
    }
}

/// What is trained on and what is validated on: the same, unless larger sizes are held out.
///
/// # Errors
/// [`TrainError::Config`] if no size would be left on either side.
pub(crate) fn splits(task: &TaskSpec, selection: &SelectionConfig) -> Result<(TaskSpec, TaskSpec), TrainError> {
    let Some(from) = selection.held_out_from else {
        return Ok((task.clone(), task.clone()));
    };
    let refused = |why: String| TrainError::config("selection.held_out_from", why);
    let Some(range) = sizes(task) else {
        return Err(refused(format!("{} has no sizes to hold out", task.task())));
    };
    if from <= range.smallest() || from > range.largest() {
        return Err(refused(format!("{from} does not divide the sizes {range}")));
    }
    let (mut train, mut validation) = (task.clone(), task.clone());
    train.set_size(SizeRange::new(range.smallest()..from)?)?;
    validation.set_size(SizeRange::new(from..range.largest() + 1)?)?;
    Ok((train, validation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_tasks::Task;

    #[test]
    fn held_out_sizes_divide_the_training_range() {
        let selection = SelectionConfig { held_out_from: Some(26), ..SelectionConfig::default() };
        let (train, validation) = splits(&TaskSpec::paper(Task::ShortestPath), &selection).unwrap();
        assert_eq!(sizes(&train).unwrap().to_string(), "4..26");
        assert_eq!(sizes(&validation).unwrap().to_string(), "26..34");
    }
}
