//! Adam over the parameters of a module, with state by name.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::{
    Adam, AdamConfig, AdamState, AdaptiveMomentumState, GradientsParams, Optimizer, decay::WeightDecayConfig,
};
use burn::tensor::{Device, Tensor, TensorData};

use crate::config::OptimiserConfig;

/// Burn's Adam, applied to every parameter of a module.
///
/// Burn's own module optimiser knows parameters by numbers that differ from process to process and clips each parameter's gradient alone. This one
/// knows them by the names of [`itergnn_nn::named_tensors`], so that its state can be saved, and clips the gradient of all parameters together.
#[derive(Clone)]
pub struct Optimiser {
    adam: Adam,
    clip_norm: Option<f64>,
    states: BTreeMap<String, AdamState<1>>,
}

/// What Adam remembers of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Updates so far.
    pub time: usize,
    /// The running mean of the gradient, flat.
    pub first: Vec<f64>,
    /// The running mean of its square, flat.
    pub second: Vec<f64>,
}

impl Optimiser {
    /// An optimiser that has seen nothing.
    pub fn new(config: &OptimiserConfig) -> Self {
        let decay = (config.weight_decay > 0.0).then(|| WeightDecayConfig::new(config.weight_decay as f32));
        let adam = AdamConfig::new()
            .with_beta_1(config.beta_1 as f32)
            .with_beta_2(config.beta_2 as f32)
            .with_epsilon(config.epsilon as f32)
            .with_weight_decay(decay)
            .build();
        Self { adam, clip_norm: config.clip_norm, states: BTreeMap::new() }
    }

    /// The Euclidean norm of the gradient of all parameters together.
    pub fn norm<M: Module>(module: &M, gradients: &GradientsParams) -> f64 {
        let mut visitor = SquaredNorm { gradients, total: 0.0 };
        module.visit(&mut visitor);
        visitor.total.sqrt()
    }

    /// The module after one update; `norm` is that of the gradient before clipping.
    pub fn step<M: Module>(&mut self, rate: f64, module: M, gradients: GradientsParams, norm: f64) -> M {
        let factor = self.clip_norm.filter(|&limit| norm > limit).map(|limit| limit / norm);
        let (adam, states) = (&self.adam, &mut self.states);
        module.map(&mut Update { path: Vec::new(), adam, states, gradients, rate, factor })
    }

    /// What is remembered, by the name of the parameter.
    pub fn moments(&self) -> BTreeMap<String, Moments> {
        let host = |tensor: &Tensor<1>| -> Vec<f64> {
            tensor.clone().try_into_vec_as().expect("the device gives its tensors back")
        };
        let moments = |state: &AdamState<1>| Moments {
            time: state.momentum.time,
            first: host(&state.momentum.moment_1),
            second: host(&state.momentum.moment_2),
        };
        self.states.iter().map(|(name, state)| (name.clone(), moments(state))).collect()
    }

    /// The optimiser with what another one remembered.
    #[must_use]
    pub fn with_moments(mut self, moments: &BTreeMap<String, Moments>, device: &Device) -> Self {
        let device = device.clone().without_autodiff();
        let tensor = |values: &[f64]| Tensor::<1>::from_data(TensorData::new(values.to_vec(), [values.len()]), &device);
        let state = |moments: &Moments| {
            let momentum = AdaptiveMomentumState::new(moments.time, tensor(&moments.first), tensor(&moments.second));
            AdamState::new(momentum)
        };
        self.states = moments.iter().map(|(name, moments)| (name.clone(), state(moments))).collect();
        self
    }
}

/// The name of a parameter as [`itergnn_nn::named_tensors`] has it: fields joined by dots, without the variants of enums, which a mapper enters and a visitor
/// does not.
fn parameter_name(path: &[String]) -> String {
    let is_field = |segment: &&String| !segment.starts_with(|letter: char| letter.is_ascii_uppercase());
    path.iter().filter(is_field).map(String::as_str).collect::<Vec<_>>().join(".")
}

struct SquaredNorm<'a> {
    gradients: &'a GradientsParams,
    total: f64,
}

impl ModuleVisitor for SquaredNorm<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            self.total += gradient.square().sum().into_scalar::<f64>();
        }
    }
}

