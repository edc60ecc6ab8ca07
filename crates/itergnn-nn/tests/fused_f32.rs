//! The fused engine in single precision, where it is fast: equal to the plain one up to rounding, and loud about
//! numbers that stop being numbers.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod fused_support;

use std::collections::BTreeMap;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use fused_support::{LAYERS, PRIORS, batch, compare, config, controllers, corners, graph, host};
use itergnn_nn::fused::{Engine, Fault};
use itergnn_nn::layers::{Aggregation, LayerKind};
use itergnn_nn::{ControllerConfig, GnnConfig, GnnModel, InitRng, Prior, RunOptions, named_tensors, replace_tensors};

/// Single precision has 6e-8; a few steps of sums over some hundred products lose about two digits of it (1.2e-5
/// measured at worst).
const ROUNDING: f64 = 5e-5;

/// Scale-invariant attention divides scores by ranges down to 1e-4 of them, so the rounding of the scores grows (8.7e-5
/// measured at worst).
const SCALE_INVARIANT_ROUNDING: f64 = 5e-4;

fn rounding(layer: (LayerKind, Aggregation), prior: Prior) -> f64 {
    let scale_invariant = layer.1 == Aggregation::Attention && prior != Prior::None;
    if scale_invariant { SCALE_INVARIANT_ROUNDING } else { ROUNDING }
}

fn device() -> Device {
    Device::flex().autodiff()
}

#[test]
fn every_combination_equals_plain() {
    let graph = batch(&corners(), &device());
    for layer in LAYERS {
        for prior in PRIORS {
            for controller in controllers() {
                compare(config(layer, prior, &controller, 16), &graph, 1, rounding(layer, prior));
            }
        }
    }
}

#[test]
fn the_papers_width_equals_plain() {
    let graph = batch(&corners(), &device());
    for layer in LAYERS {
        compare(config(layer, Prior::Full, &controllers()[4], 64), &graph, 7, rounding(layer, Prior::Full));
    }
}

#[test]
fn a_hub_of_ten_thousand_edges_equals_plain() {
    let spokes: Vec<[u32; 2]> = (1..=10_000).map(|node| [node, 0]).collect();
    let graph = batch(&[graph(10_001, &spokes, 3), graph(2, &[[0, 1]], 4)], &device());
    for layer in [LAYERS[3], LAYERS[4]] {
        compare(config(layer, Prior::Full, &ControllerConfig::shared(2), 8), &graph, 5, rounding(layer, Prior::Full));
    }
}

/// A model whose states grow by a factor of a thousand or so a step.
fn exploding(controller: &ControllerConfig) -> GnnModel {
    let config = config(LAYERS[3], Prior::Full, controller, 8);
    let model = GnnConfig::Graph(config).init(&device(), &mut InitRng::new(3)).unwrap();
    let mut tensors: BTreeMap<_, _> = named_tensors(&model);
    for (name, tensor) in &mut tensors {
        if name.contains("message") {
            tensor.values.iter_mut().for_each(|value| *value = value.abs() * 100.0);
        }
    }
    replace_tensors(model, &tensors)
}

#[test]
fn an_overflow_names_graph_and_iteration_and_spares_the_other_graphs() {
    let model = exploding(&ControllerConfig::shared(40));
    let sound = graph(2, &[], 1);
    let circle = graph(3, &[[0, 1], [1, 2], [2, 0]], 2);
    let graphs = batch(&[sound.clone(), circle, sound.clone()], &device());
    for options in [RunOptions::training(), RunOptions::inference()] {
        let output = model.forward(&graphs, &options).unwrap();
        let faults = output.blocks[0].engine.faults.list();
        let [Fault::Value { graph: 1, iteration }] = faults[..] else { panic!("{faults:?}") };
        assert!((2..40).contains(&iteration), "iteration {iteration}");
        assert_eq!(output.blocks[0].stops.steps, [40, iteration, 40]);
        assert_eq!(model.predict(&graphs).unwrap().faults, faults);
        let values = host(output.values.clone());
        assert!(values[2..4].iter().all(|value| value.is_nan()));
        let alone = model.forward(&batch(std::slice::from_ref(&sound), &device()), &options).unwrap();
        assert_eq!(host(alone.values), values[..2]);
        assert_eq!(values[..2], values[4..]);
        // Nothing that came of it looks like a number to an optimiser.
        let gradients = output.values.sum().backward();
        let mut any = NanGradients { gradients: &gradients, found: 0 };
        model.visit(&mut any);
        assert!(any.found > 0);
    }
}

