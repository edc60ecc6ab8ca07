//! From node states to what the head reads.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
pub use itergnn_kernels::settings::ReadoutKind;

use crate::index::index_tensor;
use crate::layers::{EdgeOrder, both_ends};
use crate::ops::{
    segment_max, segment_mean, segment_min, segment_scale_invariant_softmax, segment_softmax, segment_sum,
};
use crate::{GraphTensors, InitRng, Mlp, MlpConfig, pointer};

/// Pools node states.
///
/// ```text
/// max, min, mean, sum   u = rho_v h_v
/// attention             u = sum_v softmax_v(linear([x_v; h_v])) h_v
/// head-tail             u = [h_first; h_last]
/// first                 u = h_first
/// node                  u_v = h_v
/// edge                  u_k = MLP(h_s, h_r, e_k)
/// pointer               as edge for the incoming edges of a node, then u_v = MLP'(h_v) for the node itself
/// ```
/// All are positively homogeneous of degree 1; attention only with the scale-invariant softmax (checked by
/// `readouts_are_homogeneous` in `tests/model_laws.rs`). A graph without nodes gives zeros.
///
/// # Shapes
/// `[nodes, hidden]` to `[graphs, hidden]`; `[graphs, 2 hidden]` for head-tail; `[nodes, hidden]` for node; `[edges,
/// hidden]` for edge; `[edges + nodes, hidden]` for pointer, whose rows [`pointer`](mod@crate::pointer) describes.
#[derive(Module, Debug)]
pub struct Readout {
    #[module(skip)]
    kind: ReadoutKind,
    score: Option<Linear>,
    scale_invariant: bool,
    /// What makes the vector of an edge (edge, pointer).
    edge: Option<Mlp>,
    /// What makes the vector of a node that points at itself (pointer).
    own: Option<Mlp>,
}

impl Readout {
    /// A readout with weights drawn from `rng` (only attention has any); `scale_invariant` asks for the scale-invariant
    /// softmax.
    ///
    /// The score has no bias: a number added to all scores of a graph cancels in the softmax.
    pub fn new(
        kind: ReadoutKind,
        input_width: usize,
        hidden_width: usize,
        scale_invariant: bool,
        device: &Device,
        rng: &mut InitRng,
    ) -> Self {
        let score = (kind == ReadoutKind::Attention).then(|| rng.linear(input_width + hidden_width, 1, false, device));
        Self { kind, score, scale_invariant, edge: None, own: None }
    }

    /// With what a readout of edges or pointers needs, drawn from `rng`: perceptrons of two layers; others stay as they
    /// are.
    #[must_use]
    pub fn with_edges(
        mut self,
        hidden_width: usize,
        edge_width: usize,
        bias: bool,
        device: &Device,
        rng: &mut InitRng,
    ) -> Self {
        let mut mlp = |width| MlpConfig::new(width, hidden_width, 2).with_bias(bias).init(device, rng);
        if matches!(self.kind, ReadoutKind::Edge | ReadoutKind::Pointer) {
            self.edge = Some(mlp(2 * hidden_width + edge_width));
        }
        self.own = (self.kind == ReadoutKind::Pointer).then(|| mlp(hidden_width));
        self
    }

    /// Which readout this is.
    pub fn kind(&self) -> ReadoutKind {
        self.kind
    }

    /// Pools the node states; `input` (the node attributes) takes part in the score of attention only.
    pub fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let nodes = graph.node_segments();
        match (self.kind, &self.score) {
            (ReadoutKind::Max, _) => segment_max(hidden, nodes),
            (ReadoutKind::Min, _) => segment_min(hidden, nodes),
            (ReadoutKind::Mean, _) => segment_mean(hidden, nodes),
            (ReadoutKind::Sum, _) => segment_sum(hidden, nodes),
            (ReadoutKind::Attention, Some(score)) => {
                let scores = score.forward(Tensor::cat(vec![input, hidden.clone()], 1));
                let weights = if self.scale_invariant {
                    segment_scale_invariant_softmax(scores, nodes)
                } else {
                    segment_softmax(scores, nodes)
                };
                segment_sum(weights * hidden, nodes)
            }
            (ReadoutKind::HeadTail, _) => {
                let tail = one_of_each(graph, hidden.clone(), |range| range[1] - 1);
                Tensor::cat(vec![one_of_each(graph, hidden, |range| range[0]), tail], 1)
            }
            (ReadoutKind::First, _) => one_of_each(graph, hidden, |range| range[0]),
            (ReadoutKind::Node, _) => hidden,
            (ReadoutKind::Edge, _) => self.edges(graph, &hidden),
            (ReadoutKind::Pointer, _) => {
                let own = self.own.as_ref().expect("a pointer is built with its perceptrons");
                if graph.edges() == 0 {
                    return own.forward(hidden);
                }
                let rows = vec![self.edges(graph, &hidden), own.forward(hidden)];
                Tensor::cat(rows, 0).select(0, index_tensor(pointer::order(graph.structure()), &graph.device()))
            }
            (ReadoutKind::Attention, None) => unreachable!("attention is built with its score"),
        }
    }

    /// `MLP(h_s, h_r, e)` of every edge.
    fn edges(&self, graph: &GraphTensors, hidden: &Tensor<2>) -> Tensor<2> {
        let edge = self.edge.as_ref().expect("a readout of edges is built with its perceptron");
        edge.forward(both_ends(graph, hidden, EdgeOrder::SenderFirst))
    }
}

/// The row of one node of every graph, picked from the range of its nodes.
fn one_of_each(graph: &GraphTensors, hidden: Tensor<2>, pick: fn(&[u32]) -> u32) -> Tensor<2> {
    assert!(graph.node_segments().iter().all(|nodes| !nodes.is_empty()), "this readout needs a node in every graph");
    let picked: Vec<u32> = graph.node_segments().offsets().windows(2).map(pick).collect();
    let device = hidden.device();
    hidden.select(0, index_tensor(picked, &device))
}
