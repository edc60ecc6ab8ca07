//! From the rows of a file to a graph fit for shortest paths.

use super::{
    FormatError, NodeNames,
    graph_file::{GraphFile, ReadOptions},
};
use crate::{Attributes, EdgeWeights, Graph, GraphError};

/// How a format counts its nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// The file declares `nodes` nodes, called `first`, `first + 1`, ..; every id was checked against that. Those that
    /// no edge names are not counted.
    Declared { first: u64, nodes: usize },
    /// The ids that occur are the nodes.
    Occurring,
    /// The file lists its nodes: ids are their places in the list.
    Listed(NodeNames),
}

/// Edges as a file lists them, with the file's ids.
#[derive(Debug, Default)]
pub(crate) struct EdgeRows {
    ends: Vec<[u64; 2]>,
    /// As long as `ends`, or empty when the file has no weights. As the file has them: solvers are to be exact.
    weights: Vec<f64>,
}

impl EdgeRows {
    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a row. Either all rows of a file have a (checked) weight or none has.
    pub(crate) fn push(&mut self, sender: u64, receiver: u64, weight: Option<f64>) {
        self.ends.push([sender, receiver]);
        self.weights.extend(weight);
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
        let mut warnings = Vec::new();
        let (names, first) = match numbering {
            Numbering::Declared { nodes, .. } => {
                let names = NodeNames::numbers(self.ends.iter().flatten().copied());
                let unused = nodes - names.len();
                if unused > 0 {
                    warnings.push(format!("{unused} of {nodes} declared nodes have no edge: not counted"));
                }
                (names, None)
            }
            Numbering::Occurring => (NodeNames::numbers(self.ends.iter().flatten().copied()), None),
            Numbering::Listed(names) => (names, Some(0)),
        };
        if names.is_empty() {
            let why = "none: the file has no edges".to_owned();
            return Err(FormatError::graph(file)(GraphError::Parameter { what: "nodes", why }));
        }
        if self.ends.len() >= u32::MAX as usize {
            let source = GraphError::TooLarge { what: "edges", found: self.ends.len(), limit: u32::MAX as usize - 1 };
            return Err(FormatError::graph(file)(source));
        }
        // An id without a node is refused by Graph::new.
        let as_node = |id: u64| match first {
            Some(first) => u32::try_from(id - first).unwrap_or(u32::MAX),
            None => names.node(id).unwrap_or(u32::MAX),
        };
        let mut pairs: Vec<[u32; 2]> = self.ends.iter().map(|ends| ends.map(as_node)).collect();
        drop(self.ends);
        let mut weights = self.weights;
        if options.simplify {
            warnings.extend(simplify(&mut pairs, &mut weights, directed));
        }
        warnings.extend(report_rounding(&weights));
        if !directed {
            pairs.extend_from_within(..);
            let half = pairs.len() / 2;
            pairs[half..].iter_mut().for_each(|pair| pair.swap(0, 1));
            weights.extend_from_within(..);
        }
        let graph = Graph::new(names.len(), &pairs).map_err(FormatError::graph(file))?;
        let (graph, weights) = with_weights(graph, &weights).map_err(FormatError::graph(file))?;
        Ok(GraphFile { file: file.to_owned(), graph, weights, names, warnings, grid: None })
    }
}

/// Puts weights, in the order in which edges were given, on a graph: rounded as its only edge attribute, and as they
/// are beside it. No weights mean weight 1 and no attribute.
pub(crate) fn with_weights(graph: Graph, original: &[f64]) -> Result<(Graph, EdgeWeights), GraphError> {
    if original.is_empty() {
        let weights = EdgeWeights::unit(&graph);
        return Ok((graph, weights));
    }
    let attributes = original.iter().map(|&weight| weight as f32).collect();
    let graph = graph.with_edge_attributes(Attributes::new(1, attributes))?;
    let by_position = graph.original_edges().iter().map(|&edge| original[edge as usize]).collect();
    let weights = EdgeWeights::new(&graph, by_position)?;
    Ok((graph, weights))
}

/// The largest whole number up to which all are exact in double precision.
const WHOLE_LIMIT: f64 = 9_007_199_254_740_992.0;

/// Says how many weights are not exact where they are used.
///
/// Every decimal fraction is rounded in binary; that is reported only where digits that the file has are lost.
pub(crate) fn report_rounding(weights: &[f64]) -> Vec<String> {
    let loses_digits = |&&weight: &&f64| {
        let single = weight as f32;
        f64::from(single) != weight && (weight.fract() == 0.0 || single.to_string() != weight.to_string())
    };
    let single = weights.iter().filter(loses_digits).count();
    let double = weights.iter().filter(|&&weight| weight.fract() == 0.0 && weight > WHOLE_LIMIT).count();
    let mut warnings = Vec::new();
    if single > 0 {
        let what = count(single, "weight has", "weights have");
        warnings
            .push(format!("{what} more digits than f32 holds: exact answers use all of them, networks see it rounded"));
    }
    if double > 0 {
        warnings.push(format!("{} beyond 2^53: not exact", count(double, "whole number is", "whole numbers are")));
    }
    warnings
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Drops self-loops, and of parallel edges all but a lightest one; keeps the order of the rest. Says what it dropped.
///
/// Neither changes any shortest path: weights are not negative. With `directed` false, `[a, b]` and `[b, a]` are
/// parallel.
///
/// # Complexity
/// O(edges log edges).
pub(crate) fn simplify(pairs: &mut Vec<[u32; 2]>, weights: &mut Vec<f64>, directed: bool) -> Vec<String> {
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
    fn digits_that_f32_loses_are_reported() {
        assert!(report_rounding(&[0.1, 2.5, 57.403187, 16_777_216.0, 0.0]).is_empty());
        for weight in [16_777_217.0, 50_000.005_5, 1e-50, 100_000.005] {
            assert_eq!(report_rounding(&[weight]).len(), 1, "{weight}");
        }
        assert_eq!(report_rounding(&[1e17])[1], "1 whole number is beyond 2^53: not exact");
    }
}
