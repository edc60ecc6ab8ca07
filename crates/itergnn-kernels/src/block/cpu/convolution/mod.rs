//! GCN and GAT inside the fused engine.
//!
//! Both are: prepared rows `p = v W` (by the code that all layers share), then for each node `start + sum of weights_k
//! p_s` over the [`edges`] as the layer sees them. The weights are those of the graph (GCN) or the [`attention`] of
//! GAT, whose two parts of the score are two more columns of the same product: `(v W) . a = v (W a)`, so `W a` is
//! packed beside `W` ([`weights`]).

mod attention;
mod backward;
mod edges;
mod forward;
mod weights;

pub(super) use edges::ConvolutionEdges;
pub(super) use weights::{pack, unpack_gradient};
