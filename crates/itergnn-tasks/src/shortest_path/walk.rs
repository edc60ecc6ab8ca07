//! From predicted distances to a path.

use itergnn_graph::{Adjacency, EdgeWeights, Graph, GraphError, Path};

/// Something that predicts the length of the shortest path between two nodes, for many pairs at once.
///
/// Every `FnMut(u32, u32) -> f32` is one.
pub trait DistanceOracle {
    /// The predicted length from the first to the second node of each pair, in order.
    fn distances(&mut self, pairs: &[(u32, u32)]) -> Vec<f32>;
}

impl<F: FnMut(u32, u32) -> f32> DistanceOracle for F {
    fn distances(&mut self, pairs: &[(u32, u32)]) -> Vec<f32> {
        pairs.iter().map(|&(from, to)| self(from, to)).collect()
    }
}

/// By how much dist(l) + w may exceed dist(p), relative to dist(p).
///
/// A perfect predictor rounds dist(l) and dist(p) to `f32`, each with a relative error of at most half an epsilon, so
/// on a shortest path the two sides of dist(l) + w = dist(p) can differ by one epsilon of dist(p). Twice that keeps
/// rounding from deciding, and is far below the error of any model.
pub const ROUNDING_SLACK: f64 = 2.0 * f32::EPSILON as f64;

/// The walk of the paper's post-processing, one step at a time.
///
/// From the current node p the walk goes to the neighbour l that minimises |dist(l, t) + w(p, l) - dist(p, t)| among
/// those with dist(l, t) + w(p, l) <= dist(p, t), and it fails where there is none. dist(t, t) is 0 and is not asked
/// for. Ties go to the smaller dist(l, t), then to the smaller number. A node is not entered twice: with positive
/// weights and the inequality that cannot happen but for rounding, and it guarantees an end after as many steps as
/// there are nodes.
///
/// The caller supplies predictions as the walk asks for them, so that walks on many graphs can be driven in step by one
/// batched model; [`walk_to`] does it for a single walk.
///
/// # Example
/// ```
/// use itergnn_graph::{EdgeWeights, generators};
/// use itergnn_tasks::shortest_path::{Walk, WalkState};
///
/// let graph = generators::line(4)?;
/// let weights = EdgeWeights::unit(&graph);
/// let mut walk = Walk::new(&graph, &weights, 0, 3)?;
/// while let WalkState::Asking(nodes) = walk.state() {
///     let predictions: Vec<f32> = nodes.iter().map(|&node| 3.0 - node as f32).collect();
///     walk.supply(&predictions);
/// }
/// assert_eq!(walk.path().expect("the walk arrived").nodes, [0, 1, 2, 3]);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
///
/// # Paper
/// Algorithm "Post-processing to predict the shortest path".
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    weights: &'a EdgeWeights,
    outgoing: Adjacency,
    target: u32,
    nodes: Vec<u32>,
    length: f64,
    distances: Vec<Option<f32>>,
    visited: Vec<bool>,
    asking: Vec<u32>,
    failed: bool,
}

/// What a walk waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkState<'a> {
    /// The predicted distances from these nodes to the target.
    Asking(&'a [u32]),
    /// Nothing: the target was reached.
    Arrived,
    /// Nothing: no neighbour fits the predictions.
    Failed,
}

impl<'a> Walk<'a> {
    /// A walk that stands at the source.
    ///
    /// # Errors
    /// [`GraphError::Node`] if an end does not exist; [`GraphError::RowCount`] if the weights belong to another graph.
    pub fn new(graph: &Graph, weights: &'a EdgeWeights, source: u32, target: u32) -> Result<Self, GraphError> {
        graph.check_node(source)?;
        graph.check_node(target)?;
        let (expected, found) = (graph.edges(), weights.as_slice().len());
        if expected != found {
            return Err(GraphError::RowCount { what: "edge weights", expected, found });
        }
        let mut distances = vec![None; graph.nodes()];
        distances[target as usize] = Some(0.0);
        let mut walk = Self {
            weights,
            outgoing: Adjacency::outgoing(graph),
            target,
            nodes: Vec::new(),
            length: 0.0,
            distances,
            visited: vec![false; graph.nodes()],
            asking: Vec::new(),
            failed: false,
        };
        walk.enter(source, 0.0);
        walk.advance();
        Ok(walk)
    }

