//! The weights of a block as one vector.

use burn::nn::Linear;
use burn::tensor::Tensor;
use itergnn_kernels::block::BlockConfig;

use crate::layers::{EdgeOrder, GatConv, Layer, LayerKind};

/// The weights of all layers and of the confidence, in the order of the kernels'
/// [`ParameterLayout`](itergnn_kernels::block::ParameterLayout).
///
/// Only reshapes and concatenations, so gradients find their way to the modules' own parameters.
///
/// # Shapes
/// `[parameters]`.
///
/// # Panics
/// If a layer is not the one that `config` was made for.
pub(super) fn flatten<'a>(
    layers: impl IntoIterator<Item = &'a Layer>,
    confidence: Option<&Linear>,
    config: &BlockConfig,
) -> Tensor<1> {
    let order = InputOrder {
        edge_order: config.layer.edge_order,
        node_width: config.node_width(),
        edge_width: config.edge_width(),
    };
    let mut parts = Vec::new();
    for layer in layers {
        let (message, score) = match layer {
            Layer::Path(layer) => (&layer.message, layer.aggregator.score.as_ref()),
            Layer::Gcn(layer) => {
                parts.push(layer.weight.val().flatten(0, 1));
                parts.extend(layer.bias.as_ref().map(|bias| bias.val()));
                continue;
            }
            Layer::Gat(layer) => {
                push_attention(&mut parts, layer);
                continue;
            }
            other => panic!("the fused engine was chosen for another layer than {other:?}"),
        };
        let [first, second] = &message.layers[..] else {
            panic!("the fused engine was chosen for a message function of two maps");
        };
        let reads_both = config.layer.kind != LayerKind::PathSim;
        push(&mut parts, first, |weight| if reads_both { order.sender_first(weight) } else { weight });
        push(&mut parts, second, |weight| weight);
        if let Some(score) = score {
            push(&mut parts, score, |weight| order.sender_first(weight));
        }
    }
    if let Some(confidence) = confidence {
        push(&mut parts, confidence, |weight| weight);
    }
    Tensor::cat(parts, 0)
}

/// Adds the weights of a GAT layer with one head.
fn push_attention(parts: &mut Vec<Tensor<1>>, layer: &GatConv) {
    let mut matrices = vec![&layer.weight, &layer.sender_attention, &layer.receiver_attention];
    matrices.extend(layer.edge.iter().flat_map(|edge| [&edge.weight, &edge.attention]));
    parts.extend(matrices.into_iter().map(|matrix| matrix.val().flatten(0, 1)));
    parts.extend(layer.bias.as_ref().map(|bias| bias.val()));
}

/// Adds the weight of a map, as `arrange` puts it, and its bias if it has one.
pub(super) fn push(parts: &mut Vec<Tensor<1>>, map: &Linear, arrange: impl FnOnce(Tensor<2>) -> Tensor<2>) {
    parts.push(arrange(map.weight.val()).flatten(0, 1));
    parts.extend(map.bias.as_ref().map(|bias| bias.val()));
}

/// In which order the rows of a weight meet the two ends of an edge.
#[derive(Clone, Copy)]
struct InputOrder {
    edge_order: EdgeOrder,
    node_width: usize,
    edge_width: usize,
}

impl InputOrder {
    /// The weight with its rows in the kernels' order `[v_s ; v_r ; e]`.
    fn sender_first(self, weight: Tensor<2>) -> Tensor<2> {
        if self.edge_order == EdgeOrder::SenderFirst {
            return weight;
        }
        let rows = |start, length| weight.clone().narrow(0, start, length);
        let width = self.node_width;
        let mut parts = vec![rows(width, width), rows(0, width)];
        if self.edge_width > 0 {
            parts.push(rows(2 * width, self.edge_width));
        }
        Tensor::cat(parts, 0)
    }
}
