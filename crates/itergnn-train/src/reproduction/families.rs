//! How much of a task-aligned family is learned: finishing alone, gradient steps alone, both.

use itergnn_tasks::TaskError;

use super::catalogue::{Contender, Probe, Problem, Section, assemble};
use super::{Budget, Quantity, lobsters, regular, summary};
use crate::{Finishing, TrainError};

/// Columns with sizes, in the order of the problems: label, what, size, test graphs in full.
const COLUMNS: [(&str, Quantity, u32, u64); 7] = [
    ("SP lobster 100", Quantity::RelativeLoss, 100, 100),
    ("SP ER weighted 100", Quantity::RelativeLoss, 100, 100),
    ("CC ER 100", Quantity::Accuracy, 100, 100),
    ("CC lobster 100", Quantity::Accuracy, 100, 100),
    ("TSP 50", Quantity::RelativeLoss, 50, 50),
    ("physics 50", Quantity::Mse, 50, 100),
    ("navigation 16", Quantity::RelativeLoss, 16, 100),
];

/// Problems of the first table that are taken, in its order.
const IN_SUMMARY: [&str; 6] =
    ["shortest-path-er-weighted", "component-count-er", "component-count-lobster", "tsp", "newton-balls", "navigation"];

const NOTES: [&str; 4] = [
    "Max-plus (SP, navigation) and waves (CC, physics, regular graphs) are finished after the last gradient step: heads are fitted to training samples by least squares, weights that are nearly whole become \
     whole, gates and tests become exact. The rows take this apart.",
    "Finished without a gradient step: the model as it was drawn, finished at once. Where this row is as good as the last one, gradient training changes nothing.",
    "One-tree (TSP) has nothing to finish: its first row is the model as it was drawn, the others are the same training.",
    "Cells without a number had predictions that are no finite numbers, or lengths for which a relative loss means nothing.",
];

pub(super) fn section(budget: &Budget) -> Result<Section, TrainError> {
    let problems = problems()?;
    let mut probes = Vec::new();
    for (place, (label, quantity, size, count)) in COLUMNS.into_iter().enumerate() {
        probes.push(Probe::at_size(label, (place, &problems[place]), quantity, size, budget.graphs(count))?);
    }
    for (place, problem) in problems.iter().enumerate().skip(COLUMNS.len()) {
        probes.push(regular::probe(problem.id, (place, problem), budget));
    }
    let contenders = [
        Contender::family("finished without a gradient step", Finishing::Alone),
        Contender::family("gradient steps, not finished", Finishing::Never),
        Contender::family("gradient steps, then finished", Finishing::After),
    ];
    let title = "Task-aligned families: how much is fitted by gradient steps, how much by finishing";
    Ok(assemble(budget, ("families", title), &problems, &probes, &contenders, &NOTES)?)
}

/// The trainings: those of the other tables that have such a model.
fn problems() -> Result<Vec<Problem>, TaskError> {
    let [lobster, _] = lobsters::problems()?;
    let summary = summary::problems()?.into_iter().filter(|problem| IN_SUMMARY.contains(&problem.id));
    let regular = regular::problems().into_iter().take(2);
    Ok([lobster].into_iter().chain(summary).chain(regular).collect())
}
