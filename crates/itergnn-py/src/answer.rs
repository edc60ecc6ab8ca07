//! A model's answer in the order in which the caller gave the edges.

use itergnn::{Answer, graph::Graph, nn::Level};

/// The rows of an answer, by the model's level: one for the graph, one per node, one per edge in the order given; of a
/// model that points, per node the number of the incoming edge it chooses, or -1 for itself.
pub(crate) fn rows(level: Level, graph: &Graph, answer: Answer) -> Vec<Vec<f64>> {
    match level {
        Level::Graph | Level::Node => answer.values,
        Level::Edge => {
            let mut rows = vec![Vec::new(); graph.edges()];
            for (&edge, row) in graph.original_edges().iter().zip(answer.values) {
                rows[edge as usize] = row;
            }
            rows
        }
        Level::Pointer => {
            // For every node the scores of its incoming edges, then its own.
            let mut scores = answer.values.iter().map(|row| row.first().copied().unwrap_or(f64::NEG_INFINITY));
            let choose = |node: u32| {
                let positions = graph.incoming_positions(node);
                let named = positions.map(|position| f64::from(graph.original_edges()[position])).chain([-1.0]);
                let best = named.zip(scores.by_ref()).fold((-1.0, f64::NEG_INFINITY), |best, (edge, score)| {
                    if score > best.1 { (edge, score) } else { best }
                });
                vec![best.0]
            };
            (0..graph.nodes() as u32).map(choose).collect()
        }
    }
}
