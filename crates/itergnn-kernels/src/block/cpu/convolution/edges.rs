//! The edges of one graph as a convolution sees them.

use crate::block::batch::BlockInputs;
use crate::block::config::BlockConfig;
use crate::real::Real;
use crate::settings::LayerKind;

/// No edge of the batch.
const NONE: u32 = u32::MAX;

/// Edges by receiver, the loop of each node last where the layer has loops; nodes are counted from the graph's first.
#[derive(Debug)]
pub(in crate::block::cpu) struct ConvolutionEdges<T> {
    pub(super) loops: bool,
    /// `[nodes + 1]`.
    pub(super) offsets: Vec<u32>,
    /// `[edges]`.
    pub(super) senders: Vec<u32>,
    /// `[edges]`: the edge of the graph that has the features, or [`NONE`].
    origins: Vec<u32>,
    /// `[edges]`: the weights of GCN; empty for GAT.
    pub(super) weights: Vec<T>,
    /// `[nodes]`: `1 / sqrt(d)` of GCN.
    scales: Vec<T>,
    /// `[edges, edge width]`: what GAT's scores read.
    pub(super) features: Vec<T>,
}

impl<T: Real> ConvolutionEdges<T> {
    pub(in crate::block::cpu) fn new(config: &BlockConfig, inputs: &BlockInputs<'_, T>, graph: usize) -> Self {
        let (nodes, first_edge) = (inputs.batch.node_range(graph), inputs.batch.edge_range(graph).start);
        let loops = config.has_loops();
        let most = inputs.batch.edge_range(graph).len() + if loops { nodes.len() } else { 0 };
        let mut result = Self {
            loops,
            offsets: Vec::with_capacity(nodes.len() + 1),
            senders: Vec::with_capacity(most),
            origins: Vec::with_capacity(most),
            weights: Vec::new(),
            scales: Vec::new(),
            features: Vec::new(),
        };
        result.offsets.push(0);
        for node in nodes.clone() {
            let mut last_loop = NONE;
            for edge in inputs.batch.incoming(node) {
                let sender = inputs.batch.senders[edge] as usize;
                let origin = (edge - first_edge) as u32;
                if loops && sender == node {
                    last_loop = origin;
                } else {
                    result.senders.push((sender - nodes.start) as u32);
                    result.origins.push(origin);
                }
            }
            if loops {
                result.senders.push((node - nodes.start) as u32);
                result.origins.push(last_loop);
            }
            result.offsets.push(result.senders.len() as u32);
        }
        let given = &inputs.edge_features[first_edge * config.edge_width()..];
        match (config.layer.kind, config.convolves_edges()) {
            (LayerKind::Gcn, weighed) => result.normalise(if weighed { given } else { &[] }),
            (_, true) => result.gather(given, config.edge_width()),
            (_, false) => {}
        }
        result
    }

    pub(in crate::block::cpu) fn len(&self) -> usize {
        self.senders.len()
    }

    pub(super) fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The edges that reach a node.
    pub(super) fn incoming(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }

    /// The edges that reach a node, its loop left out.
    fn others(&self, node: usize) -> std::ops::Range<usize> {
        let incoming = self.incoming(node);
        incoming.start..incoming.end - usize::from(self.loops)
    }

    /// The weight of an edge before normalisation.
    fn given_weight(&self, edge: usize, given: &[T]) -> T {
        given.get(self.origins[edge] as usize).copied().unwrap_or(T::ONE)
    }

    /// GCN's weights from those of the graph's edges, or from ones if there are none.
    fn normalise(&mut self, given: &[T]) {
        for node in 0..self.nodes() {
            let degree = self.incoming(node).fold(T::ZERO, |sum, edge| sum + self.given_weight(edge, given));
            // A node that hears nobody sends with weight 0.
            let scale = if degree == T::ZERO { T::ZERO } else { T::from_f64(1.0 / degree.to_f64().sqrt()) };
            self.scales.push(scale);
        }
        for node in 0..self.nodes() {
            for edge in self.incoming(node) {
                let sent = self.scales[self.senders[edge] as usize] * self.given_weight(edge, given);
                self.weights.push(sent * self.scales[node]);
            }
        }
    }

