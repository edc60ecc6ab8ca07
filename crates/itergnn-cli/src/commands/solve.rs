//! `itergnn solve`: a path through a user's graph, steered by a model's predictions.

use std::time::Instant;

use itergnn::{
    graph::{
        Attributes, EdgeWeights, Graph,
        formats::{GraphFile, ReadOptions, read_graph},
        solvers::{bfs, dijkstra},
    },
    nn::{Device, RunOptions},
    tasks::shortest_path::{Walk, WalkState, is_shortest, mark_ends},
    train::evaluation::{ModelPredictor, Predictor},
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    commands::{exact::name, model, solve_image, train::failure},
    failure::Failure,
    options::SolveArguments,
    output::{note, print, print_json},
    progress,
};

/// Memory that predictions may take together.
const MEMORY: u64 = 1 << 30;

#[derive(Serialize)]
struct Answer {
    from: Value,
    to: Value,
    path: Vec<Value>,
    /// The true length of the path that was found.
    length: f64,
    /// What the model says of source and target.
    predicted_length: f64,
    /// Of the prediction for source and target.
    iterations: usize,
    /// Predictions that the walk needed.
    predictions: usize,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_length: Option<f64>,
}

pub(crate) fn run(arguments: &SolveArguments) -> Result<(), Failure> {
    if let Some(image) = &arguments.image {
        return solve_image::run(arguments, image);
    }
    let graph_file = arguments
        .graph
        .as_ref()
        .ok_or_else(|| Failure::bad_input("give a graph with --graph or a map with --image"))?;
    let device = Device::flex();
    let (model, _) = model::load(&arguments.model, &device)?;
    let widths = (model.config().node_width(), model.config().edge_width(), model.config().output_width());
    if widths != (3, 1, 1) {
        return Err(Failure::bad_input("this model is not one of shortest paths: see its card for the task"));
    }
    let options = ReadOptions { directed: arguments.directed.then_some(true), ..ReadOptions::default() };
    let file = read_graph(graph_file, &options).map_err(Failure::bad_input)?;
    for warning in &file.warnings {
        note(&format!("itergnn: {}: {warning}", file.file));
    }
    let source = file.find_node(&arguments.from).map_err(Failure::bad_input)?;
    let target = file.find_node(&arguments.to).map_err(Failure::bad_input)?;
    let hops = bfs::hops_to(&file.graph, target).map_err(Failure::bad_input)?;
    if hops[source as usize] == bfs::UNREACHED {
        let (from, to) = (&arguments.from, &arguments.to);
        return Err(Failure::failed(format!("{}: there is no path from {from} to {to}", file.file)));
    }
    let predictor = ModelPredictor::new(&model, &device);
    check_memory(&predictor, &file.graph)?;
    let answer = solve(arguments, &file, &predictor, source, target)?;
    if arguments.json { print_json(&answer) } else { print(&text(arguments, &file, &answer)) }
}

fn solve(
    arguments: &SolveArguments,
    file: &GraphFile,
    predictor: &dyn Predictor,
    source: u32,
    target: u32,
) -> Result<Answer, Failure> {
    let started = Instant::now();
    let weights = EdgeWeights::from_attribute(&file.graph, 0).map_err(Failure::bad_input)?;
    let seen = Seen::new(&file.graph, &weights)?;
    let spinner = progress::spinner("walking");
    let (mut predicted_length, mut iterations, mut predictions) = (0.0, 0, 0);
    let mut walk = Walk::new(&file.graph, &weights, source, target).map_err(Failure::bad_input)?;
    while let WalkState::Asking(nodes) = walk.state() {
        let asked = nodes.to_vec();
        let answers = seen.predict(predictor, &asked, target)?;
        if let Some(at) = asked.iter().position(|&node| node == source) {
            (predicted_length, iterations) = (f64::from(answers[at].0), answers[at].1);
        }
        predictions += asked.len();
        spinner.set_message(format!("walking: {predictions} predictions"));
        walk.supply(&answers.iter().map(|answer| answer.0).collect::<Vec<_>>());
    }
    spinner.finish_and_clear();
    let path = walk.path().ok_or_else(|| {
        let why = "the predictions lead nowhere: no neighbour fits them";
        Failure::failed(format!("{}: {why} (predicted length {predicted_length})", file.file))
    })?;
    let seconds = started.elapsed().as_secs_f64();
    // The exact solver is asked only now; nothing above has seen its answer.
    let exact = match arguments.check {
        true => dijkstra::shortest_path(&file.graph, &weights, source, target).map_err(Failure::bad_input)?,
        false => None,
    };
    Ok(Answer {
        from: name(file, source),
        to: name(file, target),
        path: path.nodes.iter().map(|&node| name(file, node)).collect(),
        length: path.length,
        predicted_length,
        iterations,
        predictions,
        seconds,
        optimal: exact.as_ref().map(|exact| is_shortest(&path, exact.length)),
        optimal_length: exact.map(|exact| exact.length),
    })
}

