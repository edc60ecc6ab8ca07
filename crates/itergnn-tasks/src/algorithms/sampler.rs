//! Drawing labelled samples.

use itergnn_graph::{Attributes, EdgeWeights, Graph, GraphError, formats::SampleRecord, rng};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{Algorithm, GraphFamily, labels::Neighbours};
use crate::TaskError;

/// Which samples of an algorithm are drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlgorithmSpec {
    /// What is to be predicted.
    #[serde(rename = "task")]
    pub algorithm: Algorithm,
    /// The graphs.
    #[serde(default)]
    pub family: GraphFamily,
    /// Their numbers of nodes, each as likely.
    #[serde(default = "training_sizes")]
    pub sizes: Vec<u32>,
}

fn training_sizes() -> Vec<u32> {
    AlgorithmSpec::TRAINING_SIZES.to_vec()
}

impl AlgorithmSpec {
    /// Numbers of nodes in training.
    pub const TRAINING_SIZES: [u32; 5] = [4, 7, 11, 13, 16];

    /// Numbers of nodes in tests.
    pub const TEST_SIZES: [u32; 5] = [16, 80, 160, 800, 1_600];

    /// The training distribution of SALSA-CLRS: connected Erdos-Renyi graphs of 4 to 16 nodes.
    pub fn training(algorithm: Algorithm) -> Self {
        Self { algorithm, family: GraphFamily::Er, sizes: Self::TRAINING_SIZES.to_vec() }
    }

    /// Graphs of one size.
    pub fn test(algorithm: Algorithm, family: GraphFamily, size: u32) -> Self {
        Self { algorithm, family, sizes: vec![size] }
    }

    /// Roughly how many nodes and edges the largest sample has.
    pub fn largest(&self) -> u64 {
        let nodes = self.sizes.iter().copied().max().unwrap_or(0);
        let edges_per_node = match self.family {
            // p is at most 3 ln(m) / m.
            GraphFamily::Er => 3.0 * f64::from(nodes.max(16)).ln(),
            GraphFamily::Ws => 8.0,
            GraphFamily::Delaunay => 6.0,
        };
        (f64::from(nodes) * (1.0 + edges_per_node)) as u64
    }

    /// The same with sizes below `from`, and with the others.
    ///
    /// # Errors
    /// [`TaskError::Graph`] if one of both would have none.
    pub fn divided(&self, from: u32) -> Result<(Self, Self), TaskError> {
        let (larger, smaller): (Vec<u32>, Vec<u32>) = self.sizes.iter().partition(|&&size| size >= from);
        if larger.is_empty() || smaller.is_empty() {
            let why = format!("{from} does not divide the sizes {:?}", self.sizes);
            return Err(TaskError::Graph(GraphError::Parameter { what: "graph of an algorithm", why }));
        }
        Ok((Self { sizes: smaller, ..self.clone() }, Self { sizes: larger, ..self.clone() }))
    }

    /// Sample `index` of the split whose seed ([`Split::seed`](crate::Split::seed)) is given.
    ///
    /// # Errors
    /// [`TaskError::Graph`] if there are no sizes, or one is below 3.
    pub fn sample(&self, split_seed: u64, index: u64) -> Result<SampleRecord, TaskError> {
        let rng = &mut rng::sample(split_seed, index);
        let Some(last) = self.sizes.len().checked_sub(1) else {
            let why = "no sizes".to_owned();
            return Err(TaskError::Graph(GraphError::Parameter { what: "graph of an algorithm", why }));
        };
        let nodes = self.sizes[rng.random_range(0..=last as u32) as usize] as usize;
        let graph = self.family.generate(nodes, rng)?;
        let graph = match self.algorithm {
            Algorithm::Reachability => thinned(&graph, rng)?,
            Algorithm::Bipartiteness => nearly_bipartite(&graph, rng)?,
            _ => graph,
        };
        let source = rng.random_range(0..nodes as u32);
        let values = edge_values(&graph, self.algorithm.is_weighted(), rng);
        let width = usize::from(graph.edges() > 0);
        let graph = graph.with_edge_attributes(Attributes::new(width, values))?;
        let position: Vec<f32> = match self.algorithm {
            Algorithm::Mis => (0..nodes).map(|_| rng.random()).collect(),
            _ => (0..nodes).map(|node| node as f32 / nodes as f32).collect(),
        };
        let target = self.label(&graph, source, &position)?;
        let marked = |node: usize| self.algorithm.has_source() && node == source as usize;
        let row = |node: usize| {
            let mark = f32::from(u8::from(marked(node)));
            [mark, 1.0 - mark, position[node]]
        };
        let graph = graph.with_node_attributes(Attributes::new(3, (0..nodes).flat_map(row).collect()))?;
        let mut record = SampleRecord::new(&graph, target);
        record.task = Some(self.algorithm.to_string());
        record.fields.insert("level".to_owned(), self.algorithm.level().into());
        if self.algorithm.has_source() {
            record.fields.insert("source".to_owned(), source.into());
        }
        Ok(record)
    }

