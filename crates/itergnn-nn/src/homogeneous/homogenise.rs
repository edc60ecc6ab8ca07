//! From a biased network to a bias-free one.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::Tensor;

use super::homo_mlp::HomoMlp;
use crate::activation::Activation;
use crate::error::Error;
use crate::mlp::Mlp;

/// A bias-free network that computes [`NormWrapped`](super::NormWrapped)`(mlp)` exactly: `F'(x) = |x|_1 F(x / |x|_1)`.
///
/// With slope `s` of the activation for negative inputs, the first map doubles the input, `p = act(x)`, `q = act(-x)`.
/// Then `x = (p - q) / (1 + s)` and `|x| = (p + q) / (1 - s)`, so the norm is a linear function of `[p ; q]`. It is
/// carried along as one more channel, which is never negative and so passes every activation, and plays the part of the
/// constant 1 that the biases multiply:
///
/// ```text
/// F'(x) = [W_K b_K] act([W_{K-1} b_{K-1}; 0 1] .. act([W_1/(1+s) + b_1/(1-s)  -W_1/(1+s) + b_1/(1-s); 1/(1-s) 1/(1-s)] act([I; -I] x)))
/// ```
///
/// A network of `K` maps becomes one of `K + 1`, of width at most `max(2n, width + 1)` for `n` inputs.
///
/// # Errors
///
/// When the network has no map, or its activation is the identity, from which no norm can be made.
///
/// # Paper
///
/// The proof of the universal approximation theorem for width-bounded HomoMLP, there for ReLU (`s = 0`).
pub fn homogenise(mlp: &Mlp) -> Result<HomoMlp, Error> {
    let Some(inputs) = mlp.input_width() else {
        return Err(Error::config("homogenise", "a network without maps has nothing to convert"));
    };
    if mlp.activation == Activation::Identity {
        return Err(Error::config("homogenise", "the norm cannot be computed by the identity activation"));
    }
    let slope = mlp.activation.negative_slope();
    let device = mlp.layers[0].weight.device();
    let identity = Tensor::<2>::eye(inputs, &device);
    let mut maps = vec![Tensor::cat(vec![identity.clone(), identity.neg()], 1)];
    let last = mlp.layers.len() - 1;
    for (index, map) in mlp.layers.iter().enumerate() {
        let weight = map.weight.val();
        let outputs = weight.dims()[1];
        let bias = match &map.bias {
            Some(bias) => bias.val().reshape([1, outputs]),
            None => Tensor::zeros([1, outputs], &device),
        };
        // Rows read the channels of the layer before: [p ; q] first, [features ; norm] afterwards.
        let (rows, norm) = if index == 0 {
            let (weight, bias) = (weight / (1.0 + slope), bias / (1.0 - slope));
            let rows = Tensor::cat(vec![weight.clone() + bias.clone(), weight.neg() + bias], 0);
            (rows, Tensor::full([2 * inputs, 1], 1.0 / (1.0 - slope), &device))
        } else {
            let carry = Tensor::ones([1, 1], &device);
            let norm = Tensor::cat(vec![Tensor::zeros([weight.dims()[0], 1], &device), carry], 0);
            (Tensor::cat(vec![weight, bias], 0), norm)
        };
        maps.push(if index == last { rows } else { Tensor::cat(vec![rows, norm], 1) });
    }
    let layers =
        maps.into_iter().map(|weight| Linear { weight: Param::from_tensor(weight.detach()), bias: None }).collect();
    let result = Mlp::from_layers(layers, mlp.activation, mlp.final_activation)?;
    let bound = (2 * inputs).max(mlp.hidden_width() + 1);
    assert!(result.hidden_width() <= bound, "the construction keeps to the width bound of the theorem");
    HomoMlp::new(result)
}
