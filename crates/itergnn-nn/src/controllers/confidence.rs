//! When to stop: the stopping criterion g of the iterative module.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation::sigmoid};

use super::Scope;
use crate::GraphTensors;
use crate::readout::Readout;

/// Says how sure a loop is, after a step, that it may stop.
pub trait StoppingCriterion {
    /// One confidence per graph or one per node.
    fn scope(&self) -> Scope;

    /// c^k in [0, 1] from the state after step k.
    ///
    /// # Shapes
    /// `input` is `[nodes, input]`, `hidden` `[nodes, hidden]`, the result `[graphs, 1]` or `[nodes, 1]`.
    fn confidence(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2>;
}

/// A learned criterion: c = sigmoid(linear(f)), with f the pooled hidden state of a graph or the hidden state of a
/// node.
///
/// With `scale_free`, f is divided by its L1 norm first (a zero vector stays zero), so that c does not change when f is
/// scaled by a positive number. Under a homogeneous layer, f scales with the inputs, hence c and the number of steps do
/// not change with them: homogeneity of degree 0, checked by `scale_free_predictions_scale_and_iterations_do_not` in
/// `tests/model_laws.rs`.
#[derive(Module, Debug)]
pub struct Confidence {
    readout: Option<Readout>,
    linear: Linear,
    scale_free: bool,
}

impl Confidence {
    /// A criterion that pools with `readout`, or one confidence per node if there is none.
    pub fn new(readout: Option<Readout>, linear: Linear, scale_free: bool) -> Self {
        Self { readout, linear, scale_free }
    }

    /// The map from features to the logit.
    pub(super) fn linear(&self) -> &Linear {
        &self.linear
    }
}

impl StoppingCriterion for Confidence {
    fn scope(&self) -> Scope {
        if self.readout.is_some() { Scope::Graph } else { Scope::Node }
    }

    fn confidence(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let mut features = match &self.readout {
            Some(readout) => readout.forward(graph, input, hidden),
            None => hidden,
        };
        if self.scale_free {
            let norm = features.clone().abs().sum_dim(1);
            let norm = norm.clone().mask_fill(norm.equal_elem(0.0), 1.0);
            features = features / norm;
        }
        sigmoid(self.linear.forward(features))
    }
}