    fn label(&self, graph: &Graph, source: u32, position: &[f32]) -> Result<Vec<f32>, TaskError> {
        let neighbours = Neighbours::new(graph, &EdgeWeights::from_attribute(graph, 0)?);
        let flags = |flags: Vec<bool>| flags.into_iter().map(|flag| f32::from(u8::from(flag))).collect();
        Ok(match self.algorithm {
            Algorithm::Bfs => pointers(graph, &neighbours.breadth_first_parents(source)),
            Algorithm::Dfs => pointers(graph, &neighbours.depth_first_parents(source)),
            Algorithm::Dijkstra => pointers(graph, &neighbours.dijkstra_parents(source)),
            Algorithm::Prim => pointers(graph, &neighbours.prim_parents(source)),
            Algorithm::Eccentricity => {
                vec![neighbours.hops(source).into_iter().flatten().max().unwrap_or(0) as f32]
            }
            Algorithm::Mis => flags(neighbours.independent_set(position)),
            Algorithm::Reachability => flags(neighbours.hops(source).iter().map(Option::is_some).collect()),
            Algorithm::WidestPath => neighbours.widths(source).into_iter().map(|width| width as f32).collect(),
            Algorithm::Bipartiteness => flags(vec![neighbours.is_bipartite()]),
        })
    }
}

/// For each node the number of the edge from its parent, -1 for a node without one.
fn pointers(graph: &Graph, parents: &[Option<u32>]) -> Vec<f32> {
    let edge = |(node, parent): (usize, &Option<u32>)| {
        let mut positions = graph.incoming_positions(node as u32);
        let position = positions.find(|&position| Some(graph.senders()[position]) == *parent);
        position.map_or(-1.0, |position| graph.original_edges()[position] as f32)
    };
    parents.iter().enumerate().map(edge).collect()
}

/// Each pair of an undirected graph once.
fn pairs(graph: &Graph) -> Vec<[u32; 2]> {
    graph.edge_list().into_iter().filter(|[sender, receiver]| sender < receiver).collect()
}

/// The graph with a random share of its edges.
fn thinned(graph: &Graph, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    let share: f64 = rng.random();
    let kept: Vec<_> = pairs(graph).into_iter().filter(|_| rng.random::<f64>() < share).collect();
    Graph::undirected(graph.nodes(), &kept)
}

/// The edges between two random sides of a graph, and in half of the cases one more edge that closes an odd cycle, if
/// there is one.
fn nearly_bipartite(graph: &Graph, rng: &mut impl Rng) -> Result<Graph, GraphError> {
    let side: Vec<bool> = (0..graph.nodes()).map(|_| rng.random()).collect();
    let differ = |&[a, b]: &[u32; 2]| side[a as usize] != side[b as usize];
    let (mut across, within): (Vec<_>, Vec<_>) = pairs(graph).into_iter().partition(differ);
    let wants_odd_cycle: bool = rng.random();
    let bare = Graph::undirected(graph.nodes(), &across)?;
    let component = itergnn_graph::solvers::components::labels(&bare);
    let closing: Vec<_> =
        within.into_iter().filter(|[a, b]| component[*a as usize] == component[*b as usize]).collect();
    if wants_odd_cycle && !closing.is_empty() {
        across.push(closing[rng.random_range(0..closing.len() as u32) as usize]);
    }
    Graph::undirected(graph.nodes(), &across)
}

/// A weight for each edge in the order given, the same for both directions; 1 without weights.
fn edge_values(graph: &Graph, weighted: bool, rng: &mut impl Rng) -> Vec<f32> {
    let edges = graph.edge_list();
    if !weighted {
        return vec![1.0; edges.len()];
    }
    let mut drawn = std::collections::HashMap::new();
    edges.iter().map(|&[a, b]| *drawn.entry([a.min(b), a.max(b)]).or_insert_with(|| rng.random())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    #[test]
    fn every_algorithm_gives_samples_of_its_level() {
        for &algorithm in Algorithm::VARIANTS {
            let spec = AlgorithmSpec::training(algorithm);
            for index in 0..50 {
                let sample = spec.sample(3, index).unwrap();
                let graph = sample.graph().unwrap();
                let rows = if algorithm.level() == "graph" { 1 } else { graph.nodes() };
                assert_eq!(sample.target.len(), rows, "{algorithm}");
                assert_eq!(
                    (graph.node_attributes().width(), sample.fields["level"].as_str()),
                    (3, Some(algorithm.level()))
                );
                if algorithm.level() == "pointer" {
                    let source = sample.fields["source"].as_u64().unwrap() as usize;
                    for (node, &pointer) in sample.target.iter().enumerate() {
                        assert_eq!(pointer < 0.0, node == source, "only the source has no parent");
                        assert!(pointer < 0.0 || sample.edges[pointer as usize][1] == node as u32);
                    }
                }
            }
            assert_eq!(spec.sample(3, 7).unwrap(), spec.sample(3, 7).unwrap());
        }
        assert!(AlgorithmSpec { sizes: vec![], ..AlgorithmSpec::training(Algorithm::Bfs) }.sample(0, 0).is_err());
    }

    #[test]
    fn classes_are_balanced() {
        for algorithm in [Algorithm::Bipartiteness, Algorithm::Reachability, Algorithm::Mis] {
            let spec = AlgorithmSpec::test(algorithm, GraphFamily::Delaunay, 80);
            let targets: Vec<f32> = (0..100).flat_map(|index| spec.sample(1, index).unwrap().target).collect();
            let share = targets.iter().sum::<f32>() / targets.len() as f32;
            assert!((0.2..0.8).contains(&share), "{algorithm}: {share}");
        }
    }
}
