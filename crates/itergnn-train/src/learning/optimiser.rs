//! Adam over the parameters of a module, with state by name.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::Tensor;
use itergnn_nn::update_values;

use super::HostGradients;
use crate::config::OptimiserConfig;

/// Adam, applied to every parameter of a module in one pass each.
///
/// The formulas are Burn's to the bit, whose own optimiser takes a dozen tensor operations for each parameter, knows
/// parameters by numbers that differ from process to process and clips each parameter's gradient alone. This one knows
/// them by the names of [`itergnn_nn::named_tensors`], so that its state can be saved, and clips the gradient of all
/// parameters together. It computes in single precision.
#[derive(Clone)]
pub struct Optimiser {
    adam: Adam,
    clip_norm: Option<f64>,
    states: BTreeMap<String, State>,
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
        Self { adam: Adam::new(config), clip_norm: config.clip_norm, states: BTreeMap::new() }
    }

    /// What a gradient of that norm is multiplied with.
    fn factor(&self, norm: f64) -> Option<f64> {
        self.clip_norm.filter(|&limit| norm > limit).map(|limit| limit / norm)
    }

    /// The module after one update.
    pub fn step<M: Module>(&mut self, rate: f64, module: M, gradients: HostGradients) -> M {
        let factor = self.factor(gradients.norm());
        let (adam, states) = (&self.adam, &mut self.states);
        module.map(&mut Update { path: ParameterPath::default(), adam, states, gradients, rate, factor })
    }

    /// What is remembered, by the name of the parameter.
    pub fn moments(&self) -> BTreeMap<String, Moments> {
        let host = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
        let moments =
            |state: &State| Moments { time: state.time, first: host(&state.first), second: host(&state.second) };
        self.states.iter().map(|(name, state)| (name.clone(), moments(state))).collect()
    }

    /// The optimiser with what another one remembered.
    #[must_use]
    pub fn with_moments(mut self, moments: &BTreeMap<String, Moments>) -> Self {
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
        let state = |moments: &Moments| State {
            time: moments.time,
            first: single(&moments.first),
            second: single(&moments.second),
        };
        self.states = moments.iter().map(|(name, moments)| (name.clone(), state(moments))).collect();
        self
    }
}

/// [`Moments`] in the precision they are computed in.
#[derive(Clone, Default)]
struct State {
    time: usize,
    first: Vec<f32>,
    second: Vec<f32>,
}

/// `m <- b1 m + (1 - b1) g`, `v <- b2 v + (1 - b2) g^2`, `w <- w - rate m' / (sqrt(v') + eps)` with `m' = m / (1 -
/// b1^t)`, `v' = v / (1 - b2^t)`.
#[derive(Clone, Copy)]
struct Adam {
    beta_1: f32,
    beta_2: f32,
    epsilon: f32,
    weight_decay: f32,
}

impl Adam {
    fn new(config: &OptimiserConfig) -> Self {
        Self {
            beta_1: config.beta_1 as f32,
            beta_2: config.beta_2 as f32,
            epsilon: config.epsilon as f32,
            weight_decay: config.weight_decay as f32,
        }
    }

    /// Updates the values of one parameter; the gradient is multiplied by `factor` first.
    fn update(&self, rate: f32, values: &mut [f32], gradient: &[f32], factor: f32, state: &mut State) {
        state.time += 1;
        state.first.resize(values.len(), 0.0);
        state.second.resize(values.len(), 0.0);
        let time = i32::try_from(state.time).unwrap_or(i32::MAX);
        let second_correction = (1.0 - self.beta_2.powi(time)).sqrt();
        let correction = second_correction / (1.0 - self.beta_1.powi(time));
        let epsilon = self.epsilon * second_correction;
        let (new_1, new_2) = (1.0 - self.beta_1, 1.0 - self.beta_2);
        let moments = state.first.iter_mut().zip(&mut state.second);
        for ((value, &gradient), (first, second)) in values.iter_mut().zip(gradient).zip(moments) {
            let gradient = *value * self.weight_decay + gradient * factor;
            *first = *first * self.beta_1 + gradient * new_1;
            *second = *second * self.beta_2 + gradient * gradient * new_2;
            *value -= *first * correction / (second.sqrt() + epsilon) * rate;
        }
    }
}

