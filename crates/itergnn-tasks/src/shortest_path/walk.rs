//! From predicted distances to a path.

use itergnn_graph::{Adjacency, AdjacencyView, EdgeWeights, Graph, GraphError, Path};

use super::WalkRule;

/// By how much dist(l) + w may exceed dist(p) in the walk as written, relative to dist(p).
///
/// A perfect predictor rounds dist(l) and dist(p) to `f32`, each with a relative error of at most half an epsilon, so
/// on a shortest path the two sides of dist(l) + w = dist(p) can differ by one epsilon of dist(p). Twice that keeps
/// rounding from deciding, and is far below the error of any model.
const ROUNDING_SLACK: f64 = 2.0 * f32::EPSILON as f64;

/// The released walk ends at a node whose predicted distance from the source is at most this.
const AT_THE_SOURCE: f32 = 1e-7;

/// A walk by predicted lengths, one step at a time.
///
/// The walk says which lengths it needs ([`Walk::questions`], all candidates of a step at once) and walks on when they
/// are supplied, so that one batch can answer the walks of many graphs. A length is asked for once. A prediction that
/// is not a number is never followed. [`Walk::follow`] drives a single walk.
///
/// # Example
/// ```
/// use itergnn_graph::{EdgeWeights, generators};
/// use itergnn_tasks::shortest_path::{Walk, WalkRule};
///
/// let graph = generators::line(4)?;
/// let weights = EdgeWeights::unit(&graph);
/// for rule in [WalkRule::Released, WalkRule::AsWritten] {
///     let mut walk = Walk::new(&graph, &weights, 0, 3, rule)?;
///     while !walk.questions().is_empty() {
///         let predictions: Vec<f32> = walk.questions().iter().map(|&(from, to)| to as f32 - from as f32).collect();
///         walk.supply(&predictions);
///     }
///     assert_eq!(walk.path().expect("the walk arrived").nodes, [0, 1, 2, 3]);
/// }
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
///
/// # Complexity
/// One prediction for every node on the walk and every neighbour of one.
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    rule: WalkRule,
    graph: &'a Graph,
    weights: &'a EdgeWeights,
    /// Outgoing edges, which a graph does not have at hand; only the walk as written needs them.
    outgoing: Option<Adjacency>,
    source: u32,
    target: u32,
    /// In walking order; the released walk begins at the target.
    nodes: Vec<u32>,
    /// The weights of the edges between them.
    steps: Vec<f64>,
    /// What is known of each node: its distance from the source (released) or to the target (as written).
    known: Vec<Option<f32>>,
    visited: Vec<bool>,
    questions: Vec<(u32, u32)>,
}

impl<'a> Walk<'a> {
    /// A walk at its beginning.
    ///
    /// # Errors
    /// [`GraphError::Node`] if an end does not exist; [`GraphError::RowCount`] if the weights belong to another graph.
    pub fn new(
        graph: &'a Graph,
        weights: &'a EdgeWeights,
        source: u32,
        target: u32,
        rule: WalkRule,
    ) -> Result<Self, GraphError> {
        graph.check_node(source)?;
        graph.check_node(target)?;
        let (expected, found) = (graph.edges(), weights.as_slice().len());
        if expected != found {
            return Err(GraphError::RowCount { what: "edge weights", expected, found });
        }
        let mut walk = Self {
            rule,
            graph,
            weights,
            outgoing: (rule == WalkRule::AsWritten).then(|| Adjacency::outgoing(graph)),
            source,
            target,
            nodes: Vec::new(),
            steps: Vec::new(),
            known: vec![None; graph.nodes()],
            visited: vec![false; graph.nodes()],
            questions: Vec::new(),
        };
        let (first, last) = walk.ends();
        if rule == WalkRule::AsWritten {
            walk.known[last as usize] = Some(0.0);
        }
        walk.nodes.push(first);
        walk.visited[first as usize] = true;
        walk.advance();
        Ok(walk)
    }

    /// The pairs of nodes whose predicted length is needed for the next step, from the first to the second; empty when
    /// the walk has ended.
    pub fn questions(&self) -> &[(u32, u32)] {
        &self.questions
    }

