//! The homogeneous prior: networks with `f(a x) = a f(x)` for every `a > 0`.
//!
//! A network without biases whose activations are piecewise linear is homogeneous ([`HomoMlp`]). [`NormWrapped`] makes
//! any network homogeneous, and [`homogenise`] turns a biased one into a bias-free one that computes the same wrapped
//! function.

mod homo_mlp;
mod homogenise;
mod norm_wrapped;

pub use homo_mlp::HomoMlp;
pub use homogenise::homogenise;
pub use norm_wrapped::NormWrapped;
