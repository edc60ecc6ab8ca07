//! Random batches and every combination of options, for the tests of the block.

#![allow(dead_code)]

use itergnn_kernels::Real;
use itergnn_kernels::block::*;
use itergnn_kernels::settings::*;

/// SplitMix64: a few lines, and the same numbers everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Uniform in [-1, 1), rounded to `f32` so that both precisions see the same numbers.
    pub(crate) fn signed(&mut self) -> f64 {
        f64::from((self.next() >> 11) as f32 / (1_u64 << 52) as f32 - 1.0)
    }

    pub(crate) fn signed_values(&mut self, len: usize, scale: f64) -> Vec<f64> {
        (0..len).map(|_| f64::from((scale * self.signed()) as f32)).collect()
    }
}

/// A batch that owns its arrays.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) node_offsets: Vec<u32>,
    pub(crate) edge_offsets: Vec<u32>,
    pub(crate) senders: Vec<u32>,
    pub(crate) receiver_offsets: Vec<u32>,
}

impl Batch {
    /// From graphs given as a number of nodes and edges (sender, receiver).
    pub(crate) fn new(graphs: &[(usize, Vec<(usize, usize)>)]) -> Self {
        let mut batch =
            Self { node_offsets: vec![0], edge_offsets: vec![0], senders: Vec::new(), receiver_offsets: vec![0] };
        for (nodes, edges) in graphs {
            let first = *batch.node_offsets.last().unwrap();
            for node in 0..*nodes {
                batch.senders.extend(edges.iter().filter(|edge| edge.1 == node).map(|edge| first + edge.0 as u32));
                batch.receiver_offsets.push(batch.senders.len() as u32);
            }
            batch.node_offsets.push(first + *nodes as u32);
            batch.edge_offsets.push(batch.senders.len() as u32);
        }
        batch
    }

    /// One more graph, whose edges are sorted by receiver already.
    pub(crate) fn push_sorted(&mut self, nodes: usize, edges: &[(usize, usize)]) {
        let (first_node, first_edge) = (self.nodes(), self.senders.len());
        self.senders.extend(edges.iter().map(|edge| (first_node + edge.0) as u32));
        for node in 0..nodes {
            let end = edges.partition_point(|edge| edge.1 <= node);
            self.receiver_offsets.push((first_edge + end) as u32);
        }
        self.node_offsets.push((first_node + nodes) as u32);
        self.edge_offsets.push(self.senders.len() as u32);
    }

    /// `sizes.len()` graphs, each edge present with a probability that gives about `degree` per node.
    pub(crate) fn random(random: &mut Random, sizes: &[usize], degree: usize) -> Self {
        let graphs: Vec<_> = sizes
            .iter()
            .map(|&nodes| {
                let pairs = (0..nodes).flat_map(|sender| (0..nodes).map(move |receiver| (sender, receiver)));
                (nodes, pairs.filter(|_| random.below(nodes.max(1)) < degree).collect())
            })
            .collect();
        Self::new(&graphs)
    }

    pub(crate) fn view(&self) -> BatchView<'_> {
        BatchView::new(&self.node_offsets, &self.edge_offsets, &self.senders, &self.receiver_offsets)
    }

    pub(crate) fn nodes(&self) -> usize {
        *self.node_offsets.last().unwrap() as usize
    }
}

/// A batch with numbers, and gradients for its results.
#[derive(Debug, Clone)]
pub(crate) struct Case<T> {
    pub(crate) config: BlockConfig,
    pub(crate) batch: Batch,
    pub(crate) node_inputs: Vec<T>,
    pub(crate) hidden: Vec<T>,
    pub(crate) edge_features: Vec<T>,
    pub(crate) parameters: Vec<T>,
    pub(crate) output_gradient: Vec<T>,
    pub(crate) unspent_gradient: Vec<T>,
}

impl Case<f64> {
    /// Random numbers; weights of a size that keeps states of order one.
    pub(crate) fn random(random: &mut Random, config: BlockConfig, batch: Batch, equal_edges: bool) -> Self {
        let (nodes, edges) = (batch.nodes(), batch.senders.len());
        let layout = ParameterLayout::new(&config);
        let mut parameters = vec![0.0; layout.len()];
        for slot in layout.slots() {
            let scale = match slot.kind {
                ParameterKind::FirstWeight | ParameterKind::SecondWeight => 1.5 / (slot.rows as f64).sqrt(),
                _ => 0.6,
            };
            parameters[slot.range()].copy_from_slice(&random.signed_values(slot.rows * slot.columns, scale));
        }
        let weighs = config.layer.kind == LayerKind::Gcn && config.convolves_edges();
        let edge_features = if weighs {
            // Degrees are square roots' arguments.
            random.signed_values(edges, 0.4).into_iter().map(|value| value + 0.5).collect()
        } else if equal_edges {
            random.signed_values(config.edge_width(), 1.0).repeat(edges)
        } else {
            random.signed_values(edges * config.edge_width(), 1.0)
        };
        let units = if config.node_wise() { nodes } else { batch.node_offsets.len() - 1 };
        Self {
            config,
            node_inputs: random.signed_values(nodes * config.input_width(), 1.0),
            hidden: random.signed_values(nodes * config.hidden_width(), 0.5),
            edge_features,
            parameters,
            output_gradient: random.signed_values(nodes * config.hidden_width(), 1.0),
            unspent_gradient: random.signed_values(units, 1.0),
            batch,
        }
    }

