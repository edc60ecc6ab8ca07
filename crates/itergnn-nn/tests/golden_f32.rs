//! Layers, controllers and models against PyTorch and PyG in single precision; `reference/nn/make_golden.py` made the
//! values.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod golden_support;

use burn::tensor::Device;
use golden_support::Golden;

/// Thirty steps of sums of a few numbers each, in another order than PyTorch's: a few hundred units of rounding (6e-8).
const TOLERANCE: f64 = 3e-5;

fn golden() -> Golden {
    let bytes = include_bytes!("../../../reference/nn/golden-f32.safetensors");
    Golden::new(bytes, Device::flex().autodiff(), TOLERANCE)
}

#[test]
fn layers_agree() {
    assert_eq!(golden().check("layer"), 28);
}

#[test]
fn models_and_controllers_agree() {
    assert_eq!(golden().check("model"), 36);
}

#[test]
fn the_grid_model_agrees() {
    assert_eq!(golden().check("grid"), 1);
}
