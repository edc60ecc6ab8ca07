//! The task-aligned families on the columns of the paper's tables.

use super::catalogue::{ALIGNED, Contender, Probe, Section, assemble};
use super::{Budget, Quantity, lobsters, summary};
use crate::TrainError;

const NOTES: [&str; 5] = [
    "These are not networks of the paper: each is a fixed algorithm for its kind of task, of which some numbers are fitted. How much of each result is there before the first training step stands in the table below this one.",
    "max-plus (shortest paths, navigation). Fixed: messages add a length to a state and take the best, so that a step is one of Bellman and Ford. Fitted: the slopes of lengths, the gate that tells free cells, the readout.",
    "waves (component counting, physics). Fixed: the largest or last value of a component travels until nothing changes. Fitted: which attribute travels, the readout.",
    "one-tree (tours). Fixed: a relaxation of the tour by spanning trees with penalties, the same that bounds the label's solver. Fitted: the schedule of penalties and a factor.",
    "Sizes are those of the paper's tables.",
];

pub(super) fn section(budget: &Budget) -> Result<Section, TrainError> {
    let [lobster, _] = lobsters::problems()?;
    let mut problems = vec![lobster];
    problems.extend(summary::problems()?);
    let mut probes = Vec::new();
    for quantity in [Quantity::SuccessRate, Quantity::RelativeLoss] {
        for (size, count) in lobsters::SIZES {
            let label = format!("lobster {size}");
            probes.push(Probe::at_size(&label, (0, &problems[0]), quantity, size, budget.graphs(count))?);
        }
    }
    for (label, problem, quantity, size, count) in summary::COLUMNS {
        let place = problem + 1;
        probes.push(Probe::at_size(label, (place, &problems[place]), quantity, size, budget.graphs(count))?);
    }
    let contenders = [Contender::new("max-plus, waves or one-tree", ALIGNED, &[])];
    let title = "Task-aligned families on the paper's columns";
    Ok(assemble(budget, ("aligned", title), &problems, &probes, &contenders, &NOTES)?)
}
