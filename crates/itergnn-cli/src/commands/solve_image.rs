//! `itergnn solve --image`: a path through a picture, steered by a model's predictions.

use std::{path::Path, time::Instant};

use itergnn::{
    graph::{
        Attributes, EdgeWeights, Graph, generators,
        solvers::grid::{CellGrid, Connectivity},
    },
    nn::{Device, RunOptions, store::ModelCard},
    tasks::{
        TaskSpec,
        navigation::{NavigationSpec, mark_ends},
        shortest_path::{Walk, WalkRule, is_shortest},
    },
    train::{
        RunConfig,
        evaluation::{ModelPredictor, Predictor},
    },
};
use serde::Serialize;

use crate::{
    commands::{model, train::failure},
    drawing::GridPicture,
    failure::Failure,
    height_map::HeightMap,
    options::SolveArguments,
    output::{print, print_json},
    progress::Progress,
};

/// A prediction beyond this many times the number of cells is no length: the model sees no way.
const NO_WAY: f64 = 1e6;

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
    /// What the model says of source and target.
    predicted_length: f64,
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

/// The cells of a walk and what it took.
struct Found {
    cells: Vec<u32>,
    length: f64,
    predicted_length: f64,
    iterations: usize,
    predictions: usize,
}

/// What the user calls source and target; empty where it was not given.
fn ends(arguments: &SolveArguments) -> (&str, &str) {
    (arguments.from.as_deref().unwrap_or_default(), arguments.to.as_deref().unwrap_or_default())
}

pub(crate) fn run(arguments: &SolveArguments, image: &Path, device: &Device) -> Result<(), Failure> {
    let (model, card) = model::load(&arguments.model, device)?;
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
    let started = Instant::now();
    let found = walk(&map, &ModelPredictor::new(&model, device), source, target)
        .map_err(|failure| about(image, arguments, failure))?;
    let seconds = started.elapsed().as_secs_f64();
    // The exact solver is asked only now; nothing above has seen its answer, or which heights are in the way.
    let exact = if arguments.check { Some(check(&map, &card, &found, source, target)?) } else { None };
    if let Some(picture) = &arguments.picture {
        GridPicture::of_heights(&map).drawing(found.cells.iter().map(|&cell| map.place(cell))).write(picture)?;
    }
    let answer = Answer {
        architecture: model.config().architecture_line(),
        from: map.place(source),
        to: map.place(target),
        path: found.cells.iter().map(|&cell| map.place(cell)).collect(),
        length: found.length,
        predicted_length: found.predicted_length,
        iterations: found.iterations,
        predictions: found.predictions,
        seconds,
        optimal: exact.map(|exact| exact.0),
        optimal_length: exact.and_then(|exact| exact.1),
    };
    if arguments.json { print_json(&answer) } else { print(&text(image, arguments, &answer)) }
}

fn about(image: &Path, arguments: &SolveArguments, failure: Failure) -> Failure {
    match failure {
        Failure::Failed(why) => {
            let (from, to) = ends(arguments);
            Failure::Failed(format!("{}: from {from} to {to}: {why}", image.display()))
        }
        failure => failure,
    }
}

fn walk(map: &HeightMap, predictor: &dyn Predictor, source: u32, target: u32) -> Result<Found, Failure> {
    let graph = generators::grid(map.rows, map.columns).map_err(Failure::bad_input)?;
    let ones = Attributes::new(1, vec![1.0; graph.edges()]);
    let graph = graph
        .with_node_attributes(Attributes::new(1, map.heights.clone()))
        .and_then(|graph| graph.with_edge_attributes(ones))
        .map_err(Failure::bad_input)?;
    let weights = EdgeWeights::unit(&graph);
    let progress = Progress::endless("predictions");
    let (mut predicted_length, mut iterations, mut predictions) = (0.0, 0, 0);
    let mut walk = Walk::new(&graph, &weights, source, target, WalkRule::AsWritten).map_err(Failure::bad_input)?;
    while !walk.questions().is_empty() {
        let asked = walk.questions().to_vec();
        let graphs = asked.iter().map(|&(from, to)| mark_ends(graph.clone(), from, to));
        let graphs = graphs.collect::<Result<Vec<_>, _>>().map_err(Failure::bad_input)?;
        let borrowed: Vec<&Graph> = graphs.iter().collect();
        let predicted = predictor.predict(&borrowed, &RunOptions::inference()).map_err(failure)?;
        let lengths: Vec<f32> =
            predicted.values.iter().map(|values| values.first().copied().unwrap_or(f32::NAN)).collect();
        if let Some(at) = asked.iter().position(|&pair| pair == (source, target)) {
            (predicted_length, iterations) = (f64::from(lengths[at]), predicted.iterations[at]);
            if predicted_length.abs() > NO_WAY * map.heights.len() as f64 {
                return Err(Failure::failed("the model sees no way: an end is blocked, or nothing connects them"));
            }
        }
        predictions += asked.len();
        progress.at(predictions as u64);
        walk.supply(&lengths);
    }
    drop(progress);
    let path = walk.path().ok_or_else(|| {
        let why = "the predictions lead nowhere: no neighbour fits them";
        Failure::failed(format!("{why} (predicted length {predicted_length})"))
    })?;
    Ok(Found { cells: path.nodes, length: path.length, predicted_length, iterations, predictions })
}

/// Whether a path is free and as short as possible, and the shortest length if there is a way.
fn check(
    map: &HeightMap,
    card: &ModelCard,
    found: &Found,
    source: u32,
    target: u32,
) -> Result<(bool, Option<f64>), Failure> {
    let limit = blocked_above(card);
    let free: Vec<bool> = map.heights.iter().map(|&height| height <= limit).collect();
    let walkable = found.cells.iter().all(|&cell| free[cell as usize]);
    let cells = CellGrid::new(map.rows, map.columns, free).map_err(Failure::bad_input)?;
    let ends_are_free = cells.is_free(source) && cells.is_free(target);
    let exact = match ends_are_free {
        true => cells.shortest_path(source, target, Connectivity::Four).map_err(Failure::bad_input)?,
        false => None,
    };
    let optimal = walkable && exact.as_ref().is_some_and(|exact| is_shortest(found.length, exact.length));
    Ok((optimal, exact.map(|exact| exact.length)))
}

/// The heights that were in the way in training.
fn blocked_above(card: &ModelCard) -> f32 {
    match RunConfig::of_card(card).map(|config| config.task) {
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
        "{}: {} to {}: length {} (predicted {:.3} after {} iterations){verdict}\n{}\npredicted by {}\n",
        image.display(),
        ends(arguments).0,
        ends(arguments).1,
        answer.length,
        answer.predicted_length,
        answer.iterations,
        cells.join(" "),
        answer.architecture
    )
}
