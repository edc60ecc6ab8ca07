//! Tests of the layers, in `f64`.

#[path = "../fixtures/mod.rs"]
mod fixtures;

mod gn_block;
mod golden;
mod gradients;
mod homogeneity;
mod laws;
mod self_loops;
mod settings;
mod zoo;
