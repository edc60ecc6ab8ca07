//! Whether a graph is like those that a model was trained on, and whether a prediction is a length at all.

use itergnn::{
    graph::{Graph, generators::Generator},
    nn::store::ModelCard,
    tasks::{
        TaskSpec,
        shortest_path::{ShortestPathSpec, Weights},
    },
    train::RunConfig,
};
use serde_json::Value;

use crate::output::warn;

/// A prediction beyond this many times the sum of all weights is no length of a path: the model sees no way.
const NO_WAY: f64 = 1e3;

/// What JSON says instead of a length.
const UNREACHABLE: &str = "unreachable";

/// The task as the model was trained on it, if its card says so.
pub(crate) fn trained_on(card: &ModelCard) -> Option<TaskSpec> {
    Some(RunConfig::of_card(card)?.task)
}

/// Warns, before a model answers, of what is in a graph and was never in its training: weights, one-way edges, more attributes of edges.
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

/// A predicted length as JSON: a number, or that the model sees no way in a graph whose weights have this sum.
pub(crate) fn length_or_unreachable(prediction: f64, sum_of_weights: f64) -> Value {
    let is_length = prediction.is_finite() && prediction.abs() <= NO_WAY * sum_of_weights.max(1.0);
    if is_length { prediction.into() } else { UNREACHABLE.into() }
}

/// A length as people read it.
pub(crate) fn shown(length: &Value) -> String {
    length.as_f64().map_or(UNREACHABLE.to_owned(), |length| format!("{length:.3}"))
}

/// The sum of the first attributes of all edges: no path is longer.
pub(crate) fn sum_of_weights(graph: &Graph) -> f64 {
    graph.edge_attributes().rows().filter_map(|row| row.first()).map(|&weight| f64::from(weight)).sum()
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
        assert_eq!(length_or_unreachable(6e28, 1e6), Value::from("unreachable"));
        assert_eq!(length_or_unreachable(f64::NAN, 1.0), Value::from("unreachable"));
        assert_eq!(length_or_unreachable(12.5, 40.0), Value::from(12.5));
    }
}
