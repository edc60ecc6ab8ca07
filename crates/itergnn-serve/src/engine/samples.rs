//! Graphs and maps drawn by a generator, laid out for a picture.

use itergnn::graph::generators::{self, Generator};
use itergnn::graph::solvers::{bfs, components};
use itergnn::graph::{Graph, rng};
use itergnn::tasks::SizeRange;
use itergnn::tasks::navigation::NavigationSpec;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::scene::{GraphData, MapData};
use crate::error::ApiError;
use crate::layout;
use crate::maze;

/// Largest size that is drawn: nodes of a graph, or the side of a map.
const MOST_NODES: usize = 20_000;

/// Largest number of edges that is drawn.
const MOST_EDGES: usize = 400_000;

/// Largest side of a map.
const LARGEST_SIDE: usize = 128;

/// In large graphs the two ends are at most this many edges apart, so that a network's iterations can be watched.
const FAR_ENOUGH: u32 = 60;

/// From this many nodes on.
const LARGE: usize = 1_500;

/// What to draw.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleRequest {
    /// A generator of graphs, `maze`, or `map`.
    generator: String,
    size: usize,
    /// Whether weights are uniform in [0.5, 1.5) instead of 1.
    #[serde(default)]
    weighted: bool,
    #[serde(default)]
    seed: u64,
}

/// A scene for the page: a graph with places for its nodes, or a map; and two ends.
#[derive(Debug, Serialize)]
pub(crate) struct SampleAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<GraphData>,
    /// Places of the nodes in the unit square.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    positions: Vec<[f32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<MapData>,
    from: u32,
    to: u32,
    /// What a reader should know, such as edges that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Draws what is asked for.
pub(crate) fn draw(request: &SampleRequest) -> Result<SampleAnswer, ApiError> {
    if request.size < 2 || request.size > MOST_NODES {
        return Err(ApiError::bad_request(format!("size {}: choose one from 2 to {MOST_NODES}", request.size)));
    }
    let mut random = rng::seeded(request.seed);
    match request.generator.as_str() {
        "map" => draw_map(request),
        "maze" => {
            // As many cells as asked for, in a square.
            let side = (request.size as f64).sqrt().round().max(2.0) as usize;
            let (pairs, positions) = maze::draw(side, &mut random);
            let graph = Graph::undirected(side * side, &pairs).map_err(ApiError::internal)?;
            finish(request, &graph, Some(positions), &mut random)
        }
        "knn" => {
            // In the plane, so that it can be drawn; the paper's KNN graphs lie on a line.
            let graph = generators::knn(request.size, 2, 8, &mut random).map_err(ApiError::bad_request)?;
            let places = places_of(&graph);
            finish(request, &graph, places, &mut random)
        }
        name => {
            let generator: Generator = name.parse().map_err(ApiError::bad_request)?;
            let size = match generator {
                Generator::Grid => (request.size as f64).sqrt().round().max(2.0) as usize,
                // Half of all pairs are edges.
                Generator::Er { .. } | Generator::Complete if request.size > 600 => {
                    return Err(ApiError::bad_request(format!(
                        "{name} of size {}: at most 600 is drawn",
                        request.size
                    )));
                }
                _ => request.size,
            };
            let graph = generator.generate(size, &mut random).map_err(ApiError::bad_request)?;
            let places = match generator {
                Generator::Planar => places_of(&graph),
                Generator::Grid => Some(maze::cells(size)),
                _ => None,
            };
            finish(request, &graph, places, &mut random)
        }
    }
}

fn draw_map(request: &SampleRequest) -> Result<SampleAnswer, ApiError> {
    if request.size > LARGEST_SIDE {
        return Err(ApiError::bad_request(format!("a map has a side of at most {LARGEST_SIDE} here")));
    }
    let spec = NavigationSpec {
        size: SizeRange::exactly(request.size as u32).map_err(ApiError::bad_request)?,
        ..NavigationSpec::default()
    };
    let sampler = itergnn::tasks::navigation::NavigationSampler::new(spec).map_err(ApiError::bad_request)?;
    let sample = itergnn::tasks::Sampler::sample(&sampler, request.seed, 0).map_err(ApiError::bad_request)?;
    let heights = sample.graph.node_attributes().rows().map(|row| row[0]).collect();
    let (blocked_above, fields) = (sampler.spec().blocked_above, sample.fields);
    let map = MapData { rows: request.size, columns: request.size, heights, blocked_above };
    let (from, to) = (fields.source.unwrap_or_default(), fields.target_node.unwrap_or_default());
    Ok(SampleAnswer { graph: None, positions: Vec::new(), map: Some(map), from, to, notes: Vec::new() })
}

/// The first two node attributes, where a generator leaves positions.
fn places_of(graph: &Graph) -> Option<Vec<[f32; 2]>> {
    let attributes = graph.node_attributes();
    (attributes.width() >= 2).then(|| attributes.rows().map(|row| [row[0], row[1]]).collect())
}

fn finish(
    request: &SampleRequest,
    graph: &Graph,
    places: Option<Vec<[f32; 2]>>,
    random: &mut impl rand::Rng,
) -> Result<SampleAnswer, ApiError> {
    let mut data = compact(graph)?;
    if request.weighted {
        data.weights = (0..data.edges.len()).map(|_| 0.5 + random.random::<f64>() as f32).collect();
    }
    Ok(answer(graph, data, places, Vec::new()))
}

/// A scene of a graph, with places for its nodes and two ends that are far apart.
pub(super) fn answer(
    graph: &Graph,
    data: GraphData,
    places: Option<Vec<[f32; 2]>>,
    notes: Vec<String>,
) -> SampleAnswer {
    let positions = places.map(layout::into_unit_square).unwrap_or_else(|| layout::places(data.nodes, &data.edges));
    let (from, to) = ends(graph);
    SampleAnswer { graph: Some(data), positions, map: None, from, to, notes }
}

/// The graph with one entry per pair of nodes where every edge leads both ways.
pub(super) fn compact(graph: &Graph) -> Result<GraphData, ApiError> {
    let (nodes, undirected) = (graph.nodes(), graph.is_symmetric());
    let mut edges = graph.edge_list();
    if undirected {
        edges.retain(|edge| edge[0] <= edge[1]);
    }
    if edges.len() > MOST_EDGES {
        return Err(ApiError::bad_request(format!(
            "{} edges are too many to draw; choose a smaller size",
            edges.len()
        )));
    }
    Ok(GraphData { nodes, edges, weights: Vec::new(), undirected })
}

/// Two ends of the largest part, as far apart as two sweeps find; in large graphs not too far.
fn ends(graph: &Graph) -> (u32, u32) {
    let part = components::largest(graph);
    let Some(&start) = part.first() else { return (0, 0) };
    let farthest = |from: u32, limit: u32| {
        let hops = bfs::hops_from(graph, from).unwrap_or_default();
        let reached = hops.iter().enumerate().filter(|(_, hops)| **hops != bfs::UNREACHED && **hops <= limit);
        reached.max_by_key(|(node, hops)| (**hops, std::cmp::Reverse(*node))).map_or(from, |(node, _)| node as u32)
    };
    let from = farthest(start, u32::MAX - 1);
    (from, farthest(from, if graph.nodes() >= LARGE { FAR_ENOUGH } else { u32::MAX - 1 }))
}
