//! Where waves end up: the strongest of those that reach a node.

use std::collections::VecDeque;

use crate::GraphTensors;

/// Edges grouped by the node they leave.
pub(super) struct Leaving {
    offsets: Vec<u32>,
    ends: Vec<u32>,
}

/// The waves of one channel after they have settled, or after a number of steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settled {
    /// For every node an origin of the wave that took it.
    pub(super) origins: Vec<u32>,
    /// For every node the steps that this wave needed.
    pub(super) steps: Vec<u32>,
}

impl Leaving {
    pub(super) fn new(graph: &GraphTensors) -> Self {
        let senders = graph.structure().senders();
        let mut offsets = vec![0_u32; graph.nodes() + 1];
        senders.iter().for_each(|&sender| offsets[sender as usize + 1] += 1);
        for node in 0..graph.nodes() {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut ends = vec![0; senders.len()];
        for (receiver, edges) in graph.incoming().iter().enumerate() {
            for edge in edges {
                let place = &mut next[senders[edge] as usize];
                ends[*place as usize] = receiver as u32;
                *place += 1;
            }
        }
        Self { offsets, ends }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.ends[self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize]
    }

    /// What repeated steps `h' = max(h, max over senders of h)` come to when nothing changes any more.
    ///
    /// Found without taking the steps: the largest value takes all it reaches, breadth first, then the next largest
    /// takes what is left, and so on. A node gets its final value in as many steps as its nearest origin is away, since
    /// nothing stops the largest value on its way.
    ///
    /// # Complexity
    /// Time `nodes log nodes + edges`, whatever the diameter.
    pub(super) fn settle(&self, values: &[f64]) -> Settled {
        const NOBODY: u32 = u32::MAX;
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        // A stable sort: among equals the first node of a batch comes first, whatever follows it.
        order.sort_by(|&left, &right| values[right as usize].total_cmp(&values[left as usize]));
        let mut origins = vec![NOBODY; values.len()];
        let mut steps = vec![0; values.len()];
        let mut queue = VecDeque::new();
        let mut rest = &order[..];
        while let Some(&first) = rest.first() {
            let equals = rest.iter().take_while(|&&node| values[node as usize] == values[first as usize]).count();
            // At least one, even if a value is not equal to itself.
            let (sources, weaker) = rest.split_at(equals.max(1));
            rest = weaker;
            for &node in sources {
                if origins[node as usize] == NOBODY {
                    origins[node as usize] = node;
                    queue.push_back(node);
                }
            }
            while let Some(node) = queue.pop_front() {
                for &end in self.of(node) {
                    if origins[end as usize] == NOBODY {
                        origins[end as usize] = origins[node as usize];
                        steps[end as usize] = steps[node as usize] + 1;
                        queue.push_back(end);
                    }
                }
            }
        }
        Settled { origins, steps }
    }

    /// The same after `cap` steps at most, taken one by one. `watch` hears of every step and the nodes that changed in
    /// it, with the change.
    pub(super) fn advance(&self, values: &[f64], cap: usize, mut watch: impl FnMut(usize, u32, f64)) -> Settled {
        let mut origins: Vec<u32> = (0..values.len() as u32).collect();
        let mut steps = vec![0; values.len()];
        let mut changed = origins.clone();
        for step in 1..=cap {
            if changed.is_empty() {
                break;
            }
            let sent: Vec<u32> = changed.iter().map(|&node| origins[node as usize]).collect();
            let before = origins.clone();
            let mut next = Vec::new();
            for (&node, &origin) in changed.iter().zip(&sent) {
                for &end in self.of(node) {
                    if values[origin as usize] > values[origins[end as usize] as usize] {
                        if steps[end as usize] != step as u32 {
                            next.push(end);
                        }
                        origins[end as usize] = origin;
                        steps[end as usize] = step as u32;
                    }
                }
            }
            for &node in &next {
                let gain = values[origins[node as usize] as usize] - values[before[node as usize] as usize];
                watch(step, node, gain);
            }
            changed = next;
        }
        Settled { origins, steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use itergnn_graph::{Attributes, Graph, rng};
    use rand::RngExt;

    fn random(nodes: u32, edges: usize, seed: u64) -> (Leaving, Vec<f64>) {
        let mut generator = rng::seeded(seed);
        let edges: Vec<[u32; 2]> =
            (0..edges).map(|_| [generator.random_range(0..nodes), generator.random_range(0..nodes)]).collect();
        let graph = Graph::new(nodes as usize, &edges).unwrap();
        let graph = graph.with_node_attributes(Attributes::new(1, vec![0.0; nodes as usize])).unwrap();
        // Few different values, so that there are ties.
        let values = (0..nodes).map(|_| f64::from(generator.random_range(0..nodes / 2))).collect();
        (Leaving::new(&GraphTensors::from_graph(&graph, &Device::flex())), values)
    }

    #[test]
    fn settling_is_taking_steps_until_nothing_changes() {
        for seed in 0..40 {
            let (leaving, values) = random(30, 15 + 2 * seed as usize, seed);
            let (settled, stepped) = (leaving.settle(&values), leaving.advance(&values, 100, |_, _, _| {}));
            let strengths = |waves: &Settled| waves.origins.iter().map(|&o| values[o as usize]).collect::<Vec<_>>();
            assert_eq!(strengths(&settled), strengths(&stepped), "seed {seed}");
            assert_eq!(settled.steps, stepped.steps, "seed {seed}");
        }
    }

    #[test]
    fn a_cap_ends_waves_on_their_way() {
        let edges: Vec<[u32; 2]> = (0..4).map(|node| [node, node + 1]).collect();
        let graph = Graph::new(5, &edges).unwrap().with_node_attributes(Attributes::new(1, vec![0.0; 5])).unwrap();
        let leaving = Leaving::new(&GraphTensors::from_graph(&graph, &Device::flex()));
        let mut gains = Vec::new();
        let waves = leaving.advance(&[9.0, 1.0, 2.0, 0.0, 0.0], 2, |step, node, gain| gains.push((step, node, gain)));
        assert_eq!((waves.origins, waves.steps), (vec![0, 0, 0, 2, 2], vec![0, 1, 2, 1, 2]));
        assert_eq!(gains, [(1, 1, 8.0), (1, 3, 2.0), (2, 2, 7.0), (2, 4, 2.0)]);
    }
}
