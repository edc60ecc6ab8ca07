//! Tables that a queue of trainings fills.

use itergnn::train::reproduction::{Cell, ExperimentResult, Quantity, ResultStore, Row, Section, Spread};
use itergnn::train::{RunConfig, SupervisedConfig};

use super::{figures::iterations_by_distance, yardsticks};
use crate::{
    options::ReproduceArguments,
    report::{ReportCell, ReportSection, ReportTable},
};

/// The command that makes a section again.
pub(super) fn command(arguments: &ReproduceArguments, table: &str) -> String {
    let mut text = format!("itergnn reproduce {table}");
    if arguments.quick {
        text.push_str(" --quick");
    }
    for (flag, value) in [("seeds", arguments.seeds), ("epochs", arguments.epochs), ("samples", arguments.samples)] {
        if let Some(value) = value {
            text.push_str(&format!(" --{flag} {value}"));
        }
    }
    text
}

pub(super) fn results(section: &Section, store: &ResultStore) -> Vec<ExperimentResult> {
    section.experiments.iter().flat_map(|experiment| store.all(&experiment.id)).collect()
}

pub(super) fn render(arguments: &ReproduceArguments, section: &Section, store: &ResultStore) -> ReportSection {
    let results = results(section, store);
    let table = &section.table;
    let mut header = vec!["model".to_owned()];
    header.extend(table.columns.iter().map(|column| format!("{} ({})", column.label, column.quantity.name())));
    let row = |row: &Row| {
        let mut cells = vec![ReportCell::plain(row.label.clone())];
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            cells.push(
                cell.as_ref().map_or(ReportCell::default(), |cell| shown(cell, column.quantity, section, &results)),
            );
        }
        cells
    };
    let mut rows: Vec<_> = table.rows.iter().map(row).collect();
    rows.extend(yardsticks::rows(&arguments.out, table));
    ReportSection {
        title: table.title.to_owned(),
        command: command(arguments, table.id),
        tables: vec![ReportTable::new(header, rows), times(&results)],
        figures: iterations_by_distance(section, &results),
        notes: table.notes.clone(),
    }
}

/// Ours and the paper's in one cell.
fn shown(cell: &Cell, quantity: Quantity, section: &Section, results: &[ExperimentResult]) -> ReportCell {
    let spread = Spread::of(cell, quantity, results.iter());
    let paper = cell.paper.map_or(String::new(), |paper| format!(" / {}", quantity.show(paper)));
    let runs = spread.values.len() + spread.failed;
    let failed = if spread.failed > 0 { format!(", {} without a number", spread.failed) } else { String::new() };
    let capped = if spread.capped > 0 { format!(", {} graphs cut", spread.capped) } else { String::new() };
    let shorter = shorter(cell, section, results);
    let is_compared = cell.paper.is_some() && shorter.is_empty();
    let remarks = format!("[{runs}{failed}{capped}{shorter}]");
    let Some((mean, deviation)) = spread.mean_and_deviation() else {
        let ours = if runs == 0 { "not run".to_owned() } else { format!("no number {remarks}") };
        return ReportCell { text: format!("{ours}{paper}"), short: runs > 0 && is_compared };
    };
    let show = |value: f64| quantity.show(value);
    let ours = match (runs, spread.chosen, spread.best(quantity)) {
        (1, _, _) | (_, _, None) => show(mean),
        (_, _, Some(best)) if !spread.has_choice => {
            format!("{} ± {}, best {}", show(mean), show(deviation), show(best))
        }
        (_, chosen, Some(best)) => {
            let chosen = chosen.map_or("no number".to_owned(), show);
            format!("{chosen} ({} ± {}, best {})", show(mean), show(deviation), show(best))
        }
    };
    let chosen = if spread.has_choice { spread.chosen } else { Some(mean) };
    let worse = cell.paper.filter(|paper| is_compared && chosen.is_none_or(|chosen| quantity.is_worse(chosen, *paper)));
    let told = |paper: f64| chosen.is_none_or(|chosen| quantity.can_tell(chosen, paper, spread.count));
    let short = worse.is_some_and(told);
    let close = if worse.is_some() && !short { " ≈" } else { "" };
    ReportCell { text: format!("{ours} {remarks}{paper}{close}"), short }
}

/// Says so where a cell comes from shorter trainings than the plan has.
fn shorter(cell: &Cell, section: &Section, results: &[ExperimentResult]) -> String {
    let work = |config: &RunConfig| settings(config).map_or(0, |method| method.epochs * method.data.train);
    let Some(planned) = section.experiments.iter().find(|experiment| experiment.id == cell.experiment) else {
        return String::new();
    };
    let of_cell = results.iter().filter(|result| result.id == cell.experiment);
    let short = of_cell.filter(|result| work(&result.config) < work(&planned.config));
    let steps = short.filter_map(|result| result.training.as_ref()).map(|training| training.steps).min();
    steps.map_or(String::new(), |steps| format!(", {steps} steps"))
}

/// How a run learned from samples, as all runs of the tables do.
fn settings(config: &RunConfig) -> Option<&SupervisedConfig> {
    config.supervised().ok()
}

/// What every run took.
fn times(results: &[ExperimentResult]) -> ReportTable {
    let header = ["run", "seed", "samples", "epochs", "steps", "training, s", "evaluation, s", "failures"];
    let row = |result: &ExperimentResult| {
        let training = result.training.as_ref();
        let texts = [
            result.id.clone(),
            result.config.seed.to_string(),
            settings(&result.config).map_or("-".to_owned(), |method| method.data.train.to_string()),
            settings(&result.config).map_or("-".to_owned(), |method| method.epochs.to_string()),
            training.map_or("-".to_owned(), |training| training.steps.to_string()),
            training.map_or("-".to_owned(), |training| format!("{:.0}", training.seconds)),
            format!("{:.0}", result.measured.values().map(|measured| measured.seconds).sum::<f64>()),
            result.failures.iter().map(|(name, why)| format!("{name}: {why}")).collect::<Vec<_>>().join("; "),
        ];
        texts.map(ReportCell::plain).to_vec()
    };
    let rows: Vec<_> = results.iter().map(row).collect();
    let title = format!("{} runs: seeds, lengths, times, failures", rows.len());
    ReportTable::new(header.map(str::to_owned).to_vec(), rows).folded(title)
}

pub(super) fn json_of(section: &Section, store: &ResultStore) -> serde_json::Value {
    let results = results(section, store);
    let table = &section.table;
    let cells = table.rows.iter().flat_map(|row| {
        row.cells.iter().zip(&table.columns).filter_map(|(cell, column)| {
            let cell = cell.as_ref()?;
            let spread = Spread::of(cell, column.quantity, results.iter());
            Some(serde_json::json!({
                "model": row.label, "column": column.label, "quantity": column.quantity.name(), "paper": cell.paper,
                "values": spread.values, "chosen": spread.chosen, "failed": spread.failed, "graphs": spread.count,
            }))
        })
    });
    serde_json::json!({ "table": table.id, "cells": cells.collect::<Vec<_>>() })
}
