//! All tables by name, and how a table becomes experiments.

use std::collections::BTreeMap;

use itergnn_graph::generators::Generator;
use itergnn_nn::controllers::{ControllerConfig, StackConfig};
use itergnn_nn::layers::Aggregation;
use itergnn_nn::{Activation, LayerKind};
use itergnn_tasks::{SizeRange, Task, TaskError, TaskSpec, shortest_path::WalkRule};
use strum::VariantArray;

use super::experiment::CHOICE;
use super::{Budget, Cell, Column, Evaluation, Experiment, Quantity, Row, Table};
use super::{ablation, aligned, beyond, families, lobsters, regular, summary};
use crate::config::task_sizes;
use crate::{DataConfig, Finishing, MethodConfig, ModelConfig, RunConfig, Schedule, SupervisedConfig, TrainError};

/// Stands for the task-aligned family of each task in a row of its own.
pub(super) const ALIGNED: &str = "task-aligned";

/// The paper's network with the output divided by the mass spent and a price on mass left.
pub(super) const SETTLE: &str = "iter-homo-path-settle";

/// The label of its row.
pub(super) const SETTLE_LABEL: &str = "Iter-Homo-Path-settle";

/// The task-aligned family of a task.
fn family(task: Task) -> &'static str {
    match task {
        Task::ShortestPath | Task::Navigation => "max-plus",
        Task::Tsp => "one-tree",
        _ => "waves",
    }
}

/// Whether a preset is a task-aligned family, whose training has a length of its own.
pub(super) fn is_aligned(name: &str) -> bool {
    ["max-plus", "waves", "one-tree"].contains(&name)
}

/// Steps over which the learning rate of the paper's models rises.
const WARM_UP_STEPS: u64 = 200;

/// Most tours to learn from: to find one costs a processor some 4 ms on average, so fewer are seen more often.
const TOURS: u64 = 10_000;

/// A paper's cell without a number.
pub(super) const NONE: f64 = f64::NAN;

/// A table and the experiments that fill it.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The table.
    pub table: Table,
    /// Its experiments; some may be in other sections too, under the same id and with the same settings.
    pub experiments: Vec<Experiment>,
}

/// Names of the tables, in the order of the report.
pub fn section_names() -> [&'static str; 9] {
    ["summary", "lobsters", "ablation", "options", "iterations", "regular-graphs", "beyond", "aligned", "families"]
}

/// Every table under a budget.
///
/// # Errors
/// [`TrainError::Task`] if a task refuses the settings of its table.
pub fn catalogue(budget: &Budget) -> Result<Vec<Section>, TrainError> {
    let sections = vec![
        summary::section(budget)?,
        lobsters::section(budget)?,
        ablation::section(budget)?,
        ablation::options(budget)?,
        ablation::iterations(budget)?,
        regular::section(budget)?,
        beyond::section(budget)?,
        aligned::section(budget)?,
        families::section(budget)?,
    ];
    debug_assert!(sections.iter().map(|section| section.table.id).eq(section_names()));
    Ok(sections)
}

/// What models are trained on.
pub(super) struct Problem {
    pub(super) id: &'static str,
    pub(super) spec: TaskSpec,
}

/// A column: what is asked of the models trained on a problem.
pub(super) struct Probe {
    pub(super) label: String,
    pub(super) quantity: Quantity,
    /// Which problem, by its place.
    pub(super) problem: usize,
    /// Name of the evaluation.
    pub(super) name: String,
    pub(super) evaluation: Evaluation,
}

impl Probe {
    /// The test of a problem at a size.
    pub(super) fn at_size(
        label: &str,
        problem: (usize, &Problem),
        quantity: Quantity,
        size: u32,
        count: u64,
    ) -> Result<Self, TaskError> {
        let mut spec = problem.1.spec.clone();
        spec.set_size(SizeRange::exactly(size)?)?;
        let walked = quantity.needs_walks();
        let name = if walked { format!("{size}-success") } else { size.to_string() };
        let walks = if walked { WalkRule::VARIANTS.to_vec() } else { Vec::new() };
        let evaluation = Evaluation { cap: Some(cap(&spec, size)), spec, count, seed: 0, walks, records: false };
        Ok(Self { label: label.to_owned(), quantity, problem: problem.0, name, evaluation })
    }
}

/// Seed of the graphs that a seed is chosen by; no test has it.
const CHOICE_SEED: u64 = 1_000_003;

