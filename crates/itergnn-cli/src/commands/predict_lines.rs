//! `itergnn predict --data`: a line of JSON for every line.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use itergnn::{
    graph::{Graph, formats::SampleReader},
    nn::{GnnModel, Level, TaskWidths, store::ModelCard},
    train::{
        OwnTask,
        evaluation::{EvalOptions, Predictor, predict_graphs},
    },
};
use serde_json::{Value, json};

use crate::{
    commands::{own, train::failure},
    estimate::Allowance,
    failure::Failure,
    options::PredictArguments,
    output::{print, warn},
};

/// Graphs that are predicted together on the CPU at most, and the nodes and edges that wait for it anywhere.
const PART: usize = 128;
const PART_ELEMENTS: usize = 1 << 22;

/// A graph and the line it stands in.
type Numbered = (u64, Graph);

/// Predicts for every graph of a file. Lines are read ahead, and those that have come are predicted together: a slow
/// writer gets its answers one by one.
pub(crate) fn run(
    arguments: &PredictArguments,
    file: &Path,
    model: &GnnModel,
    card: &ModelCard,
    predictor: &dyn Predictor,
) -> Result<(), Failure> {
    let task = own::task_of(card);
    let most = PART.max(predictor.largest_batch());
    let options =
        EvalOptions { engine: arguments.engine.engine, cap: arguments.max_iterations, ..EvalOptions::default() };
    let (sender, receiver) = sync_channel(most);
    let (path, widths, reads_edges) =
        (file.to_owned(), model.config().widths(), model.config().settings().reads_edges());
    // Not waited for: after an error it may be in the middle of a read that never ends.
    thread::spawn(move || read(path, widths, reads_edges, &sender));
    let mut capped = 0;
    while let Some((part, broken)) = next_part(&receiver, most) {
        let graphs: Vec<&Graph> = part.iter().map(|(_, graph)| graph).collect();
        if let Some((line, graph)) = part.iter().max_by_key(|(_, graph)| graph.nodes() + graph.edges()) {
            let (nodes, edges) = (graph.nodes(), graph.edges());
            let what = format!("{}, line {line}: {nodes} nodes and {edges} edges", file.display());
            Allowance::free().check(&what, predictor.bytes(nodes, edges))?;
        }
        let predicted = predict_graphs(predictor, &graphs, &options).map_err(failure)?;
        let mut text = String::new();
        for (index, (line, graph)) in part.iter().enumerate() {
            if let Some(iteration) = predicted.overflows[index] {
                print(&text)?;
                let why =
                    format!("a value of the model is not finite at iteration {iteration}: there is no prediction");
                return Err(Failure::failed(format!("{}, line {line}: {why}", file.display())));
            }
            let mut answer = answer(graph, &predicted.values[index], widths.output_width, task.as_ref());
            answer["iterations"] = json!(predicted.loops.iterations[index]);
            text += &format!("{answer}\n");
        }
        print(&text)?;
        capped += predicted.loops.capped.iter().filter(|&&capped| capped).count();
        if let Some(error) = broken {
            return Err(error);
        }
    }
    if capped > 0 {
        warn(&format!("{capped} graphs did not stop by themselves: their predictions are what they had at the cap"));
    }
    Ok(())
}

/// The graphs that have come, at least one and `most` at most, and what was wrong with the line after them; `None`
/// after the last.
fn next_part(receiver: &Receiver<Result<Numbered, Failure>>, most: usize) -> Option<(Vec<Numbered>, Option<Failure>)> {
    let mut next = receiver.recv().ok()?;
    let (mut part, mut elements) = (Vec::new(), 0);
    loop {
        match next {
            Err(error) => return Some((part, Some(error))),
            Ok((line, graph)) => {
                elements += graph.nodes() + graph.edges();
                part.push((line, graph));
            }
        }
        if part.len() == most || elements >= PART_ELEMENTS {
            return Some((part, None));
        }
        match receiver.try_recv() {
            Ok(more) => next = more,
            Err(_) => return Some((part, None)),
        }
    }
}

