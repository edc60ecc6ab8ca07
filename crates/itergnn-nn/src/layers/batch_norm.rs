//! Batch normalisation with PyTorch's running variance.

use burn::nn::BatchNorm;
use burn::tensor::Tensor;

/// Normalises every feature over the rows.
///
/// Burn keeps a running mean of the *biased* batch variance, PyTorch of the unbiased one, `n / (n - 1)` times as large. After a step in
/// training the running variance is corrected, so that inference gives PyTorch's numbers.
///
/// # Shapes
///
/// - input and output: `[rows, features]`
pub(crate) fn batch_normalise(norm: &BatchNorm, input: Tensor<2>) -> Tensor<2> {
    let rows = input.dims()[0] as f64;
    let training = input.device().is_autodiff() && norm.training.is_enabled();
    if !training || rows < 2.0 {
        return norm.forward(input);
    }
    let kept = norm.running_var.value_sync() * (1.0 - norm.momentum);
    let output = norm.forward(input);
    let added = norm.running_var.value_sync() - kept.clone();
    norm.running_var.update((kept + added * (rows / (rows - 1.0))).detach());
    output
}
