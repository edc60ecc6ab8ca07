//! `itergnn solve --image`: a path through a picture, steered by a model's predictions.

use std::{path::Path, time::Instant};

use itergnn::{
    graph::{
        Attributes, EdgeWeights, Graph, Path as GraphPath, generators,
        solvers::grid::{CellGrid, Connectivity},
    },
    nn::{Device, RunOptions, store::ModelCard},
    tasks::{TaskSpec, navigation::NavigationSpec, shortest_path::is_shortest},
    train::evaluation::{Marks, PathFinder, Searched},
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    commands::{
        domain, model,
        solve::{PERCENT, WALKED, tell_caps},
        train::failure,
    },
    drawing::GridPicture,
    estimate::Allowance,
    failure::Failure,
    height_map::HeightMap,
    options::SolveArguments,
    output::{print, print_json},
    progress::Progress,
};

#[derive(Serialize)]
struct Answer {
    /// What predicts, in one line.
    architecture: String,
    from: [usize; 2],
    to: [usize; 2],
    /// Cells as `[column, row]`.
    path: Vec<[usize; 2]>,
    /// Steps of the path that was found.
    length: f64,
    /// What the model says of source and target: a number, or `unreachable`.
    predicted_length: Value,
    /// Of the prediction for source and target.
    iterations: usize,
    /// Predictions that the walk needed.
    predictions: usize,
    seconds: f64,
    /// Whether the path keeps to cells that can be entered and is as short as possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_length: Option<f64>,
}

/// What the user calls source and target; empty where it was not given.
fn ends(arguments: &SolveArguments) -> (&str, &str) {
    (arguments.from.as_deref().unwrap_or_default(), arguments.to.as_deref().unwrap_or_default())
}

pub(crate) fn run(
    arguments: &SolveArguments,
    image: &Path,
    device: &Device,
    allowance: &Allowance,
) -> Result<(), Failure> {
    let (model, card) = model::load(&arguments.model)?;
    let widths = model.config().widths();
    if (widths.node_width, widths.edge_width, widths.output_width) != (4, 1, 1) {
        return Err(Failure::bad_input("this model is not one of image navigation: see its card for the task"));
    }
    let map = HeightMap::read(image)?;
    let (from, to) = ends(arguments);
    if from.is_empty() || to.is_empty() {
        return Err(Failure::bad_input("give --from COLUMN,ROW and --to COLUMN,ROW"));
    }
    let (source, target) = (map.find("--from", from)?, map.find("--to", to)?);
    if let Some(picture) = &arguments.picture {
        map.check_picture(picture)?;
    }
    let graph = graph_of(&map)?;
    let weights = EdgeWeights::unit(&graph);
    let predictor = arguments.compute.predictor(&model, device)?;
    let (needed, of_iteration) = (predictor.bytes(graph.nodes(), graph.edges()), predictor.record_bytes(graph.nodes()));
    allowance.check_search(&image.display().to_string(), needed, of_iteration)?;
    let mut options = RunOptions::inference().with_engine(arguments.engine.engine);
    options.cap = arguments.max_iterations;
    let memory = allowance.for_predictions();
    let (marks, weights) = (Marks::EndsBehindHeight, &weights);
    let finder = PathFinder { predictor: &*predictor, graph: &graph, weights, marks, options, memory };
    let started = Instant::now();
    let progress = Progress::new(WALKED, PERCENT);
    let mut tell = |searched: Searched| {
        progress.at((searched.share * PERCENT as f64) as u64);
        true
    };
    let found = finder.find(source, target, &mut tell).map_err(failure)?;
    drop(progress);
    tell_caps(found.capped, found.past_safety_cap, found.predictions);
    let predicted_length = domain::length_or_unreachable(found.predicted_length);
    let path = found.path.ok_or_else(|| {
        Failure::failed(format!("{}: from {from} to {to}: {}", image.display(), domain::why_nowhere(&predicted_length)))
    })?;
    let seconds = started.elapsed().as_secs_f64();
    // The exact solver is asked only now; nothing above has seen its answer, or which heights are in the way.
    let exact = if arguments.check { Some(check(&map, &card, &path, source, target)?) } else { None };
    if let Some(picture) = &arguments.picture {
        GridPicture::of_heights(&map).drawing(path.nodes.iter().map(|&cell| map.place(cell))).write(picture)?;
    }
    let answer = Answer {
        architecture: model.config().architecture_line(),
        from: map.place(source),
        to: map.place(target),
        path: path.nodes.iter().map(|&cell| map.place(cell)).collect(),
        length: path.length,
        predicted_length,
        iterations: found.iterations,
        predictions: found.predictions,
        seconds,
        optimal: exact.map(|exact| exact.0),
        optimal_length: exact.and_then(|exact| exact.1),
    };
    if arguments.json { print_json(&answer) } else { print(&text(image, arguments, &answer)) }
}

/// The picture as a model sees it, but for the marks.
fn graph_of(map: &HeightMap) -> Result<Graph, Failure> {
    let graph = generators::grid(map.rows, map.columns).map_err(Failure::bad_input)?;
    let ones = Attributes::new(1, vec![1.0; graph.edges()]);
    let graph = graph.with_node_attributes(Attributes::new(1, map.heights.clone()));
    graph.and_then(|graph| graph.with_edge_attributes(ones)).map_err(Failure::bad_input)
}

/// Whether a path is free and as short as possible, and the shortest length if there is a way.
fn check(
    map: &HeightMap,
    card: &ModelCard,
    path: &GraphPath,
    source: u32,
    target: u32,
) -> Result<(bool, Option<f64>), Failure> {
    let limit = blocked_above(card);
    let free: Vec<bool> = map.heights.iter().map(|&height| height <= limit).collect();
    let walkable = path.nodes.iter().all(|&cell| free[cell as usize]);
    let cells = CellGrid::new(map.rows, map.columns, free).map_err(Failure::bad_input)?;
    let ends_are_free = cells.is_free(source) && cells.is_free(target);
    let exact = match ends_are_free {
        true => cells.shortest_path(source, target, Connectivity::Four).map_err(Failure::bad_input)?,
        false => None,
    };
    let optimal = walkable && exact.as_ref().is_some_and(|exact| is_shortest(path.length, exact.length));
    Ok((optimal, exact.map(|exact| exact.length)))
}

/// The heights that were in the way in training.
fn blocked_above(card: &ModelCard) -> f32 {
    match domain::trained_on(card) {
        Some(TaskSpec::Navigation(spec)) => spec.blocked_above,
        _ => NavigationSpec::default().blocked_above,
    }
}

fn text(image: &Path, arguments: &SolveArguments, answer: &Answer) -> String {
    let verdict = match (answer.optimal, answer.optimal_length) {
        (Some(true), _) => "; it is a shortest path".to_owned(),
        (Some(false), Some(length)) => format!("; a shortest path has length {length}"),
        (Some(false), None) => "; there is no path".to_owned(),
        _ => String::new(),
    };
    let cells: Vec<String> = answer.path.iter().map(|[column, row]| format!("{column},{row}")).collect();
    format!(
        "{}: {} to {}: length {} (predicted {} after {} iterations){verdict}\n{}\npredicted by {}\n",
        image.display(),
        ends(arguments).0,
        ends(arguments).1,
        answer.length,
        domain::shown(&answer.predicted_length),
        answer.iterations,
        cells.join(" "),
        answer.architecture
    )
}
