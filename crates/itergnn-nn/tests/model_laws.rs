//! What whole models promise: batching, permutation, homogeneity, node-wise independence.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use std::sync::LazyLock;

use burn::module::Module;
use burn::tensor::{Device, FloatDType, Tensor};
use itergnn_graph::{Attributes, Graph, GraphBatch, rng};
use itergnn_nn::controllers::IterConfig;
use itergnn_nn::layers::{Aggregation, LayerKind};
use itergnn_nn::{
    ControllerConfig, GnnConfig, GnnModel, GraphModelConfig, GraphTensors, InitRng, PRESETS, Prediction, Prior,
    Readout, ReadoutKind, RunOptions, TaskWidths, preset, with_random_attributes,
};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// Sums in another order, over a few hundred steps of f64.
const ROUNDING: f64 = 1e-9;

/// Most steps a randomly initialised model is given.
const CAP: usize = 200;

static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    let mut device = Device::flex();
    device.configure(FloatDType::F64).expect("no tensor was made before");
    device
});

/// A random graph: every ordered pair is an edge with the given probability, loops included.
fn random_graph(nodes: usize, probability: f64, generator: &mut impl Rng) -> Graph {
    let mut edges = Vec::new();
    for sender in 0..nodes as u32 {
        for receiver in 0..nodes as u32 {
            if generator.random::<f64>() < probability {
                edges.push([sender, receiver]);
            }
        }
    }
    let mut draw = |count: usize| (0..count).map(|_| generator.random::<f32>() + 0.1).collect::<Vec<_>>();
    let (node_values, edge_values) = (draw(2 * nodes), draw(edges.len()));
    Graph::new(nodes, &edges)
        .and_then(|graph| graph.with_node_attributes(Attributes::new(2, node_values)))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, edge_values)))
        .unwrap()
}

fn tensors(graphs: &[Graph]) -> GraphTensors {
    GraphTensors::from_batch(&GraphBatch::new(graphs).unwrap(), &DEVICE)
}

fn predict(model: &GnnModel, graph: &GraphTensors) -> Prediction {
    model.predict_with(graph, &RunOptions::inference().with_cap(CAP)).unwrap()
}

/// A small graph model with one block.
fn model(controller: ControllerConfig, prior: Prior, kind: LayerKind, readout: ReadoutKind, seed: u64) -> GnnModel {
    let task = TaskWidths::graph(2, 1, 2).with_readout(readout);
    let config = GraphModelConfig::new(&task, prior, kind, Aggregation::Attention, controller).with_hidden_width(6);
    GnnConfig::Graph(config).init(&DEVICE, &mut InitRng::new(seed)).unwrap()
}

fn controllers() -> Vec<ControllerConfig> {
    let options = |iter: &mut IterConfig| {
        iter.normalised = true;
        iter.scale_free = true;
    };
    vec![
        ControllerConfig::stack(3),
        ControllerConfig::shared(4),
        ControllerConfig::iter(),
        ControllerConfig::iter_decay(),
        ControllerConfig::iter_decay().with_iter(options),
        ControllerConfig::iter().node_wise(),
        ControllerConfig::iter_decay().node_wise().with_iter(options),
        ControllerConfig::act(0.01),
        ControllerConfig::act(0.01).node_wise(),
        ControllerConfig::released_act(0.01),
    ]
}

