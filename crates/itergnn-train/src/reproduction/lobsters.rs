//! Table 2 of the paper: lobsters of growing size, and of growing weights.

use itergnn_tasks::shortest_path::Weights;
use itergnn_tasks::{Task, TaskError, TaskSpec};

use super::catalogue::{ATTENTION, Contender, NONE, Probe, Problem, SETTLE, SETTLE_LABEL, Section, assemble};
use super::{Budget, Evaluation, Quantity};
use crate::TrainError;

/// Id of the trainings on unweighted lobsters.
pub(super) const UNWEIGHTED: &str = "shortest-path-lobster";

/// Id of the trainings on weighted lobsters.
pub(super) const WEIGHTED: &str = "shortest-path-lobster-weighted";

/// Sizes with test graphs in full. A path of the network's needs a prediction for every neighbour along it, so there
/// are fewer of the large ones.
pub(super) const SIZES: [(u32, u64); 5] = [(20, 100), (100, 100), (500, 20), (1000, 20), (5000, 5)];

/// Ranges of weights; the first is that of training.
const RANGES: [(f32, f32); 4] = [(0.5, 1.5), (1.0, 3.0), (2.0, 6.0), (8.0, 24.0)];

/// Iterations that no graph of the sizes of training needs.
const LONGEST: usize = 364;

const ROWS: [(&str, &str, [f64; 9]); 7] = [
    ("GCN", "gcn", [0.666, 0.257, 0.055, 0.024, 0.004, 0.31, 0.37, 0.49, 0.56]),
    ("GAT", "gat", [1.0, 0.427, 0.105, 0.053, 0.009, 0.13, 0.29, 0.49, 0.55]),
    ("Path", "path", [1.0, 0.629, 0.201, 0.103, 0.016, 0.06, 0.22, 0.44, 0.54]),
    ("Homo-Path", "homo-path", [1.0, 0.583, 0.537, 0.502, 0.016, 0.03, 0.03, 0.03, 0.03]),
    ("Iter-Homo-Path", "iter-homo-path", [1.0, 1.0, 1.0, 1.0, 1.0, 0.01, 0.04, 0.06, 0.08]),
    (SETTLE_LABEL, SETTLE, [1.0, 1.0, 1.0, 1.0, 1.0, 0.01, 0.04, 0.06, 0.08]),
    ("Iter-Homo-Path, path layer with attention", ATTENTION, [NONE; 9]),
];

const NOTES: [&str; 2] = [
    "Paths are walked as the authors' released code walks them, backwards from the target to whichever neighbour explains the predicted length best. The columns on the right that the paper does not have show the algorithm as the paper writes it: a step is taken only where the predicted length falls by at least the weight of the edge, so that an error of one percent breaks most walks of twenty steps.",
    "Weighted models are tested at the sizes of training, as in the paper; the one-hot attributes are scaled with the weights, so that every input is a scaled training input.",
];

pub(super) fn section(budget: &Budget) -> Result<Section, TrainError> {
    let problems = problems()?;
    let mut probes = Vec::new();
    for (size, count) in SIZES {
        let label = format!("success at {size}");
        let problem = (0, &problems[0]);
        probes.push(Probe::at_size(&label, problem, Quantity::SuccessRate, size, budget.graphs(count))?);
    }
    for (low, high) in RANGES {
        probes.push(magnitude(&problems[1], low, high, budget.graphs(1000))?);
    }
    for (size, count) in SIZES {
        let label = format!("relative loss at {size}");
        let problem = (0, &problems[0]);
        probes.push(Probe::at_size(&label, problem, Quantity::RelativeLoss, size, budget.graphs(count.max(10)))?);
    }
    for (size, count) in SIZES {
        let label = format!("success at {size}, walk as written");
        let problem = (0, &problems[0]);
        probes.push(Probe::at_size(&label, problem, Quantity::SuccessRateAsWritten, size, budget.graphs(count))?);
    }
    let contenders: Vec<_> = ROWS.iter().map(|(label, name, paper)| Contender::new(label, name, paper)).collect();
    let title = "Table 2: shortest paths on lobsters, trained on sizes [4, 34)";
    Ok(assemble(budget, ("lobsters", title), &problems, &probes, &contenders, &NOTES)?)
}

/// The two training sets: unit weights and weights in [.5, 1.5).
pub(super) fn problems() -> Result<[Problem; 2], TaskError> {
    let unweighted = TaskSpec::paper(Task::ShortestPath);
    let mut weighted = unweighted.clone();
    weighted.set_weights(Weights::PAPER)?;
    Ok([Problem { id: UNWEIGHTED, spec: unweighted }, Problem { id: WEIGHTED, spec: weighted }])
}

/// Weighted lobsters of the sizes of training with weights of another magnitude.
fn magnitude(problem: &Problem, low: f32, high: f32, count: u64) -> Result<Probe, TaskError> {
    let mut spec = problem.spec.clone();
    spec.set_weights(Weights::Uniform { low, high })?;
    Ok(Probe {
        label: format!("weights [{low}, {high})"),
        quantity: Quantity::RelativeLoss,
        problem: 1,
        name: format!("weights-{low}-{high}"),
        evaluation: Evaluation { spec, count, walks: Vec::new(), records: false, seed: 0, cap: Some(LONGEST) },
    })
}
