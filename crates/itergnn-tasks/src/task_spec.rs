//! The settings of any task.

use itergnn_graph::generators::Generator;
use serde::{Deserialize, Serialize};

use crate::{
    Sampler, SizeRange, Task, TaskError,
    component_count::ComponentCountSpec,
    graph_classification::GraphClassificationSpec,
    navigation::NavigationSpec,
    newton_balls::NewtonBallsSpec,
    pacman::PacmanConfig,
    regular_graphs::RegularGraphsSpec,
    shortest_path::{ShortestPathSpec, Weights},
    tsp::TspSpec,
};

/// A task with its settings, as a file or a command line gives them.
///
/// Serialised with the task's name in the field `task`, beside the settings.
///
/// # Example
/// ```
/// use itergnn_tasks::{Task, TaskSpec};
/// let mut spec = TaskSpec::paper(Task::ShortestPath);
/// spec.set_size("100".parse()?)?;
/// let json = r#"{"task":"shortest-path","generator":"lobster","size":"100","weights":"unit"}"#;
/// assert_eq!(serde_json::to_string(&spec)?, json);
/// assert_eq!(spec.sampler()?.sample(0, 0)?.size, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
pub enum TaskSpec {
    /// Task 1.
    ShortestPath(ShortestPathSpec),
    /// Task 2.
    ComponentCount(ComponentCountSpec),
    /// Task 3.
    Tsp(TspSpec),
    /// Task 4.
    NewtonBalls(NewtonBallsSpec),
    /// Task 5.
    Pacman(PacmanConfig),
    /// Task 6.
    Navigation(NavigationSpec),
    /// Task 7.
    GraphClassification(GraphClassificationSpec),
    /// Task 8.
    RegularGraphs(RegularGraphsSpec),
}

impl TaskSpec {
    /// The paper's training settings of a task; where it has several (generators, weights) the ones its specification
    /// names as default.
    pub fn paper(task: Task) -> Self {
        match task {
            Task::ShortestPath => Self::ShortestPath(ShortestPathSpec::default()),
            Task::ComponentCount => Self::ComponentCount(ComponentCountSpec::default()),
            Task::Tsp => Self::Tsp(TspSpec::default()),
            Task::NewtonBalls => Self::NewtonBalls(NewtonBallsSpec::default()),
            Task::Pacman => Self::Pacman(PacmanConfig::default()),
            Task::Navigation => Self::Navigation(NavigationSpec::default()),
            Task::GraphClassification => Self::GraphClassification(GraphClassificationSpec::default()),
            Task::RegularGraphs => Self::RegularGraphs(RegularGraphsSpec::default()),
        }
    }

    /// The task.
    pub fn task(&self) -> Task {
        match self {
            Self::ShortestPath(_) => Task::ShortestPath,
            Self::ComponentCount(_) => Task::ComponentCount,
            Self::Tsp(_) => Task::Tsp,
            Self::NewtonBalls(_) => Task::NewtonBalls,
            Self::Pacman(_) => Task::Pacman,
            Self::Navigation(_) => Task::Navigation,
            Self::GraphClassification(_) => Task::GraphClassification,
            Self::RegularGraphs(_) => Task::RegularGraphs,
        }
    }

    /// A sampler of these settings.
    ///
    /// # Errors
    /// What the task refuses.
    pub fn sampler(&self) -> Result<Box<dyn Sampler>, TaskError> {
        Ok(match self.clone() {
            Self::ShortestPath(spec) => Box::new(spec.sampler()?),
            Self::ComponentCount(spec) => Box::new(spec.sampler()?),
            Self::Tsp(spec) => Box::new(spec.sampler()?),
            Self::NewtonBalls(spec) => Box::new(spec.sampler()?),
            Self::Pacman(config) => Box::new(config.sampler()?),
            Self::Navigation(spec) => Box::new(spec.sampler()?),
            Self::GraphClassification(spec) => Box::new(spec.sampler()?),
            Self::RegularGraphs(spec) => Box::new(spec.sampler()?),
        })
    }

