//! How the aggregated messages change a node's state.

use burn::tensor::{Bool, Tensor, TensorData};
use itergnn_kernels::settings::{Isolated, Update};

use crate::batch::GraphTensors;
use crate::ops::{Segments, keep_max};

/// The new state of every node; `aggregated` is 0 for nodes without incoming edges.
pub(super) fn update(
    rule: Update,
    graph: &GraphTensors,
    hidden: Tensor<2>,
    aggregated: Tensor<2>,
    isolated: Isolated,
) -> Tensor<2> {
    match (rule, isolated) {
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
