//! Whether a graph is like those that a model was trained on, and whether a prediction is a length at all.

use itergnn::{
    graph::{Graph, generators::Generator},
    nn::store::ModelCard,
    tasks::{
        TaskSpec,
        shortest_path::{ShortestPathSpec, Weights},
    },
    train::{RunConfig, evaluation::is_path_length},
};
use serde_json::Value;

use crate::output::warn;

/// What JSON says instead of a length.
const UNREACHABLE: &str = "unreachable";

/// The task as the model was trained on it, if its card says so.
pub(crate) fn trained_on(card: &ModelCard) -> Option<TaskSpec> {
    RunConfig::of_card(card)?.task.built_in().cloned()
}

/// Warns, before a model answers, of what is in a graph and was never in its training: weights, one-way edges, more
/// attributes of edges.
pub(crate) fn warn_outside(card: &ModelCard, graph: &Graph) {
    let Some(TaskSpec::ShortestPath(spec)) = trained_on(card) else { return };
    for what in outside(&spec, graph) {
        warn(&format!("the model was trained on {what}: its paths may be wrong or longer than need be"));
    }
}

fn outside(spec: &ShortestPathSpec, graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    let attributes = graph.edge_attributes();
    if attributes.width() > 1 {
        let width = attributes.width();
        found
            .push(format!("edges with one attribute, and these have {width}, of which the first counts as the weight"));
    }
    let weights = || attributes.rows().filter_map(|row| row.first().copied());
    let (low, high) =
        weights().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), weight| (low.min(weight), high.max(weight)));
    if spec.weights == Weights::Unit && low < high {
        found.push(format!("edges of equal weight, and these have weights from {low} to {high}"));
    }
    let saw_directions = matches!(spec.generator, Generator::Er { directed: true, .. } | Generator::Knn { .. });
    if !saw_directions && !graph.is_symmetric() {
        found.push("edges that lead both ways, and some of these lead one way only".to_owned());
    }
    found
}

/// A predicted length as JSON: a number, or that the model sees no way.
pub(crate) fn length_or_unreachable(prediction: f64) -> Value {
    if prediction.is_finite() { prediction.into() } else { UNREACHABLE.into() }
}

/// What a model of paths predicts for a graph, as JSON.
pub(crate) fn prediction_or_unreachable(prediction: f64, graph: &Graph) -> Value {
    let weights = graph.edge_attributes().rows().filter_map(|row| row.first());
    let is_length = is_path_length(prediction, weights.map(|&weight| f64::from(weight)).sum());
    length_or_unreachable(if is_length { prediction } else { f64::INFINITY })
}

/// Why no path was found.
pub(crate) fn why_nowhere(predicted_length: &Value) -> String {
    match predicted_length.as_f64() {
        None => "the model sees no way: an end is blocked, or nothing connects them".to_owned(),
        Some(length) => format!("the predictions lead nowhere: no neighbour fits them (predicted length {length:.3})"),
    }
}

/// A length as people read it.
pub(crate) fn shown(length: &Value) -> String {
    length.as_f64().map_or(UNREACHABLE.to_owned(), |length| format!("{length:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn::graph::Attributes;

    fn graph(edges: &[[u32; 2]], weights: Vec<f32>) -> Graph {
        let width = weights.len() / edges.len();
        Graph::new(3, edges).unwrap().with_edge_attributes(Attributes::new(width, weights)).unwrap()
    }

    #[test]
    fn what_was_never_trained_on_is_named() {
        let lobsters = ShortestPathSpec::default();
        let both = [[0, 1], [1, 0]];
        assert!(outside(&lobsters, &graph(&both, vec![2.0, 2.0])).is_empty());
        assert!(outside(&lobsters, &graph(&both, vec![1.0, 2.0]))[0].contains("weights from 1 to 2"));
        assert!(outside(&lobsters, &graph(&[[0, 1]], vec![1.0]))[0].contains("one way only"));
        assert!(outside(&lobsters, &graph(&both, vec![1.0; 4]))[0].contains("these have 2"));
        let roads = ShortestPathSpec { generator: Generator::ER, weights: Weights::PAPER, ..lobsters };
        assert!(outside(&roads, &graph(&[[0, 1], [1, 2]], vec![1.0, 2.0])).is_empty());
    }

    #[test]
    fn a_sentinel_is_no_length() {
        let graph = graph(&[[0, 1], [1, 2]], vec![1e6, 2.0]);
        assert_eq!(prediction_or_unreachable(6e28, &graph), Value::from("unreachable"));
        assert_eq!(prediction_or_unreachable(f64::NAN, &graph), Value::from("unreachable"));
        assert_eq!(prediction_or_unreachable(12.5, &graph), Value::from(12.5));
    }
}