#[test]
fn an_overflow_of_a_gradient_is_logged() {
    let model = exploding(&ControllerConfig::shared(8));
    let graphs = batch(&[graph(3, &[[0, 1], [1, 2], [2, 0]], 2)], &device());
    let output = model.forward(&graphs, &RunOptions::training().with_engine(Engine::Fused)).unwrap();
    assert!(output.blocks[0].engine.faults.is_empty());
    let faults = output.blocks[0].engine.faults.clone();
    output.values.mul_scalar(1e30).sum().backward();
    assert!(matches!(faults.list()[..], [Fault::Gradient { graph: 0, .. }]), "{:?}", faults.list());
}

struct NanGradients<'a> {
    gradients: &'a burn::tensor::Gradients,
    found: usize,
}

impl burn::module::ModuleVisitor for NanGradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad(self.gradients) {
            self.found += usize::from(host(gradient).iter().any(|value| value.is_nan()));
        }
    }
}

#[test]
fn a_model_whose_inputs_need_no_gradient_learns_the_same() {
    // The usual case: only the parameters are tracked, and the kernels may take shortcuts.
    let graphs = batch(&corners(), &device());
    for layer in LAYERS {
        let config = config(layer, Prior::Full, &controllers()[4], 16);
        let model = GnnConfig::Graph(config).init(&device(), &mut InitRng::new(2)).unwrap();
        let [fused, plain] = [Engine::Fused, Engine::Plain].map(|engine| {
            let output = model.forward(&graphs, &RunOptions::training().with_engine(engine)).unwrap();
            let gradients = output.values.square().sum().backward();
            let mut collected = Collected { gradients: &gradients, values: Vec::new() };
            model.visit(&mut collected);
            collected.values
        });
        assert_eq!(fused.len(), plain.len());
        let scale = plain.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
        for (fused, plain) in fused.iter().zip(&plain) {
            assert!(
                (fused - plain).abs() <= rounding(layer, Prior::Full) * scale,
                "{layer:?}: {fused} instead of {plain}"
            );
        }
    }
}

/// A training step and a prediction, on batches of small graphs and on one that all threads share, give the same bits
/// on one thread and on two.
#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let line: Vec<[u32; 2]> = (0..1399).flat_map(|node| [[node, node + 1], [node + 1, node]]).collect();
    let long = [graph(1400, &line, 21), graph(5, &line[..8], 22)];
    for graphs in [batch(&corners(), &device()), batch(&long, &device())] {
        for layer in LAYERS {
            let config = config(layer, Prior::Full, &controllers()[4], 16);
            let model = GnnConfig::Graph(config).init(&device(), &mut InitRng::new(4)).unwrap();
            let on_threads = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let options = RunOptions::training().with_engine(Engine::Fused);
                    let output = model.forward(&graphs, &options).unwrap();
                    let gradients = output.values.clone().square().sum().backward();
                    let mut collected = Collected { gradients: &gradients, values: host(output.values) };
                    model.visit(&mut collected);
                    let options = RunOptions::inference().with_engine(Engine::Fused);
                    (collected.values, model.predict_with(&graphs, &options).unwrap())
                })
            };
            assert_eq!(on_threads(1), on_threads(2), "{layer:?}");
        }
    }
}

struct Collected<'a> {
    gradients: &'a burn::tensor::Gradients,
    values: Vec<f64>,
}

impl burn::module::ModuleVisitor for Collected<'_> {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        self.values.extend(host(param.val().grad(self.gradients).unwrap()));
    }
}
