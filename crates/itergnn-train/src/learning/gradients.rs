//! The gradient of a module's parameters, on the host.

use std::collections::VecDeque;

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::{Gradients, Tensor};
use itergnn_nn::host_values;

/// Numbers that are squared and summed side by side, so that one addition need not wait for the last.
const CHAINS: usize = 8;

/// The gradient of every parameter of a module that has one.
#[derive(Debug, Clone, Default)]
pub struct HostGradients {
    /// In the order in which the module is visited.
    values: VecDeque<(ParamId, Vec<f32>)>,
    squares: f64,
}

impl HostGradients {
    /// Takes the gradients of a module's parameters out of those of a backward pass.
    pub fn of<M: Module>(module: &M, gradients: Gradients) -> Self {
        let mut collect = Collect { gradients, found: Self::default() };
        module.visit(&mut collect);
        collect.found
    }

    /// The Euclidean norm of the gradient of all parameters together.
    pub fn norm(&self) -> f64 {
        self.squares.sqrt()
    }

    /// The gradient of a parameter, which is gone then.
    pub(super) fn take(&mut self, id: ParamId) -> Option<Vec<f32>> {
        // Whoever asks goes through the module in the order of the visit, so it is the first one or there is none.
        let position = self.values.iter().position(|(own, _)| *own == id)?;
        self.values.remove(position).map(|(_, values)| values)
    }
}

struct Collect {
    gradients: Gradients,
    found: HostGradients,
}

impl ModuleVisitor for Collect {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        // By reference: a value of its own would be a clone of the tensor.
        if let Some(gradient) = Tensor::grad_remove(param, &mut self.gradients) {
            let values = host_values(gradient);
            self.found.squares += sum_of_squares(&values);
            self.found.values.push_back((param.id, values));
        }
    }
}

fn sum_of_squares(values: &[f32]) -> f64 {
    let square = |value: f32| f64::from(value) * f64::from(value);
    let (chunks, rest) = values.as_chunks::<CHAINS>();
    let mut sums = [0.0; CHAINS];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, &value)| *sum += square(value));
    }
    sums.iter().sum::<f64>() + rest.iter().map(|&value| square(value)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use itergnn_nn::InitRng;

    #[test]
    fn the_norm_is_that_of_all_parameters_and_each_is_taken_once() {
        let module = InitRng::new(3).linear(5, 2, true, &Device::flex().autodiff());
        // The gradient of the sum is the input for every weight, and 1 for every bias.
        let input = Tensor::<2>::from_floats([[1.0, -2.0, 3.0, 0.5, 4.0]], &Device::flex().autodiff());
        let mut gradients = HostGradients::of(&module, module.forward(input).sum().backward());
        let squares = 2.0 * (1.0 + 4.0 + 9.0 + 0.25 + 16.0) + 2.0_f64;
        assert!((gradients.norm() - squares.sqrt()).abs() < 1e-12);
        let weight = gradients.take(module.weight.id).unwrap();
        assert_eq!(weight, [1.0, 1.0, -2.0, -2.0, 3.0, 3.0, 0.5, 0.5, 4.0, 4.0]);
        assert!(gradients.take(module.weight.id).is_none());
        assert_eq!(gradients.take(module.bias.as_ref().unwrap().id), Some(vec![1.0, 1.0]));
    }
}