struct Update<'a> {
    path: Vec<String>,
    adam: &'a Adam,
    states: &'a mut BTreeMap<String, AdamState<1>>,
    gradients: GradientsParams,
    rate: f64,
    factor: Option<f64>,
}

impl ModuleMapper for Update<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(mut gradient) = self.gradients.remove::<D>(param.id) else { return param };
        if let Some(factor) = self.factor {
            gradient = gradient.mul_scalar(factor);
        }
        let name = parameter_name(&self.path);
        let state = self.states.remove(&name);
        param.map(|tensor| {
            let (learns, shape) = (tensor.is_require_grad(), tensor.dims());
            // Flat, so that states of all parameters have one type.
            let count: usize = shape.iter().product();
            let (flat, gradient) = (tensor.inner().reshape([count]), gradient.reshape([count]));
            let (updated, state) = self.adam.step(self.rate, flat, gradient, state);
            if let Some(state) = state {
                self.states.insert(name, state);
            }
            Tensor::from_inner(updated.reshape(shape)).set_require_grad(learns)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::Linear;
    use itergnn_nn::{InitRng, named_tensors};

    fn linear() -> Linear {
        InitRng::new(3).linear(3, 2, true, &Device::flex().autodiff())
    }

    fn gradients(module: &Linear, scale: f32) -> GradientsParams {
        let device = Device::flex().autodiff();
        let input = Tensor::<2>::from_floats([[1.0, -2.0, 3.0]], &device);
        let loss = module.forward(input).mul_scalar(scale).square().sum();
        GradientsParams::from_grads(loss.backward(), module)
    }

    fn take_step(optimiser: &mut Optimiser, module: Linear, scale: f32) -> Linear {
        let gradients = gradients(&module, scale);
        let norm = Optimiser::norm(&module, &gradients);
        optimiser.step(0.01, module, gradients, norm)
    }

    #[test]
    fn updates_are_those_of_burns_module_optimiser() {
        let (mut ours, mut burns) = (Optimiser::new(&OptimiserConfig::default()), AdamConfig::new().init());
        let (mut left, mut right) = (linear(), linear());
        for step in 1..5 {
            let scale = 1.0 / step as f32;
            left = take_step(&mut ours, left, scale);
            let gradients = gradients(&right, scale);
            right = burns.step(0.01, right, gradients);
        }
        assert_eq!(named_tensors(&left), named_tensors(&right));
        assert_ne!(named_tensors(&left), named_tensors(&linear()));
    }

    #[test]
    fn a_long_gradient_is_cut_to_the_limit_as_a_whole() {
        let limited = OptimiserConfig { clip_norm: Some(0.1), epsilon: 1e3, ..OptimiserConfig::default() };
        // With an epsilon far above the gradient Adam's update is proportional to it.
        let unlimited = OptimiserConfig { clip_norm: None, ..limited.clone() };
        let change = |config: &OptimiserConfig| {
            let module = take_step(&mut Optimiser::new(config), linear(), 1.0);
            let before = named_tensors(&linear());
            let mut squares = 0.0;
            for (name, after) in named_tensors(&module) {
                squares += after.values.iter().zip(&before[&name].values).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            }
            squares.sqrt()
        };
        let module = linear();
        let norm = Optimiser::norm(&module, &gradients(&module, 1.0));
        assert!(norm > 1.0, "{norm}");
        let ratio = change(&unlimited) / change(&limited);
        // The changes are a thousandth of the weights, whose f32 rounding shows in the third digit.
        assert!((ratio / (norm / 0.1) - 1.0).abs() < 0.1, "{ratio} against {}", norm / 0.1);
    }

    #[test]
    fn moments_survive_a_round_trip_to_the_bit() {
        let mut original = Optimiser::new(&OptimiserConfig::default());
        let mut module = take_step(&mut original, linear(), 1.0);
        module = take_step(&mut original, module, 0.1);
        let fresh = Optimiser::new(&OptimiserConfig::default());
        let mut restored = fresh.with_moments(&original.moments(), &Device::flex().autodiff());
        assert_eq!(restored.moments(), original.moments());
        let (left, right) = (take_step(&mut original, module.clone(), 0.5), take_step(&mut restored, module, 0.5));
        assert_eq!(named_tensors(&left), named_tensors(&right));
    }
}
