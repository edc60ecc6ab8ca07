//! A user's graph, as it is searched for paths.

use itergnn::graph::{
    Attributes, EdgeWeights, Graph,
    formats::GraphFile,
    solvers::{bfs, components},
};
use serde_json::Value;

use crate::{commands::exact, failure::Failure, options::SolveArguments};

/// A graph from a file, whole or its largest component, and what a model sees of it.
pub(crate) struct Terrain {
    pub(crate) file: GraphFile,
    /// With the weight as the only edge attribute.
    pub(crate) graph: Graph,
    pub(crate) weights: EdgeWeights,
    /// The file's node of each node; `None` if they are the same.
    kept: Option<Vec<u32>>,
}

impl Terrain {
    /// Reads the graph that the arguments name.
    pub(crate) fn read(arguments: &SolveArguments) -> Result<Self, Failure> {
        let graph = arguments.graph.as_ref();
        let graph = graph.ok_or_else(|| Failure::bad_input("give a graph with --graph or a map with --image"))?;
        let file = exact::read(graph, &arguments.reading)?;
        let kept = arguments.largest_component.then(|| components::largest(&file.graph));
        let part = kept.as_ref().map(|nodes| file.restricted_to(nodes)).transpose().map_err(Failure::bad_input)?;
        let searched = part.as_ref().unwrap_or(&file);
        let (graph, weights) = (searched.graph.clone(), searched.weights.clone());
        let mut original = vec![0.0; weights.as_slice().len()];
        for (&edge, &weight) in graph.original_edges().iter().zip(weights.as_slice()) {
            original[edge as usize] = weight as f32;
        }
        let graph = graph.with_edge_attributes(Attributes::new(1, original)).map_err(Failure::bad_input)?;
        Ok(Self { file, graph, weights, kept })
    }

    /// The node that the user calls `name`.
    pub(crate) fn find(&self, flag: &str, name: &str) -> Result<u32, Failure> {
        let node = self.file.find_node(name).map_err(Failure::bad_input)?;
        let Some(kept) = &self.kept else { return Ok(node) };
        kept.binary_search(&node).map(|place| place as u32).map_err(|_| {
            let (inside, all) = (kept.len(), self.file.graph.nodes());
            Failure::bad_input(format!(
                "{}: {flag} {name}: not in the largest component ({inside} of {all} nodes); leave --largest-component out to search the whole graph",
                self.file.file
            ))
        })
    }

    /// What the file calls a node.
    pub(crate) fn name(&self, node: u32) -> Value {
        exact::name(&self.file, self.in_file(node))
    }

    /// The file's number of a node.
    pub(crate) fn in_file(&self, node: u32) -> u32 {
        self.kept.as_ref().map_or(node, |kept| kept[node as usize])
    }

    /// Whether there is any path; says nothing about its length.
    pub(crate) fn is_joined(&self, source: u32, target: u32) -> Result<bool, Failure> {
        let hops = bfs::hops_to(&self.graph, target).map_err(Failure::bad_input)?;
        Ok(hops[source as usize] != bfs::UNREACHED)
    }
}
