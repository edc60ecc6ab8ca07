//! From the rows of a file to a graph fit for shortest paths.

use super::{
    FormatError, NodeNames,
    graph_file::{GraphFile, ReadOptions},
};
use crate::{Attributes, Graph, GraphError};

/// How a format counts its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// The file declares `nodes` nodes, called `first`, `first + 1`, ..; every id was checked against that.
    Declared { first: u64, nodes: usize },
    /// The ids that occur decide, counted from the given one (the smallest where there is none).
    Occurring { first: Option<u64> },
}

/// Edges as a file lists them, with the file's ids.
#[derive(Debug, Default)]
pub(crate) struct EdgeRows {
    ends: Vec<[u64; 2]>,
    /// As long as `ends`, or empty when the file has no weights.
    weights: Vec<f32>,
    /// Whole numbers that `f32` cannot hold exactly.
    rounded: usize,
}

impl EdgeRows {
    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether some row names this node.
    pub(crate) fn mentions(&self, id: u64) -> bool {
        self.ends.iter().flatten().any(|&end| end == id)
    }

    /// Adds a row. Either all rows of a file have a (checked) weight or none has.
    pub(crate) fn push(&mut self, sender: u64, receiver: u64, weight: Option<f64>) {
        self.ends.push([sender, receiver]);
        if let Some(weight) = weight {
            let stored = weight as f32;
            self.rounded += usize::from(weight.fract() == 0.0 && f64::from(stored) != weight);
            self.weights.push(stored);
        }
        debug_assert!(self.weights.is_empty() || self.weights.len() == self.ends.len());
    }

    /// The graph of these rows.
    pub(crate) fn into_graph(
        self,
        file: &str,
        numbering: Numbering,
        directed: bool,
        options: &ReadOptions,
    ) -> Result<GraphFile, FormatError> {
        let names = match numbering {
            Numbering::Declared { first, nodes } => NodeNames::Sequence { first, nodes },
            Numbering::Occurring { first } => {
                let ids = self.ends.iter().flatten().copied();
                let first = first.or(ids.clone().min()).unwrap_or(0);
                NodeNames::occurring(first, ids)
            }
        };
        if self.ends.len() >= u32::MAX as usize {
            let source = GraphError::TooLarge { what: "edges", found: self.ends.len(), limit: u32::MAX as usize - 1 };
            return Err(FormatError::graph(file)(source));
        }
        let as_node = |id: u64| names.node(id).unwrap_or(u32::MAX); // an id without a node is refused by Graph::new
        let mut pairs: Vec<[u32; 2]> = self.ends.iter().map(|ends| ends.map(as_node)).collect();
        drop(self.ends);
        let mut weights = self.weights;
        let mut warnings = Vec::new();
        if self.rounded > 0 {
            warnings.push(format!("{} whole-number weights do not fit f32 exactly: rounded", self.rounded));
        }
        if options.simplify {
            warnings.extend(simplify(&mut pairs, &mut weights, directed));
        }
        if !directed {
            pairs.extend_from_within(..);
            let half = pairs.len() / 2;
            pairs[half..].iter_mut().for_each(|pair| pair.swap(0, 1));
            weights.extend_from_within(..);
        }
        let width = usize::from(!weights.is_empty());
        let graph = Graph::new(names.len(), &pairs)
            .and_then(|graph| graph.with_edge_attributes(Attributes::new(width, weights)))
            .map_err(FormatError::graph(file))?;
        Ok(GraphFile { file: file.to_owned(), graph, names, warnings, grid: None })
    }
}

