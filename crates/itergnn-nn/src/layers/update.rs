//! How the aggregated messages change a node's state.

use burn::tensor::{Bool, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::batch::GraphTensors;
use crate::ops::{Segments, keep_max};

/// How the aggregated messages enter the hidden state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// `h' = max(h, agg)`; on a tie the old state wins and takes the gradient.
    #[default]
    KeepMax,
    /// `h' = agg`: the authors' MPNNMaxConv.
    Replace,
}

/// What a node without incoming edges does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolated {
    /// It keeps its state.
    #[default]
    Keep,
    /// It aggregates 0: what scatter operations of PyG give, and so the authors' code.
    Zero,
}

impl Update {
    /// The new state of every node; `aggregated` is 0 for nodes without incoming edges.
    pub(super) fn forward(
        self,
        graph: &GraphTensors,
        hidden: Tensor<2>,
        aggregated: Tensor<2>,
        isolated: Isolated,
    ) -> Tensor<2> {
        match (self, isolated) {
            (Self::KeepMax, Isolated::Keep) => keep_max(hidden, aggregated, graph.incoming()),
            (Self::KeepMax, Isolated::Zero) => {
                keep_max(hidden, aggregated, &Segments::from_lengths(vec![1; graph.nodes()]))
            }
            (Self::Replace, Isolated::Zero) => aggregated,
            (Self::Replace, Isolated::Keep) => {
                let [nodes, width] = aggregated.dims();
                let empty: Vec<bool> = graph.incoming().iter().map(|edges| edges.is_empty()).collect();
                let empty = Tensor::<2, Bool>::from_data(TensorData::new(empty, [nodes, 1]), &graph.device());
                aggregated.mask_where(empty.expand([nodes, width]), hidden)
            }
        }
    }
}
