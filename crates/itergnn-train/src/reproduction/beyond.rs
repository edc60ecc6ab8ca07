//! Past the paper: the same network, trained on graphs of the same sizes but of more kinds.

use itergnn_graph::generators::Generator;
use itergnn_tasks::shortest_path::{ShortestPathSpec, Weights};
use itergnn_tasks::{TaskError, TaskSpec};

use super::catalogue::{Contender, Probe, Problem, SETTLE, Section, assemble};
use super::{Budget, Quantity, lobsters};
use crate::{LossKind, MethodConfig, TrainError};

const HEAD: (&str, &str) = ("beyond", "Past the paper: Iter-Homo-Path-settle trained on other graphs of sizes [4, 34)");

const NOTES: [&str; 4] = [
    "Heavy edges: weights between 1 and 100 whose logarithm is uniform. A light edge behind a heavy one shows the network a step at a large distance, which graphs of this size have not otherwise.",
    "Relative loss: training minimises the mean squared relative error, which counts light and heavy graphs alike; the other rows minimise the mean squared error, as the paper does.",
    "Mixed: each training graph is an ER, KNN, planar, lobster or grid graph, all equally often, so that one model serves them all.",
    "SP: relative loss on weights in [.5, 1.5), as in the paper's Table 1; lobsters have unit weights, as in its Table 2.",
];

/// Training sets: label of the row, id, generator, weights, and the loss where it is not the task's own.
const TRAINED_ON: [(&str, &str, Generator, Weights, Option<LossKind>); 7] = [
    ("lobsters, heavy edges", "shortest-path-lobster-heavy", Generator::LOBSTER, up_to(100.0), None),
    ("lobsters, edges up to 10", "shortest-path-lobster-to-10", Generator::LOBSTER, up_to(10.0), None),
    (
        "lobsters, heavy edges, relative loss",
        "shortest-path-lobster-heavy-relative",
        Generator::LOBSTER,
        up_to(100.0),
        RELATIVE,
    ),
    (
        "lobsters, edges up to 10, relative loss",
        "shortest-path-lobster-to-10-relative",
        Generator::LOBSTER,
        up_to(10.0),
        RELATIVE,
    ),
    (
        "lobsters, unit edges, relative loss",
        "shortest-path-lobster-relative",
        Generator::LOBSTER,
        Weights::Unit,
        RELATIVE,
    ),
    ("mixed", "shortest-path-mixed-weighted", Generator::Mixed, Weights::PAPER, None),
    ("mixed, heavy edges", "shortest-path-mixed-heavy", Generator::Mixed, up_to(100.0), None),
];

const RELATIVE: Option<LossKind> = Some(LossKind::Relative);

/// Weights from 1 on whose logarithm is uniform.
const fn up_to(high: f32) -> Weights {
    Weights::LogUniform { low: 1.0, high }
}

/// Weighted test graphs of 100 nodes; of a grid, 33 x 33.
const WEIGHTED: [(&str, Generator, u32); 5] = [
    ("SP ER 100", Generator::ER, 100),
    ("SP PL 100", Generator::Planar, 100),
    ("SP KNN 100", Generator::KNN, 100),
    ("SP Lob 100", Generator::LOBSTER, 100),
    ("SP grid 33 x 33", Generator::Grid, 33),
];

pub(super) fn section(budget: &Budget) -> Result<Section, TrainError> {
    let probes = probes(budget)?;
    let part = |(label, id, generator, weights, loss): (&str, &'static str, Generator, Weights, Option<LossKind>)| {
        let problems = [Problem { id, spec: spec(generator, weights) }];
        let mut part = assemble(budget, HEAD, &problems, &probes, &[Contender::new(label, SETTLE, &[])], &NOTES)?;
        for experiment in &mut part.experiments {
            if let MethodConfig::Supervised(supervised) = &mut experiment.config.method {
                supervised.loss = loss;
            }
        }
        Ok::<_, TrainError>(part)
    };
    let [first, others @ ..] = TRAINED_ON;
    let mut whole = part(first)?;
    for other in others {
        let part = part(other)?;
        whole.table.rows.extend(part.table.rows);
        whole.experiments.extend(part.experiments);
    }
    Ok(whole)
}

fn probes(budget: &Budget) -> Result<Vec<Probe>, TaskError> {
    let at = |label: &str, spec: TaskSpec, quantity: Quantity, size: u32, count: u64| -> Result<Probe, TaskError> {
        let tested = Problem { id: "", spec };
        let probe = Probe::at_size(label, (0, &tested), quantity, size, budget.graphs(count))?;
        Ok(Probe { name: label.to_lowercase().replace(' ', "-"), ..probe })
    };
    let mut probes = Vec::new();
    for (what, quantity) in [("success", Quantity::SuccessRate), ("relative loss", Quantity::RelativeLoss)] {
        // Networks that were hardly trained run to the cap, which takes minutes on the largest.
        let sizes = lobsters::SIZES.into_iter().filter(|&(size, _)| !budget.quick || size <= 500);
        for (size, count) in sizes {
            let label = format!("{what} at {size}");
            probes.push(at(&label, spec(Generator::LOBSTER, Weights::Unit), quantity, size, count)?);
        }
    }
    for (label, generator, size) in WEIGHTED {
        probes.push(at(label, spec(generator, Weights::PAPER), Quantity::RelativeLoss, size, 200)?);
    }
    Ok(probes)
}

fn spec(generator: Generator, weights: Weights) -> TaskSpec {
    TaskSpec::ShortestPath(ShortestPathSpec { generator, weights, ..ShortestPathSpec::default() })
}
