//! The homogeneous prior: HomoMlp and NormWrapped are homogeneous, `homogenise` is exact and narrow, Theorem 1 holds.

mod fixtures;

use burn::tensor::Tensor;
use fixtures::{assert_close, assert_gradient, device, matrix, random, values};
use itergnn_nn::{Activation, HomoMlp, InitRng, Mlp, MlpConfig, NormWrapped, homogenise};
use proptest::prelude::*;

/// A few matrix products in `f64`, relative to outputs of order 1.
const ROUNDING: f64 = 1e-12;

fn mlp(widths: [usize; 2], layers: usize, activation: Activation, final_activation: bool, seed: u64) -> Mlp {
    MlpConfig::new(widths[0], widths[1], layers)
        .with_activation(activation)
        .with_final_activation(final_activation)
        .init(&device(), &mut InitRng::new(seed))
}

/// `f(a x) / a` and `f(x)`.
fn scaled(function: impl Fn(Tensor<2>) -> Tensor<2>, input: &Tensor<2>, scale: f64) -> (Vec<f64>, Vec<f64>) {
    (values(function(input.clone() * scale) / scale), values(function(input.clone())))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn homo_mlp_is_homogeneous(layers in 1..5_usize, power in -3.0..3.0_f64, seed: u64) {
        let config = MlpConfig::new(5, 3, layers).with_bias(false);
        let network = HomoMlp::new(config.init(&device(), &mut InitRng::new(seed))).unwrap();
        let (found, expected) = scaled(|x| network.forward(x), &random(4, 5, seed), 10_f64.powf(power));
        assert_close(&found, &expected, ROUNDING, "homo-mlp");
    }

    #[test]
    fn norm_wrapped_is_homogeneous(layers in 1..5_usize, power in -3.0..3.0_f64, seed: u64) {
        let network = NormWrapped::new(mlp([5, 3], layers, Activation::LeakyRelu, true, seed));
        let (found, expected) = scaled(|x| network.forward(x), &random(4, 5, seed), 10_f64.powf(power));
        assert_close(&found, &expected, ROUNDING, "norm-wrapped");
    }

    #[test]
    fn homogenise_computes_the_wrapped_network(
        inputs in 1..7_usize,
        outputs in 1..4_usize,
        layers in 1..6_usize,
        leaky: bool,
        final_activation: bool,
        power in -3.0..3.0_f64,
        seed: u64,
    ) {
        let activation = if leaky { Activation::LeakyRelu } else { Activation::Relu };
        let network = mlp([inputs, outputs], layers, activation, final_activation, seed);
        let converted = homogenise(&network).unwrap();
        let input = random(6, inputs, seed) * 10_f64.powf(power);
        let expected = values(NormWrapped::new(network.clone()).forward(input.clone()));
        assert_close(&values(converted.forward(input)), &expected, ROUNDING * 10_f64.powf(power.max(0.0)), "homogenise");

        prop_assert_eq!(converted.mlp().layers.len(), layers + 1);
        prop_assert!(converted.mlp().hidden_width() <= (2 * inputs).max(network.hidden_width() + 1));
    }

    /// Theorem 1: the error of a homogeneous network on a homogeneous target grows linearly with the scale of the data.
    #[test]
    fn errors_scale_with_the_data(power in -3.0..3.0_f64, seed: u64) {
        let scale = 10_f64.powf(power);
        let network = HomoMlp::new(MlpConfig::new(4, 1, 3).with_bias(false).init(&device(), &mut InitRng::new(seed))).unwrap();
        let target = |x: Tensor<2>| x.clone().max_dim(1) - x.min_dim(1);
        let error = |x: Tensor<2>| values((network.forward(x.clone()) - target(x)).abs().mean())[0];
        let data = random(32, 4, seed);
        let (small, large) = (error(data.clone()), error(data * scale));
        prop_assert!((large / scale - small).abs() <= ROUNDING * (1.0 + small));
    }
}

#[test]
fn a_biased_network_is_not_homogeneous() {
    let network = mlp([5, 3], 2, Activation::LeakyRelu, true, 1);
    let (found, expected) = scaled(|x| network.forward(x), &random(4, 5, 1), 10.0);
    assert!(found.iter().zip(expected).any(|(found, expected)| (found - expected).abs() > 1e-3));
    assert!(HomoMlp::new(network).unwrap_err().to_string().contains("has a bias"));
}

#[test]
fn the_zero_vector_maps_to_zero() {
    let network = mlp([4, 2], 3, Activation::Relu, false, 2);
    let zero = matrix(&[0.0; 4], 1);
    assert_eq!(values(homogenise(&network).unwrap().forward(zero.clone())), [0.0, 0.0]);
    assert_eq!(values(NormWrapped::new(network).forward(zero)), [0.0, 0.0]);
}

#[test]
fn networks_that_cannot_be_converted_are_refused() {
    let linear = mlp([4, 2], 2, Activation::Identity, false, 3);
    assert!(homogenise(&linear).unwrap_err().to_string().contains("identity"));
    let nothing = Mlp::from_layers(Vec::new(), Activation::Relu, false).unwrap();
    assert!(homogenise(&nothing).unwrap_err().to_string().contains("without maps"));
}

#[test]
fn gradients_flow_through_the_norm() {
    let network = NormWrapped::new(mlp([3, 2], 2, Activation::LeakyRelu, false, 4));
    assert_gradient(&random(3, 3, 5), |x| network.forward(x), "norm-wrapped");
}
