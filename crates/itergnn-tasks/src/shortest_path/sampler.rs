//! Drawing shortest-path samples.

use itergnn_graph::{Attributes, EdgeWeights, Graph, generators::Generator, rng, solvers::dijkstra};
use rand::{Rng, RngExt};

use super::{ShortestPathSpec, Weights};
use crate::{Fields, Sample, Sampler, Task, TaskError, generator_setting};

/// Pairs tried on one graph before another graph is drawn.
const PAIRS_A_GRAPH: u32 = 16;

/// Graphs tried before giving up: a generator that joins nothing would never end.
const GRAPHS: u32 = 64;

/// Draws graphs with a marked source and target and labels them by Dijkstra's algorithm.
#[derive(Debug, Clone)]
pub struct ShortestPathSampler {
    spec: ShortestPathSpec,
}

impl ShortestPathSampler {
    /// A sampler of the given settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if a size leaves no two nodes to choose.
    pub fn new(spec: ShortestPathSpec) -> Result<Self, TaskError> {
        if spec.size.smallest() < 2 {
            let (what, why) = (format!("size {}", spec.size), "leaves no two nodes to choose".to_owned());
            return Err(TaskError::Setting { task: Task::ShortestPath, what, why });
        }
        Ok(Self { spec })
    }

    /// The settings.
    pub fn spec(&self) -> &ShortestPathSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut impl Rng) -> Result<Sample, TaskError> {
        let size = self.spec.size.draw(rng);
        for _ in 0..GRAPHS {
            let (generator, own_size) = self.spec.generator.next(size as usize, rng);
            let graph = generator.generate(own_size, rng)?;
            let values = edge_values(&graph, &generator, self.spec.weights, rng);
            let graph = graph.with_edge_attributes(Attributes::new(1, values))?;
            let weights = EdgeWeights::from_attribute(&graph, 0)?;
            let nodes = graph.nodes() as u32;
            for _ in 0..PAIRS_A_GRAPH {
                let source = rng.random_range(0..nodes);
                // Uniform over the other nodes: skip over the source.
                let other = rng.random_range(0..nodes - 1);
                let target = other + u32::from(other >= source);
                if let Some(path) = dijkstra::shortest_path(&graph, &weights, source, target)? {
                    let scale = self.spec.weights.scale();
                    let graph = mark_ends(graph, source, target, scale)?;
                    let mut sample = Sample::graph_level(Task::ShortestPath, size, graph, vec![path.length as f32]);
                    sample.fields = Fields {
                        source: Some(source),
                        target_node: Some(target),
                        scale: Some(scale),
                        ..Fields::default()
                    };
                    return Ok(sample);
                }
            }
        }
        let why = format!("no pair of nodes that {} of size {size} gives is connected", self.spec.generator);
        Err(TaskError::Exhausted { task: Task::ShortestPath, attempts: GRAPHS * PAIRS_A_GRAPH, why })
    }
}

/// A weight for each edge in the order given; both directions of an undirected edge weigh the same.
fn edge_values(graph: &Graph, generator: &Generator, weights: Weights, rng: &mut impl Rng) -> Vec<f32> {
    let count = graph.edges();
    if weights == Weights::Unit {
        return vec![1.0; count];
    }
    if !generator_setting::is_undirected(generator) {
        return (0..count).map(|_| weights.draw(rng)).collect();
    }
    let edges = graph.edge_list();
    let mut values = vec![0.0; count];
    for (edge, reverse) in reverses(&edges).into_iter().enumerate() {
        let reverse = reverse as usize;
        values[edge] = if reverse < edge { values[reverse] } else { weights.draw(rng) };
    }
    values
}

/// The other direction of each edge of a simple undirected graph.
fn reverses(edges: &[[u32; 2]]) -> Vec<u32> {
    let half = edges.len() / 2;
    let (pairs, others) = edges.split_at(half);
    // Most generators list all pairs, then all of them reversed; that needs no sorting, which would dominate on
    // millions of nodes.
    if pairs.iter().zip(others).all(|(&[a, b], &[c, d])| a == d && b == c) {
        return (half as u32..2 * half as u32).chain(0..half as u32).collect();
    }
    let mut order: Vec<u32> = (0..edges.len() as u32).collect();
    order.sort_unstable_by_key(|&edge| {
        let [a, b] = edges[edge as usize];
        (a.min(b), a.max(b), edge)
    });
    let mut reverses = vec![0; edges.len()];
    for pair in order.chunks_exact(2) {
        reverses[pair[0] as usize] = pair[1];
        reverses[pair[1] as usize] = pair[0];
    }
    reverses
}

