//! `itergnn reproduce`: the paper's tables, ours beside theirs.

mod classification;
mod clrs;
mod figures;
mod pacman;
mod queue_view;
mod tables;
mod yardsticks;

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use clap::ValueEnum;
use itergnn::train::{
    Start, TrainOptions, find_card,
    reproduction::{Budget, Job, ResultStore, Section, TrainingPlace, catalogue, run_queue},
};

use crate::{
    commands::train::{failure, stop_on_interrupt},
    compute::DeviceName,
    estimate::{Allowance, RECORD_BYTES},
    failure::Failure,
    given::Given,
    options::{ReproduceArguments, TableName},
    output::{self, Output, note, print, print_json},
    report::{Report, ReportCell, today},
};

use queue_view::QueueView;

/// What the report is about.
const OPENING: &str = "A graph neural network is trained on small graphs and then used on much larger ones. Each network below saw trees of 4 to 33 nodes along their line, \
    and is asked for distances in trees of up to 5,000. The picture shows how wrong its answer is. A curve ends where a network does not stop by itself or its numbers overflow. \
    The tables put every number of the paper beside ours, by networks that are the paper's. Task-aligned families, which carry an algorithm for their task, have tables of their own below.";

pub(crate) fn run(arguments: &ReproduceArguments, given: &Given) -> Result<(), Failure> {
    refuse_flags(arguments, given)?;
    let budget = budget(arguments)?;
    let sections = catalogue(&budget).map_err(failure)?;
    if arguments.device == DeviceName::Cuda {
        find_card().map_err(failure)?;
    }
    let store = ResultStore::open(&arguments.out.join("results")).map_err(failure)?;
    let chosen = sections.iter().filter(|section| is_section_wanted(arguments, section));
    let mut jobs = Job::plan(chosen.flat_map(|section| &section.experiments), &budget.seeds);
    if arguments.tables != [TableName::Clrs] {
        keep_models(&mut jobs, &arguments.models)?;
    }
    let stop = stop_on_interrupt()?;
    if !arguments.report_only {
        let options = TrainOptions { start: Start::ResumeOrNew, stop: Arc::clone(&stop), ..TrainOptions::default() };
        let workers = arguments.threads.unwrap_or_else(rayon::current_num_threads);
        let mut view = QueueView::new(jobs.len());
        let runs = arguments.out.join("runs");
        let place = match arguments.device {
            DeviceName::Cpu => TrainingPlace::Cpu,
            DeviceName::Cuda => TrainingPlace::Card,
        };
        run_queue(&jobs, &store, &runs, &options, workers, place, &mut view).map_err(failure)?;
        if is_wanted(arguments, TableName::Summary) && !stop.load(Ordering::Relaxed) {
            yardsticks::run(&arguments.out, arguments.quick)?;
        }
        classify(arguments, workers, &stop)?;
        let is_chosen = arguments.models.is_empty() || arguments.tables == [TableName::Clrs];
        if is_wanted(arguments, TableName::Clrs) && is_chosen && !stop.load(Ordering::Relaxed) {
            clrs::run(arguments, &budget, &options, workers)?;
        }
    }
    let report = report(arguments, &budget, &sections, &store)?;
    write_report(&arguments.out, &report)?;
    show(arguments, &report, &sections, &store)?;
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::failed("stopped; the same command goes on where it was"));
    }
    Ok(())
}

fn budget(arguments: &ReproduceArguments) -> Result<Budget, Failure> {
    let mut budget = if arguments.quick { Budget::quick() } else { Budget::full() };
    if let Some(seeds) = arguments.seeds {
        // Every experiment of every table has a job per seed.
        Allowance::free().check_count("--seeds", seeds, 100 * RECORD_BYTES)?;
        budget.seeds = (0..seeds).collect();
    }
    let budget = budget.with_training(arguments.samples, arguments.epochs);
    if budget.seeds.is_empty() || budget.samples == 0 || budget.epochs == 0 {
        return Err(Failure::bad_input("--seeds, --samples and --epochs must be at least 1"));
    }
    Ok(budget)
}

/// Refuses what means nothing for the tables that are made: trainings have seeds, samples and epochs, cross-validations
/// data and epochs.
fn refuse_flags(arguments: &ReproduceArguments, given: &Given) -> Result<(), Failure> {
    let mut meant = vec!["quick", "out", "report-only"];
    let queued = TableName::value_variants().iter().any(|&table| table.is_queued() && is_wanted(arguments, table));
    let trains = queued || is_wanted(arguments, TableName::Clrs);
    let classifies = is_wanted(arguments, TableName::GraphClassification);
    if trains {
        meant.extend(["samples", "epochs"]);
    }
    if arguments.report_only {
        return given.only("a report of what is there", &meant);
    }
    if trains {
        meant.extend(["seeds", "models", "threads"]);
    }
    if queued {
        // Algorithms are learned on the CPU.
        meant.push("device");
    }
    if classifies {
        meant.extend(["data", "epochs", "threads"]);
    }
    given.only("these tables", &meant)
}

/// Leaves the jobs of the named models, all if none is named.
fn keep_models(jobs: &mut Vec<Job>, models: &[String]) -> Result<(), Failure> {
    if models.is_empty() {
        return Ok(());
    }
    let is_named = |job: &Job, name: &String| name == job.model() || *name == job.experiment.id;
    if let Some(name) = models.iter().find(|&name| !jobs.iter().any(|job| is_named(job, name))) {
        let known: BTreeSet<&str> = jobs.iter().map(Job::model).collect();
        let known: Vec<&str> = known.into_iter().collect();
        return Err(Failure::bad_input(format!("no model `{name}` in these tables; there are {}", known.join(", "))));
    }
    jobs.retain(|job| models.iter().any(|name| is_named(job, name)));
    Ok(())
}