    /// What the walk waits for.
    pub fn state(&self) -> WalkState<'_> {
        if !self.asking.is_empty() {
            WalkState::Asking(&self.asking)
        } else if self.failed {
            WalkState::Failed
        } else {
            WalkState::Arrived
        }
    }

    /// The node that distances are asked to.
    pub fn target(&self) -> u32 {
        self.target
    }

    /// Answers the walk's question, one distance for each node asked about, and walks on until the next question or the
    /// end.
    ///
    /// # Panics
    /// If there are not as many answers as nodes asked about.
    pub fn supply(&mut self, predictions: &[f32]) {
        assert_eq!(predictions.len(), self.asking.len(), "one distance for each node asked about");
        for (&node, &prediction) in self.asking.iter().zip(predictions) {
            self.distances[node as usize] = Some(prediction);
        }
        self.asking.clear();
        self.advance();
    }

    /// The path walked, with its true length, if the target was reached.
    pub fn path(&self) -> Option<Path> {
        let arrived = self.state() == WalkState::Arrived;
        arrived.then(|| Path { nodes: self.nodes.clone(), length: self.length })
    }

    fn enter(&mut self, node: u32, weight: f64) {
        self.nodes.push(node);
        self.length += weight;
        self.visited[node as usize] = true;
    }

    /// Takes steps as long as all distances they need are known.
    fn advance(&mut self) {
        while let Some(&here) = self.nodes.last().filter(|&&node| node != self.target) {
            let around = self.outgoing.view().of(here).map(|(neighbour, _)| neighbour);
            let unknown = |node: &u32| self.distances[*node as usize].is_none();
            self.asking.extend(std::iter::once(here).chain(around).filter(unknown));
            if !self.asking.is_empty() {
                // Parallel edges name a neighbour more than once.
                self.asking.sort_unstable();
                self.asking.dedup();
                return;
            }
            match self.best_step(here) {
                Some((node, weight)) => self.enter(node, weight),
                None => {
                    self.failed = true;
                    return;
                }
            }
        }
    }

    /// The neighbour to go to and the weight of the edge there.
    fn best_step(&self, here: u32) -> Option<(u32, f64)> {
        let distance = |node: u32| self.distances[node as usize].map_or(f64::NAN, f64::from);
        let here_to_target = distance(here);
        let limit = here_to_target + ROUNDING_SLACK * here_to_target.abs();
        let mut best: Option<(f64, f64, u32, f64)> = None;
        for (node, position) in self.outgoing.view().of(here) {
            let weight = self.weights.at(position);
            let through = distance(node) + weight;
            // Comparisons with NaN are false, so a NaN prediction is never followed.
            if self.visited[node as usize] || through.is_nan() || through > limit || limit.is_nan() {
                continue;
            }
            let candidate = ((through - here_to_target).abs(), distance(node), node, weight);
            if best.is_none_or(|best| (candidate.0, candidate.1, candidate.2) < (best.0, best.1, best.2)) {
                best = Some(candidate);
            }
        }
        best.map(|(_, _, node, weight)| (node, weight))
    }
}

/// Walks from `source` to `target` by predicted distances; `None` if the walk fails.
///
/// Each distance is asked for once. The length of the path is the true one, in the graph.
///
/// # Errors
/// As [`Walk::new`].
pub fn walk_to(
    graph: &Graph,
    weights: &EdgeWeights,
    source: u32,
    target: u32,
    oracle: &mut impl DistanceOracle,
) -> Result<Option<Path>, GraphError> {
    let mut walk = Walk::new(graph, weights, source, target)?;
    while let WalkState::Asking(nodes) = walk.state() {
        let pairs: Vec<_> = nodes.iter().map(|&node| (node, target)).collect();
        walk.supply(&oracle.distances(&pairs));
    }
    Ok(walk.path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::generators;

    /// 0 -> 1 -> 3 of length 3 and 0 -> 2 -> 3 of length 2.
    fn diamond() -> (Graph, EdgeWeights) {
        let graph = Graph::new(4, &[[0, 1], [1, 3], [0, 2], [2, 3]]).unwrap();
        // By position: receiver 1, receiver 2, receiver 3 twice.
        let weights = EdgeWeights::new(&graph, vec![1.0, 1.0, 2.0, 1.0]).unwrap();
        (graph, weights)
    }

    fn walk(predictions: [f32; 4]) -> Option<Path> {
        let (graph, weights) = diamond();
        walk_to(&graph, &weights, 0, 3, &mut |from: u32, _| predictions[from as usize]).unwrap()
    }

    #[test]
    fn the_neighbour_that_explains_the_distance_best_is_taken() {
        assert_eq!(walk([2.0, 2.0, 1.0, 0.0]).unwrap().nodes, [0, 2, 3]);
        // Both neighbours fit; the one with the smaller difference wins, though the path is longer.
        let wrong = walk([3.1, 2.0, 1.0, 0.0]).unwrap();
        assert_eq!((wrong.nodes, wrong.length), (vec![0, 1, 3], 3.0));
    }

    #[test]
    fn a_distance_too_short_for_every_neighbour_fails() {
        assert!(walk([1.9, 2.0, 1.0, 0.0]).is_none());
        assert!(walk([f32::NAN, 2.0, 1.0, 0.0]).is_none());
        assert!(walk([2.0, f32::NAN, f32::NAN, 0.0]).is_none());
        assert!(walk([2.0, f32::INFINITY, 1.0, 0.0]).is_some());
    }

    #[test]
    fn what_a_model_says_about_the_target_itself_does_not_matter() {
        assert!(walk([2.0, 2.0, 1.0, 77.0]).is_some());
    }

    #[test]
    fn a_walk_never_loops() {
        // Ever smaller predictions around a ring with tiny weights would lead round and round.
        let graph = generators::cycle(5).unwrap();
        let weights = EdgeWeights::new(&graph, vec![1e-9; 10]).unwrap();
        let mut calls = 0;
        let path = walk_to(&graph, &weights, 0, 3, &mut |_, _| {
            calls += 1;
            1.0
        });
        assert!(path.unwrap().is_some_and(|path| path.nodes.len() <= 5));
        assert!(calls <= 5);
    }

    #[test]
    fn source_equal_to_target_is_a_path_of_one_node() {
        let (graph, weights) = diamond();
        let path = walk_to(&graph, &weights, 2, 2, &mut |_, _| f32::NAN).unwrap().unwrap();
        assert_eq!((path.nodes, path.length), (vec![2], 0.0));
    }

    #[test]
    fn ends_and_weights_are_checked() {
        let (graph, weights) = diamond();
        assert!(Walk::new(&graph, &weights, 0, 4).is_err());
        let other = generators::line(2).unwrap();
        assert!(Walk::new(&other, &weights, 0, 1).is_err());
    }
}
