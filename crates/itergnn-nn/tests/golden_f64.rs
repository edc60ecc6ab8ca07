//! Layers, controllers and models against PyTorch and PyG in double precision; `reference/nn/make_golden.py` made the
//! values.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod golden_support;

use std::sync::LazyLock;

use burn::tensor::{Device, FloatDType};
use golden_support::Golden;

/// Thirty steps of sums of a few numbers each, in another order than PyTorch's: a few thousand units of rounding
/// (1e-16).
const TOLERANCE: f64 = 1e-11;

/// The float type of a device is set once, before its first tensor.
static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    let mut device = Device::flex();
    device.configure(FloatDType::F64).expect("no tensor was made before");
    device.autodiff()
});

fn golden() -> Golden {
    Golden::new(include_bytes!("../../../reference/nn/golden-f64.safetensors"), DEVICE.clone(), TOLERANCE)
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