    /// GAT's features; a loop has the mean of the other edges to its node.
    fn gather(&mut self, given: &[T], width: usize) {
        self.features = vec![T::ZERO; self.len() * width];
        for node in 0..self.nodes() {
            let others = self.others(node);
            let share = T::ONE / T::from_f64(others.len().max(1) as f64);
            for edge in others {
                let own_loop = self.loops.then_some(self.incoming(node).end - 1);
                for column in 0..width {
                    let value = given[self.origins[edge] as usize * width + column];
                    self.features[edge * width + column] = value;
                    if let Some(own_loop) = own_loop {
                        self.features[own_loop * width + column] += share * value;
                    }
                }
            }
        }
    }

    /// From the gradient of GCN's weights to that of the graph's edge weights, added to `target`.
    pub(super) fn normalise_backward(&self, given: &[T], gradients: &[T], target: &mut [T]) {
        let mut scales = vec![T::ZERO; self.nodes()];
        for node in 0..self.nodes() {
            for edge in self.incoming(node) {
                let sender = self.senders[edge] as usize;
                let product = gradients[edge] * self.given_weight(edge, given);
                scales[sender] += product * self.scales[node];
                scales[node] += product * self.scales[sender];
            }
        }
        for (node, (&scale, &gradient)) in self.scales.iter().zip(&scales).enumerate() {
            // d^(-1/2) has the derivative -d^(-3/2) / 2.
            let degree = -T::from_f64(0.5) * scale * scale * scale * gradient;
            for edge in self.incoming(node) {
                if let Some(target) = target.get_mut(self.origins[edge] as usize) {
                    *target += gradients[edge] * self.scales[self.senders[edge] as usize] * scale + degree;
                }
            }
        }
    }

    /// From the gradient of GAT's scores to that of the graph's edge features, added to `target`.
    pub(super) fn gather_backward(&self, scores: &[T], edge_weight: &[T], target: &mut [T]) {
        let width = edge_weight.len();
        for node in 0..self.nodes() {
            let others = self.others(node);
            let share = T::ONE / T::from_f64(others.len().max(1) as f64);
            let from_loop = if self.loops { share * scores[self.incoming(node).end - 1] } else { T::ZERO };
            for edge in others {
                let origin = self.origins[edge] as usize;
                for (target, &weight) in target[origin * width..][..width].iter_mut().zip(edge_weight) {
                    *target += (scores[edge] + from_loop) * weight;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BatchView, BlockInputs};
    use crate::settings::{ControllerConfig, LayerConfig};

    #[test]
    fn loops_are_last_and_keep_the_weight_of_old_ones() {
        // Edges by receiver: 0 <- 1; 1 <- 1, 1 <- 0, 1 <- 1; 2 has none.
        let layer = LayerConfig { use_edge_attributes: true, ..LayerConfig::new(LayerKind::Gcn, 0, 1, 1) };
        let config = BlockConfig { layer, controller: ControllerConfig::shared(1) };
        let batch = BatchView::new(&[0, 3], &[0, 4], &[1, 1, 0, 1], &[0, 1, 4, 4]);
        let inputs = BlockInputs {
            batch,
            node_inputs: &[],
            hidden: &[0.0; 3],
            edge_features: &[3.0, 7.0, 2.0, 14.0],
            parameters: &[1.0_f64],
        };
        let edges = ConvolutionEdges::new(&config, &inputs, 0);
        assert_eq!(edges.senders, [1, 0, 0, 1, 2]);
        assert_eq!(edges.offsets, [0, 2, 4, 5]);
        assert_eq!(edges.origins, [0, NONE, 2, 3, NONE]);
        // Degrees are 3 + 1 = 4, 2 + 14 = 16 and 1.
        assert_eq!(edges.weights, [3.0 / 8.0, 1.0 / 4.0, 2.0 / 8.0, 14.0 / 16.0, 1.0]);
    }
}