/// The graph as the model sees it.
struct Seen {
    graph: Graph,
    /// The size of the one-hot marks: the mean weight, as in training, where weights around 1 go with marks of 1.
    scale: f32,
}

impl Seen {
    fn new(graph: &Graph, weights: &EdgeWeights) -> Result<Self, Failure> {
        let values: Vec<f32> = weights.as_slice().iter().map(|&weight| weight as f32).collect();
        let mean = weights.as_slice().iter().sum::<f64>() / values.len().max(1) as f64;
        let mut original = vec![0.0; values.len()];
        for (&edge, &value) in graph.original_edges().iter().zip(&values) {
            original[edge as usize] = value;
        }
        let graph = graph.clone().with_edge_attributes(Attributes::new(1, original)).map_err(Failure::bad_input)?;
        Ok(Self { graph, scale: if mean > 0.0 { mean as f32 } else { 1.0 } })
    }

    /// Predicted length and iterations from each node to the target.
    fn predict(&self, predictor: &dyn Predictor, nodes: &[u32], target: u32) -> Result<Vec<(f32, usize)>, Failure> {
        let bytes = predictor.bytes(self.graph.nodes(), self.graph.edges()).max(1);
        let at_once = (MEMORY / bytes).max(1) as usize;
        let mut answers = Vec::with_capacity(nodes.len());
        for part in nodes.chunks(at_once) {
            let graphs = part.iter().map(|&node| mark_ends(self.graph.clone(), node, target, self.scale));
            let graphs = graphs.collect::<Result<Vec<_>, _>>().map_err(Failure::bad_input)?;
            let borrowed: Vec<&Graph> = graphs.iter().collect();
            let predicted = predictor.predict(&borrowed, &RunOptions::inference()).map_err(failure)?;
            if let Some((&node, iteration)) =
                part.iter().zip(&predicted.overflows).find_map(|(node, overflow)| Some((node, (*overflow)?)))
            {
                let why = format!("a value of the model is not finite at iteration {iteration}");
                return Err(Failure::failed(format!("from node {node} to node {target}: {why}")));
            }
            let lengths = predicted.values.iter().map(|values| values.first().copied().unwrap_or(f32::NAN));
            answers.extend(lengths.zip(predicted.iterations));
        }
        Ok(answers)
    }
}

/// Refuses a graph that one prediction cannot hold in memory, and says what it needs.
fn check_memory(predictor: &dyn Predictor, graph: &Graph) -> Result<(), Failure> {
    let needed = predictor.bytes(graph.nodes(), graph.edges());
    match available_memory() {
        Some(available) if needed > available => {
            let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
            let why = format!("needs about {:.1} GiB of memory, {:.1} GiB are free", gib(needed), gib(available));
            Err(Failure::failed(format!("a graph of {} nodes {why}", graph.nodes())))
        }
        _ => Ok(()),
    }
}

/// Bytes that can still be had, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kibibytes)
}

fn text(arguments: &SolveArguments, file: &GraphFile, answer: &Answer) -> String {
    let verdict = match (answer.optimal, answer.optimal_length) {
        (Some(true), _) => "; it is a shortest path".to_owned(),
        (Some(false), Some(length)) => format!("; a shortest path has length {length}"),
        _ => String::new(),
    };
    let nodes: Vec<_> = answer.path.iter().map(|node| node.as_str().map_or(node.to_string(), str::to_owned)).collect();
    format!(
        "{}: {} to {}: length {} (predicted {:.3} after {} iterations){verdict}\n{}\n",
        file.file,
        arguments.from,
        arguments.to,
        answer.length,
        answer.predicted_length,
        answer.iterations,
        nodes.join(" ")
    )
}
