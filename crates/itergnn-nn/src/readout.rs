//! From node states to one vector a graph.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
pub use itergnn_kernels::settings::ReadoutKind;

use crate::ops::{
    segment_max, segment_mean, segment_min, segment_scale_invariant_softmax, segment_softmax, segment_sum,
};
use crate::structure::index_tensor;
use crate::{GraphTensors, InitRng};

/// Pools node states.
///
/// ```text
/// max, min, mean, sum   u = rho_v h_v
/// attention             u = sum_v softmax_v(linear([x_v; h_v])) h_v
/// head-tail             u = [h_first; h_last]
/// first                 u = h_first
/// node                  u_v = h_v
/// ```
/// All are positively homogeneous of degree 1; attention only with the scale-invariant softmax (checked by
/// `readouts_are_homogeneous` in `tests/model_laws.rs`). A graph without nodes gives zeros.
///
/// # Shapes
/// `[nodes, hidden]` to `[graphs, hidden]`; `[graphs, 2 hidden]` for head-tail; `[nodes, hidden]` for node.
#[derive(Module, Debug)]
pub struct Readout {
    #[module(skip)]
    kind: ReadoutKind,
    score: Option<Linear>,
    scale_invariant: bool,
}

impl Readout {
    /// A readout with weights drawn from `rng` (only attention has any); `scale_invariant` asks for the scale-invariant softmax.
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
        Self { kind, score, scale_invariant }
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
            (ReadoutKind::Attention, None) => unreachable!("attention is built with its score"),
        }
    }
}

/// The row of one node of every graph, picked from the range of its nodes.
fn one_of_each(graph: &GraphTensors, hidden: Tensor<2>, pick: fn(&[u32]) -> u32) -> Tensor<2> {
    assert!(graph.node_segments().iter().all(|nodes| !nodes.is_empty()), "this readout needs a node in every graph");
    let picked: Vec<u32> = graph.node_segments().offsets().windows(2).map(pick).collect();
    let device = hidden.device();
    hidden.select(0, index_tensor(picked, &device))
}