/// Reads graphs until the end, the first fault, or until nobody waits any more.
fn read(file: PathBuf, widths: TaskWidths, reads_edges: bool, sender: &SyncSender<Result<Numbered, Failure>>) {
    let mut samples = match SampleReader::open(&file) {
        Ok(samples) => samples,
        Err(error) => return drop(sender.send(Err(Failure::bad_input(error)))),
    };
    while let Some(record) = samples.next() {
        let line = samples.line();
        let at = |why: String| Failure::bad_input(format!("{}, line {line}: {why}", file.display()));
        let graph = match record {
            Ok(record) => record.graph().map_err(|error| at(error.to_string())),
            Err(error) => Err(Failure::bad_input(error)),
        };
        let graph = graph.and_then(|graph| match misfit(&graph, widths, reads_edges) {
            Some(why) => Err(at(why)),
            None => Ok((line, graph)),
        });
        let is_last = graph.is_err();
        if sender.send(graph).is_err() || is_last {
            return;
        }
    }
}

/// What keeps a model from taking a graph.
fn misfit(graph: &Graph, widths: TaskWidths, reads_edges: bool) -> Option<String> {
    let (nodes, edges) = (graph.node_attributes().width(), graph.edge_attributes().width());
    if nodes != widths.node_width {
        return Some(format!("node attributes of width {nodes}, the model expects {}", widths.node_width));
    }
    let unfit = reads_edges && graph.edges() > 0 && edges != widths.edge_width;
    unfit.then(|| format!("edge attributes of width {edges}, the model expects {}", widths.edge_width))
}

/// What a model says about a graph: numbers, or classes with their probabilities, or for every node the edge it points
/// at by its place in the file, -1 for itself, with its probability.
fn answer(graph: &Graph, values: &[f32], width: usize, task: Option<&OwnTask>) -> Value {
    let level = task.map_or(Level::Graph, |task| task.level);
    if level == Level::Pointer {
        let (places, sure): (Vec<i64>, Vec<f64>) =
            (0..graph.nodes() as u32).map(|node| pointed_at(graph, node, values)).unzip();
        return json!({ "prediction": places, "probabilities": sure });
    }
    let mut rows: Vec<&[f32]> = values.chunks_exact(width.max(1)).collect();
    if level == Level::Edge {
        // In the order of the file.
        let mut ordered = vec![&[][..]; rows.len()];
        for (row, &edge) in rows.into_iter().zip(graph.original_edges()) {
            ordered[edge as usize] = row;
        }
        rows = ordered;
    }
    if task.is_none_or(|task| task.classes.is_none()) {
        return json!({ "prediction": rows });
    }
    let classes: Vec<usize> = rows.iter().map(|scores| largest(scores)).collect();
    let probabilities: Vec<Vec<f64>> = rows.iter().map(|scores| softmax(scores)).collect();
    json!({ "prediction": classes, "probabilities": probabilities })
}

/// The edge that a node points at, by its place in the file, and the probability of that choice. The scores of a node
/// are those of its incoming edges, then its own.
fn pointed_at(graph: &Graph, node: u32, scores: &[f32]) -> (i64, f64) {
    let incoming = graph.incoming_positions(node);
    let scores = &scores[incoming.start + node as usize..=incoming.end + node as usize];
    let best = largest(scores);
    let place = graph.original_edges().get(incoming.start + best).filter(|_| best < incoming.len());
    (place.map_or(-1, |&edge| i64::from(edge)), softmax(scores)[best])
}

/// The place of the largest score, the first among equal ones.
fn largest(scores: &[f32]) -> usize {
    (0..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best })
}

fn softmax(scores: &[f32]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = scores.iter().map(|score| f64::from(score - largest).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.iter().map(|power| power / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_and_edges_are_named_by_their_place_in_the_file() {
        // Node 0 hears 2 by edge 1 and 1 by edge 2; node 2 hears 0 by edge 0.
        let graph = Graph::new(3, &[[0, 2], [2, 0], [1, 0]]).unwrap();
        let order: Vec<u32> = graph.original_edges().to_vec();
        let pointers = OwnTask::new(Level::Pointer);
        // Rows: two edges into 0, node 0, node 1, the edge into 2, node 2.
        let told = answer(&graph, &[0.0, 2.0, 1.0, 5.0, -1.0, 1.0], 1, Some(&pointers));
        assert_eq!(told["prediction"], json!([order[1], -1, -1]));
        let edges = OwnTask { classes: Some(2), ..OwnTask::new(Level::Edge) };
        let told = answer(&graph, &[9.0, 0.0, 9.0, 0.0, 0.0, 9.0], 2, Some(&edges));
        let class_of = |edge: u32| told["prediction"][edge as usize].as_u64();
        assert_eq!([class_of(order[0]), class_of(order[1]), class_of(order[2])], [Some(0), Some(0), Some(1)]);
        let sum: f64 = told["probabilities"][0].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert_eq!(answer(&graph, &[1.5], 1, None), json!({ "prediction": [[1.5]] }));
    }
}
