//! Dijkstra from both ends at once.

use std::collections::BinaryHeap;

use super::dijkstra::{Entry, ShortestPaths};
use crate::{Adjacency, AdjacencyView, EdgeWeights, Graph, GraphError, Path};

/// A shortest path from `source` to `target`, or `None` if there is none.
///
/// The two searches take turns, nearest node first, and end when the sum of their radii reaches the best connection seen. On road-like graphs this settles
/// far fewer nodes than one search does.
///
/// # Arguments
/// `outgoing` is the graph's transposed adjacency: build it once and ask many questions.
///
/// # Errors
/// [`GraphError::Node`].
///
/// # Complexity
/// O((nodes + edges) log nodes).
///
/// # Example
/// ```
/// use itergnn_graph::{Adjacency, EdgeWeights, Graph, solvers::bidirectional};
/// let graph = Graph::undirected(4, &[[0, 1], [1, 2], [2, 3]])?;
/// let outgoing = Adjacency::outgoing(&graph);
/// let path = bidirectional::shortest_path(&graph, &outgoing, &EdgeWeights::unit(&graph), 0, 3)?;
/// assert_eq!(path.map(|path| path.length), Some(3.0));
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
pub fn shortest_path(
    graph: &Graph,
    outgoing: &Adjacency,
    weights: &EdgeWeights,
    source: u32,
    target: u32,
) -> Result<Option<Path>, GraphError> {
    graph.check_node(source)?;
    graph.check_node(target)?;
    let mut sides = [
        Side::new(outgoing.view(), graph.nodes(), source),
        Side::new(AdjacencyView::incoming(graph), graph.nodes(), target),
    ];
    let mut best = Meeting { node: source, length: if source == target { 0.0 } else { f64::INFINITY } };
    loop {
        let [forward, backward] = [sides[0].radius(), sides[1].radius()];
        if forward + backward >= best.length {
            break;
        }
        let (turn, other) = if forward <= backward { (0, 1) } else { (1, 0) };
        let Some((node, distance)) = sides[turn].settle() else { break };
        for (neighbour, position) in sides[turn].adjacency.of(node) {
            let length = distance + weights.at(position);
            if sides[turn].tree.relax(node, neighbour, length) {
                sides[turn].queue.push(Entry { distance: length, node: neighbour });
                let through = length + sides[other].tree.distances[neighbour as usize];
                if through < best.length {
                    best = Meeting { node: neighbour, length: through };
                }
            }
        }
    }
    if !best.length.is_finite() {
        return Ok(None);
    }
    let [forward, backward] = sides;
    let mut nodes = forward.tree.walk_to_root(best.node).unwrap_or_default();
    nodes.reverse();
    nodes.extend(backward.tree.walk_to_root(best.node).unwrap_or_default().into_iter().skip(1));
    Ok(Some(Path { nodes, length: best.length }))
}

/// Where the two searches touch, and how long the path through it is.
struct Meeting {
    node: u32,
    length: f64,
}

/// One of the two searches.
struct Side<'a> {
    adjacency: AdjacencyView<'a>,
    tree: ShortestPaths,
    queue: BinaryHeap<Entry>,
}

impl<'a> Side<'a> {
    fn new(adjacency: AdjacencyView<'a>, nodes: usize, root: u32) -> Self {
        let queue = BinaryHeap::from([Entry { distance: 0.0, node: root }]);
        Self { adjacency, tree: ShortestPaths::new(nodes, root), queue }
    }

    /// Distance of the next node to settle; infinite when there is none.
    fn radius(&mut self) -> f64 {
        while self.queue.peek().is_some_and(|entry| entry.distance > self.tree.distances[entry.node as usize]) {
            self.queue.pop();
        }
        self.queue.peek().map_or(f64::INFINITY, |entry| entry.distance)
    }

    fn settle(&mut self) -> Option<(u32, f64)> {
        self.radius();
        self.queue.pop().map(|entry| (entry.node, entry.distance))
    }
}