/// Sets the node attributes to the one-hot vectors (source, target, other), times `scale`.
///
/// This is how the same graph is shown to a model for another pair of nodes, as the walk of the post-processing needs.
/// Where source and target are the same node it is marked as both.
///
/// # Errors
/// [`TaskError::Graph`] if a node does not exist or the scale is not finite.
pub fn mark_ends(graph: Graph, source: u32, target: u32, scale: f32) -> Result<Graph, TaskError> {
    graph.check_node(source)?;
    graph.check_node(target)?;
    let mut values = [0.0, 0.0, scale].repeat(graph.nodes());
    for (node, kind) in [(source, 0), (target, 1)] {
        values[3 * node as usize + kind] = scale;
        values[3 * node as usize + 2] = 0.0;
    }
    Ok(graph.with_node_attributes(Attributes::new(3, values))?)
}

impl Sampler for ShortestPathSampler {
    fn task(&self) -> Task {
        Task::ShortestPath
    }

    fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError> {
        self.draw(&mut rng::sample(split_seed, index))
    }

    fn largest(&self) -> usize {
        generator_setting::magnitude(&self.spec.generator, self.spec.size.largest() as usize)
    }

    fn largest_nodes(&self) -> usize {
        generator_setting::nodes(&self.spec.generator, self.spec.size.largest() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SizeRange;

    fn sampler(generator: Generator, weights: Weights) -> ShortestPathSampler {
        ShortestPathSpec { generator, size: SizeRange::TRAINING, weights }.sampler().unwrap()
    }

    #[test]
    fn attributes_mark_source_and_target() {
        let sample = sampler(Generator::ER, Weights::uniform(2.0, 6.0).unwrap()).sample(1, 0).unwrap();
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        for (node, row) in sample.graph.node_attributes().rows().enumerate() {
            let kind = if node as u32 == source {
                0
            } else if node as u32 == target {
                1
            } else {
                2
            };
            let expected: Vec<f32> = (0..3).map(|column| if column == kind { 4.0 } else { 0.0 }).collect();
            assert_eq!(row, expected);
        }
        assert_ne!(source, target);
    }

    #[test]
    fn both_directions_of_an_undirected_edge_weigh_the_same() {
        for generator in Generator::ALL.into_iter().filter(generator_setting::is_undirected) {
            let spec = ShortestPathSpec { generator, size: SizeRange::exactly(10).unwrap(), weights: Weights::PAPER };
            let graph = spec.sampler().unwrap().sample(1, 3).unwrap().graph;
            let weight = |sender: u32, receiver: u32| {
                let position = graph.incoming_positions(receiver).find(|&at| graph.senders()[at] == sender).unwrap();
                graph.edge_attributes().values()[position]
            };
            let mut different = Vec::new();
            for (&sender, &receiver) in graph.senders().iter().zip(graph.receivers()) {
                assert_eq!(weight(sender, receiver), weight(receiver, sender), "{generator}");
                different.push(weight(sender, receiver).to_bits());
            }
            different.sort_unstable();
            different.dedup();
            assert_eq!(2 * different.len(), graph.edges(), "{generator}: one draw for each pair");
        }
    }

    #[test]
    fn a_magnitude_sample_is_a_training_sample_multiplied() {
        for generator in [Generator::LOBSTER, Generator::ER, Generator::KNN] {
            let small = sampler(generator, Weights::PAPER).sample(4, 2).unwrap();
            let large = sampler(generator, Weights::uniform(8.0, 24.0).unwrap()).sample(4, 2).unwrap();
            let multiple = |values: &[f32]| values.iter().map(|value| 16.0 * value).collect::<Vec<_>>();
            assert_eq!(large.target, multiple(&small.target));
            assert_eq!(large.graph.node_attributes().values(), multiple(small.graph.node_attributes().values()));
            assert_eq!(large.graph.edge_attributes().values(), multiple(small.graph.edge_attributes().values()));
        }
    }

    #[test]
    fn a_generator_without_edges_is_given_up() {
        let nothing = sampler(Generator::Er { p: 0.0, directed: true }, Weights::Unit);
        assert!(matches!(nothing.sample(0, 0), Err(TaskError::Exhausted { attempts: 1024, .. })));
        let tiny = ShortestPathSpec { size: SizeRange::exactly(1).unwrap(), ..ShortestPathSpec::default() };
        assert!(tiny.sampler().is_err());
    }

    #[test]
    fn source_and_target_can_coincide_for_a_model() {
        let graph = mark_ends(Graph::new(2, &[]).unwrap(), 1, 1, 1.0).unwrap();
        assert_eq!(graph.node_attributes().values(), &[0.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
        assert!(mark_ends(graph, 2, 0, 1.0).is_err());
    }
}
