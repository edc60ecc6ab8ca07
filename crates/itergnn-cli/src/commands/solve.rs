//! `itergnn solve`: a path through a user's graph, steered by a model's predictions.

use std::time::Instant;

use itergnn::{
    graph::{
        formats::{GraphFile, GridMap},
        solvers::dijkstra,
    },
    nn::{RunOptions, controllers::SAFETY_CAP, store::ModelCard},
    tasks::{Task, shortest_path::is_shortest},
    train::{
        TrainError,
        evaluation::{Found, Kept, Marks, PathFinder, Searched},
    },
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    commands::{domain, exact, model, random_pairs, solve_image, terrain::Terrain, train::failure},
    drawing::{Drawing, GridPicture},
    estimate::{Allowance, RECORD_BYTES},
    failure::Failure,
    given::Given,
    options::SolveArguments,
    output::{print, print_json, warn},
    progress::Progress,
};

/// What the progress of a search counts: the way that is behind, by the predictions.
pub(super) const WALKED: &str = "way, in percent";
pub(super) const PERCENT: u64 = 100;

#[derive(Serialize)]
struct Answer {
    /// What predicts, in one line.
    architecture: String,
    from: Value,
    to: Value,
    path: Vec<Value>,
    /// The true length of the path that was found.
    length: f64,
    /// What the model says of source and target: a number, or `unreachable`.
    predicted_length: Value,
    /// Of the prediction for source and target.
    iterations: usize,
    /// Predictions that the walk needed.
    predictions: usize,
    /// Predictions that a cap ended: they are not the model's last word.
    capped: usize,
    /// Predictions that took more iterations than the safety cap of other models and stopped by themselves.
    past_safety_cap: usize,
    /// Of the graph that was searched.
    nodes: usize,
    edges: usize,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_length: Option<f64>,
}

/// Flags of every search.
const SEARCH: [&str; 7] = ["max-iterations", "memory", "device", "threads", "timeout", "engine", "check"];

pub(crate) fn run(arguments: &SolveArguments, given: &Given) -> Result<(), Failure> {
    refuse_flags(arguments, given)?;
    if let Some(picture) = &arguments.picture {
        Drawing::check_name(picture)?;
    }
    let allowance = Allowance::of(arguments.memory)?;
    if let Some(pairs) = arguments.pairs {
        if pairs == 0 {
            return Err(Failure::bad_input("--pairs 0: at least one is needed"));
        }
        allowance.check_count("--pairs", pairs as u64, RECORD_BYTES)?;
    }
    let device = arguments.compute.start_anywhere()?;
    arguments.time.start();
    if let Some(image) = &arguments.image {
        return solve_image::run(arguments, image, &device, &allowance);
    }
    let (model, card) = model::load(&arguments.model)?;
    check_task(arguments, &card)?;
    let widths = model.config().widths();
    if (widths.node_width, widths.edge_width, widths.output_width) != (3, 1, 1) {
        let why = "a shortest-path model takes nodes of width 3 and edges of width 1 and gives one number";
        return Err(Failure::bad_input(format!("{}: {why}; this one does not", arguments.model.display())));
    }
    let predictor = arguments.compute.predictor(&model, &device)?;
    let terrain = Terrain::read(arguments)?;
    if arguments.picture.is_some() {
        map_of(&terrain.file)?;
    }
    let (nodes, edges) = (terrain.graph.nodes(), terrain.graph.edges());
    let what = format!("{}: a graph of {nodes} nodes and {edges} edges", terrain.file.file);
    allowance.check_search(&what, predictor.bytes(nodes, edges), predictor.record_bytes(nodes))?;
    domain::warn_outside(&card, &terrain.file.graph);
    let mut options = RunOptions::inference().with_engine(arguments.engine.engine);
    options.cap = arguments.max_iterations;
    let finder = PathFinder {
        predictor: &*predictor,
        graph: &terrain.graph,
        weights: &terrain.weights,
        marks: Marks::for_weights(&terrain.weights),
        options,
        memory: allowance.for_predictions(),
    };
    match (&arguments.from, &arguments.to, arguments.pairs) {
        (Some(from), Some(to), _) => one(arguments, &terrain, &finder, from, to),
        (_, _, Some(pairs)) => random_pairs::run(arguments, &terrain, &finder, pairs),
        _ => Err(Failure::bad_input("give --from and --to, or --pairs N")),
    }
}

/// Refuses what means nothing for what is searched: a picture, a pair of nodes, or random pairs.
fn refuse_flags(arguments: &SolveArguments, given: &Given) -> Result<(), Failure> {
    let Some(graph) = &arguments.graph else {
        return given.only("a map of heights", &[&SEARCH[..], &["image", "from", "to", "picture"]].concat());
    };
    let ends = match arguments.pairs {
        Some(_) => &["graph", "largest-component", "pairs", "seed"][..],
        None => &["graph", "largest-component", "from", "to", "picture"],
    };
    let what = if arguments.pairs.is_some() { "random pairs of nodes" } else { exact::kind_of(graph) };
    given.only(what, &[&SEARCH[..], ends, exact::reading_flags(graph)].concat())
}

