//! `itergnn exact`: the exact solvers on a user's file.

use std::{path::Path, time::Instant};

use itergnn::graph::{
    formats::{GraphFile, read_graph, read_tsp},
    solvers::{
        components, diameter, dijkstra,
        tsp::{self, DistanceMatrix, TspOptions},
    },
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    failure::Failure,
    given::Given,
    options::{ExactArguments, ReadingOptions},
    output::{self, print, print_json, warn},
    progress::Progress,
};

/// How many edges the diameter may look at: a few seconds. Beyond it the answer is a bound.
const DIAMETER_BUDGET: u64 = 2_000_000_000;

pub(crate) fn run(arguments: &ExactArguments, given: &Given) -> Result<(), Failure> {
    if has_extension(&arguments.file, "tsp") {
        given.only("a .tsp file, which has no paths and no directions, only a tour", &["timeout"])?;
        return tour(arguments);
    }
    given.only(kind_of(&arguments.file), &[reading_flags(&arguments.file), &["from", "to"]].concat())?;
    let file = read(&arguments.file, &arguments.reading)?;
    match (&arguments.from, &arguments.to) {
        (Some(from), Some(to)) => path(arguments, &file, from, to),
        _ => summary(arguments, &file),
    }
}

/// Reads a graph, and passes on what the reader has to say about it.
pub(super) fn read(file: &Path, reading: &ReadingOptions) -> Result<GraphFile, Failure> {
    let file = read_graph(file, &reading.options()).map_err(Failure::bad_input)?;
    file.warnings.iter().for_each(|warning| warn(&format!("{}: {warning}", file.file)));
    Ok(file)
}

/// The flags of [`ReadingOptions`] that mean something for a file, by its extension.
pub(super) fn reading_flags(file: &Path) -> &'static [&'static str] {
    let is = |extensions: &[&str]| extensions.iter().any(|extension| has_extension(file, extension));
    match () {
        () if is(&["gr", "map", "graph", "metis"]) => &[],
        () if is(&["json", "jsonl", "ndjson"]) => &["weight-column"],
        () if is(&["graphml", "xml", "mtx"]) => &["directed", "weight-column"],
        () => &["directed", "source-column", "target-column", "weight-column"],
    }
}

/// What a refusal calls a file.
pub(super) fn kind_of(file: &Path) -> &'static str {
    if reading_flags(file).contains(&"directed") { "a graph" } else { "a file that says itself where its edges lead" }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

#[derive(Serialize)]
struct TourAnswer {
    name: String,
    cities: usize,
    length: i64,
    proven: bool,
    lower_bound: i64,
    /// Numbered from 1, as in the file.
    tour: Vec<u32>,
    seconds: f64,
}

fn tour(arguments: &ExactArguments) -> Result<(), Failure> {
    let instance = read_tsp(&arguments.file).map_err(Failure::bad_input)?;
    let started = Instant::now();
    let distances =
        DistanceMatrix::from_fn(instance.dimension, |a, b| instance.distance(a, b)).map_err(Failure::bad_input)?;
    let working = Progress::endless(format!("proving the shortest tour of {} cities", instance.dimension));
    let out_of_time = || arguments.timeout.is_some_and(|limit| started.elapsed() > limit);
    let solution = tsp::solve(&distances, &TspOptions { stop: Some(&out_of_time), ..TspOptions::default() });
    drop(working);
    if !solution.proven {
        warn("the time ran out: the tour is the best that was found, not proven optimal");
    }
    let answer = TourAnswer {
        name: instance.name.clone(),
        cities: instance.dimension,
        length: solution.length,
        proven: solution.proven,
        lower_bound: solution.lower_bound,
        tour: solution.tour.iter().map(|&city| city + 1).collect(),
        seconds: started.elapsed().as_secs_f64(),
    };
    if arguments.json {
        return print_json(&answer);
    }
    let proof = if answer.proven { "proven optimal" } else { "not proven" };
    let tour: Vec<_> = answer.tour.iter().map(u32::to_string).collect();
    print(&format!(
        "{}: shortest tour of {} cities has length {} ({proof}, {:.2} s)\n{}\n",
        answer.name,
        answer.cities,
        answer.length,
        answer.seconds,
        tour.join(" ")
    ))
}

#[derive(Serialize)]
struct PathAnswer {
    from: Value,
    to: Value,
    length: f64,
    hops: usize,
    path: Vec<Value>,
    seconds: f64,
}

/// A node as the file names it: a number, or `"column,row"` on a map.
pub(crate) fn name(file: &GraphFile, node: u32) -> Value {
    let name = file.node_name(node);
    name.parse::<u64>().map_or(Value::String(name), Value::from)
}

fn path(arguments: &ExactArguments, file: &GraphFile, from: &str, to: &str) -> Result<(), Failure> {
    let source = file.find_node(from).map_err(Failure::bad_input)?;
    let target = file.find_node(to).map_err(Failure::bad_input)?;
    let started = Instant::now();
    let found = dijkstra::shortest_path(&file.graph, &file.weights, source, target).map_err(Failure::bad_input)?;
    let found = found.ok_or_else(|| Failure::failed(format!("{}: there is no path from {from} to {to}", file.file)))?;
    let answer = PathAnswer {
        from: name(file, source),
        to: name(file, target),
        length: found.length,
        hops: found.nodes.len() - 1,
        path: found.nodes.iter().map(|&node| name(file, node)).collect(),
        seconds: started.elapsed().as_secs_f64(),
    };
    if arguments.json {
        return print_json(&answer);
    }
    let nodes: Vec<_> = found.nodes.iter().map(|&node| file.node_name(node)).collect();
    print(&format!("{from} to {to}: length {}, {} edges\n{}\n", answer.length, answer.hops, nodes.join(" ")))
}

#[derive(Serialize)]
struct Summary {
    nodes: usize,
    edges: usize,
    components: usize,
    /// The hop diameter, or a lower bound where `diameter_exact` is false.
    diameter: u32,
    diameter_exact: bool,
    diameter_upper: u32,
    seconds: f64,
}

fn summary(arguments: &ExactArguments, file: &GraphFile) -> Result<(), Failure> {
    let started = Instant::now();
    let working = Progress::endless("measuring the diameter");
    let hops = diameter::hop_diameter(&file.graph, DIAMETER_BUDGET);
    drop(working);
    let answer = Summary {
        nodes: file.graph.nodes(),
        edges: file.graph.edges(),
        components: components::count(&file.graph),
        diameter: hops.lower,
        diameter_exact: hops.is_exact(),
        diameter_upper: hops.upper,
        seconds: started.elapsed().as_secs_f64(),
    };
    if arguments.json {
        return print_json(&answer);
    }
    let diameter = if answer.diameter_exact {
        answer.diameter.to_string()
    } else {
        format!("{} to {}", answer.diameter, answer.diameter_upper)
    };
    let row = [answer.nodes.to_string(), answer.edges.to_string(), answer.components.to_string(), diameter];
    print(&output::table(&["nodes", "directed edges", "components", "hop diameter"], [row.to_vec()]))
}
