//! What a path is looked for in: a graph, or a map of heights.

use itergnn::graph::solvers::grid::{CellGrid, Connectivity};
use itergnn::graph::solvers::{bfs, dijkstra};
use itergnn::graph::{Attributes, EdgeWeights, Graph, GraphError, Path, generators};
use itergnn::tasks::navigation;
use itergnn::train::evaluation::Marks;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;

/// A graph as the page holds it.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphData {
    /// Number of nodes.
    pub(crate) nodes: usize,
    /// Pairs of nodes, from sender to receiver.
    pub(crate) edges: Vec<[u32; 2]>,
    /// One per edge; all 1 if there are none.
    #[serde(default)]
    pub(crate) weights: Vec<f32>,
    /// Whether every edge leads both ways.
    #[serde(default)]
    pub(crate) undirected: bool,
}

/// A map of heights, row by row from the top left.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapData {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Between 0 and 1.
    pub(crate) heights: Vec<f32>,
    /// Cells above this cannot be entered; models are not told.
    #[serde(default = "paper_threshold")]
    pub(crate) blocked_above: f32,
}

fn paper_threshold() -> f32 {
    navigation::NavigationSpec::default().blocked_above
}

/// Largest number of cells of a map.
const MOST_CELLS: usize = 1 << 16;

/// Largest number of nodes of a graph.
const MOST_NODES: usize = 1 << 20;

/// A graph or a map, ready to be searched and to be shown to a model.
pub(crate) struct Scene {
    pub(crate) graph: Graph,
    pub(crate) weights: EdgeWeights,
    kind: Kind,
}

enum Kind {
    Graph,
    Map(CellGrid),
}

impl Scene {
    /// The scene of a request, which has exactly one of the two.
    pub(crate) fn new(graph: Option<&GraphData>, map: Option<&MapData>) -> Result<Self, ApiError> {
        match (graph, map) {
            (Some(graph), None) => Self::of_graph(graph),
            (None, Some(map)) => Self::of_map(map),
            _ => Err(ApiError::bad_request("give either a graph or a map")),
        }
    }

    fn of_graph(data: &GraphData) -> Result<Self, ApiError> {
        let count = data.edges.len();
        if data.nodes > MOST_NODES {
            return Err(ApiError::bad_request(format!("{} nodes: at most {MOST_NODES} are taken", data.nodes)));
        }
        if !data.weights.is_empty() && data.weights.len() != count {
            let found = data.weights.len();
            return Err(ApiError::bad_request(format!(
                "{found} weights for {count} edges: give one per edge, or none"
            )));
        }
        let mut edges = data.edges.clone();
        let mut weights = if data.weights.is_empty() { vec![1.0; count] } else { data.weights.clone() };
        if data.undirected {
            for (at, &[sender, receiver]) in data.edges.iter().enumerate() {
                // A loop leads both ways already.
                if sender != receiver {
                    edges.push([receiver, sender]);
                    weights.push(weights[at]);
                }
            }
        }
        let graph = Graph::new(data.nodes, &edges)
            .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, weights)))
            .map_err(ApiError::bad_request)?;
        let weights = EdgeWeights::from_attribute(&graph, 0).map_err(ApiError::bad_request)?;
        Ok(Self { graph, weights, kind: Kind::Graph })
    }

    fn of_map(data: &MapData) -> Result<Self, ApiError> {
        let cells = data.rows.saturating_mul(data.columns);
        if cells == 0 || cells > MOST_CELLS || data.heights.len() != cells {
            let found = data.heights.len();
            let message = format!("a map has rows times columns heights, {MOST_CELLS} at most; this one has {found}");
            return Err(ApiError::bad_request(message));
        }
        let build = || -> Result<(Graph, CellGrid), GraphError> {
            let graph = generators::grid(data.rows, data.columns)?;
            let ones = Attributes::new(1, vec![1.0; graph.edges()]);
            let heights = Attributes::new(1, data.heights.clone());
            let free = data.heights.iter().map(|&height| height <= data.blocked_above).collect();
            let graph = graph.with_node_attributes(heights)?.with_edge_attributes(ones)?;
            Ok((graph, CellGrid::new(data.rows, data.columns, free)?))
        };
        let (graph, cells) = build().map_err(ApiError::bad_request)?;
        Ok(Self { weights: EdgeWeights::unit(&graph), graph, kind: Kind::Map(cells) })
    }

    /// Width of the node attributes that a model of this kind of scene reads.
    pub(crate) fn node_width(&self) -> usize {
        if self.is_map() { 4 } else { 3 }
    }

    /// Whether this is a map.
    pub(crate) fn is_map(&self) -> bool {
        matches!(self.kind, Kind::Map(_))
    }

    /// How a model is shown the two ends.
    pub(crate) fn marks(&self) -> Marks {
        match &self.kind {
            Kind::Graph => Marks::for_weights(&self.weights),
            Kind::Map(_) => Marks::EndsBehindHeight,
        }
    }

    /// Whether anything leads from source to target; both exist.
    pub(crate) fn is_joined(&self, source: u32, target: u32) -> Result<bool, ApiError> {
        match &self.kind {
            Kind::Graph => {
                let hops = bfs::hops_to(&self.graph, target).map_err(ApiError::bad_request)?;
                Ok(hops[source as usize] != bfs::UNREACHED)
            }
            Kind::Map(_) => Ok(self.exact(source, target)?.is_some()),
        }
    }

    /// A shortest path by an exact solver; both ends exist.
    pub(crate) fn exact(&self, source: u32, target: u32) -> Result<Option<Path>, ApiError> {
        let found = match &self.kind {
            Kind::Graph => dijkstra::shortest_path(&self.graph, &self.weights, source, target),
            Kind::Map(cells) if cells.is_free(source) && cells.is_free(target) => {
                cells.shortest_path(source, target, Connectivity::Four)
            }
            Kind::Map(_) => Ok(None),
        };
        found.map_err(ApiError::bad_request)
    }

    /// Whether a path stays where one can walk.
    pub(crate) fn is_walkable(&self, path: &Path) -> bool {
        match &self.kind {
            Kind::Graph => true,
            Kind::Map(cells) => path.nodes.iter().all(|&cell| cells.is_free(cell)),
        }
    }
}
