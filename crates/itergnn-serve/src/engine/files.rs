//! Files that a user drops on the page.

use itergnn::graph::EdgeWeights;
use itergnn::graph::formats::{ReadOptions, parse_graph};

use super::samples::{SampleAnswer, answer};
use super::scene::GraphData;
use crate::error::ApiError;

/// Largest graph that is shown.
const MOST_NODES: usize = 50_000;

/// Longest name that is repeated in a message.
const NAME_LIMIT: usize = 60;

/// The graph of a file. Its name is used in messages and nowhere else.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<SampleAnswer, ApiError> {
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(NAME_LIMIT).collect();
    let file = parse_graph(bytes, &name, &ReadOptions::default()).map_err(ApiError::bad_request)?;
    let graph = &file.graph;
    if graph.nodes() > MOST_NODES {
        let message =
            format!("{name}: {} nodes, and at most {MOST_NODES} are drawn; use `itergnn solve`", graph.nodes());
        return Err(ApiError::bad_request(message));
    }
    let weights =
        EdgeWeights::from_attribute(graph, 0).map_err(|error| ApiError::bad_request(format!("{name}: {error}")))?;
    let mut edges = Vec::with_capacity(graph.edges());
    let mut lengths = Vec::with_capacity(graph.edges());
    for (position, (&sender, &receiver)) in graph.senders().iter().zip(graph.receivers().iter()).enumerate() {
        edges.push([sender, receiver]);
        lengths.push(weights.at(position) as f32);
    }
    let places = file.grid.as_ref().map(|grid| {
        let place = |node| {
            let (column, row) = grid.cell_of(node);
            [column as f32, row as f32]
        };
        (0..graph.nodes() as u32).map(place).collect()
    });
    let data = GraphData { nodes: graph.nodes(), edges, weights: lengths, undirected: false };
    Ok(answer(graph, data, places, file.warnings.iter().map(ToString::to_string).collect()))
}
