//! Message-passing layers.
//!
//! Every layer computes `hidden' = update(hidden, aggregate(message(..)))` behind one trait, [`MessagePassing`]. The
//! node vector a layer sees is `v = [input ; hidden]`: the input attributes are concatenated again at every step, as
//! the paper does.
//!
//! | layer | message of edge (s, r) | aggregate | update |
//! |---|---|---|---|
//! | mpnn-max ([`PathConv`]) | MLP(v_s, v_r, e) | max | max(h, agg) |
//! | path ([`PathConv`]) | MLP(v_s, v_r, e) | attention, max or sparsemax | max(h, agg) |
//! | path-sim ([`PathConv`]) | MLP(v_s, e) | attention, max or sparsemax | max(h, agg) |
//! | [`GcnConv`] | v_s W / sqrt(d_s d_r) | sum | agg + b |
//! | [`GatConv`] | v_s W | attention | agg + b |
//! | [`GinConv`] | v_s | sum | MLP((1 + eps) v + agg) |
//! | [`PointNet`] | none | none | MLP(v) |
//! | [`GnBlock`] | phi_e(e, v_r, v_s, u) | rho | phi_v(agg, v, u) |
//!
//! [`GridCnn`] takes images instead of graphs.

mod aggregator;
mod batch_norm;
mod edge_inputs;
mod gat;
mod gcn;
mod gin;
mod gn_block;
mod grid_cnn;
mod layer;
mod message_passing;
mod path;
mod point_net;

pub use itergnn_kernels::settings::{Aggregation, EdgeOrder, Isolated, LayerConfig, LayerKind, Update};

pub use aggregator::Aggregator;
pub use batch_norm::RunningStatistics;
pub(crate) use edge_inputs::both_ends;
pub use gat::GatConv;
pub use gcn::GcnConv;
pub use gin::GinConv;
pub use gn_block::{GnBlock, GnBlockConfig, GnState, NodeFunction};
pub use grid_cnn::{GridCnn, GridCnnConfig};
pub use layer::Layer;
pub use message_passing::MessagePassing;
pub use path::PathConv;
pub use point_net::PointNet;