/// Drops self-loops, and of parallel edges all but a lightest one; keeps the order of the rest. Says what it dropped.
///
/// Neither changes any shortest path: weights are not negative. With `directed` false, `[a, b]` and `[b, a]` are parallel.
///
/// # Complexity
/// O(edges log edges).
pub(crate) fn simplify(pairs: &mut Vec<[u32; 2]>, weights: &mut Vec<f32>, directed: bool) -> Vec<String> {
    let weight = |edge: u32| weights.get(edge as usize).copied().unwrap_or(1.0);
    let key = |edge: u32| {
        let [sender, receiver] = pairs[edge as usize];
        if directed || sender <= receiver { [sender, receiver] } else { [receiver, sender] }
    };
    let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| {
        key(a).cmp(&key(b)).then(weight(a).total_cmp(&weight(b))).then(a.cmp(&b)) // the first of equals stays
    });
    let mut keep = vec![true; pairs.len()];
    let (mut loops, mut duplicates) = (0, 0);
    for (at, &edge) in order.iter().enumerate() {
        let [sender, receiver] = pairs[edge as usize];
        if sender == receiver {
            loops += 1;
            keep[edge as usize] = false;
        } else if at > 0 && key(order[at - 1]) == key(edge) {
            duplicates += 1;
            keep[edge as usize] = false;
        }
    }
    let weighted = !weights.is_empty();
    let mut flags = keep.iter();
    pairs.retain(|_| *flags.next().unwrap_or(&true));
    let mut flags = keep.iter();
    weights.retain(|_| *flags.next().unwrap_or(&true));

    let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let mut warnings = Vec::new();
    if loops > 0 {
        let what = count(loops, "self-loop", "self-loops");
        warnings.push(format!("{what} dropped: no shortest path uses one"));
    }
    if duplicates > 0 {
        let what = count(duplicates, "duplicate edge", "duplicate edges");
        warnings.push(format!("{what}: kept {}", if weighted { "the smallest weight" } else { "one of each" }));
    }
    warnings
}

/// How many nodes a file with so many edges may declare.
///
/// Beyond that a few bytes could ask for gigabytes. The same bound as in [`Graph`]'s own deserialisation.
pub(crate) fn node_limit(edges: usize) -> u64 {
    64 * (edges as u64 + 1_000)
}

/// The edges of a graph as they were given: position and `[sender, receiver]`.
pub(crate) fn edges_in_original_order(graph: &Graph) -> impl Iterator<Item = (usize, [u32; 2])> + '_ {
    let mut positions = vec![0_u32; graph.edges()];
    for (position, &edge) in graph.original_edges().iter().enumerate() {
        positions[edge as usize] = position as u32;
    }
    positions.into_iter().map(|position| {
        let position = position as usize;
        (position, [graph.senders()[position], graph.receivers()[position]])
    })
}

/// The fewest digits that give a weight back: those of the `f32` where the weight is one.
pub(crate) fn shortest(weight: f64) -> String {
    let single = weight as f32;
    if f64::from(single) == weight { single.to_string() } else { weight.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lightest_of_parallel_edges_stays_in_its_place() {
        let mut pairs = vec![[0, 1], [1, 0], [2, 2], [0, 1], [1, 2], [0, 1]];
        let mut weights = vec![3.0, 1.0, 0.0, 2.0, 5.0, 2.0];
        let warnings = simplify(&mut pairs, &mut weights, true);
        assert_eq!(pairs, [[1, 0], [0, 1], [1, 2]]);
        assert_eq!(weights, [1.0, 2.0, 5.0]);
        assert_eq!(
            warnings,
            ["1 self-loop dropped: no shortest path uses one", "2 duplicate edges: kept the smallest weight"]
        );
    }

    #[test]
    fn both_directions_of_an_undirected_edge_are_one() {
        let mut pairs = vec![[0, 1], [1, 0]];
        simplify(&mut pairs, &mut Vec::new(), false);
        assert_eq!(pairs, [[0, 1]]);
    }

    #[test]
    fn large_whole_numbers_are_reported_when_rounded() {
        let mut rows = EdgeRows::default();
        rows.push(0, 1, Some(16_777_217.0));
        rows.push(1, 2, Some(16_777_216.0));
        rows.push(2, 3, Some(0.1));
        let numbering = Numbering::Occurring { first: Some(0) };
        let read = rows.into_graph("test", numbering, true, &ReadOptions::default()).unwrap();
        assert_eq!(read.warnings, ["1 whole-number weights do not fit f32 exactly: rounded"]);
    }
}