/// Refuses a model that says it was trained on something else.
fn check_task(arguments: &SolveArguments, card: &ModelCard) -> Result<(), Failure> {
    match card.task.parse::<Task>() {
        Ok(task) if task != Task::ShortestPath => {
            let model = arguments.model.display();
            Err(Failure::bad_input(format!("{model}: it was trained on {task}, and solve needs a shortest-path model")))
        }
        _ => Ok(()),
    }
}

/// Refuses a graph that has no places to draw.
fn map_of(file: &GraphFile) -> Result<&GridMap, Failure> {
    let why = || Failure::bad_input(format!("{}: --picture draws maps, and this graph has no places", file.file));
    file.grid.as_ref().ok_or_else(why)
}

fn one(
    arguments: &SolveArguments,
    terrain: &Terrain,
    finder: &PathFinder<'_>,
    from: &str,
    to: &str,
) -> Result<(), Failure> {
    let (source, target) = (terrain.find("--from", from)?, terrain.find("--to", to)?);
    let file = &terrain.file.file;
    if !terrain.is_joined(source, target)? {
        return Err(Failure::failed(format!("{file}: there is no path from {from} to {to}")));
    }
    let started = Instant::now();
    let progress = Progress::new(WALKED, PERCENT);
    let walked = find(terrain, finder, (source, target), &mut Kept::default(), Some(&progress))?;
    drop(progress);
    tell_caps(walked.capped, walked.past_safety_cap, walked.predictions);
    let predicted_length = domain::length_or_unreachable(walked.predicted_length);
    let path = walked.path.ok_or_else(|| {
        Failure::failed(format!("{file}: from {from} to {to}: {}", domain::why_nowhere(&predicted_length)))
    })?;
    let seconds = started.elapsed().as_secs_f64();
    // The exact solver is asked only now; nothing above has seen its answer.
    let exact = match arguments.check {
        true => {
            dijkstra::shortest_path(&terrain.graph, &terrain.weights, source, target).map_err(Failure::bad_input)?
        }
        false => None,
    };
    if let Some(picture) = &arguments.picture {
        let map = map_of(&terrain.file)?;
        let place = |&node: &u32| {
            let (column, row) = map.cell_of(terrain.in_file(node));
            [column, row]
        };
        GridPicture::of_map(map).drawing(path.nodes.iter().map(place)).write(picture)?;
    }
    let answer = Answer {
        architecture: finder.predictor.architecture(),
        from: terrain.name(source),
        to: terrain.name(target),
        path: path.nodes.iter().map(|&node| terrain.name(node)).collect(),
        length: path.length,
        predicted_length,
        iterations: walked.iterations,
        predictions: walked.predictions,
        capped: walked.capped,
        past_safety_cap: walked.past_safety_cap,
        nodes: terrain.graph.nodes(),
        edges: terrain.graph.edges(),
        seconds,
        optimal: exact.as_ref().map(|exact| is_shortest(path.length, exact.length)),
        optimal_length: exact.map(|exact| exact.length),
    };
    if arguments.json { print_json(&answer) } else { print(&text(file, from, to, &answer)) }
}

/// Walks from one node to another, and calls the nodes by their names where that fails.
pub(crate) fn find(
    terrain: &Terrain,
    finder: &PathFinder<'_>,
    (source, target): (u32, u32),
    kept: &mut Kept,
    progress: Option<&Progress>,
) -> Result<Found, Failure> {
    let mut tell = |searched: Searched| {
        if let Some(progress) = progress {
            progress.at((searched.share * PERCENT as f64) as u64);
        }
        true
    };
    finder.find_next(source, target, kept, &mut tell).map_err(|error| match error {
        TrainError::PathNotFinite { from, to, iteration } => {
            let (from, to) = (terrain.name(from), terrain.name(to));
            Failure::failed(format!("from {from} to {to}: a value of the model is not finite at iteration {iteration}"))
        }
        error => failure(error),
    })
}

/// Warns when predictions are not what an unlimited loop would give, or took very long.
pub(crate) fn tell_caps(capped: usize, past_safety_cap: usize, predictions: usize) {
    if capped > 0 {
        warn(&format!("{capped} of {predictions} predictions did not stop by themselves: a cap ended them"));
    }
    if past_safety_cap > 0 {
        warn(&format!("{past_safety_cap} of {predictions} predictions took more than {SAFETY_CAP} iterations"));
    }
}

fn text(file: &str, from: &str, to: &str, answer: &Answer) -> String {
    let verdict = match (answer.optimal, answer.optimal_length) {
        (Some(true), _) => "; it is a shortest path".to_owned(),
        (Some(false), Some(length)) => format!("; a shortest path has length {length}"),
        _ => String::new(),
    };
    let nodes: Vec<_> = answer.path.iter().map(|node| node.as_str().map_or(node.to_string(), str::to_owned)).collect();
    format!(
        "{file}: {from} to {to}: length {} (predicted {} after {} iterations){verdict}\n{}\npredicted by {}\n",
        answer.length,
        domain::shown(&answer.predicted_length),
        answer.iterations,
        nodes.join(" "),
        answer.architecture
    )
}
