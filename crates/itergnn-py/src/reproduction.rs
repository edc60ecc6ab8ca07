//! The paper's tables, cell by cell, for whoever spreads them over machines.

use std::path::PathBuf;

use itergnn::train::{
    TrainOptions,
    reproduction::{
        Budget, ExperimentResult, Job, QueueObserver, ResultStore, Spread, TrainingPlace, catalogue, run_queue,
        section_names,
    },
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::{
    errors::Fault,
    samples::from_json,
    training::{fault, is_card},
    work::{guarded, work},
};

fn budget(quick: bool, samples: Option<u64>, epochs: Option<u64>) -> Budget {
    if quick { Budget::quick() } else { Budget::full() }.with_training(samples, epochs)
}

/// The jobs of a table: every experiment for every seed.
fn jobs(table: &str, seeds: &[u64], budget: &Budget) -> Result<Vec<Job>, Fault> {
    let sections = catalogue(budget).map_err(fault)?;
    let Some(section) = sections.iter().find(|section| section.table.id == table) else {
        return Err(Fault::input(format!("there is no table '{table}', only {}", section_names().join(", "))));
    };
    Ok(Job::plan(&section.experiments, seeds))
}

/// What is said of a job.
#[derive(Serialize)]
struct Described {
    experiment: String,
    seed: u64,
    evaluations: Vec<String>,
}

/// The jobs of a table in the order in which they should be begun: `experiment`, `seed` and the names of its
/// `evaluations`.
#[pyfunction]
#[pyo3(signature = (table, seeds, quick=false, samples=None, epochs=None))]
pub(crate) fn table_jobs<'py>(
    py: Python<'py>,
    table: &str,
    seeds: Vec<u64>,
    quick: bool,
    samples: Option<u64>,
    epochs: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(|| {
        let describe = |job: Job| Described {
            evaluations: job.experiment.evaluations.keys().cloned().collect(),
            experiment: job.experiment.id,
            seed: job.seed,
        };
        let jobs: Vec<_> = jobs(table, &seeds, &budget(quick, samples, epochs))?.into_iter().map(describe).collect();
        from_json(py, &serde_json::to_string(&jobs).map_err(Fault::failed)?)
    })
}

/// Keeps the one result that a queue of one job has.
#[derive(Default)]
struct Kept(Option<ExperimentResult>);

impl QueueObserver for Kept {
    fn begun(&mut self, _worker: usize, _job: &Job) {}

    fn done(&mut self, _worker: usize, _job: &Job, result: &ExperimentResult, _found: bool) {
        self.0 = Some(result.clone());
    }
}

/// Carries out one job of a table; a result in `folder` is not made again, a training that was interrupted goes on.
/// Returns the result.
#[pyfunction]
#[pyo3(signature = (table, experiment, seed, folder, quick=false, samples=None, epochs=None, device="cpu"))]
#[allow(clippy::too_many_arguments)] // they are the arguments of a Python function with names
pub(crate) fn run_job<'py>(
    py: Python<'py>,
    table: &str,
    experiment: &str,
    seed: u64,
    folder: PathBuf,
    quick: bool,
    samples: Option<u64>,
    epochs: Option<u64>,
    device: &str,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(|| {
        let place = if is_card(device)? { TrainingPlace::Card } else { TrainingPlace::Cpu };
        let jobs = jobs(table, &[seed], &budget(quick, samples, epochs))?;
        let Some(job) = jobs.into_iter().find(|job| job.experiment.id == experiment) else {
            return Err(Fault::input(format!("table '{table}' has no experiment '{experiment}'")).into());
        };
        let text = work(py, move |stop| {
            let options = TrainOptions { stop: stop.clone(), ..TrainOptions::default() };
            let store = ResultStore::open(&folder.join("results")).map_err(fault)?;
            let runs = folder.join("runs");
            let mut kept = Kept::default();
            run_queue(&[job], &store, &runs, &options, 1, place, &mut kept).map_err(fault)?;
            serde_json::to_string(&kept.0).map_err(Fault::failed)
        })?;
        from_json(py, &text)
    })
}

/// A row of a table: the model, then per column the paper's number and ours.
#[derive(Serialize)]
struct Line {
    model: String,
    column: String,
    quantity: &'static str,
    paper: Option<f64>,
    mean: Option<f64>,
    deviation: Option<f64>,
    chosen: Option<f64>,
    best: Option<f64>,
    seeds: usize,
    failed: usize,
}

/// The cells of a table beside the paper's numbers, from results as `run_job` returns them (JSON of a list).
#[pyfunction]
#[pyo3(signature = (table, results, quick=false, samples=None, epochs=None))]
pub(crate) fn table_cells<'py>(
    py: Python<'py>,
    table: &str,
    results: &str,
    quick: bool,
    samples: Option<u64>,
    epochs: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(|| {
        let results: Vec<ExperimentResult> = serde_json::from_str(results).map_err(Fault::input)?;
        let sections = catalogue(&budget(quick, samples, epochs)).map_err(fault)?;
        let Some(section) = sections.iter().find(|section| section.table.id == table) else {
            return Err(Fault::input(format!("there is no table '{table}'")).into());
        };
        let mut lines = Vec::new();
        for row in &section.table.rows {
            for (column, cell) in section.table.columns.iter().zip(&row.cells) {
                let Some(cell) = cell else { continue };
                let spread = Spread::of(cell, column.quantity, results.iter());
                let measured = spread.mean_and_deviation();
                lines.push(Line {
                    model: row.label.clone(),
                    column: column.label.clone(),
                    quantity: column.quantity.name(),
                    paper: cell.paper,
                    mean: measured.map(|(mean, _)| mean),
                    deviation: measured.map(|(_, deviation)| deviation),
                    chosen: spread.chosen,
                    best: spread.best(column.quantity),
                    seeds: spread.values.len(),
                    failed: spread.failed,
                });
            }
        }
        from_json(py, &serde_json::to_string(&lines).map_err(Fault::failed)?)
    })
}