    /// Answers the questions in their order, and walks on until the next ones or the end.
    ///
    /// # Panics
    /// If there are not as many answers as questions.
    pub fn supply(&mut self, predictions: &[f32]) {
        assert_eq!(predictions.len(), self.questions.len(), "one length for each pair asked about");
        let questions = std::mem::take(&mut self.questions);
        for (&(from, to), &prediction) in questions.iter().zip(predictions) {
            let node = if self.rule == WalkRule::Released { to } else { from };
            self.known[node as usize] = Some(prediction);
        }
        self.advance();
    }

    /// Walks to the end by a predictor of single lengths.
    pub fn follow(mut self, mut predict: impl FnMut(u32, u32) -> f32) -> Self {
        while !self.questions.is_empty() {
            let predictions: Vec<f32> = self.questions.iter().map(|&(from, to)| predict(from, to)).collect();
            self.supply(&predictions);
        }
        self
    }

    /// The rule it walks by.
    pub fn rule(&self) -> WalkRule {
        self.rule
    }

    /// The nodes entered so far, in walking order: the released walk begins at the target and can come to a node again.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The sum of the weights walked over.
    pub fn length(&self) -> f64 {
        self.steps.iter().sum()
    }

    /// Whether the walk has joined source and target.
    pub fn arrived(&self) -> bool {
        self.nodes.last() == Some(&self.ends().1)
    }

    /// Whether the walk counts as a shortest path by its own rule.
    pub fn succeeds(&self, shortest: f64) -> bool {
        self.questions.is_empty() && self.rule.accepts(self.arrived(), self.length(), shortest)
    }

    /// The path found, from source to target with its true length, if there is one.
    ///
    /// It is the walk without its loops; a released walk that ended beside the source is completed by the edge from it.
    pub fn path(&self) -> Option<Path> {
        let mut nodes = self.nodes.clone();
        let here = *nodes.last()?;
        if !self.questions.is_empty() {
            return None;
        }
        if !self.arrived() {
            self.last_edge(here)?;
            nodes.push(self.ends().1);
        }
        let mut path: Vec<u32> = Vec::with_capacity(nodes.len());
        let mut place = vec![None; self.graph.nodes()];
        for node in nodes {
            if let Some(at) = place[node as usize] {
                path.drain(at + 1..).for_each(|left| place[left as usize] = None);
            } else {
                place[node as usize] = Some(path.len());
                path.push(node);
            }
        }
        if self.rule == WalkRule::Released {
            path.reverse();
        }
        Path::measure(self.graph, self.weights, path)
    }

    /// Where the walk begins and where it should end.
    fn ends(&self) -> (u32, u32) {
        match self.rule {
            WalkRule::Released => (self.target, self.source),
            WalkRule::AsWritten => (self.source, self.target),
        }
    }

