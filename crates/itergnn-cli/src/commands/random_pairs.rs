//! `itergnn solve --pairs`: how a model fares on random pairs of a user's graph.

use std::time::Instant;

use itergnn::{
    graph::{rng, solvers::dijkstra},
    tasks::shortest_path::is_shortest,
    train::evaluation::{Kept, PathFinder},
};
use rand::RngExt;
use serde::Serialize;
use serde_json::Value;

use crate::{
    commands::{
        domain,
        solve::{find, tell_caps},
        terrain::Terrain,
    },
    failure::Failure,
    options::SolveArguments,
    output::{self, print, print_json},
    progress::Progress,
};

/// How often a pair is drawn before a graph counts as having no connected pairs.
const ATTEMPTS: usize = 1_000;

#[derive(Serialize)]
struct Report {
    graph: String,
    nodes: usize,
    edges: usize,
    pairs: usize,
    seed: u64,
    /// Walks that arrived.
    arrived: usize,
    /// Walks that are shortest paths.
    optimal: usize,
    /// Pairs of which the model says that there is no way.
    unreachable: usize,
    /// Of the predicted length of each other pair, against the exact one.
    relative_error: Option<Spread>,
    iterations: Spread,
    predictions: usize,
    capped: usize,
    past_safety_cap: usize,
    seconds: f64,
    records: Vec<Record>,
}

#[derive(Serialize)]
struct Record {
    from: Value,
    to: Value,
    optimal_length: f64,
    /// A number, or `unreachable`.
    predicted_length: Value,
    /// Of the path that was found, if the walk arrived.
    length: Option<f64>,
    iterations: usize,
}

#[derive(Serialize)]
struct Spread {
    mean: f64,
    max: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64> + Clone, count: usize) -> Self {
        Self { mean: values.clone().sum::<f64>() / count.max(1) as f64, max: values.fold(0.0, f64::max) }
    }
}

/// Walks between `count` random pairs of different nodes that are joined, and compares each with the exact solver
/// afterwards.
pub(crate) fn run(
    arguments: &SolveArguments,
    terrain: &Terrain,
    finder: &PathFinder<'_>,
    count: usize,
) -> Result<(), Failure> {
    let started = Instant::now();
    let progress = Progress::new("pairs", count as u64);
    let (mut records, mut optimal) = (Vec::with_capacity(count), 0);
    let (mut predictions, mut capped, mut past_safety_cap) = (0, 0, 0);
    let mut kept = Kept::default();
    for index in 0..count as u64 {
        let (source, target) = draw(terrain, arguments.seed, index)?;
        let walked = find(terrain, finder, (source, target), &mut kept, None)?;
        let exact = dijkstra::shortest_path(&terrain.graph, &terrain.weights, source, target);
        let exact = exact.map_err(Failure::bad_input)?.ok_or_else(|| Failure::failed("a pair lost its path"))?;
        optimal += usize::from(walked.path.as_ref().is_some_and(|path| is_shortest(path.length, exact.length)));
        predictions += walked.predictions;
        capped += walked.capped;
        past_safety_cap += walked.past_safety_cap;
        records.push(Record {
            from: terrain.name(source),
            to: terrain.name(target),
            optimal_length: exact.length,
            predicted_length: domain::length_or_unreachable(walked.predicted_length),
            length: walked.path.map(|path| path.length),
            iterations: walked.iterations,
        });
        progress.at(index + 1);
    }
    drop(progress);
    tell_caps(capped, past_safety_cap, predictions);
    let error = |record: &Record| {
        let predicted = record.predicted_length.as_f64()?;
        Some((predicted - record.optimal_length).abs() / record.optimal_length)
    };
    let errors: Vec<f64> = records.iter().filter_map(error).collect();
    let arrived = records.iter().filter(|record| record.length.is_some()).count();
    let report = Report {
        graph: terrain.file.file.clone(),
        nodes: terrain.graph.nodes(),
        edges: terrain.graph.edges(),
        pairs: count,
        seed: arguments.seed,
        arrived,
        optimal,
        unreachable: count - errors.len(),
        relative_error: (!errors.is_empty()).then(|| Spread::of(errors.iter().copied(), errors.len())),
        iterations: Spread::of(records.iter().map(|record| record.iterations as f64), count),
        predictions,
        capped,
        past_safety_cap,
        seconds: started.elapsed().as_secs_f64(),
        records,
    };
    if arguments.json { print_json(&report) } else { print(&table(&report)) }?;
    if arrived == 0 {
        return Err(Failure::failed(format!("{}: none of {count} walks arrived", terrain.file.file)));
    }
    Ok(())
}

/// A pair of different nodes with a path of positive length between them.
fn draw(terrain: &Terrain, seed: u64, index: u64) -> Result<(u32, u32), Failure> {
    let nodes = terrain.graph.nodes() as u32;
    let mut generator = rng::sample(seed, index);
    for _ in 0..ATTEMPTS {
        let (source, target) = (generator.random_range(0..nodes), generator.random_range(0..nodes));
        if source != target && terrain.is_joined(source, target)? {
            return Ok((source, target));
        }
    }
    let file = &terrain.file.file;
    Err(Failure::failed(format!("{file}: {ATTEMPTS} random pairs and no path; try --largest-component")))
}

fn table(report: &Report) -> String {
    let share = |count: usize| format!("{count} of {}", report.pairs);
    let error = |of: fn(&Spread) -> f64| {
        report.relative_error.as_ref().map_or("-".to_owned(), |spread| format!("{:.2e}", of(spread)))
    };
    let row = vec![
        report.graph.clone(),
        report.nodes.to_string(),
        share(report.optimal),
        share(report.arrived),
        error(|spread| spread.mean),
        error(|spread| spread.max),
        format!("{:.1}", report.iterations.mean),
        format!("{:.1}", report.seconds),
    ];
    let header = [
        "graph",
        "nodes",
        "shortest paths",
        "arrived",
        "relative error of the length",
        "largest",
        "iterations",
        "seconds",
    ];
    output::table(&header, [row])
}
