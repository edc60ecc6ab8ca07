//! Every layer with the homogeneous prior satisfies `f(a x) = a f(x)`.

use burn::tensor::{Tensor, TensorData};
use itergnn_nn::layers::{GridCnnConfig, MessagePassing};
use itergnn_nn::{GraphTensors, InitRng};
use proptest::prelude::*;

use crate::fixtures::{assert_close, corner_graph, device, numbers, tensors, values};
use crate::zoo;

/// A few matrix products in `f64`, relative to outputs of order 1.
const ROUNDING: f64 = 1e-11;

fn scale_graph(graph: &GraphTensors, scale: f64) -> GraphTensors {
    let globals = graph.globals().expect("the tests set globals") * scale;
    graph
        .clone()
        .with_node_attributes(graph.node_attributes() * scale)
        .with_edge_attributes(graph.edge_attributes() * scale)
        .with_globals(globals)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn every_homogeneous_layer_scales_with_its_input(power in -3.0..3.0_f64, seed in 0..1000_u64) {
        let scale = 10_f64.powf(power);
        let (graph, hidden) = zoo::with_state(tensors(&corner_graph()), seed);
        let scaled = scale_graph(&graph, scale);
        for config in zoo::configs() {
            let config = config.with_homogeneous(true);
            let layer = zoo::layer(&config);
            let expected = values(layer.forward(&graph, zoo::input(&config, &graph), hidden.clone()));
            let output = layer.forward(&scaled, zoo::input(&config, &scaled), hidden.clone() * scale);
            assert_close(&values(output / scale), &expected, ROUNDING, &format!("{config:?}"));
        }
    }

    #[test]
    fn a_homogeneous_grid_network_scales_with_its_image(power in -3.0..3.0_f64, depth in 1..4_usize, kernel in 0..2_usize) {
        let scale = 10_f64.powf(power);
        let config = GridCnnConfig { homogeneous: true, ..GridCnnConfig::new(2, 3, 3 + 2 * kernel, depth) };
        let network = config.init(&device(), &mut InitRng::new(5)).unwrap();
        let image = Tensor::<4>::from_data(TensorData::new(numbers(2 * 2 * 5 * 6, 6), [2, 2, 5, 6]), &device());
        let output = network.forward(image.clone());
        prop_assert_eq!(output.dims(), [2, 3, 5, 6]);
        assert_close(&values(network.forward(image * scale) / scale), &values(output), ROUNDING, "cnn");
    }
}

#[test]
fn biased_layers_do_not_scale() {
    let (graph, hidden) = zoo::with_state(tensors(&corner_graph()), 1);
    let scaled = scale_graph(&graph, 100.0);
    for mut config in zoo::configs() {
        let mut layer = zoo::layer(&config);
        // PyG starts the biases of GCN and GAT at 0; the maximum hides biases where the old state wins, so there is
        // none here.
        config.homogeneous = false;
        if let itergnn_nn::Layer::Gcn(convolution) = &mut layer {
            convolution.bias = convolution.bias.take().map(|bias| bias.map(|bias| bias + 1.0));
        }
        if let itergnn_nn::Layer::Gat(attention) = &mut layer {
            attention.bias = attention.bias.take().map(|bias| bias.map(|bias| bias + 1.0));
        }
        let low = hidden.clone() - 2.0;
        let expected = values(layer.forward(&graph, zoo::input(&config, &graph), low.clone()));
        let found = values(layer.forward(&scaled, zoo::input(&config, &scaled), low * 100.0) / 100.0);
        let differs = found.iter().zip(&expected).any(|(found, expected)| (found - expected).abs() > 1e-3);
        assert!(differs, "{config:?} should not be homogeneous");
    }
}