    fn neighbours(&self) -> AdjacencyView<'_> {
        self.outgoing.as_ref().map_or_else(|| AdjacencyView::incoming(self.graph), Adjacency::view)
    }

    /// Takes steps as long as all lengths they need are known.
    fn advance(&mut self) {
        let last = self.ends().1;
        while let Some(&here) = self.nodes.last().filter(|&&node| node != last) {
            if let Some(weight) = self.last_edge(here) {
                self.enter(last, weight);
                return;
            }
            if self.ask_around(here) {
                return;
            }
            let step = match self.rule {
                WalkRule::Released => self.released_step(here),
                WalkRule::AsWritten => self.written_step(here),
            };
            match step {
                Some((node, weight)) => self.enter(node, weight),
                // Only the walk as written can return over an edge of weight 0: there no step was a loss.
                None if self.rule == WalkRule::AsWritten && self.steps.last() == Some(&0.0) => {
                    self.nodes.pop();
                    self.steps.pop();
                }
                None => return,
            }
            let at_the_source = |known: Option<f32>| known.is_some_and(|length| length <= AT_THE_SOURCE);
            if self.rule == WalkRule::Released && step.is_some_and(|(node, _)| at_the_source(self.known[node as usize]))
            {
                return;
            }
        }
    }

    /// The weight of the edge that ends a released walk, the lightest where there are several.
    fn last_edge(&self, here: u32) -> Option<f64> {
        let joins = |&(node, _): &(u32, usize)| self.rule == WalkRule::Released && node == self.source;
        let weights = self.neighbours().of(here).filter(joins).map(|(_, position)| self.weights.at(position));
        weights.min_by(f64::total_cmp)
    }

    fn enter(&mut self, node: u32, weight: f64) {
        self.nodes.push(node);
        self.steps.push(weight);
        self.visited[node as usize] = true;
    }

    /// Asks for what is not known of a node and its neighbours; whether there was anything.
    fn ask_around(&mut self, here: u32) -> bool {
        let around = self.neighbours().of(here).map(|(neighbour, _)| neighbour);
        let unknown = |node: &u32| self.known[*node as usize].is_none();
        let mut asked: Vec<u32> = std::iter::once(here).chain(around).filter(unknown).collect();
        // Parallel edges name a neighbour more than once.
        asked.sort_unstable();
        asked.dedup();
        let pair = |node| match self.rule {
            WalkRule::Released => (self.source, node),
            WalkRule::AsWritten => (node, self.target),
        };
        self.questions = asked.into_iter().map(pair).collect();
        !self.questions.is_empty()
    }

    fn distance(&self, node: u32) -> f64 {
        self.known[node as usize].map_or(f64::NAN, f64::from)
    }

    /// The in-neighbour to go to and the weight of the edge from it.
    fn released_step(&self, here: u32) -> Option<(u32, f64)> {
        let current = self.distance(here);
        let nearest = |allowed: &dyn Fn(u32) -> bool| {
            let candidates = self.neighbours().of(here).filter(|&(node, _)| allowed(node));
            let steps = candidates.map(|(node, position)| (node, self.weights.at(position)));
            let judged = steps.map(|(node, weight)| ((self.distance(node) + weight - current).abs(), node, weight));
            let best =
                judged.filter(|step| !step.0.is_nan()).reduce(|best, step| if step.0 < best.0 { step } else { best });
            best.map(|(_, node, weight)| (node, weight))
        };
        nearest(&|node| self.distance(node) < current).or_else(|| nearest(&|node| !self.visited[node as usize]))
    }

    /// The out-neighbour to go to and the weight of the edge there.
    fn written_step(&self, here: u32) -> Option<(u32, f64)> {
        let current = self.distance(here);
        let limit = current + ROUNDING_SLACK * current.abs();
        let mut best: Option<(f64, f64, u32, f64)> = None;
        for (node, position) in self.neighbours().of(here) {
            let weight = self.weights.at(position);
            let through = self.distance(node) + weight;
            // Comparisons with NaN are false, so a NaN prediction is never followed.
            if self.visited[node as usize] || through.is_nan() || through > limit || limit.is_nan() {
                continue;
            }
            let candidate = ((through - current).abs(), self.distance(node), node, weight);
            if best.is_none_or(|best| (candidate.0, candidate.1, candidate.2) < (best.0, best.1, best.2)) {
                best = Some(candidate);
            }
        }
        best.map(|(_, _, node, weight)| (node, weight))
    }
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

    fn written(predictions: [f32; 4]) -> Option<Path> {
        let (graph, weights) = diamond();
        let walk = Walk::new(&graph, &weights, 0, 3, WalkRule::AsWritten).unwrap();
        walk.follow(|from, _| predictions[from as usize]).path()
    }

    fn released(predictions: [f32; 4]) -> Vec<u32> {
        let (graph, weights) = diamond();
        let walk = Walk::new(&graph, &weights, 0, 3, WalkRule::Released).unwrap();
        walk.follow(|_, to| predictions[to as usize]).nodes().to_vec()
    }

    #[test]
    fn the_neighbour_that_explains_the_distance_best_is_taken() {
        assert_eq!(written([2.0, 2.0, 1.0, 0.0]).unwrap().nodes, [0, 2, 3]);
        // Both neighbours fit; the one with the smaller difference wins, though the path is longer.
        let wrong = written([3.1, 2.0, 1.0, 0.0]).unwrap();
        assert_eq!((wrong.nodes, wrong.length), (vec![0, 1, 3], 3.0));
        assert_eq!(released([0.0, 1.0, 1.0, 2.0]), [3, 2, 0]);
        assert_eq!(released([0.0, 1.0, 1.0, 3.1]), [3, 1, 0]);
    }

    #[test]
    fn one_percent_breaks_the_written_walk_and_not_the_released_one() {
        assert!(written([1.98, 2.0, 1.0, 0.0]).is_none());
        assert_eq!(released([0.0, 1.0, 1.01, 1.98]), [3, 2, 0]);
    }

    #[test]
    fn a_prediction_that_is_not_a_number_is_never_followed() {
        assert!(written([f32::NAN, 2.0, 1.0, 0.0]).is_none());
        assert!(written([2.0, f32::NAN, f32::NAN, 0.0]).is_none());
        assert!(written([2.0, f32::INFINITY, 1.0, 0.0]).is_some());
        assert_eq!(released([0.0, f32::NAN, f32::NAN, 2.0]), [3]);
        assert_eq!(released([0.0, 1.0, 1.0, f32::NAN]), [3]);
        assert_eq!(released([0.0, f32::NAN, 5.0, 2.0]), [3, 2, 0]);
    }

    #[test]
    fn what_a_model_says_about_the_end_itself_does_not_matter() {
        assert!(written([2.0, 2.0, 1.0, 77.0]).is_some());
        assert_eq!(released([f32::NAN, 1.0, 1.0, 2.0]), [3, 2, 0]);
    }

    #[test]
    fn a_written_walk_never_loops() {
        // Ever smaller predictions around a ring with tiny weights would lead round and round.
        let graph = generators::cycle(5).unwrap();
        let weights = EdgeWeights::new(&graph, vec![1e-9; 10]).unwrap();
        let mut calls = 0;
        let walk = Walk::new(&graph, &weights, 0, 3, WalkRule::AsWritten).unwrap().follow(|_, _| {
            calls += 1;
            1.0
        });
        assert!(walk.path().is_some_and(|path| path.nodes.len() <= 5));
        assert!(calls <= 5);
    }

    #[test]
    fn a_released_walk_is_caught_in_a_valley_and_ends() {
        // 0 - 1 - 2 - 3 - 4 with a dead end 5 at node 3 that seems nearest.
        let edges = [[0, 1], [1, 2], [2, 3], [3, 4], [3, 5]];
        let both: Vec<[u32; 2]> = edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        let graph = Graph::new(6, &both).unwrap();
        let weights = EdgeWeights::unit(&graph);
        let lengths = [0.0, 1.0, 5.0, 3.0, 4.0, 2.0];
        let walk = Walk::new(&graph, &weights, 0, 4, WalkRule::Released).unwrap().follow(|_, to| lengths[to as usize]);
        assert_eq!(walk.nodes(), [4, 3, 5]);
        assert!(!walk.arrived() && walk.path().is_none());
        let lengths = [0.0, 1.0, 3.5, 3.0, 4.0, 7.0];
        let walk = Walk::new(&graph, &weights, 0, 5, WalkRule::Released).unwrap().follow(|_, to| lengths[to as usize]);
        // Node 3 is a valley: from the unvisited neighbours 2 and 4 the walk falls back into it, then it breaks off.
        assert_eq!(walk.nodes(), [5, 3, 2, 3, 4, 3]);
        assert!(!walk.arrived() && walk.path().is_none());
    }

    #[test]
    fn loops_of_a_released_walk_are_not_part_of_its_path() {
        // From 2 into the dead end 3 (unvisited, higher), back to 2 (lower than 3), then to the unvisited 1.
        let both = [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2]];
        let graph = Graph::new(4, &both).unwrap();
        let weights = EdgeWeights::unit(&graph);
        let lengths = [0.0, 9.0, 2.0, 2.5];
        let walk = Walk::new(&graph, &weights, 0, 2, WalkRule::Released).unwrap().follow(|_, to| lengths[to as usize]);
        assert_eq!((walk.nodes(), walk.length()), (&[2, 3, 2, 1, 0][..], 4.0));
        assert_eq!(walk.path(), Some(Path { nodes: vec![0, 1, 2], length: 2.0 }));
        assert!(!walk.succeeds(2.0));
    }

    #[test]
    fn zero_weights_lead_somewhere() {
        // A plateau: 0 = 1, 0 = 2, 2 = 3 of weight 0; node 1 is a dead end of the same distance with a smaller number.
        let both = [[0, 1], [1, 0], [0, 2], [2, 0], [2, 3], [3, 2]];
        let graph = Graph::new(4, &both).unwrap();
        let weights = EdgeWeights::new(&graph, vec![0.0; 6]).unwrap();
        let walk = Walk::new(&graph, &weights, 0, 3, WalkRule::AsWritten).unwrap().follow(|_, _| 0.0);
        assert_eq!(walk.path(), Some(Path { nodes: vec![0, 2, 3], length: 0.0 }));
        assert!(walk.succeeds(0.0));
    }

    #[test]
    fn a_direct_edge_is_found_whatever_is_predicted() {
        let graph = Graph::new(3, &[[0, 1], [1, 2], [0, 2]]).unwrap();
        let weights = EdgeWeights::new(&graph, vec![0.0, 0.0, 0.0]).unwrap();
        for nonsense in [-1.0, 0.0, 7.0, f32::NAN] {
            let walk = Walk::new(&graph, &weights, 0, 2, WalkRule::Released).unwrap().follow(|_, _| nonsense);
            assert_eq!(walk.path().unwrap().nodes, [0, 2], "{nonsense}");
        }
    }

    #[test]
    fn a_walk_that_ends_beside_the_source_is_a_path_but_no_success() {
        let graph = generators::line(4).unwrap();
        let weights = EdgeWeights::unit(&graph);
        let lengths = [0.0, 1.0, 1e-8, 3.0];
        let walk = Walk::new(&graph, &weights, 0, 3, WalkRule::Released).unwrap().follow(|_, to| lengths[to as usize]);
        assert_eq!((walk.nodes(), walk.path()), (&[3, 2][..], None));
        let walk = Walk::new(&graph, &weights, 1, 3, WalkRule::Released).unwrap().follow(|_, to| lengths[to as usize]);
        assert_eq!((walk.length(), walk.succeeds(2.0)), (1.0, false));
        assert_eq!(walk.path().unwrap().nodes, [1, 2, 3]);
    }

    #[test]
    fn a_directed_cycle_is_walked_by_its_only_edges() {
        let graph = Graph::new(6, &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]]).unwrap();
        let weights = EdgeWeights::unit(&graph);
        // An undirected model takes the way against the edges for the shorter one.
        let wrong = |from: u32, to: u32| (from.abs_diff(to)).min(6 - from.abs_diff(to)) as f32;
        let walk = Walk::new(&graph, &weights, 0, 4, WalkRule::Released).unwrap().follow(wrong);
        assert_eq!(walk.path(), Some(Path { nodes: vec![0, 1, 2, 3, 4], length: 4.0 }));
        assert!(Walk::new(&graph, &weights, 0, 4, WalkRule::AsWritten).unwrap().follow(wrong).path().is_none());
    }

    #[test]
    fn all_candidates_of_a_step_are_asked_at_once() {
        let (graph, weights) = diamond();
        let walk = Walk::new(&graph, &weights, 0, 3, WalkRule::AsWritten).unwrap();
        assert_eq!(walk.questions(), [(0, 3), (1, 3), (2, 3)]);
        let walk = Walk::new(&graph, &weights, 0, 3, WalkRule::Released).unwrap();
        assert_eq!(walk.questions(), [(0, 1), (0, 2), (0, 3)]);
    }

    #[test]
    fn source_equal_to_target_is_a_path_of_one_node() {
        let (graph, weights) = diamond();
        for rule in [WalkRule::Released, WalkRule::AsWritten] {
            let walk = Walk::new(&graph, &weights, 2, 2, rule).unwrap();
            assert!(walk.questions().is_empty() && walk.succeeds(0.0));
            assert_eq!(walk.path(), Some(Path { nodes: vec![2], length: 0.0 }));
        }
    }

    #[test]
    fn ends_and_weights_are_checked() {
        let (graph, weights) = diamond();
        assert!(Walk::new(&graph, &weights, 0, 4, WalkRule::Released).is_err());
        let other = generators::line(2).unwrap();
        assert!(Walk::new(&other, &weights, 0, 1, WalkRule::AsWritten).is_err());
    }
}
