//! The three PathGNN layers of the paper.

use burn::module::Module;
use burn::tensor::{Bool, Device, Tensor, TensorData};
use itergnn_kernels::settings::{Aggregation, Isolated, LayerConfig, LayerKind, Update};

use super::aggregator::Aggregator;
use super::edge_inputs::{both_ends, node_vectors, sender_end};
use super::layer::layer_mlp;
use super::message_passing::MessagePassing;
use crate::batch::GraphTensors;
use crate::init::InitRng;
use crate::mlp::Mlp;
use crate::ops::{Segments, keep_max};

/// `h'_j = max(h_j, agg_j)`, with `agg_j` the messages of the incoming edges by maximum, or their sum weighed by
/// attention or sparsemax:
///
/// ```text
/// mpnn-max    m_k = MLP(v_s, v_r, e_k)     maximum only
/// path        m_k = MLP(v_s, v_r, e_k)     score_k = linear(v_s, v_r, e_k)
/// path-sim    m_k = MLP(v_s, e_k)          the score still reads (v_s, v_r, e_k)
/// ```
/// Positively homogeneous of degree 1 without biases, the softmax then being the scale-invariant one
/// (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Algorithm 'One step of PathGNN' and appendix 'Path Graph Neural Networks'. The authors' code of mpnn-max puts the
/// receiver first and does not take the maximum with the old state; [`EdgeOrder::ReceiverFirst`](super::EdgeOrder) and
/// [`Update::Replace`] give that.
#[derive(Module, Debug)]
pub struct PathConv {
    /// The message function.
    pub message: Mlp,
    /// The aggregation with its score.
    pub aggregator: Aggregator,
    #[module(skip)]
    config: LayerConfig,
}

impl PathConv {
    pub(super) fn new(config: &LayerConfig, device: &Device, rng: &mut InitRng) -> Self {
        let (node_width, edge_width) = (config.node_width(), config.edge_width);
        let (rule, ends) = match config.kind {
            LayerKind::MpnnMax => (Aggregation::Max, 2),
            LayerKind::PathSim => (config.aggregation, 1),
            _ => (config.aggregation, 2),
        };
        let key_width = 2 * node_width + edge_width;
        Self {
            message: layer_mlp(config, ends * node_width + edge_width).init(device, rng),
            aggregator: Aggregator::init(rule, key_width, config.homogeneous, device, rng),
            config: *config,
        }
    }

    /// The new state of every node; `aggregated` is 0 for nodes without incoming edges.
    fn update(&self, graph: &GraphTensors, hidden: Tensor<2>, aggregated: Tensor<2>) -> Tensor<2> {
        match (self.config.update, self.config.isolated) {
            (Update::KeepMax, Isolated::Keep) => keep_max(hidden, aggregated, graph.incoming()),
            (Update::KeepMax, Isolated::Zero) => {
                keep_max(hidden, aggregated, &Segments::from_lengths(vec![1; graph.nodes()]))
            }
            (Update::Replace, Isolated::Zero) => aggregated,
            (Update::Replace, Isolated::Keep) => {
                let [nodes, width] = aggregated.dims();
                let empty: Vec<bool> = graph.incoming().iter().map(|edges| edges.is_empty()).collect();
                let empty = Tensor::<2, Bool>::from_data(TensorData::new(empty, [nodes, 1]), &graph.device());
                aggregated.mask_where(empty.expand([nodes, width]), hidden)
            }
        }
    }
}

impl MessagePassing for PathConv {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let nodes = node_vectors(input, hidden.clone());
        let keys = || both_ends(graph, &nodes, self.config.edge_order);
        let aggregated = if self.config.kind == LayerKind::PathSim {
            let messages = self.message.forward(sender_end(graph, &nodes));
            self.aggregator.forward(messages, keys, graph.incoming())
        } else {
            let edges = keys();
            self.aggregator.forward(self.message.forward(edges.clone()), || edges, graph.incoming())
        };
        self.update(graph, hidden, aggregated)
    }
}
