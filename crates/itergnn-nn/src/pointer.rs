//! Nodes that point: for every node one of its incoming edges, or the node itself.
//!
//! A network with the readout [`ReadoutKind::Pointer`](crate::ReadoutKind) gives one score per *choice*. The choices of
//! a node are its incoming edges, in the order of the batch, then the node itself; the choices of all nodes follow each
//! other, so the rows of a node are a segment:
//!
//! ```text
//! row of edge k with receiver r     k + r
//! row of node v itself              (end of v's incoming edges) + v
//! p_k = exp(score_k) / sum of exp(score) over the choices of the node
//! ```
//! A target or an answer is `Some(edge)`, by position in the batch, or `None` for the node itself.

use burn::tensor::Tensor;

use crate::GraphStructure;
use crate::index::index_tensor;
use crate::ops::{Segments, segment_max, segment_sum};

/// The choices of every node, as segments of rows.
pub fn choices(structure: &GraphStructure) -> Segments {
    Segments::from_lengths(structure.incoming().iter().map(|edges| edges.len() + 1))
}

/// The row of a choice: an incoming edge of the node, or itself.
///
/// # Panics
/// If the edge does not reach the node.
pub fn row(structure: &GraphStructure, node: usize, choice: Option<u32>) -> usize {
    let incoming = structure.incoming().range(node);
    match choice {
        Some(edge) => {
            assert!(incoming.contains(&(edge as usize)), "edge {edge} does not reach node {node}");
            edge as usize + node
        }
        None => incoming.end + node,
    }
}

/// For every row its place in `[edges ; nodes]`.
pub(crate) fn order(structure: &GraphStructure) -> Vec<u32> {
    let edges = structure.senders().len() as u32;
    let nodes = structure.incoming().iter().enumerate();
    nodes
        .flat_map(|(node, incoming)| (incoming.start as u32..incoming.end as u32).chain([edges + node as u32]))
        .collect()
}

/// The logarithm of the probability of every choice.
///
/// # Shapes
/// `[edges + nodes, 1]`, both ways.
///
/// # Panics
/// If there is not one score per choice.
pub fn log_probabilities(scores: Tensor<2>, structure: &GraphStructure) -> Tensor<2> {
    let choices = choices(structure);
    let rows = index_tensor(choices.ids(), &scores.device());
    // The largest score is taken off for the sake of the exponential only; it cancels, and so has no gradient.
    let largest = segment_max(scores.clone().detach(), &choices).select(0, rows.clone());
    let shifted = scores - largest;
    let totals = segment_sum(shifted.clone().exp(), &choices).log();
    shifted - totals.select(0, rows)
}

/// Mean over the nodes of `-log p` of the choice that was right: the cross-entropy of a pointer.
///
/// # Panics
/// If there is not one target per node, or a target is no choice of its node.
pub fn cross_entropy(scores: Tensor<2>, structure: &GraphStructure, targets: &[Option<u32>]) -> Tensor<1> {
    assert_eq!(targets.len(), structure.incoming().len(), "one target per node");
    let rows = targets.iter().enumerate().map(|(node, &target)| row(structure, node, target) as u32);
    let rows = index_tensor(rows, &scores.device());
    let chosen = log_probabilities(scores, structure).select(0, rows);
    chosen.sum().mul_scalar(-1.0 / targets.len().max(1) as f64)
}

/// What every node points at: its choice with the largest score, the first among equal ones.
pub fn pointed_at(scores: &[f64], structure: &GraphStructure) -> Vec<Option<u32>> {
    let choices = choices(structure);
    let pick = |(node, rows): (usize, std::ops::Range<usize>)| {
        let best = rows.clone().fold(rows.start, |best, row| if scores[row] > scores[best] { row } else { best });
        (best + 1 < rows.end).then(|| (best - node) as u32)
    };
    choices.iter().enumerate().map(pick).collect()
}

/// The probability of every choice, from scores on the host.
pub fn probabilities(scores: &[f64], structure: &GraphStructure) -> Vec<f64> {
    let mut result = Vec::with_capacity(scores.len());
    for rows in choices(structure).iter() {
        let scores = &scores[rows];
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
        let total: f64 = powers.iter().sum();
        result.extend(powers.into_iter().map(|power| power / total));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Node 0 hears 1 and 2, node 1 nobody, node 2 hears 0.
    fn structure() -> GraphStructure {
        let incoming = Segments::from_lengths([2, 0, 1]);
        GraphStructure::new(vec![1, 2, 0], incoming, Segments::from_lengths([3])).expect("three nodes")
    }

    #[test]
    fn rows_are_the_incoming_edges_of_a_node_and_then_itself() {
        let structure = structure();
        assert_eq!(choices(&structure), Segments::from_lengths([3, 1, 2]));
        assert_eq!(order(&structure), [0, 1, 3, 4, 2, 5]);
        let rows = [(0, Some(0)), (0, Some(1)), (0, None), (1, None), (2, Some(2)), (2, None)];
        assert!(rows.into_iter().enumerate().all(|(at, (node, choice))| row(&structure, node, choice) == at));
    }

    #[test]
    fn the_largest_score_is_pointed_at() {
        let scores = [0.0, 2.0, 1.0, -5.0, 1.0, 1.0];
        assert_eq!(pointed_at(&scores, &structure()), [Some(1), None, Some(2)]);
        let probabilities = probabilities(&scores, &structure());
        assert_eq!((probabilities[3], probabilities[4]), (1.0, 0.5));
        assert!((probabilities[..3].iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }
}
