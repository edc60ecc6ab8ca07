//! The fused engine equals the plain one in double precision: outputs, steps, auxiliary loss and all gradients.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod fused_support;

use std::sync::LazyLock;

use burn::tensor::{Device, FloatDType, Tensor};
use fused_support::{
    CAP, EDGE_WIDTH, LAYERS, NODE_WIDTH, PRIORS, batch, compare, config, controllers, corners, graph, host,
};
use itergnn_graph::Graph;
use itergnn_nn::fused::Engine;
use itergnn_nn::layers::{Aggregation, EdgeOrder, Isolated, LayerConfig, LayerKind};
use itergnn_nn::{Activation, ControllerConfig, GnnConfig, InitRng, Prior, RunOptions};

/// Sums in another order over a few steps, each number a few hundred products (2.2e-14 measured at worst).
const ROUNDING: f64 = 1e-12;

/// Central differences with [`STEP`]: about `STEP^2` plus rounding `1e-16 / STEP`, times derivatives of order 10.
const DIFFERENCES: f64 = 1e-6;
const STEP: f64 = 1e-5;

static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    Device::flex().configure(FloatDType::F64).expect("no tensor was made before");
    Device::flex().autodiff()
});

#[test]
fn every_combination_equals_plain() {
    let graph = batch(&corners(), &DEVICE);
    for layer in LAYERS {
        for prior in PRIORS {
            for controller in controllers() {
                compare(config(layer, prior, &controller, 6), &graph, 1, ROUNDING);
            }
        }
    }
}

#[test]
fn graphs_that_are_one_corner_alone_equal_plain() {
    let hub: Vec<[u32; 2]> = (1..300).flat_map(|node| [[node, 0], [0, node]]).collect();
    let alone = [graph(1, &[], 1), graph(4, &[], 2), graph(1, &[[0, 0]], 3), graph(300, &hub, 4)];
    for graph in alone {
        let graph = batch(&[graph], &DEVICE);
        for layer in LAYERS {
            let controller = &controllers()[4];
            compare(config(layer, Prior::Full, controller, 5), &graph, 2, ROUNDING);
        }
    }
}

#[test]
fn edges_with_equal_features_equal_plain() {
    // The kernels take a shorter way where all edges are alike.
    let line: Vec<[u32; 2]> = (0..6).flat_map(|node| [[node, node + 1], [node + 1, node]]).collect();
    let plain = batch(&[graph(7, &line, 5), graph(3, &[[0, 1], [1, 2]], 6)], &DEVICE);
    let edges = Tensor::ones([plain.edges(), EDGE_WIDTH], &*DEVICE);
    let graph = plain.with_edge_attributes(edges);
    for layer in LAYERS {
        for controller in &controllers()[..5] {
            compare(config(layer, Prior::Full, controller, 6), &graph, 3, ROUNDING);
        }
    }
}

#[test]
fn two_blocks_and_other_edge_orders_equal_plain() {
    let graph = batch(&corners(), &DEVICE);
    for layer in LAYERS {
        let mut config = config(layer, Prior::Core, &controllers()[9], 6).with_blocks(2);
        config.blocks[0].layer.edge_order = EdgeOrder::ReceiverFirst;
        compare(config, &graph, 4, ROUNDING);
    }
}

/// Every setting that only convolutions read.
#[test]
fn settings_of_convolutions_equal_plain() {
    let signed = batch(&corners(), &DEVICE);
    let weights = signed.edge_attributes().narrow(1, 0, 1).abs() + 0.1;
    let weighted = signed.clone().with_edge_attributes(weights);
    type Change = fn(&mut LayerConfig);
    let cases: [(LayerKind, Prior, bool, Change); 6] = [
        (LayerKind::Gcn, Prior::None, true, |layer| layer.use_edge_attributes = true),
        (LayerKind::Gcn, Prior::Full, true, |layer| {
            (layer.use_edge_attributes, layer.add_self_loops) = (true, false);
        }),
        (LayerKind::Gcn, Prior::Full, false, |layer| layer.output_activation = Activation::Relu),
        (LayerKind::Gat, Prior::None, false, |layer| layer.use_edge_attributes = true),
        (LayerKind::Gat, Prior::Full, false, |layer| {
            (layer.use_edge_attributes, layer.add_self_loops) = (true, false);
        }),
        (LayerKind::Gat, Prior::Full, false, |layer| {
            (layer.negative_slope, layer.output_activation) = (0.5, Activation::Identity);
        }),
    ];
    for (kind, prior, is_weighted, change) in cases {
        for controller in [0, 1, 4, 9] {
            let mut config = config((kind, Aggregation::Attention), prior, &controllers()[controller], 6);
            change(&mut config.blocks[0].layer);
            let graph = if is_weighted { &weighted } else { &signed };
            if is_weighted {
                config.edge_width = 1;
                config.blocks[0].layer.edge_width = 1;
            }
            compare(config, graph, 6, ROUNDING);
        }
    }
}

