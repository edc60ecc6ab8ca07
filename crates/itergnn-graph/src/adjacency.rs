//! Neighbour lists in either direction, as solvers walk them.

use crate::Graph;

/// Sorts `count` edges by `key` (a node below `nodes`), keeping the order among equal keys.
///
/// Returns the offsets of each key and the edges in sorted order. O(nodes + count).
pub(crate) fn counting_sort(nodes: usize, count: usize, key: impl Fn(usize) -> u32) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; nodes + 1];
    for edge in 0..count {
        offsets[key(edge) as usize + 1] += 1;
    }
    for node in 0..nodes {
        offsets[node + 1] += offsets[node];
    }
    let mut next = offsets.clone();
    let mut order = vec![0_u32; count];
    for edge in 0..count {
        let slot = &mut next[key(edge) as usize];
        order[*slot as usize] = edge as u32;
        *slot += 1;
    }
    (offsets, order)
}

/// Who can be reached over outgoing edges: the transpose of a [`Graph`]'s own incoming lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjacency {
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
    positions: Vec<u32>,
}

impl Adjacency {
    /// The outgoing edges of every node, in O(nodes + edges).
    pub fn outgoing(graph: &Graph) -> Self {
        let (offsets, positions) = counting_sort(graph.nodes(), graph.edges(), |position| graph.senders[position]);
        let neighbours = positions.iter().map(|&position| graph.receivers[position as usize]).collect();
        Self { offsets, neighbours, positions }
    }

    /// A borrowed view, which is what solvers take.
    pub fn view(&self) -> AdjacencyView<'_> {
        AdjacencyView { offsets: &self.offsets, neighbours: &self.neighbours, positions: Some(&self.positions) }
    }
}

/// Neighbour lists of one direction.
///
/// [`AdjacencyView::incoming`] is free, since a [`Graph`] is stored that way; [`Adjacency::outgoing`] has to be built.
/// A solver that walks incoming edges from the target finds distances *to* the target.
#[derive(Debug, Clone, Copy)]
pub struct AdjacencyView<'a> {
    offsets: &'a [u32],
    neighbours: &'a [u32],
    positions: Option<&'a [u32]>,
}

impl<'a> AdjacencyView<'a> {
    /// The incoming edges of every node.
    pub fn incoming(graph: &'a Graph) -> Self {
        Self { offsets: &graph.offsets, neighbours: &graph.senders, positions: None }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// `(neighbour, edge position)` for each edge at `node`.
    pub fn of(&self, node: u32) -> impl ExactSizeIterator<Item = (u32, usize)> + use<'a> {
        let (offsets, neighbours, positions) = (self.offsets, self.neighbours, self.positions);
        let range = offsets[node as usize] as usize..offsets[node as usize + 1] as usize;
        range.map(move |slot| (neighbours[slot], positions.map_or(slot, |positions| positions[slot] as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outgoing_is_the_transpose_of_incoming() {
        let graph = Graph::new(4, &[[0, 1], [0, 2], [2, 1], [3, 3], [2, 0]]).unwrap();
        let outgoing = Adjacency::outgoing(&graph);
        let list = |node| outgoing.view().of(node).map(|(neighbour, _)| neighbour).collect::<Vec<_>>();
        assert_eq!((list(0), list(1), list(2), list(3)), (vec![1, 2], vec![], vec![0, 1], vec![3]));
        for node in 0..4 {
            for (neighbour, position) in outgoing.view().of(node) {
                assert_eq!((graph.senders()[position], graph.receivers()[position]), (node, neighbour));
            }
            for (neighbour, position) in AdjacencyView::incoming(&graph).of(node) {
                assert_eq!((graph.senders()[position], graph.receivers()[position]), (neighbour, node));
            }
        }
    }
}