fn assert_near(found: &[Vec<f64>], expected: &[Vec<f64>], factor: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: rows");
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        let scale = (factor * expected).abs().max(factor);
        assert!(
            (found - factor * expected).abs() <= ROUNDING * scale,
            "{what}: {found} instead of {}",
            factor * expected
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_is_its_graphs_one_by_one(seed in any::<u64>()) {
        let mut generator = rng::seeded(seed);
        let graphs: Vec<Graph> = (1..5).map(|nodes| random_graph(2 * nodes - 1, 0.3, &mut generator)).collect();
        let together = tensors(&graphs);
        for controller in controllers() {
            for readout in [ReadoutKind::Max, ReadoutKind::Attention, ReadoutKind::Node] {
                let model = model(controller, Prior::Core, LayerKind::Path, readout, seed);
                let batch = predict(&model, &together);
                let alone: Vec<Prediction> =
                    graphs.iter().map(|graph| predict(&model, &GraphTensors::from_graph(graph, &DEVICE))).collect();
                let rows: Vec<Vec<f64>> = alone.iter().flat_map(|prediction| prediction.values.clone()).collect();
                assert_near(&batch.values, &rows, 1.0, &format!("{controller:?}"));
                let iterations: Vec<usize> = alone.iter().flat_map(|prediction| prediction.loops.iterations.clone()).collect();
                prop_assert_eq!(&batch.loops.iterations, &iterations);
            }
        }
    }

    #[test]
    fn renumbering_nodes_changes_nothing(seed in any::<u64>()) {
        let mut generator = rng::seeded(seed);
        let graph = random_graph(7, 0.3, &mut generator);
        let mut order: Vec<u32> = (0..7).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, generator.random_range(0..=last as u32) as usize);
        }
        let edges: Vec<[u32; 2]> =
            graph.edge_list().iter().map(|&[s, r]| [order[s as usize], order[r as usize]]).collect();
        let mut values = vec![0.0; 14];
        for (old, &new) in order.iter().enumerate() {
            values[2 * new as usize..][..2].copy_from_slice(graph.node_attributes().row(old));
        }
        let renumbered = Graph::new(7, &edges)
            .and_then(|renumbered| renumbered.with_node_attributes(Attributes::new(2, values)))
            .and_then(|renumbered| renumbered.with_edge_attributes(graph.edge_attributes_in_original_order()))
            .unwrap();
        for controller in controllers() {
            let model = model(controller, Prior::Full, LayerKind::Path, ReadoutKind::Sum, seed);
            let alone = |graph| predict(&model, &GraphTensors::from_graph(graph, &DEVICE));
            let (one, other) = (alone(&graph), alone(&renumbered));
            assert_near(&other.values, &one.values, 1.0, "renumbered");
            prop_assert_eq!(other.loops.iterations, one.loops.iterations);
        }
    }

    /// One graph made of several components: a node-wise controller treats each as if it were alone.
    #[test]
    fn node_wise_on_a_union_is_each_alone(seed in any::<u64>()) {
        let mut generator = rng::seeded(seed);
        let parts: Vec<Graph> = (2..5).map(|nodes| random_graph(nodes, 0.5, &mut generator)).collect();
        let union = GraphBatch::new(&parts).unwrap().union().clone();
        for controller in [ControllerConfig::iter(), ControllerConfig::iter_decay(), ControllerConfig::act(0.0)] {
            let model = model(controller.node_wise(), Prior::Core, LayerKind::PathSim, ReadoutKind::Node, seed);
            let alone = |graph| predict(&model, &GraphTensors::from_graph(graph, &DEVICE));
            let together = alone(&union);
            let parts: Vec<Vec<f64>> = parts.iter().flat_map(|part| alone(part).values).collect();
            assert_near(&together.values, &parts, 1.0, "component");
        }
    }

    /// f(a G) = a f(G) for a in 1e-3..1e3, the iteration count unchanged.
    #[test]
    fn scale_free_predictions_scale_and_iterations_do_not(seed in any::<u64>(), exponent in -3.0..3.0_f64) {
        let factor = 10_f64.powf(exponent);
        let graph = tensors(&[random_graph(6, 0.4, &mut rng::seeded(seed)), random_graph(3, 0.4, &mut rng::seeded(seed))]);
        let (nodes, edges) = (graph.node_attributes() * factor, graph.edge_attributes() * factor);
        let scaled = graph.clone().with_node_attributes(nodes).with_edge_attributes(edges);
        for kind in [LayerKind::MpnnMax, LayerKind::Path, LayerKind::PathSim, LayerKind::Gat] {
            for base in [ControllerConfig::iter(), ControllerConfig::iter_decay(), ControllerConfig::iter().node_wise()] {
                let controller = base.with_iter(|iter| iter.scale_free = true);
                let model = model(controller, Prior::Full, kind, ReadoutKind::Attention, seed);
                let (one, other) = (predict(&model, &graph), predict(&model, &scaled));
                assert_near(&other.values, &one.values, factor, &format!("{kind:?}"));
                prop_assert_eq!(other.loops.iterations, one.loops.iterations);
            }
        }
    }

    #[test]
    fn full_prior_models_are_homogeneous(seed in any::<u64>(), exponent in -3.0..3.0_f64) {
        let factor = 10_f64.powf(exponent);
        let graph = tensors(&[random_graph(5, 0.4, &mut rng::seeded(seed))]);
        let (nodes, edges) = (graph.node_attributes() * factor, graph.edge_attributes() * factor);
        let scaled = graph.clone().with_node_attributes(nodes).with_edge_attributes(edges);
        for controller in [ControllerConfig::stack(3), ControllerConfig::shared(5)] {
            let model = model(controller, Prior::Full, LayerKind::Path, ReadoutKind::Mean, seed);
            assert_near(&predict(&model, &scaled).values, &predict(&model, &graph).values, factor, "full prior");
        }
    }

    #[test]
    fn readouts_are_homogeneous(seed in any::<u64>(), exponent in -3.0..3.0_f64) {
        let factor = 10_f64.powf(exponent);
        let graph = tensors(&[random_graph(5, 0.4, &mut rng::seeded(seed)), random_graph(2, 0.4, &mut rng::seeded(seed))]);
        let (input, hidden) = (graph.node_attributes(), graph.node_attributes() * 3.0);
        for kind in [ReadoutKind::Max, ReadoutKind::Min, ReadoutKind::Mean, ReadoutKind::Sum, ReadoutKind::Attention, ReadoutKind::HeadTail, ReadoutKind::First] {
            let readout = Readout::new(kind, 2, 2, true, &DEVICE, &mut InitRng::new(seed));
            let rows = |tensor: Tensor<2>| vec![tensor.try_into_vec_as::<f64>().unwrap()];
            let one = rows(readout.forward(&graph, input.clone(), hidden.clone()));
            let other = rows(readout.forward(&graph, input.clone() * factor, hidden.clone() * factor));
            assert_near(&other, &one, factor, &format!("{kind:?}"));
        }
    }
}

