//! `itergnn reproduce`: the paper's tables, ours beside theirs.

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use indicatif::ProgressBar;
use itergnn::train::{
    Start, TrainOptions,
    reproduction::{
        Budget, Cell, ExperimentResult, Job, Quantity, QueueObserver, ResultStore, Section, Spread, catalogue,
        run_queue, section_names,
    },
};

use crate::{
    commands::train::{failure, stop_on_interrupt},
    failure::Failure,
    options::ReproduceArguments,
    output::{self, AtomicFile, note, print, print_json},
    progress,
    report::{Report, ReportCell, ReportSection, ReportTable, today},
};

pub(crate) fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let budget = budget(arguments)?;
    let sections = chosen(arguments, &budget)?;
    let store = ResultStore::open(&arguments.out.join("results")).map_err(failure)?;
    let jobs = Job::plan(sections.iter().flat_map(|section| &section.experiments), &budget.seeds);
    let stop = stop_on_interrupt()?;
    if !arguments.report_only {
        let options = TrainOptions { start: Start::ResumeOrNew, stop: Arc::clone(&stop), ..TrainOptions::default() };
        let workers = arguments.threads.unwrap_or_else(rayon::current_num_threads);
        let mut view = QueueView::new(jobs.len());
        let runs = arguments.out.join("runs");
        run_queue(&jobs, &store, &runs, &options, workers, &mut view).map_err(failure)?;
    }
    let report = report(arguments, &budget, &sections, &store);
    write_report(&arguments.out, &report)?;
    show(arguments, &report, &sections, &budget, &store)?;
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::failed("stopped; the same command goes on where it was"));
    }
    Ok(())
}

fn budget(arguments: &ReproduceArguments) -> Result<Budget, Failure> {
    let mut budget = if arguments.quick { Budget::quick() } else { Budget::full() };
    if let Some(seeds) = arguments.seeds {
        budget.seeds = (0..seeds).collect();
    }
    let budget = budget.with_training(arguments.samples, arguments.epochs);
    if budget.seeds.is_empty() || budget.samples == 0 || budget.epochs == 0 {
        return Err(Failure::bad_input("--seeds, --samples and --epochs must be at least 1"));
    }
    Ok(budget)
}

fn chosen(arguments: &ReproduceArguments, budget: &Budget) -> Result<Vec<Section>, Failure> {
    let known = section_names();
    if let Some(name) = arguments.tables.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::bad_input(format!("no table `{name}`; there are {}", known.join(", "))));
    }
    let wanted =
        |section: &Section| arguments.tables.is_empty() || arguments.tables.iter().any(|name| name == section.table.id);
    Ok(catalogue(budget).map_err(failure)?.into_iter().filter(wanted).collect())
}

/// The command that makes a section again.
fn command(arguments: &ReproduceArguments, table: &str) -> String {
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

fn results<'a>(section: &'a Section, budget: &'a Budget, store: &'a ResultStore) -> Vec<ExperimentResult> {
    let read = |id: &'a str| budget.seeds.iter().filter_map(move |&seed| store.read(id, seed));
    section.experiments.iter().flat_map(|experiment| read(&experiment.id)).collect()
}