    pub(crate) fn to_f32(&self) -> Case<f32> {
        let convert = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
        Case {
            config: self.config,
            batch: self.batch.clone(),
            node_inputs: convert(&self.node_inputs),
            hidden: convert(&self.hidden),
            edge_features: convert(&self.edge_features),
            parameters: convert(&self.parameters),
            output_gradient: convert(&self.output_gradient),
            unspent_gradient: convert(&self.unspent_gradient),
        }
    }
}

impl<T: Real> Case<T> {
    pub(crate) fn inputs(&self) -> BlockInputs<'_, T> {
        BlockInputs {
            batch: self.batch.view(),
            node_inputs: &self.node_inputs,
            hidden: &self.hidden,
            edge_features: &self.edge_features,
            parameters: &self.parameters,
        }
    }

    pub(crate) fn gradients(&self) -> OutputGradients<'_, T> {
        OutputGradients { output: &self.output_gradient, unspent: Some(&self.unspent_gradient) }
    }

    pub(crate) fn reference(&self) -> (BlockOutput<T>, BlockGradients<T>) {
        let (output, tape) = reference::forward(&self.config, &self.inputs()).unwrap();
        let gradients = reference::backward(&self.config, &self.inputs(), &tape, &self.gradients()).unwrap();
        (output, gradients)
    }

    pub(crate) fn fused(&self, engine: Engine, wanted: Wanted) -> (BlockOutput<T>, BlockGradients<T>) {
        let (output, tape) = forward(engine, &self.config, &self.inputs(), wanted).unwrap();
        let gradients = backward(engine, &self.inputs(), &output, &tape, &self.gradients()).unwrap();
        (output, gradients)
    }
}

fn with_and_without_biases(layers: impl IntoIterator<Item = LayerConfig>) -> Vec<LayerConfig> {
    layers.into_iter().flat_map(|layer| [false, true].map(|biased| layer.with_homogeneous(!biased))).collect()
}

/// Every message-passing layer with every aggregation it has, without widths.
pub(crate) fn layers() -> Vec<LayerConfig> {
    use Aggregation::{Attention, Max};
    use LayerKind::{MpnnMax, Path, PathSim};
    let all = [(MpnnMax, Max), (Path, Max), (Path, Attention), (PathSim, Max), (PathSim, Attention)];
    with_and_without_biases(
        all.map(|(kind, aggregation)| LayerConfig::new(kind, 0, 1, 0).with_aggregation(aggregation)),
    )
}

/// Every convolution with each of its options, for edges of the given width.
pub(crate) fn convolutions(edge_width: usize) -> Vec<LayerConfig> {
    use Activation::{Identity, LeakyRelu, Relu};
    let layer = |kind, add_self_loops, use_edge_attributes, output_activation| LayerConfig {
        add_self_loops,
        use_edge_attributes,
        output_activation,
        ..LayerConfig::new(kind, 0, 1, 0)
    };
    let (gcn, gat) = (LayerKind::Gcn, LayerKind::Gat);
    let reads = edge_width > 0;
    let mut all = vec![
        layer(gcn, true, false, LeakyRelu),
        layer(gcn, false, false, Identity),
        layer(gat, true, false, LeakyRelu),
        layer(gat, true, reads, LeakyRelu),
        layer(gat, false, reads, Identity),
        layer(gat, false, false, Relu),
    ];
    if edge_width == 1 {
        all.extend([layer(gcn, true, true, LeakyRelu), layer(gcn, false, true, Relu)]);
    }
    with_and_without_biases(all)
}

/// A layer of these widths.
pub(crate) fn sized(layer: LayerConfig, input_width: usize, hidden_width: usize, edge_width: usize) -> LayerConfig {
    LayerConfig { input_width, hidden_width, edge_width, ..layer }
}

/// Every controller, with its options in turn.
pub(crate) fn controllers() -> Vec<ControllerConfig> {
    let base = IterConfig { training_cap: 5, epsilon: 0.05, decay: 0.97, ..IterConfig::default() };
    let unbiased = IterConfig { confidence_bias: Some(false), ..base };
    let biased = IterConfig { confidence_bias: Some(true), ..base };
    let nodes = IterConfig { scope: Scope::Node, ..base };
    let settled = IterConfig { settle: Some(0.3), ..unbiased };
    let loops = [
        IterConfig { decay: 1.0, ..base },
        IterConfig { training_cap: 11, epsilon: 1e-3, ..biased },
        IterConfig { normalised: true, pooling: ReadoutKind::Mean, ..unbiased },
        IterConfig { normalised: true, training_cap: 2, ..settled },
        IterConfig { pooling: ReadoutKind::Sum, training_cap: 3, ..settled },
        IterConfig { scale_free: true, ..biased },
        IterConfig { epsilon: 0.2, confidence_bias: Some(true), ..nodes },
        IterConfig { settle: Some(0.3), normalised: true, scale_free: true, ..nodes },
    ];
    let fixed = [ControllerConfig::shared(3), ControllerConfig::stack(3)];
    fixed.into_iter().chain(loops.map(ControllerConfig::IterDecay)).collect()
}

/// All combinations at the given widths.
pub(crate) fn configs(input_width: usize, hidden_width: usize, edge_width: usize) -> Vec<BlockConfig> {
    let layers = layers().into_iter().chain(convolutions(edge_width));
    let layers = layers.map(|layer| sized(layer, input_width, hidden_width, edge_width));
    layers
        .flat_map(|layer| controllers().into_iter().map(move |controller| BlockConfig { layer, controller }))
        .collect()
}

/// Largest difference, relative to the largest expected value.
pub(crate) fn relative_difference<T: Real>(found: &[T], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(1e-30, |largest: f64, value| largest.max(value.abs()));
    let difference = found.iter().zip(expected).map(|(found, expected)| (found.to_f64() - expected).abs());
    difference.fold(0.0, f64::max) / largest
}