#[test]
fn a_unit_measures_what_comes_in_and_what_goes_out() {
    const UNIT: f64 = 1_000.0;
    let graph = tensors(&[random_graph(5, 0.4, &mut rng::seeded(3)), random_graph(7, 0.4, &mut rng::seeded(4))]);
    let (nodes, edges) = (graph.node_attributes() * UNIT, graph.edge_attributes() * UNIT);
    let large = graph.clone().with_node_attributes(nodes).with_edge_attributes(edges);
    let GnnConfig::Graph(config) = preset("iter-path", &TaskWidths::graph(2, 1, 1)).unwrap() else {
        panic!("a graph model")
    };
    let config = config.with_hidden_width(6);
    let small_model = GnnConfig::Graph(config.clone()).init(&DEVICE, &mut InitRng::new(5)).unwrap();
    let model = GnnConfig::Graph(config.with_unit(UNIT)).init(&DEVICE, &mut InitRng::new(5)).unwrap();
    let (small, large) = (predict(&small_model, &graph), predict(&model, &large));
    assert_near(&large.values, &small.values, UNIT, "unit");
    assert_eq!(small.loops.iterations, large.loops.iterations);
}

#[test]
fn every_preset_predicts_and_a_seed_fixes_its_weights() {
    let graph = tensors(&[random_graph(5, 0.5, &mut rng::seeded(1)), random_graph(1, 0.0, &mut rng::seeded(2))]);
    for name in PRESETS.into_iter().filter(|&name| name != "cnn") {
        let make = |seed| {
            let config = preset(name, &TaskWidths::graph(2, 1, 3)).unwrap();
            config.init(&DEVICE, &mut InitRng::new(seed)).unwrap()
        };
        let prediction = predict(&make(1), &graph);
        assert_eq!((prediction.values.len(), prediction.values[0].len()), (2, 3), "{name}");
        assert!(prediction.values.iter().flatten().all(|value| value.is_finite()), "{name}");
        assert_eq!(prediction, predict(&make(1), &graph), "{name}");
        assert_ne!(prediction.values, predict(&make(2), &graph).values, "{name}");
    }
}

