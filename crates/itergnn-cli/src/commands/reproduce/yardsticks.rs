//! Rows of the first table that no training fills: what tour lengths cost without a model.

use std::{
    fs,
    path::{Path, PathBuf},
};

use itergnn::{
    tasks::{
        SizeRange,
        tsp::{TspSpec, Yardsticks, yardsticks},
    },
    train::reproduction::{Quantity, Table},
};
use serde::{Deserialize, Serialize};

use crate::{
    failure::Failure,
    output::{Output, note},
    report::ReportCell,
};

/// The column of the table.
const COLUMN: &str = "TSP 100";

/// Test size of the column.
const SIZE: u32 = 100;

/// What was measured, and on what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    size: u32,
    train: u64,
    test: u64,
    seed: u64,
    yardsticks: Yardsticks,
}

fn path(out: &Path) -> PathBuf {
    out.join("results").join("tsp-yardsticks.json")
}

fn read(out: &Path) -> Option<Measured> {
    serde_json::from_slice(&fs::read(path(out)).ok()?).ok()
}

/// Measures on the test samples that the models are asked, those of seed 0, unless that was done before.
pub(super) fn run(out: &Path, quick: bool) -> Result<(), Failure> {
    let (train, test, seed) = if quick { (1_000, 10, 0) } else { (10_000, 100, 0) };
    let asked = |found: &Measured| (found.size, found.train, found.test, found.seed) == (SIZE, train, test, seed);
    if read(out).as_ref().is_some_and(asked) {
        return Ok(());
    }
    note(&format!("yardsticks of TSP: {test} tours of {SIZE} points"));
    let failed = |error: itergnn::tasks::TaskError| Failure::failed(error.to_string());
    let size = SizeRange::exactly(SIZE).map_err(failed)?;
    let known = TspSpec::default().sampler().map_err(failed)?;
    let asked = TspSpec { size, ..TspSpec::default() }.sampler().map_err(failed)?;
    let found = yardsticks(&known, train, &asked, test, seed).map_err(failed)?;
    let measured = Measured { size: SIZE, train, test, seed, yardsticks: found };
    let mut text = serde_json::to_vec_pretty(&measured).map_err(|error| Failure::failed(error.to_string()))?;
    text.push(b'\n');
    Output::write(&path(out), &text)
}

/// Their rows in a table, where it has the column and they were measured.
pub(super) fn rows(out: &Path, table: &Table) -> Vec<Vec<ReportCell>> {
    let Some(place) = table.columns.iter().position(|column| column.label == COLUMN) else { return Vec::new() };
    let Some(Measured { test, yardsticks, .. }) = read(out) else { return Vec::new() };
    let formula = format!("no model: {:.0} sqrt(n) + {:.0}, fitted", yardsticks.fitted.a, yardsticks.fitted.b);
    let list = [
        (formula, yardsticks.formula),
        ("no model: tour by 2-opt and Or-opt".to_owned(), yardsticks.descent),
        ("no model: tour by iterated local search".to_owned(), yardsticks.local_search),
    ];
    let row = |(label, loss): (String, itergnn::tasks::Summary)| {
        let mut row = vec![ReportCell::default(); table.columns.len() + 1];
        row[0] = ReportCell::plain(label);
        let shown = |value| Quantity::RelativeLoss.show(value);
        row[place + 1] = ReportCell::plain(format!("{} ({test} tours)", shown(loss.mean)));
        row
    };
    list.map(row).to_vec()
}