    /// Sets the sizes.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if the task's graphs have given sizes, or for Pacman if this is not a single size.
    pub fn set_size(&mut self, size: SizeRange) -> Result<(), TaskError> {
        match self {
            Self::ShortestPath(spec) => spec.size = size,
            Self::ComponentCount(spec) => spec.size = size,
            Self::Tsp(spec) => spec.size = size,
            Self::NewtonBalls(spec) => spec.size = size,
            Self::Navigation(spec) => spec.size = size,
            Self::Pacman(config) => match u16::try_from(size.smallest()) {
                Ok(side) if size.smallest() == size.largest() => config.size = side,
                _ => return self.refuse(&format!("size {size}"), "is not a single side of the map"),
            },
            Self::GraphClassification(_) | Self::RegularGraphs(_) => {
                return self.refuse(&format!("size {size}"), "does not apply: the graphs are given");
            }
        }
        Ok(())
    }

    /// Sets the graph generator.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if the task does not take graphs from a generator.
    pub fn set_generator(&mut self, generator: Generator) -> Result<(), TaskError> {
        match self {
            Self::ShortestPath(spec) => spec.generator = generator,
            Self::ComponentCount(spec) => spec.generator = generator,
            _ => {
                return self.refuse(&format!("generator {generator}"), "does not apply: the task makes its own graphs");
            }
        }
        Ok(())
    }

    /// Sets the edge weights.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if the task does not have random weights.
    pub fn set_weights(&mut self, weights: Weights) -> Result<(), TaskError> {
        match self {
            Self::ShortestPath(spec) => spec.weights = weights,
            _ => {
                return self
                    .refuse(&format!("weights {weights}"), "do not apply: only shortest-path has random weights");
            }
        }
        Ok(())
    }

    fn refuse(&self, what: &str, why: &str) -> Result<(), TaskError> {
        Err(TaskError::Setting { task: self.task(), what: what.to_owned(), why: why.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_settings_that_read_back() {
        for &task in Task::ALL {
            let spec = TaskSpec::paper(task);
            assert_eq!(spec.task(), task);
            let text = serde_json::to_string(&spec).unwrap();
            assert!(text.starts_with(&format!("{{\"task\":\"{task}\"")), "{text}");
            assert_eq!(serde_json::from_str::<TaskSpec>(&text).unwrap(), spec);
            assert_eq!(serde_json::from_str::<TaskSpec>(&format!("{{\"task\":\"{task}\"}}")).unwrap(), spec);
        }
    }

    #[test]
    fn settings_that_do_not_apply_are_refused_by_name() {
        let mut spec = TaskSpec::paper(Task::Tsp);
        let message = spec.set_generator(Generator::LOBSTER).unwrap_err().to_string();
        assert_eq!(message, "tsp: generator lobster does not apply: the task makes its own graphs");
        assert!(spec.set_weights(Weights::PAPER).is_err());
        assert!(TaskSpec::paper(Task::RegularGraphs).set_size(SizeRange::TRAINING).is_err());
        let mut pacman = TaskSpec::paper(Task::Pacman);
        assert!(pacman.set_size(SizeRange::TRAINING).is_err());
        pacman.set_size(SizeRange::exactly(20).unwrap()).unwrap();
        assert_eq!(pacman, TaskSpec::Pacman(PacmanConfig { size: 20, ..PacmanConfig::default() }));
    }

    #[test]
    fn every_task_that_needs_no_data_gives_a_sample() {
        for task in Task::ALL.iter().copied().filter(|&task| task != Task::GraphClassification) {
            let sampler = TaskSpec::paper(task).sampler().unwrap();
            let sample = sampler.sample(1, 1).unwrap();
            assert_eq!((sampler.task(), sample.task), (task, task));
            let (held, told) = (sample.graph.nodes() + sample.graph.edges(), sampler.largest());
            assert!(held <= 2 * told, "{task}: {held} held, {told} told");
        }
    }
}