/// A training pass on corner graphs (one node, no edges, a loop) gives every parameter a finite gradient, and
/// predictions do not depend on whether the device could differentiate.
#[test]
fn every_preset_can_be_differentiated() {
    let device = DEVICE.clone().autodiff();
    let graphs = [
        random_graph(5, 0.5, &mut rng::seeded(1)),
        random_graph(1, 0.0, &mut rng::seeded(2)),
        random_graph(1, 1.0, &mut rng::seeded(3)),
        random_graph(3, 0.0, &mut rng::seeded(4)),
    ];
    let plain = GraphBatch::new(&graphs).unwrap();
    // Images and tours need graphs of their own; `tests/one_tree.rs` differentiates the latter.
    for name in PRESETS.into_iter().filter(|name| !["cnn", "one-tree"].contains(name)) {
        let config = preset(name, &TaskWidths::graph(2, 1, 3)).unwrap();
        let model = config.init(&device, &mut InitRng::new(1)).unwrap();
        let graph = GraphTensors::from_batch(&plain, &device);
        let output = model.forward(&graph, &RunOptions::training()).unwrap();
        let loss = output.values.powf_scalar(2.0).sum();
        let loss = output.auxiliary_loss.map_or_else(|| loss.clone(), |extra| loss.clone() + extra);
        let gradients = burn::optim::GradientsParams::from_grads(loss.backward(), &model);
        assert!(!gradients.is_empty(), "{name}");
        let mut check = FiniteGradients { gradients, seen: 0 };
        model.visit(&mut check);
        // What a wave model counts does not change with its directions; only its map has a gradient.
        let least = if name == "waves" { 1 } else { 3 };
        assert!(check.seen >= least, "{name}: {} gradients", check.seen);
        let undifferentiated = config.init(&DEVICE, &mut InitRng::new(1)).unwrap();
        if !name.ends_with("gin") {
            // The classifiers' batch norm has learned its running statistics from the pass above.
            assert_eq!(predict(&model, &graph), predict(&undifferentiated, &tensors(&graphs)), "{name}");
        }
    }
}

struct FiniteGradients {
    gradients: burn::optim::GradientsParams,
    seen: usize,
}

impl burn::module::ModuleVisitor for FiniteGradients {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            let values = gradient.try_into_vec_as::<f64>().unwrap();
            assert!(values.iter().all(|value| value.is_finite()));
            self.seen += 1;
        }
    }
}

#[test]
fn configs_read_from_toml() {
    let text = r#"
        architecture = "graph"
        node_width = 3
        edge_width = 1
        output_width = 1
        hidden_width = 8
        prior = "full"
        [[blocks]]
        layer = { kind = "path-sim", input_width = 3, hidden_width = 8, edge_width = 1, homogeneous = true, aggregation = "max" }
        controller = { kind = "iter-decay", normalised = true, settle = 0.3 }
    "#;
    let config: GnnConfig = toml::from_str(text).unwrap();
    config.validate().unwrap();
    let GnnConfig::Graph(graph) = &config else { panic!("a graph model") };
    let expected = ControllerConfig::iter_decay().with_iter(|iter| {
        iter.normalised = true;
        iter.settle = Some(0.3);
    });
    assert_eq!(graph.blocks[0].controller, expected);
    for name in PRESETS {
        let config = preset(name, &TaskWidths::graph(3, 1, 2)).unwrap();
        assert_eq!(toml::from_str::<GnnConfig>(&toml::to_string(&config).unwrap()).unwrap(), config, "{name}");
    }
}

