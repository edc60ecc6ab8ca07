//! The layers the paper compares with: GCN, GAT and GIN.

use super::config::Aggregation;

/// A layer whose messages are linear in the sender's vector `v = [x ; h]` and whose result replaces the state.
///
/// *Loops* are exactly one edge from every node to itself: those of the graph are left out and one per node is added as its last incoming edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Convolution {
    /// `h'_j = f(sum over k of w_k / sqrt(d_s d_j) v_s W + b)`, where `d` is the sum of incoming weights; a node with `d = 0` sends nothing.
    Gcn {
        /// Whether there are loops; their weight is that of the graph's (last) loop at the node, else 1.
        self_loops: bool,
        /// Whether the one edge feature is the weight `w` of the edge; else all weights are 1.
        edge_weights: bool,
        /// Slope of `f` for negative values: 1 for the identity, 0 for ReLU.
        output_slope: f64,
    },
    /// `h'_j = f(sum over k of softmax(score)_k v_s W + b)`, `score_k = LeakyReLU(a_s . v_s W + a_r . v_j W + a_e . e_k W_e)`.
    Gat {
        /// Whether there are loops; their features are the mean of those of the other incoming edges.
        self_loops: bool,
        /// Whether the score has the term `a_e . e_k W_e`.
        reads_edges: bool,
        /// Slope of the LeakyReLU on scores for negative values.
        score_slope: f64,
        /// Slope of `f` for negative values.
        output_slope: f64,
    },
    /// `h'_j = MLP((1 + eps) v_j + sum over k of v_s)`, two layers with LeakyReLU (0.01) after each.
    Gin {
        /// eps, unless it is learned.
        eps: f64,
        /// Whether eps is a parameter.
        learns_eps: bool,
    },
}

impl Convolution {
    /// Whether the layer has this aggregation.
    pub(crate) fn takes(&self, aggregation: Aggregation) -> bool {
        match self {
            Self::Gat { .. } => matches!(aggregation, Aggregation::Attention | Aggregation::ScaleInvariantAttention),
            _ => aggregation == Aggregation::Sum,
        }
    }

    /// Whether edge features weigh the edges.
    pub(crate) fn weighs_edges(&self) -> bool {
        matches!(self, Self::Gcn { edge_weights: true, .. })
    }

    /// Whether every node has one loop.
    pub(crate) fn loops(&self) -> bool {
        match *self {
            Self::Gcn { self_loops, .. } | Self::Gat { self_loops, .. } => self_loops,
            Self::Gin { .. } => false,
        }
    }
}