#[test]
fn nodes_without_edges_that_aggregate_zero_run_plain_and_others_fused() {
    let mut config = config(LAYERS[0], Prior::None, &controllers()[0], 4);
    config.blocks[0].layer.isolated = Isolated::Zero;
    let all_hear = batch(&[graph(3, &[[0, 1], [1, 2], [2, 0]], 1)], &DEVICE);
    compare(config.clone(), &all_hear, 1, ROUNDING);
    let model = GnnConfig::Graph(config).init(&DEVICE, &mut InitRng::new(1)).unwrap();
    let one_does_not = batch(&[graph(3, &[[0, 1], [1, 2]], 1)], &DEVICE);
    let output = model.forward(&one_does_not, &RunOptions::training()).unwrap();
    let choice = output.blocks[0].engine.choice.to_string();
    assert_eq!(choice, "plain (nodes without incoming edges aggregate zero)");
}

#[test]
fn a_cap_of_the_caller_holds_for_both() {
    let graphs = batch(&corners(), &DEVICE);
    // A graph without nodes has nothing to be repeated on, but a shared layer does not ask.
    for (controller, expected) in
        [(ControllerConfig::shared(9), [2; 6]), (ControllerConfig::iter_decay(), [2, 2, 2, 0, 2, 2])]
    {
        let config = config(LAYERS[3], Prior::Full, &controller, 6);
        let model = GnnConfig::Graph(config).init(&DEVICE, &mut InitRng::new(1)).unwrap();
        for engine in [Engine::Fused, Engine::Plain] {
            let options = RunOptions::inference().with_cap(2).with_engine(engine);
            let output = model.forward(&graphs, &options).unwrap();
            assert_eq!(output.blocks[0].stops.steps, expected, "{engine}");
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let graph: Graph = graph(4, &[[0, 1], [1, 2], [2, 0], [3, 0], [2, 2]], 8);
    let base = batch(&[graph], &DEVICE);
    for (layer, controller) in [(LAYERS[2], 4), (LAYERS[4], 7), (LAYERS[3], 9)] {
        let config = config(layer, Prior::None, &controllers()[controller], 5);
        let model = GnnConfig::Graph(config).init(&DEVICE, &mut InitRng::new(5)).unwrap();
        let options = RunOptions::training().with_engine(Engine::Fused);
        let loss = |nodes: Tensor<2>| {
            let output = model.forward(&base.clone().with_node_attributes(nodes), &options).unwrap();
            let square = output.values.square().sum();
            output.auxiliary_loss.map_or_else(|| square.clone(), |extra| square.clone() + extra)
        };
        let nodes = base.node_attributes().detach().require_grad();
        let gradient = host(nodes.grad(&loss(nodes.clone()).backward()).unwrap());
        let values = host(nodes);
        for (index, gradient) in gradient.iter().enumerate() {
            let at = |shift: f64| {
                let mut moved = values.clone();
                moved[index] += shift;
                let data = burn::tensor::TensorData::new(moved, [4, NODE_WIDTH]);
                host(loss(Tensor::from_data(data, &*DEVICE)))[0]
            };
            let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            let close = (gradient - difference).abs() <= DIFFERENCES * (1.0 + difference.abs());
            assert!(close, "{layer:?}: {gradient} against {difference}");
        }
    }
}

#[test]
fn what_is_not_covered_falls_back_or_is_refused_with_its_reason() {
    let graphs = batch(&corners(), &DEVICE);
    let point_net = config((LayerKind::PointNet, Aggregation::Max), Prior::None, &ControllerConfig::iter(), 4);
    let act = config(LAYERS[0], Prior::None, &ControllerConfig::act(0.1), 4);
    for (config, reason) in [(point_net, "the layer is point-net"), (act, "the controller is act")] {
        let model = GnnConfig::Graph(config).init(&DEVICE, &mut InitRng::new(1)).unwrap();
        let output = model.forward(&graphs, &RunOptions::training().with_cap(CAP)).unwrap();
        assert_eq!(output.blocks[0].engine.choice.to_string(), format!("plain ({reason})"));
        let error = model.forward(&graphs, &RunOptions::training().with_engine(Engine::Fused)).unwrap_err();
        assert_eq!(error.to_string(), format!("engine: the fused engine cannot run this block: {reason}"));
    }
    let covered = config(LAYERS[0], Prior::None, &ControllerConfig::shared(2), 4);
    let model = GnnConfig::Graph(covered).init(&DEVICE, &mut InitRng::new(1)).unwrap();
    let traced = model.predict_with(&graphs, &RunOptions::inference().with_trace()).unwrap();
    assert_eq!(traced.traces[0].steps.len(), 2);
}
