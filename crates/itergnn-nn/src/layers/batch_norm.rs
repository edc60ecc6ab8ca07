//! Batch normalisation with PyTorch's running variance.

use burn::module::{Module, RunningState};
use burn::nn::BatchNorm;
use burn::tensor::{Device, Tensor};

/// A running mean and variance beside those that a normalisation has itself.
#[derive(Module, Debug)]
pub struct RunningStatistics {
    /// The mean, `[features]`.
    pub running_mean: RunningState<Tensor<1>>,
    /// The variance, `[features]`.
    pub running_var: RunningState<Tensor<1>>,
}

impl RunningStatistics {
    pub(crate) fn new(width: usize, device: &Device) -> Self {
        Self {
            running_mean: RunningState::new(Tensor::zeros([width], device)),
            running_var: RunningState::new(Tensor::ones([width], device)),
        }
    }

    /// A normalisation with these statistics; what it learns of them is learned here, since clones of a running state
    /// share it.
    pub(crate) fn of(&self, norm: &BatchNorm) -> BatchNorm {
        BatchNorm { running_mean: self.running_mean.clone(), running_var: self.running_var.clone(), ..norm.clone() }
    }
}

/// Normalises every feature over the rows.
///
/// Burn keeps a running mean of the *biased* batch variance, PyTorch of the unbiased one, `n / (n - 1)` times as large.
/// After a step in training the running variance is corrected, so that inference gives PyTorch's numbers.
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