/// Fresh graphs of the largest eighth of the sizes of training: whoever does well there does not depend on small ones.
pub(super) fn choice(budget: &Budget, problem: &Problem) -> Result<Evaluation, TaskError> {
    let mut spec = problem.spec.clone();
    let mut largest = 0;
    if let Some(range) = task_sizes(&spec) {
        largest = range.largest();
        let from = largest - (largest - range.smallest()) / 8;
        spec.set_size(SizeRange::new(from..largest + 1)?)?;
    }
    let cap = Some(cap(&spec, largest));
    let count = budget.graphs(1000);
    Ok(Evaluation { spec, count, seed: CHOICE_SEED, walks: Vec::new(), records: false, cap })
}

/// Many times what any of the graphs needs, so that no model is cut that stops by itself.
fn cap(spec: &TaskSpec, size: u32) -> usize {
    let size = size as usize;
    let is_dense = match spec {
        TaskSpec::ShortestPath(spec) => matches!(spec.generator, Generator::Er { .. }),
        TaskSpec::ComponentCount(spec) => matches!(spec.generator, Generator::Er { .. }),
        TaskSpec::Tsp(_) => true,
        _ => false,
    };
    if is_dense { 300 } else { 100 + 8 * size }
}

/// How often a shared layer is repeated, which does not stop by itself: once per node of the largest graph, as in the
/// paper.
fn repetitions(cap: usize) -> usize {
    let size = cap.saturating_sub(100) / 8;
    30 + size + size / 4
}

/// A row: a model and the paper's numbers, one per column, [`NONE`] where it has none.
pub(super) struct Contender<'a> {
    pub(super) label: &'a str,
    /// Name of the model in the id of its experiments; [`ALIGNED`] for the family of each task.
    pub(super) id: &'a str,
    pub(super) model: ModelConfig,
    pub(super) paper: &'a [f64],
    /// For task-aligned families; another than the usual one stands in the id of the experiments.
    pub(super) finishing: Finishing,
}

impl<'a> Contender<'a> {
    pub(super) fn new(label: &'a str, id: &'a str, paper: &'a [f64]) -> Self {
        let with_tau = |tau| ModelConfig {
            controller: Some(ControllerConfig::released_act(tau)),
            ..ModelConfig::preset("act-homo-path")
        };
        let model = match id {
            ATTENTION => ModelConfig {
                layer: Some(LayerKind::Path),
                aggregation: Some(Aggregation::Attention),
                ..ModelConfig::preset("iter-homo-path")
            },
            "iter-homo-path-no-decay" => {
                ModelConfig { controller: Some(ControllerConfig::iter()), ..ModelConfig::preset("iter-homo-path") }
            }
            "act-homo-path-0" => with_tau(0.0),
            "act-homo-path-0.001" => with_tau(0.001),
            "act-homo-path-0.1" => with_tau(0.1),
            "path-100" => ModelConfig { controller: Some(ControllerConfig::stack(100)), ..ModelConfig::preset("path") },
            "path-copies" | "homo-path-copies" => ModelConfig {
                controller: Some(ControllerConfig::Stack(StackConfig { copies: true, ..StackConfig::default() })),
                ..ModelConfig::preset(id.trim_end_matches("-copies"))
            },
            "gcn-linear" | "gat-linear" => ModelConfig {
                output_activation: Some(Activation::Identity),
                ..ModelConfig::preset(id.trim_end_matches("-linear"))
            },
            name => ModelConfig::preset(name),
        };
        Self { label, id, model, paper, finishing: Finishing::After }
    }

    /// The family of each task, trained in one of three ways.
    pub(super) fn family(label: &'a str, finishing: Finishing) -> Self {
        Self { finishing, ..Self::new(label, ALIGNED, &[]) }
    }

    /// Whether the network decides when it has done enough.
    fn learns_to_stop(&self) -> bool {
        self.id.starts_with("iter-") || self.id.starts_with("act-")
    }

    /// Name and model on a problem.
    fn on(&self, problem: &Problem) -> (&'a str, ModelConfig) {
        if self.id != ALIGNED {
            return (self.id, self.model.clone());
        }
        let family = family(problem.spec.task());
        (family, ModelConfig::preset(family))
    }
}

/// `iter-homo-path` with the layer that the paper's text describes.
pub(super) const ATTENTION: &str = "iter-homo-path-attention";

