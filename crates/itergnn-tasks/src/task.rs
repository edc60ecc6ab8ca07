//! The eight tasks by name.

use std::{fmt, str::FromStr};

use itergnn_graph::nearest_name;
use serde::{Deserialize, Serialize};

use crate::TaskError;

/// One of the eight tasks.
///
/// Written as on the command line: `shortest-path`, `component-count`, `tsp`, `newton-balls`, `pacman`, `navigation`,
/// `graph-classification`, `regular-graphs`.
///
/// # Example
/// ```
/// use itergnn_tasks::Task;
/// assert_eq!("newton-balls".parse::<Task>()?, Task::NewtonBalls);
/// let error = "shortest_path".parse::<Task>().unwrap_err();
/// assert!(error.to_string().contains("did you mean 'shortest-path'"));
/// # Ok::<(), itergnn_tasks::TaskError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Length of the shortest path between two nodes.
    ShortestPath,
    /// Number of connected components.
    ComponentCount,
    /// Length of the optimal tour through points in the plane.
    Tsp,
    /// Motion of the end balls of a Newton's cradle without strings.
    NewtonBalls,
    /// Eating dots in a maze, by reinforcement learning.
    Pacman,
    /// Shortest walk through a picture whose obstacles must be discovered.
    Navigation,
    /// The five graph classification benchmarks.
    GraphClassification,
    /// Telling regular graphs apart that colour refinement cannot.
    RegularGraphs,
}

impl Task {
    /// All tasks, in the order of the paper.
    pub const ALL: [Self; 8] = [
        Self::ShortestPath,
        Self::ComponentCount,
        Self::Tsp,
        Self::NewtonBalls,
        Self::Pacman,
        Self::Navigation,
        Self::GraphClassification,
        Self::RegularGraphs,
    ];

    /// The task's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ShortestPath => "shortest-path",
            Self::ComponentCount => "component-count",
            Self::Tsp => "tsp",
            Self::NewtonBalls => "newton-balls",
            Self::Pacman => "pacman",
            Self::Navigation => "navigation",
            Self::GraphClassification => "graph-classification",
            Self::RegularGraphs => "regular-graphs",
        }
    }

    /// The names of all tasks, in the order of [`Task::ALL`].
    pub fn names() -> [&'static str; 8] {
        Self::ALL.map(Self::name)
    }

    /// The task whose name differs least from `name`.
    fn nearest(name: &str) -> Self {
        nearest_name(name, Self::names())
            .and_then(|near| Self::ALL.into_iter().find(|task| task.name() == near))
            .unwrap_or(Self::ShortestPath)
    }
}

impl fmt::Display for Task {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Task {
    type Err = TaskError;

    fn from_str(name: &str) -> Result<Self, TaskError> {
        let found = Self::ALL.into_iter().find(|task| task.name() == name);
        found.ok_or_else(|| TaskError::UnknownTask { name: name.to_owned(), nearest: Self::nearest(name) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_task_and_matches_serde() {
        for task in Task::ALL {
            assert_eq!(task.name().parse::<Task>().unwrap(), task);
            assert_eq!(serde_json::to_string(&task).unwrap(), format!("\"{task}\""));
        }
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_nearest() {
        for (given, nearest) in [
            ("components", "component-count"),
            ("TSP", "tsp"),
            ("pac-man", "pacman"),
            ("navigate", "navigation"),
            ("regular-graph", "regular-graphs"),
        ] {
            let message = given.parse::<Task>().unwrap_err().to_string();
            assert!(message.contains(&format!("did you mean '{nearest}'")), "{message}");
        }
    }
}