fn report(arguments: &ReproduceArguments, budget: &Budget, sections: &[Section], store: &ResultStore) -> Report {
    let plan = format!(
        "{} training samples and {} epochs for the paper's models, seeds {:?}; ours train by their own recipe",
        budget.samples, budget.epochs, budget.seeds
    );
    let facts = [
        ("budget", plan),
        ("machine", machine()),
        ("date", today()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        (
            "how to read a cell",
            "ours, mean ± standard deviation over seeds [number of seeds], then the paper's number; ▼ marks where ours falls short of it. Settings, steps and times of every run stand in results/."
                .to_owned(),
        ),
    ];
    Report {
        title: "The paper's tables, reproduced".to_owned(),
        facts: facts.map(|(what, value)| (what.to_owned(), value)).to_vec(),
        sections: sections.iter().map(|section| render(arguments, budget, section, store)).collect(),
    }
}

fn render(arguments: &ReproduceArguments, budget: &Budget, section: &Section, store: &ResultStore) -> ReportSection {
    let results = results(section, budget, store);
    let table = &section.table;
    let mut header = vec!["model".to_owned()];
    header.extend(table.columns.iter().map(|column| format!("{} ({})", column.label, column.quantity.name())));
    let row = |row: &itergnn::train::reproduction::Row| {
        let mut cells = vec![ReportCell::plain(row.label.clone())];
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            cells.push(cell.as_ref().map_or(ReportCell::default(), |cell| shown(cell, column.quantity, &results)));
        }
        cells
    };
    ReportSection {
        title: table.title.to_owned(),
        command: command(arguments, table.id),
        tables: vec![ReportTable { header, rows: table.rows.iter().map(row).collect() }, times(&results)],
        figures: Vec::new(),
        notes: table.notes.clone(),
    }
}

/// Ours and the paper's in one cell.
fn shown(cell: &Cell, quantity: Quantity, results: &[ExperimentResult]) -> ReportCell {
    let spread = Spread::of(cell, quantity, results.iter());
    let paper = cell.paper.map_or(String::new(), |paper| format!(" / {}", quantity.show(paper)));
    let runs = spread.values.len() + spread.failed;
    let Some((mean, deviation)) = spread.mean_and_deviation() else {
        let ours = if runs == 0 { "not run".to_owned() } else { format!("no number [{runs}]") };
        return ReportCell { text: format!("{ours}{paper}"), short: runs > 0 && cell.paper.is_some() };
    };
    let around = if runs > 1 { format!(" ± {}", quantity.show(deviation)) } else { String::new() };
    let failed = if spread.failed > 0 { format!(", {} failed", spread.failed) } else { String::new() };
    let capped = if spread.capped > 0 { format!(", {} cut", spread.capped) } else { String::new() };
    ReportCell {
        text: format!("{}{around} [{runs}{failed}{capped}]{paper}", quantity.show(mean)),
        short: cell.paper.is_some_and(|paper| quantity.is_worse(mean, paper)) || spread.failed > 0,
    }
}

/// What every run took.
fn times(results: &[ExperimentResult]) -> ReportTable {
    let header = ["run", "seed", "samples", "epochs", "steps", "training, s", "evaluation, s", "failures"];
    let row = |result: &ExperimentResult| {
        let training = result.training.as_ref();
        let texts = [
            result.id.clone(),
            result.config.seed.to_string(),
            result.config.data.train.to_string(),
            result.config.epochs.to_string(),
            training.map_or("-".to_owned(), |training| training.steps.to_string()),
            training.map_or("-".to_owned(), |training| format!("{:.0}", training.seconds)),
            format!("{:.0}", result.measured.values().map(|measured| measured.seconds).sum::<f64>()),
            result.failures.iter().map(|(name, why)| format!("{name}: {why}")).collect::<Vec<_>>().join("; "),
        ];
        texts.map(ReportCell::plain).to_vec()
    };
    ReportTable { header: header.map(str::to_owned).to_vec(), rows: results.iter().map(row).collect() }
}

