//! What the message and score functions of an edge are given.

use burn::tensor::Tensor;
use itergnn_kernels::settings::EdgeOrder;

use crate::batch::GraphTensors;

/// `[a ; b ; ..]` along the features. Parts of width 0 are left out.
pub(super) fn concatenate(parts: impl IntoIterator<Item = Tensor<2>>) -> Tensor<2> {
    let mut parts: Vec<Tensor<2>> = parts.into_iter().filter(|part| part.dims()[1] > 0).collect();
    if parts.len() == 1 {
        return parts.remove(0);
    }
    // The backward pass of a concatenation without rows panics in Burn 0.22.1 (a batch whose graphs have no edges); it
    // has no gradient to give.
    if let Some(part) = parts.first().filter(|part| part.dims()[0] == 0) {
        let width = parts.iter().map(|part| part.dims()[1]).sum();
        return Tensor::zeros([0, width], (&part.device(), part.dtype()));
    }
    Tensor::cat(parts, 1)
}

/// `v = [input ; hidden]`.
pub(super) fn node_vectors(input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
    concatenate([input, hidden])
}

/// `[v_s ; v_r ; e]`, or the order asked for: `[edges, 2 node width + edge width]`.
pub(crate) fn both_ends(graph: &GraphTensors, nodes: &Tensor<2>, order: EdgeOrder) -> Tensor<2> {
    let (senders, receivers) = (graph.at_senders(nodes.clone()), graph.at_receivers(nodes.clone()));
    let ends = match order {
        EdgeOrder::SenderFirst => [senders, receivers],
        EdgeOrder::ReceiverFirst => [receivers, senders],
    };
    concatenate(ends.into_iter().chain([graph.edge_attributes()]))
}

/// `[v_s ; e]`: `[edges, node width + edge width]`.
pub(super) fn sender_end(graph: &GraphTensors, nodes: &Tensor<2>) -> Tensor<2> {
    concatenate([graph.at_senders(nodes.clone()), graph.edge_attributes()])
}
