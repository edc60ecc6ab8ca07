//! Random batches and every combination of options, for the tests of the block.

#![allow(dead_code)]

use itergnn_kernels::Real;
use itergnn_kernels::block::*;

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
        BatchView {
            node_offsets: &self.node_offsets,
            edge_offsets: &self.edge_offsets,
            senders: &self.senders,
            receiver_offsets: &self.receiver_offsets,
        }
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
        let gin = matches!(config.layer, LayerKind::Convolution(Convolution::Gin { .. }));
        for slot in layout.slots() {
            let scale = match slot.kind {
                // GIN adds up whole neighbourhoods.
                ParameterKind::FirstWeight if gin => 0.5 / (slot.rows as f64).sqrt(),
                ParameterKind::FirstWeight | ParameterKind::SecondWeight => 1.5 / (slot.rows as f64).sqrt(),
                _ => 0.6,
            };
            parameters[slot.range()].copy_from_slice(&random.signed_values(slot.rows * slot.columns, scale));
        }
        let weighs = matches!(config.layer, LayerKind::Convolution(Convolution::Gcn { edge_weights: true, .. }));
        let edge_features = if weighs {
            // Degrees are square roots' arguments.
            random.signed_values(edges, 0.4).into_iter().map(|value| value + 0.5).collect()
        } else if equal_edges {
            random.signed_values(config.edge_width, 1.0).repeat(edges)
        } else {
            random.signed_values(edges * config.edge_width, 1.0)
        };
        let node_wise = config.iterative().is_some_and(|iterative| iterative.node_wise);
        let units = if node_wise { nodes } else { batch.node_offsets.len() - 1 };
        Self {
            config,
            node_inputs: random.signed_values(nodes * config.input_width, 1.0),
            hidden: random.signed_values(nodes * config.hidden_width, 0.5),
            edge_features,
            parameters,
            output_gradient: random.signed_values(nodes * config.hidden_width, 1.0),
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

/// Every layer with every aggregation it has.
pub(crate) fn layers() -> Vec<(LayerKind, Aggregation)> {
    use Aggregation::{Attention, Max, ScaleInvariantAttention};
    vec![
        (LayerKind::MpnnMax, Max),
        (LayerKind::Path, Max),
        (LayerKind::Path, Attention),
        (LayerKind::Path, ScaleInvariantAttention),
        (LayerKind::PathSim, Max),
        (LayerKind::PathSim, Attention),
        (LayerKind::PathSim, ScaleInvariantAttention),
    ]
}

/// Every convolution with each of its options, for edges of the given width.
pub(crate) fn convolutions(edge_width: usize) -> Vec<(LayerKind, Aggregation)> {
    use Aggregation::{Attention, ScaleInvariantAttention, Sum};
    let gcn = |self_loops, edge_weights, output_slope| Convolution::Gcn { self_loops, edge_weights, output_slope };
    let gat = |self_loops, reads_edges, output_slope| Convolution::Gat {
        self_loops,
        reads_edges: reads_edges && edge_width > 0,
        score_slope: 0.2,
        output_slope,
    };
    let mut all = vec![
        (gcn(true, false, 0.01), Sum),
        (gcn(false, false, 1.0), Sum),
        (gat(true, false, 0.01), Attention),
        (gat(true, true, 0.01), ScaleInvariantAttention),
        (gat(false, true, 1.0), Attention),
        (gat(false, false, 0.0), ScaleInvariantAttention),
        (Convolution::Gin { eps: 0.1, learns_eps: false }, Sum),
        (Convolution::Gin { eps: 0.0, learns_eps: true }, Sum),
    ];
    if edge_width == 1 {
        all.extend([(gcn(true, true, 0.01), Sum), (gcn(false, true, 0.0), Sum)]);
    }
    all.into_iter().map(|(layer, aggregation)| (LayerKind::Convolution(layer), aggregation)).collect()
}

/// Every controller, with its options in turn.
pub(crate) fn controllers() -> Vec<Controller> {
    let base = Iterative { max_iterations: 5, epsilon: 0.05, decay: 0.97, ..Iterative::default() };
    vec![
        Controller::Shared { iterations: 3 },
        Controller::Stack { layers: 3 },
        Controller::Iterative(Iterative { decay: 1.0, ..base }),
        Controller::Iterative(Iterative { confidence_bias: true, max_iterations: 11, epsilon: 1e-3, ..base }),
        Controller::Iterative(Iterative { normalised: true, readout: ConfidenceReadout::Mean, ..base }),
        Controller::Iterative(Iterative { settle: true, normalised: true, max_iterations: 2, ..base }),
        Controller::Iterative(Iterative { settle: true, readout: ConfidenceReadout::Sum, max_iterations: 3, ..base }),
        Controller::Iterative(Iterative { scale_free: true, confidence_bias: true, ..base }),
        Controller::Iterative(Iterative { node_wise: true, epsilon: 0.2, confidence_bias: true, ..base }),
        Controller::Iterative(Iterative { node_wise: true, settle: true, normalised: true, scale_free: true, ..base }),
    ]
}

/// All combinations at the given widths.
pub(crate) fn configs(input_width: usize, hidden_width: usize, edge_width: usize) -> Vec<BlockConfig> {
    let mut configs = Vec::new();
    for (layer, aggregation) in layers().into_iter().chain(convolutions(edge_width)) {
        for controller in controllers() {
            for biased in [false, true] {
                configs.push(BlockConfig {
                    layer,
                    aggregation,
                    controller,
                    biased,
                    input_width,
                    hidden_width,
                    edge_width,
                });
            }
        }
    }
    configs
}

/// Largest difference, relative to the largest expected value.
pub(crate) fn relative_difference<T: Real>(found: &[T], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(1e-30, |largest: f64, value| largest.max(value.abs()));
    let difference = found.iter().zip(expected).map(|(found, expected)| (found.to_f64() - expected).abs());
    difference.fold(0.0, f64::max) / largest
}