/// The table of some models on some problems.
pub(super) fn assemble(
    budget: &Budget,
    head: (&'static str, &'static str),
    problems: &[Problem],
    probes: &[Probe],
    contenders: &[Contender<'_>],
    notes: &[&str],
) -> Result<Section, TaskError> {
    let mut experiments = Vec::new();
    let mut rows = Vec::new();
    for contender in contenders {
        for (place, problem) in problems.iter().enumerate() {
            let asked = probes.iter().filter(|probe| probe.problem == place);
            let evaluation = |probe: &Probe| {
                let mut evaluation = probe.evaluation.clone();
                if contender.id == "shared-homo-path" {
                    evaluation.cap = evaluation.cap.map(repetitions);
                }
                (probe.name.clone(), evaluation)
            };
            let mut evaluations: BTreeMap<_, _> = asked.map(evaluation).collect();
            evaluations.insert(CHOICE.to_owned(), choice(budget, problem)?);
            experiments.push(experiment(budget, problem, contender, evaluations));
        }
        let cell = |(place, probe): (usize, &Probe)| {
            let paper = contender.paper.get(place).copied().filter(|value| !value.is_nan());
            let experiment = id(&problems[probe.problem], contender);
            Some(Cell { paper, experiment, evaluation: probe.name.clone() })
        };
        let cells = probes.iter().enumerate().map(cell).collect();
        rows.push(Row { label: contender.label.to_owned(), cells });
    }
    let column = |probe: &Probe| Column { label: probe.label.clone(), quantity: probe.quantity };
    let table = Table {
        id: head.0,
        title: head.1,
        columns: probes.iter().map(column).collect(),
        rows,
        notes: notes.iter().map(|&note| note.to_owned()).collect(),
    };
    Ok(Section { table, experiments })
}

fn id(problem: &Problem, contender: &Contender<'_>) -> String {
    let way = match contender.finishing {
        Finishing::After => "",
        Finishing::Never => "-not-finished",
        Finishing::Alone => "-finished-alone",
    };
    format!("{}/{}{way}", problem.id, contender.on(problem).0)
}

fn experiment(
    budget: &Budget,
    problem: &Problem,
    contender: &Contender<'_>,
    evaluations: BTreeMap<String, Evaluation>,
) -> Experiment {
    let (_, model) = contender.on(problem);
    let mut config = RunConfig::new(problem.spec.clone(), model);
    let (epochs, train) = if is_aligned(&config.model.name) {
        own_recipe(problem.spec.task(), budget)
    } else {
        // A model that never stops would spend most of the time on validation.
        config.selection.lifted_cap = config.selection.lifted_cap.min(100);
        config.optimiser.clip_norm = Some(1.0);
        config.optimiser.schedule = Schedule::Cosine { warm_up_steps: WARM_UP_STEPS, final_factor: 0.0 };
        config.log_every = 1_000;
        let epochs = if contender.learns_to_stop() { budget.iterated_epochs } else { budget.epochs };
        let samples = if problem.spec.task() == Task::Tsp { budget.samples.min(TOURS) } else { budget.samples };
        (epochs.saturating_mul(budget.samples).div_ceil(samples), samples)
    };
    let epochs = if contender.finishing == Finishing::Alone { 1 } else { epochs };
    let finishing = contender.finishing;
    let data = DataConfig { train, validation: budget.validation, seed: None };
    config.method =
        MethodConfig::Supervised(SupervisedConfig { epochs, data, finishing, ..SupervisedConfig::default() });
    Experiment { id: id(problem, contender), config, evaluations }
}

/// Epochs and samples of task-aligned families, which have a training length of their own: what they learn hardens by a
/// schedule over the whole of it, and it is short.
fn own_recipe(task: Task, budget: &Budget) -> (u64, u64) {
    let epochs = if task == Task::RegularGraphs { 1 } else { 3 };
    (budget.own_epochs.min(epochs), budget.own_samples.min(10_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_is_a_training_that_can_start() {
        for budget in [Budget::quick(), Budget::full()] {
            for section in catalogue(&budget).unwrap() {
                for experiment in &section.experiments {
                    let resolved = experiment.config.resolve();
                    assert!(resolved.is_ok(), "{}: {:?}", experiment.id, resolved.err());
                }
            }
        }
    }

    #[test]
    fn every_cell_has_its_evaluation_and_shared_experiments_agree() {
        let sections = catalogue(&Budget::quick()).unwrap();
        let mut configs: BTreeMap<String, RunConfig> = BTreeMap::new();
        for section in &sections {
            assert!(section.table.rows.iter().all(|row| row.cells.len() == section.table.columns.len()));
            for experiment in &section.experiments {
                let known = configs.entry(experiment.id.clone()).or_insert_with(|| experiment.config.clone());
                assert_eq!(*known, experiment.config, "{}", experiment.id);
            }
            for cell in section.table.rows.iter().flat_map(|row| row.cells.iter().flatten()) {
                let filled = section.experiments.iter().any(|experiment| {
                    experiment.id == cell.experiment && experiment.evaluations.contains_key(&cell.evaluation)
                });
                assert!(filled, "{}: {cell:?}", section.table.id);
            }
        }
    }
}