/// The processor, as far as the system tells.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        text.lines().find_map(|line| line.strip_prefix("model name")).map(|rest| rest.trim_matches([' ', '\t', ':']));
    format!(
        "{} ({cores} cores, {} {})",
        model.unwrap_or("unknown processor"),
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

fn write_report(folder: &Path, report: &Report) -> Result<(), Failure> {
    use std::io::Write;
    let figures = folder.join("figures");
    fs::create_dir_all(&figures).map_err(|error| Failure::writing(figures.display(), &error))?;
    let mut files = vec![(folder.join("report.md"), report.markdown()), (folder.join("report.html"), report.html())];
    for figure in report.sections.iter().flat_map(|section| &section.figures) {
        files.push((figures.join(format!("{}.svg", figure.name)), figure.svg.clone()));
    }
    for (path, text) in files {
        let mut file = AtomicFile::create(&path)?;
        file.write_all(text.as_bytes()).map_err(|error| Failure::writing(path.display(), &error))?;
        file.finish()?;
    }
    Ok(())
}

fn show(
    arguments: &ReproduceArguments,
    report: &Report,
    sections: &[Section],
    budget: &Budget,
    store: &ResultStore,
) -> Result<(), Failure> {
    if arguments.json {
        let tables: Vec<_> = sections.iter().map(|section| json_of(section, budget, store)).collect();
        let page = arguments.out.join("report.html");
        return print_json(&serde_json::json!({ "tables": tables, "report": page }));
    }
    for section in &report.sections {
        print(&format!("{}\n", section.title))?;
        if let Some(table) = section.tables.first() {
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            let mark = |cell: &ReportCell| if cell.short { format!("{} ▼", cell.text) } else { cell.text.clone() };
            print(&output::table(&header, table.rows.iter().map(|row| row.iter().map(mark).collect())))?;
        }
    }
    print(&format!("report: {}\n", arguments.out.join("report.html").display()))
}

fn json_of(section: &Section, budget: &Budget, store: &ResultStore) -> serde_json::Value {
    let results = results(section, budget, store);
    let table = &section.table;
    let cells = table.rows.iter().flat_map(|row| {
        row.cells.iter().zip(&table.columns).filter_map(|(cell, column)| {
            let cell = cell.as_ref()?;
            let spread = Spread::of(cell, column.quantity, results.iter());
            Some(serde_json::json!({
                "model": row.label, "column": column.label, "quantity": column.quantity.name(), "paper": cell.paper,
                "values": spread.values, "failed": spread.failed, "graphs": spread.count,
            }))
        })
    });
    serde_json::json!({ "table": table.id, "cells": cells.collect::<Vec<_>>() })
}

/// The queue on stderr: a bar on a terminal, a line a job elsewhere.
struct QueueView {
    bar: ProgressBar,
    total: usize,
    done: usize,
    /// Jobs that took time, and since when.
    made: usize,
    started: Instant,
    running: Vec<Option<String>>,
}

impl QueueView {
    fn new(total: usize) -> Self {
        let bar = progress::bar(total as u64, "experiments");
        Self { bar, total, done: 0, made: 0, started: Instant::now(), running: Vec::new() }
    }

    fn minutes_left(&self) -> Option<f64> {
        (self.made > 0)
            .then(|| self.started.elapsed().as_secs_f64() / 60.0 / self.made as f64 * (self.total - self.done) as f64)
    }
}

impl QueueObserver for QueueView {
    fn begun(&mut self, worker: usize, job: &Job) {
        self.running.resize(self.running.len().max(worker + 1), None);
        self.running[worker] = Some(format!("{} seed {}", job.experiment.id, job.seed));
        let running: Vec<&str> = self.running.iter().flatten().map(String::as_str).collect();
        self.bar.set_message(running.join(", "));
    }

    fn done(&mut self, worker: usize, job: &Job, result: &ExperimentResult, found: bool) {
        self.running[worker] = None;
        self.done += 1;
        self.made += usize::from(!found);
        self.bar.set_position(self.done as u64);
        let seconds = result.training.as_ref().map_or(0.0, |training| training.seconds)
            + result.measured.values().map(|measured| measured.seconds).sum::<f64>();
        let how = if found { "was there".to_owned() } else { format!("{seconds:.0} s") };
        let left = self.minutes_left().map_or(String::new(), |minutes| format!(", about {minutes:.0} min left"));
        let failed = if result.failures.is_empty() { "" } else { ", with failures" };
        let line =
            format!("[{}/{}] {} seed {}: {how}{failed}{left}", self.done, self.total, job.experiment.id, job.seed);
        if self.bar.is_hidden() { note(&line) } else { self.bar.println(line) }
    }
}

impl Drop for QueueView {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
