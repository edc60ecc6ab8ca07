//! What a task asks of a model.

use itergnn_nn::{Level, ReadoutKind, TaskWidths};
use itergnn_tasks::{Sample, SizeRange, Split, Task, TaskSpec};

use crate::TrainError;

/// The widths and the kind of target of a task's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskShape {
    /// The task; none for algorithms and own graphs.
    pub task: Option<Task>,
    /// The name of the task; `own` for own graphs.
    pub name: &'static str,
    /// Width of the node attributes.
    pub node_width: usize,
    /// Width of the edge attributes.
    pub edge_width: usize,
    /// Numbers in a row of the target.
    pub outputs: usize,
    /// What rows of the target belong to.
    pub level: Level,
    /// Number of classes, if the target is one.
    pub classes: Option<usize>,
    /// Whether the graphs are undirected trees, judged by one of them: then the first path that is found is the only
    /// one.
    pub trees: bool,
}

impl TaskShape {
    /// The shape of a task's samples, seen on one of them.
    ///
    /// # Errors
    /// [`TrainError::NotSupervised`] for Pacman, which is played, and for graph classification, which is
    /// cross-validated; what the task reports if it cannot draw a sample.
    pub fn of(spec: &TaskSpec) -> Result<Self, TrainError> {
        let task = spec.task();
        let why = match task {
            Task::Pacman => Some("is learned by playing, not from labelled samples"),
            Task::GraphClassification => Some("is learned in cross-validation, not from one split"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(TrainError::NotSupervised { task: task.name().to_owned(), why });
        }
        let drawn =
            |spec: TaskSpec| -> Result<Sample, TrainError> { Ok(spec.sampler()?.sample(Split::Train.seed(0), 0)?) };
        // Thirty nodes, or what the task says if its graphs cannot be as small.
        let sample = at_size(spec, 30).and_then(drawn).or_else(|_| smallest(spec).and_then(drawn))?;
        let classes = match task {
            // Both pairs of the regular-graph task are pairs.
            Task::RegularGraphs => Some(2),
            _ => None,
        };
        let trees = sample.graph.is_symmetric() && sample.graph.edges() + 2 == 2 * sample.graph.nodes();
        Ok(Self {
            task: Some(task),
            name: task.name(),
            node_width: sample.graph.node_attributes().width(),
            edge_width: sample.graph.edge_attributes().width(),
            outputs: sample.outputs(),
            level: if sample.target_nodes.is_empty() { Level::Graph } else { Level::Node },
            classes,
            trees,
        })
    }

    /// The widths of a model for these samples, with the readout the paper uses for the task.
    pub fn widths(&self) -> TaskWidths {
        let readout = match self.level {
            Level::Graph if self.task == Some(Task::ComponentCount) => ReadoutKind::Sum,
            Level::Graph => ReadoutKind::Max,
            Level::Node => ReadoutKind::Node,
            Level::Edge => ReadoutKind::Edge,
            Level::Pointer => ReadoutKind::Pointer,
        };
        TaskWidths {
            node_width: self.node_width,
            edge_width: self.edge_width,
            output_width: self.classes.unwrap_or(self.outputs),
            readout,
        }
    }
}

/// The sizes of a task's samples, if they vary.
pub(crate) fn sizes(spec: &TaskSpec) -> Option<SizeRange> {
    match spec {
        TaskSpec::ShortestPath(spec) => Some(spec.size),
        TaskSpec::ComponentCount(spec) => Some(spec.size),
        TaskSpec::Tsp(spec) => Some(spec.size),
        TaskSpec::NewtonBalls(spec) => Some(spec.size),
        TaskSpec::Navigation(spec) => Some(spec.size),
        TaskSpec::Pacman(_) | TaskSpec::GraphClassification(_) | TaskSpec::RegularGraphs(_) => None,
    }
}

/// The same task at its smallest size: widths do not depend on the size, and one sample of a million nodes takes a
/// while.
fn smallest(spec: &TaskSpec) -> Result<TaskSpec, TrainError> {
    // Small graphs of some generators have no connected pair; thirty nodes nearly always do.
    at_size(spec, sizes(spec).map_or(0, |size| size.smallest().max(30)))
}

/// The same task at one size, at most its largest.
fn at_size(spec: &TaskSpec, wanted: u32) -> Result<TaskSpec, TrainError> {
    let mut spec = spec.clone();
    if let Some(size) = sizes(&spec) {
        spec.set_size(SizeRange::exactly(wanted.min(size.largest()))?)?;
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(task: Task) -> TaskShape {
        TaskShape::of(&TaskSpec::paper(task)).unwrap()
    }

    #[test]
    fn shapes_of_the_tasks() {
        let path = shape(Task::ShortestPath);
        assert_eq!((path.node_width, path.edge_width, path.outputs), (3, 1, 1));
        assert_eq!(path.widths().readout, ReadoutKind::Max);
        assert_eq!(shape(Task::ComponentCount).widths().readout, ReadoutKind::Sum);
        let balls = shape(Task::NewtonBalls);
        assert_eq!(balls.level, Level::Node);
        assert_eq!((balls.widths().readout, balls.widths().output_width), (ReadoutKind::Node, 2));
        assert_eq!(shape(Task::RegularGraphs).widths().output_width, 2);
    }

    #[test]
    fn pacman_has_no_labels() {
        let error = TaskShape::of(&TaskSpec::paper(Task::Pacman)).unwrap_err();
        assert_eq!(error.to_string(), "pacman is learned by playing, not from labelled samples");
    }
}
