//! Tests of the segment operations, in `f64` unless said otherwise.

#[path = "../fixtures/mod.rs"]
mod fixtures;

mod gradients;
mod laws;
mod precision;
mod reference;