#[test]
fn widths_that_do_not_fit_are_errors() {
    let model = model(ControllerConfig::iter(), Prior::None, LayerKind::Path, ReadoutKind::Max, 1);
    let graph = tensors(&[random_graph(3, 1.0, &mut rng::seeded(1))]);
    let wide = with_random_attributes(graph.clone(), 2, &mut rng::seeded(2));
    let error = model.predict(&wide).unwrap_err().to_string();
    assert_eq!(error, "graph: node attributes of width 4, the model expects 2");
    let edges = Tensor::zeros([graph.edges(), 3], &graph.device());
    let error = model.predict(&graph.with_edge_attributes(edges)).unwrap_err().to_string();
    assert_eq!(error, "graph: edge attributes of width 3, the model expects 1");
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let GnnConfig::Graph(good) = preset("iter-homo-path", &TaskWidths::graph(2, 1, 1)).unwrap() else {
        panic!("a graph model")
    };
    let error = |change: fn(&mut GraphModelConfig)| {
        let mut config = good.clone();
        change(&mut config);
        GnnConfig::Graph(config).validate().unwrap_err().to_string()
    };
    assert_eq!(error(|config| config.hidden_width = 0), "model: hidden_width must be at least 1");
    assert_eq!(error(|config| config.blocks.clear()), "model: blocks must be at least 1");
    assert_eq!(
        error(|config| config.blocks[0].layer.edge_width = 3),
        "model: block 0: the layer's edge_width is 3, expected 1"
    );
    assert_eq!(error(|config| config.prior = Prior::None), "model: block 0: prior None contradicts homogeneous = true");
    assert_eq!(
        error(|config| config.readout = ReadoutKind::HeadTail),
        "model: head-tail predicts two nodes, but output_width is 1"
    );
    assert!(
        error(|config| config.blocks[0].controller = ControllerConfig::stack(0)).contains("layers: must be at least 1")
    );
}

/// Training may use dropout; its seed is part of the options, and inference draws nothing.
#[test]
fn dropout_follows_the_seed() {
    let graph = tensors(&[random_graph(4, 0.5, &mut rng::seeded(1))]);
    let config = preset("gin", &TaskWidths::graph(2, 1, 30)).unwrap();
    let model = config.init(&DEVICE, &mut InitRng::new(3)).unwrap();
    let values =
        |options: RunOptions| model.forward(&graph, &options).unwrap().values.try_into_vec_as::<f64>().unwrap();
    assert_eq!(values(RunOptions::training().with_seed(1)), values(RunOptions::training().with_seed(1)));
    assert_ne!(values(RunOptions::training().with_seed(1)), values(RunOptions::training().with_seed(2)));
    assert_eq!(values(RunOptions::inference().with_seed(1)), values(RunOptions::inference().with_seed(2)));
}

#[test]
fn random_attributes_are_uniform_and_seeded() {
    let graph = tensors(&[random_graph(200, 0.0, &mut rng::seeded(1))]);
    let draw = |seed| {
        let drawn = with_random_attributes(graph.clone(), 3, &mut rng::seeded(seed)).node_attributes();
        assert_eq!(drawn.dims(), [200, 5]);
        drawn.narrow(1, 2, 3).try_into_vec_as::<f64>().unwrap()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let values = draw(1);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    // 600 draws: the mean's standard deviation is 0.012.
    assert!((mean - 0.5).abs() < 0.05 && values.iter().all(|value| (0.0..1.0).contains(value)), "{mean}");
}

/// A model that never stops is stopped by its cap, and the trace and the report say so.
#[test]
fn predictions_carry_cap_and_trace() {
    let model = model(ControllerConfig::iter(), Prior::None, LayerKind::PathSim, ReadoutKind::Max, 1);
    let graph = tensors(&[random_graph(3, 0.5, &mut rng::seeded(1))]);
    let capped = model.predict_with(&graph, &RunOptions::inference().with_cap(2).with_trace()).unwrap();
    assert_eq!((capped.loops.iterations, capped.loops.capped), (vec![2], vec![true]));
    assert_eq!(capped.traces[0].steps.len(), 2);
}
