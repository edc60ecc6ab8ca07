//! The eight tasks by name.

use itergnn_graph::nearest_name;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray, VariantNames};

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
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", parse_err_ty = TaskError, parse_err_fn = unknown)]
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
    pub const ALL: &'static [Self] = <Self as VariantArray>::VARIANTS;
    /// Their names.
    pub const NAMES: &'static [&'static str] = <Self as VariantNames>::VARIANTS;

    /// The task's name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is said about a name that no task has.
fn unknown(name: &str) -> TaskError {
    let nearest = nearest_name(name, Task::NAMES).and_then(|near| near.parse().ok()).unwrap_or(Task::ShortestPath);
    TaskError::UnknownTask { name: name.to_owned(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_task_and_matches_serde() {
        for &task in Task::ALL {
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