/// Where a mapper is: the name of a parameter as [`itergnn_nn::named_tensors`] has it, fields joined by dots, without
/// the variants of enums, which a mapper enters and a visitor does not. One buffer for all names of a step.
#[derive(Default)]
struct ParameterPath {
    name: String,
    /// How long the name was before each segment.
    lengths: Vec<usize>,
}

impl ParameterPath {
    fn enter(&mut self, segment: &str) {
        self.lengths.push(self.name.len());
        if segment.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            return;
        }
        if !self.name.is_empty() {
            self.name.push('.');
        }
        self.name.push_str(segment);
    }

    fn leave(&mut self) {
        self.name.truncate(self.lengths.pop().unwrap_or(0));
    }
}

struct Update<'a> {
    path: ParameterPath,
    adam: &'a Adam,
    states: &'a mut BTreeMap<String, State>,
    gradients: HostGradients,
    rate: f64,
    factor: Option<f64>,
}

impl ModuleMapper for Update<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.leave();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(gradient) = self.gradients.take(param.id) else { return param };
        let name = self.path.name.as_str();
        let state = match self.states.get_mut(name) {
            Some(state) => state,
            None => self.states.entry(name.to_owned()).or_default(),
        };
        let (rate, factor) = (self.rate as f32, self.factor.map_or(1.0, |factor| factor as f32));
        param.map(|tensor| update_values(tensor, |values| self.adam.update(rate, values, &gradient, factor, state)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::Linear;
    use burn::optim::decay::WeightDecayConfig;
    use burn::optim::{AdamConfig, GradientsParams};
    use burn::tensor::{Device, Gradients};
    use itergnn_nn::{InitRng, named_tensors};

    fn linear() -> Linear {
        InitRng::new(3).linear(3, 2, true, &Device::flex().autodiff())
    }

    fn gradients(module: &Linear, scale: f32) -> Gradients {
        let device = Device::flex().autodiff();
        let input = Tensor::<2>::from_floats([[1.0, -2.0, 3.0]], &device);
        module.forward(input).mul_scalar(scale).square().sum().backward()
    }

    fn take_step(optimiser: &mut Optimiser, module: Linear, scale: f32) -> Linear {
        let gradients = HostGradients::of(&module, gradients(&module, scale));
        optimiser.step(0.01, module, gradients)
    }

    #[test]
    fn updates_are_those_of_burns_module_optimiser() {
        for decay in [None, Some(0.1)] {
            let config = OptimiserConfig { weight_decay: decay.unwrap_or(0.0).into(), ..OptimiserConfig::default() };
            let mut ours = Optimiser::new(&config);
            let mut burns = AdamConfig::new().with_weight_decay(decay.map(WeightDecayConfig::new)).init();
            let (mut left, mut right) = (linear(), linear());
            for step in 1..5 {
                let scale = 1.0 / step as f32;
                left = take_step(&mut ours, left, scale);
                let gradients = GradientsParams::from_grads(gradients(&right, scale), &right);
                right = burns.step(0.01, right, gradients);
            }
            assert_eq!(named_tensors(&left), named_tensors(&right));
            assert_ne!(named_tensors(&left), named_tensors(&linear()));
        }
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
        let norm = HostGradients::of(&module, gradients(&module, 1.0)).norm();
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
        let mut restored = fresh.with_moments(&original.moments());
        assert_eq!(restored.moments(), original.moments());
        let (left, right) = (take_step(&mut original, module.clone(), 0.5), take_step(&mut restored, module, 0.5));
        assert_eq!(named_tensors(&left), named_tensors(&right));
    }
}