/// The cross-validations, if they are wanted and there is data.
fn classify(arguments: &ReproduceArguments, workers: usize, stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    if !is_wanted(arguments, TableName::GraphClassification) || stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let Some(data) = &arguments.data else {
        if !arguments.tables.is_empty() {
            return Err(Failure::bad_input(
                "graph-classification needs --data DIR: the sets of the GIN paper (dataset archive of its repository powerful-gnns), each as DIR/NAME/NAME.txt",
            ));
        }
        note("graph-classification is left out: it needs --data DIR");
        return Ok(());
    };
    let epochs = arguments.epochs.unwrap_or(if arguments.quick { 2 } else { 350 });
    classification::run(&classification::Plan { data, epochs, workers, stop }, &arguments.out).map(drop)
}

fn is_wanted(arguments: &ReproduceArguments, table: TableName) -> bool {
    arguments.tables.is_empty() || arguments.tables.contains(&table)
}

fn is_section_wanted(arguments: &ReproduceArguments, section: &Section) -> bool {
    arguments.tables.is_empty() || arguments.tables.iter().any(|table| table.name() == section.table.id)
}

/// The report of everything that is there, not only of what was asked for now.
fn report(
    arguments: &ReproduceArguments,
    budget: &Budget,
    sections: &[Section],
    store: &ResultStore,
) -> Result<Report, Failure> {
    let plan = format!(
        "{} training samples (of tours at most 10000, seen more often); {} epochs for the paper's models that learn when to stop, {} for the others; task-aligned families train by their own recipe, but no longer than --samples and --epochs allow",
        budget.samples, budget.iterated_epochs, budget.epochs
    );
    let facts = [
        ("budget", plan),
        ("written on", machine()),
        ("date", today()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        (
            "how to read a cell",
            "ours: the seed that does best on fresh graphs of the largest sizes of training (mean ± standard deviation over the seeds, the best seed) [number of seeds; how many gave no number; how many graphs a cap on iterations cut; the steps, where training was shorter than the budget], then the paper's number; ▼ marks where the chosen seed falls short of it, ≈ where it is below but so few test graphs cannot tell (a share as low has a probability of 5% or more under the paper's). No number stands where a network does not stop by itself or overflows. Settings, steps and times of every run stand in results/."
                .to_owned(),
        ),
    ];
    let mut parts: Vec<_> = sections.iter().map(|section| tables::render(arguments, section, store)).collect();
    parts.push(classification::section(&arguments.out));
    parts.push(clrs::section(&arguments.out.join("results")));
    parts.push(pacman::section(&arguments.out.join("results")));
    parts.push(figures::properties(arguments.quick).map_err(Failure::failed)?);
    let lobsters = sections.iter().find(|section| section.table.id == "lobsters");
    let figure = lobsters.and_then(|section| figures::error_by_size(section, &tables::results(section, store)));
    Ok(Report {
        title: "The paper's tables, reproduced".to_owned(),
        opening: (OPENING.to_owned(), figure),
        facts: facts.map(|(what, value)| (what.to_owned(), value)).to_vec(),
        sections: parts,
    })
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
    let figures = folder.join("figures");
    fs::create_dir_all(&figures).map_err(|error| Failure::writing(figures.display(), &error))?;
    let mut files = vec![(folder.join("report.md"), report.markdown()), (folder.join("report.html"), report.html())];
    for figure in report.sections.iter().flat_map(|section| &section.figures).chain(&report.opening.1) {
        files.push((figures.join(format!("{}.svg", figure.name)), figure.svg.clone()));
    }
    for (path, text) in files {
        Output::write(&path, text.as_bytes())?;
    }
    Ok(())
}

fn show(
    arguments: &ReproduceArguments,
    report: &Report,
    sections: &[Section],
    store: &ResultStore,
) -> Result<(), Failure> {
    let chosen = || sections.iter().filter(|section| is_section_wanted(arguments, section));
    if arguments.json {
        let tables: Vec<_> = chosen().map(|section| tables::json_of(section, store)).collect();
        let page = arguments.out.join("report.html");
        let mut answer = serde_json::json!({ "tables": tables, "report": page });
        if is_wanted(arguments, TableName::Clrs) {
            let results = clrs::results(&arguments.out.join("results"));
            answer[clrs::NAME] = results.into_iter().map(|(_, result)| serde_json::json!(result)).collect();
        }
        return print_json(&answer);
    }
    let algorithms = clrs::section(&arguments.out.join("results")).title;
    let titles = chosen().map(|section| section.table.title.to_string());
    for title in titles.chain(is_wanted(arguments, TableName::Clrs).then_some(algorithms)) {
        let Some(part) = report.sections.iter().find(|part| part.title == title) else { continue };
        print(&format!("{}\n", part.title))?;
        if let Some(table) = part.tables.first() {
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            let mark = |cell: &ReportCell| if cell.short { format!("{} ▼", cell.text) } else { cell.text.clone() };
            print(&output::table(&header, table.rows.iter().map(|row| row.iter().map(mark).collect())))?;
        }
    }
    print(&format!("report: {}\n", arguments.out.join("report.html").display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_the_catalogue_has_a_name_on_the_command_line() {
        let named = TableName::value_variants().iter().filter(|table| table.is_queued());
        assert!(named.map(|table| table.name()).eq(itergnn::train::reproduction::section_names()));
    }
}
