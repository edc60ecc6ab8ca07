//! What the algorithms answer.

use std::collections::VecDeque;

use itergnn_graph::{EdgeWeights, Graph};

/// Neighbours of every node with the weight of the edge, the lowest first. Graphs here are undirected and simple.
pub(super) struct Neighbours(Vec<Vec<(u32, f64)>>);

impl Neighbours {
    pub(super) fn new(graph: &Graph, weights: &EdgeWeights) -> Self {
        let of = |node: u32| {
            let positions = graph.incoming_positions(node);
            let mut list: Vec<_> = positions.map(|at| (graph.senders()[at], weights.at(at))).collect();
            list.sort_by_key(|&(neighbour, _)| neighbour);
            list
        };
        Self((0..graph.nodes() as u32).map(of).collect())
    }

    fn nodes(&self) -> usize {
        self.0.len()
    }

    fn of(&self, node: u32) -> &[(u32, f64)] {
        &self.0[node as usize]
    }

    /// Hops from the source; `None` where it does not reach.
    pub(super) fn hops(&self, source: u32) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.nodes()];
        hops[source as usize] = Some(0);
        let mut queue = VecDeque::from([(source, 0)]);
        while let Some((node, distance)) = queue.pop_front() {
            for &(neighbour, _) in self.of(node) {
                if hops[neighbour as usize].is_none() {
                    hops[neighbour as usize] = Some(distance + 1);
                    queue.push_back((neighbour, distance + 1));
                }
            }
        }
        hops
    }

    /// The lowest neighbour that is one hop nearer to the source.
    pub(super) fn breadth_first_parents(&self, source: u32) -> Vec<Option<u32>> {
        let hops = self.hops(source);
        let parent = |node: u32| {
            let nearer = hops[node as usize]?.checked_sub(1)?;
            let found = self.of(node).iter().find(|(neighbour, _)| hops[*neighbour as usize] == Some(nearer));
            found.map(|&(neighbour, _)| neighbour)
        };
        (0..self.nodes() as u32).map(parent).collect()
    }

    /// Who a depth-first search that goes to the lowest unvisited neighbour comes from.
    pub(super) fn depth_first_parents(&self, source: u32) -> Vec<Option<u32>> {
        let mut parents = vec![None; self.nodes()];
        let mut visited = vec![false; self.nodes()];
        visited[source as usize] = true;
        // Node and how many of its neighbours were looked at: recursion would need a deep stack.
        let mut stack = vec![(source, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(&(neighbour, _)) = self.0[*node as usize].get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut visited[neighbour as usize], true) {
                parents[neighbour as usize] = Some(*node);
                stack.push((neighbour, 0));
            }
        }
        parents
    }

    /// Grows a tree from the source: the node of the best key comes next, the lowest of equals, and offers its
    /// neighbours `key(own key, weight)`, which they take where it is better. Returns parents and keys.
    ///
    /// Keys are better where they are smaller. Without a heap, as in CLRS: O(nodes^2), so that ties are plain to see.
    fn grow(&self, source: u32, start: f64, key: impl Fn(f64, f64) -> f64) -> (Vec<Option<u32>>, Vec<f64>) {
        let mut parents = vec![None; self.nodes()];
        let mut keys = vec![f64::INFINITY; self.nodes()];
        let mut settled = vec![false; self.nodes()];
        keys[source as usize] = start;
        loop {
            let open =
                (0..self.nodes() as u32).filter(|&node| !settled[node as usize] && keys[node as usize] < f64::INFINITY);
            let best = open.min_by(|&a, &b| keys[a as usize].total_cmp(&keys[b as usize]));
            let Some(node) = best else { return (parents, keys) };
            settled[node as usize] = true;
            for &(neighbour, weight) in self.of(node) {
                let offered = key(keys[node as usize], weight);
                if !settled[neighbour as usize] && offered < keys[neighbour as usize] {
                    keys[neighbour as usize] = offered;
                    parents[neighbour as usize] = Some(node);
                }
            }
        }
    }

    /// Parents in the tree of shortest paths.
    pub(super) fn dijkstra_parents(&self, source: u32) -> Vec<Option<u32>> {
        self.grow(source, 0.0, |length, weight| length + weight).0
    }

    /// Parents in the minimum spanning tree.
    pub(super) fn prim_parents(&self, source: u32) -> Vec<Option<u32>> {
        self.grow(source, 0.0, |_, weight| weight).0
    }

    /// The largest least weight along a path from the source, which itself has 1; 0 where there is no path.
    pub(super) fn widths(&self, source: u32) -> Vec<f64> {
        let keys = self.grow(source, -1.0, |width, weight| f64::max(width, -weight)).1;
        keys.into_iter().map(|key| if key == f64::INFINITY { 0.0 } else { -key }).collect()
    }

    /// The independent set that takes nodes by falling priority, the lowest of equals first.
    pub(super) fn independent_set(&self, priority: &[f32]) -> Vec<bool> {
        let mut order: Vec<u32> = (0..self.nodes() as u32).collect();
        order.sort_by(|&a, &b| priority[b as usize].total_cmp(&priority[a as usize]));
        let mut member = vec![false; self.nodes()];
        for node in order {
            member[node as usize] = self.of(node).iter().all(|&(neighbour, _)| !member[neighbour as usize]);
        }
        member
    }

    /// Whether no cycle is odd.
    pub(super) fn is_bipartite(&self) -> bool {
        let mut side: Vec<Option<bool>> = vec![None; self.nodes()];
        for start in 0..self.nodes() as u32 {
            if side[start as usize].is_some() {
                continue;
            }
            for (node, hops) in self.hops(start).into_iter().enumerate() {
                side[node] = hops.map(|hops| hops % 2 == 0).or(side[node]);
            }
        }
        (0..self.nodes() as u32)
            .all(|node| self.of(node).iter().all(|&(neighbour, _)| side[neighbour as usize] != side[node as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square 0 - 1 - 3 - 2 - 0 with a diagonal 1 - 2 and a tail 3 - 4.
    fn fixture() -> Neighbours {
        let pairs = [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [3, 4]];
        let graph = Graph::undirected(5, &pairs).unwrap();
        let original = [0.9, 0.2, 0.1, 0.5, 0.6, 0.3].repeat(2);
        let weights = graph.original_edges().iter().map(|&edge| original[edge as usize]).collect();
        let weights = EdgeWeights::new(&graph, weights).unwrap();
        Neighbours::new(&graph, &weights)
    }

    #[test]
    fn parents_of_a_small_graph() {
        let graph = fixture();
        assert_eq!(graph.breadth_first_parents(0), [None, Some(0), Some(0), Some(1), Some(3)]);
        assert_eq!(graph.depth_first_parents(0), [None, Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(graph.dijkstra_parents(0), [None, Some(2), Some(0), Some(2), Some(3)]);
        assert_eq!(graph.prim_parents(0), [None, Some(2), Some(0), Some(1), Some(3)]);
    }

    #[test]
    fn values_of_a_small_graph() {
        let graph = fixture();
        assert_eq!(graph.widths(0), [1.0, 0.9, 0.5, 0.5, 0.3]);
        assert_eq!(graph.hops(4).into_iter().flatten().max(), Some(3));
        assert_eq!(graph.independent_set(&[0.1, 0.9, 0.5, 0.2, 0.8]), [false, true, false, false, true]);
        assert!(!graph.is_bipartite());
        let square = Graph::undirected(5, &[[0, 1], [1, 3], [3, 2], [2, 0]]).unwrap();
        let square = Neighbours::new(&square, &EdgeWeights::unit(&square));
        assert!(square.is_bipartite());
        assert_eq!(square.hops(0), [Some(0), Some(1), Some(1), Some(2), None]);
    }
}
