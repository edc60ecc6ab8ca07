//! Lobsters with a bridge on the path from source to target that may open late, or lead one way only.

use itergnn_graph::generators::lobster;
use itergnn_graph::solvers::bfs;
use rand::{Rng, RngExt};

/// What a node is told about itself: the one-hot input of the network.
pub(crate) const SOURCE: usize = 0;
pub(crate) const TARGET: usize = 1;
pub(crate) const OTHER: usize = 2;

/// A graph whose edges may open late: messages pass an edge from iteration `open + 1` on.
pub(crate) struct TimedGraph {
    /// By node: the row of the one-hot input.
    pub(crate) roles: Vec<usize>,
    /// By receiver: where its incoming edges begin in `senders`; one more at the end.
    pub(crate) offsets: Vec<usize>,
    pub(crate) senders: Vec<usize>,
    pub(crate) opens: Vec<usize>,
}

impl TimedGraph {
    /// From edges [sender, receiver] with the iteration they open after.
    pub(crate) fn new(nodes: usize, edges: &[([usize; 2], usize)], source: usize, target: usize) -> Self {
        let mut offsets = vec![0; nodes + 1];
        for ([_, receiver], _) in edges {
            offsets[receiver + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let (mut senders, mut opens) = (vec![0; edges.len()], vec![0; edges.len()]);
        for &([sender, receiver], open) in edges {
            senders[next[receiver]] = sender;
            opens[next[receiver]] = open;
            next[receiver] += 1;
        }
        let mut roles = vec![OTHER; nodes];
        roles[source] = SOURCE;
        roles[target] = TARGET;
        Self { roles, offsets, senders, opens }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.roles.len()
    }
}

/// A graph with its question answered.
pub(crate) struct Sample {
    pub(crate) graph: TimedGraph,
    /// The bridge lets nothing pass before iteration `open + 1`; 0: it is always open.
    pub(crate) open: usize,
    /// Edges from the source to the bridge, and from where the bridge begins to the target.
    before: usize,
    beyond: usize,
}

impl Sample {
    /// The first iteration after which the target can know of the source, if the bridge opens after `open`; the
    /// distance where it is open from the beginning.
    pub(crate) fn arrival(&self, open: usize) -> usize {
        open.max(self.before) + self.beyond
    }
}

/// How samples are drawn.
pub(crate) struct Draw {
    /// The share of graphs whose bridge leads from the source's side to the target's only, where that leaves the
    /// target with a way out.
    pub(crate) one_way: f64,
    /// The share of graphs whose bridge opens late.
    pub(crate) late: f64,
    /// The latest opening; the logarithm of openings is uniform.
    pub(crate) latest: f64,
}

impl Draw {
    /// A lobster of [4, 34) line nodes, source and target, and a bridge: an edge of the path between them. A second
    /// sample asks the same of a neighbour of the target, where there is one beyond the bridge.
    pub(crate) fn samples(&self, rng: &mut impl Rng) -> Vec<Sample> {
        loop {
            let line = rng.random_range(4..34);
            let lobster = lobster(line, 0.2, 0.2, rng).expect("probabilities lie between 0 and 1");
            let (source, target) = (rng.random_range(0..lobster.nodes()), rng.random_range(0..lobster.nodes()));
            if source == target {
                continue;
            }
            let hops = bfs::hops_from(&lobster, source as u32).expect("the source is a node");
            let mut path = vec![target];
            while path[path.len() - 1] != source {
                let node = path[path.len() - 1];
                let closer = lobster.senders_of(node as u32).iter().find(|&&other| hops[other as usize] < hops[node]);
                path.push(*closer.expect("a node other than the source has a neighbour closer to it") as usize);
            }
            path.reverse();
            let before = rng.random_range(0..path.len() - 1);
            let bridge = [path[before], path[before + 1]];
            // Only a sender can combine what it is with what it has heard, so a target must have someone to tell.
            let heard = bridge[1] != target || lobster.senders_of(target as u32).len() > 1;
            let one_way = rng.random::<f64>() < self.one_way && heard;
            // A node alone behind a bridge that is closed hears nothing, and so cannot count.
            let accompanied = bridge.iter().all(|&end| lobster.senders_of(end as u32).len() > 1);
            let late = rng.random::<f64>() < self.late && accompanied;
            let open = if late { ((1.0 + self.latest).ln() * rng.random::<f64>()).exp() as usize } else { 0 };
            let edges: Vec<_> = lobster
                .edge_list()
                .into_iter()
                .map(|[sender, receiver]| [sender as usize, receiver as usize])
                .filter(|&[sender, receiver]| !(one_way && [receiver, sender] == bridge))
                .map(|edge| (edge, if edge == bridge || [edge[1], edge[0]] == bridge { open } else { 0 }))
                .collect();
            let of = |target: usize, distance: usize| Sample {
                graph: TimedGraph::new(lobster.nodes(), &edges, source, target),
                open,
                before,
                beyond: distance - before,
            };
            let distance = path.len() - 1;
            let mut samples = vec![of(target, distance)];
            // A neighbour beyond the bridge too.
            let neighbours: Vec<usize> = lobster
                .senders_of(target as u32)
                .iter()
                .map(|&node| node as usize)
                .filter(|&node| hops[node] as usize > before)
                .filter(|&node| !one_way || bridge[1] != node || lobster.senders_of(node as u32).len() > 1)
                .collect();
            if !neighbours.is_empty() {
                let other = neighbours[rng.random_range(0..neighbours.len())];
                samples.push(of(other, hops[other] as usize));
            }
            return samples;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::rng;

    /// Follows messages from the source, iteration by iteration.
    fn watch(graph: &TimedGraph) -> usize {
        let mut knows: Vec<bool> = graph.roles.iter().map(|role| *role == SOURCE).collect();
        let target = graph.roles.iter().position(|role| *role == TARGET).unwrap();
        for iteration in 1.. {
            let before = knows.clone();
            for (node, knows) in knows.iter_mut().enumerate() {
                let mut incoming = graph.offsets[node]..graph.offsets[node + 1];
                *knows |= incoming.any(|e| iteration > graph.opens[e] && before[graph.senders[e]]);
            }
            if knows[target] {
                return iteration;
            }
        }
        unreachable!("iterations have no end");
    }

    #[test]
    fn whoever_waits_has_company() {
        let draw = Draw { one_way: 0.4, late: 1.0, latest: 60.0 };
        let mut rng = rng::seeded(2);
        let samples: Vec<Sample> = (0..300).flat_map(|_| draw.samples(&mut rng)).filter(|s| s.open > 0).collect();
        assert!(samples.len() > 200);
        for sample in samples {
            let graph = sample.graph;
            for node in 0..graph.nodes() {
                let mut incoming = graph.offsets[node]..graph.offsets[node + 1];
                assert!(incoming.any(|edge| graph.opens[edge] == 0), "node {node} hears nobody until the bridge opens");
            }
        }
    }

    #[test]
    fn the_answer_is_when_the_target_can_know_of_the_source() {
        let draw = Draw { one_way: 0.4, late: 0.5, latest: 60.0 };
        let mut rng = rng::seeded(1);
        let (mut late, mut one_way) = (0, 0);
        let mut pairs = 0;
        for _ in 0..300 {
            let samples = draw.samples(&mut rng);
            for sample in &samples {
                assert_eq!(watch(&sample.graph), sample.arrival(sample.open));
                assert!(sample.graph.nodes() <= 33 * 3);
                let target = sample.graph.roles.iter().position(|role| *role == TARGET).unwrap();
                assert!(sample.graph.senders.contains(&target), "a target that nobody hears");
            }
            if let [first, second] = samples.as_slice() {
                assert_eq!(first.beyond.abs_diff(second.beyond), 1);
                assert_eq!((first.open, &first.graph.senders), (second.open, &second.graph.senders));
                pairs += 1;
            }
            late += usize::from(samples[0].open > 0);
            one_way += usize::from(samples[0].graph.senders.len() < 2 * (samples[0].graph.nodes() - 1));
        }
        assert!((80..180).contains(&late) && (60..140).contains(&one_way), "{late} late, {one_way} one way");
        assert!((200..300).contains(&pairs), "{pairs} pairs");
    }
}
