//! Wave models: the laws of a model, gradients, and what finishing does.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod fixtures;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use fixtures::{assert_close, device, values};
use itergnn_graph::{Attributes, Graph, GraphBatch, rng, solvers::components};
use itergnn_nn::aligned::waves::WaveConfig;
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::{GnnConfig, GnnModel, GraphTensors, InitRng, Prediction, ReadoutKind, named_tensors, replace_tensors};
use rand::RngExt;

/// Inference and training take sums in another order, in double precision.
const ROUNDING: f64 = 1e-9;

/// Several components of random nodes and edges, all attributes times `scale`.
fn random_graph(seed: u64, scale: f32) -> Graph {
    let mut generator = rng::seeded(seed);
    let nodes = 12_u32;
    let edges: Vec<[u32; 2]> =
        (0..11).map(|_| [generator.random_range(0..nodes), generator.random_range(0..nodes)]).collect();
    let edges: Vec<[u32; 2]> = edges.into_iter().filter(|[a, b]| a != b).flat_map(|[a, b]| [[a, b], [b, a]]).collect();
    let mut numbers = |count: usize| (0..count).map(|_| scale * (generator.random::<f32>() - 0.5)).collect::<Vec<_>>();
    let (attributes, weights) = (numbers(2 * nodes as usize), numbers(edges.len()));
    Graph::new(nodes as usize, &edges)
        .and_then(|graph| graph.with_node_attributes(Attributes::new(2, attributes)))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, weights)))
        .unwrap()
}

fn tensors(graphs: &[Graph]) -> GraphTensors {
    GraphTensors::from_batch(&GraphBatch::new(graphs).unwrap(), &device())
}

/// Models of every readout, their directions off the axes.
fn models() -> Vec<GnnModel> {
    [ReadoutKind::Node, ReadoutKind::Sum, ReadoutKind::Max]
        .map(|readout| {
            let model =
                GnnConfig::Waves(WaveConfig::new(2, 1, 2, readout)).init(&device(), &mut InitRng::new(3)).unwrap();
            let mut changed = named_tensors(&model);
            let mut rng = InitRng::new(4);
            changed
                .get_mut("network.start")
                .unwrap()
                .values
                .iter_mut()
                .for_each(|weight| *weight += f64::from(rng.symmetric(0.3)));
            replace_tensors(model, &changed)
        })
        .into()
}

fn predict(model: &GnnModel, graphs: &[Graph]) -> Prediction {
    model.predict(&tensors(graphs)).unwrap()
}

fn close(left: &[Vec<f64>], right: &[Vec<f64>], factor: f64) {
    assert_eq!(left.len(), right.len());
    for (left, right) in left.iter().flatten().zip(right.iter().flatten()) {
        assert!((left - factor * right).abs() < ROUNDING * (1.0 + left.abs()), "{left} {right}");
    }
}

#[test]
fn training_and_inference_agree() {
    let graphs: Vec<Graph> = (0..4).map(|seed| random_graph(seed, 2.0)).collect();
    for model in models() {
        let output = model.forward(&tensors(&graphs), &RunOptions::training()).unwrap();
        let (expected, width) = (values(output.values.clone()), output.values.dims()[1]);
        let expected: Vec<Vec<f64>> = expected.chunks_exact(width).map(<[f64]>::to_vec).collect();
        let predicted = predict(&model, &graphs);
        close(&predicted.values, &expected, 1.0);
        assert_eq!(predicted.loops.iterations, output.iterations(&tensors(&graphs)));
    }
}

#[test]
fn a_batch_is_its_graphs() {
    let graphs: Vec<Graph> = (0..4).map(|seed| random_graph(seed, 2.0)).collect();
    for model in models() {
        let together = predict(&model, &graphs);
        let alone: Vec<Prediction> = graphs.iter().map(|graph| predict(&model, std::slice::from_ref(graph))).collect();
        close(&together.values, &alone.iter().flat_map(|one| one.values.clone()).collect::<Vec<_>>(), 1.0);
        assert_eq!(
            together.loops.iterations,
            alone.iter().flat_map(|one| one.loops.iterations.clone()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn answers_scale_as_they_should() {
    // Powers of two, so that f32 attributes scale without rounding.
    for factor in [0.25_f32, 8.0] {
        for model in models() {
            let degree = match model.config() {
                GnnConfig::Waves(config) if config.readout == ReadoutKind::Node => f64::from(factor),
                _ => 1.0,
            };
            let (one, scaled) = (predict(&model, &[random_graph(7, 1.0)]), predict(&model, &[random_graph(7, factor)]));
            close(&scaled.values, &one.values, degree);
            assert_eq!(scaled.loops.iterations, one.loops.iterations);
        }
    }
}

/// Origins change at kinks; at random directions none is within a step.
#[test]
fn gradients_are_those_of_finite_differences() {
    const STEP: f64 = 1e-6;
    const TOLERANCE: f64 = 1e-5;
    let graph = tensors(&[random_graph(1, 1.0), random_graph(2, 1.0)]);
    for model in models() {
        let mut tensors = named_tensors(&model);
        // Training takes the size that tests divide features by for constant; where tests weigh origins alone it plays
        // no part.
        let GnnConfig::Waves(config) = model.config() else { panic!("a wave model") };
        let (origins, tests) = (config.channels, tensors.get_mut("network.tests").unwrap());
        let width = tests.shape[1];
        tests.values.chunks_exact_mut(width).for_each(|test| test[..width - origins].fill(0.0));
        let model = replace_tensors(model, &tensors);
        let loss = |model: &GnnModel| model.forward(&graph, &RunOptions::training()).unwrap().values.square().sum();
        let gradients = GradientsParams::from_grads(loss(&model).backward(), &model);
        let mut found = Found { gradients, values: Vec::new() };
        model.visit(&mut found);
        // What an invariant model counts has no gradient in its directions.
        let names: &[&str] = if found.values.len() == 1 { &["maps"] } else { &["start", "tests", "maps"] };
        assert_eq!(found.values.len(), names.len());
        for (name, gradient) in names.iter().zip(found.values) {
            let name = format!("network.{name}");
            for (index, gradient) in gradient.iter().enumerate() {
                let at = |shift: f64| {
                    let mut moved = tensors.clone();
                    moved.get_mut(&name).unwrap().values[index] += shift;
                    values(loss(&replace_tensors(model.clone(), &moved)))[0]
                };
                let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                assert_close(&[*gradient], &[difference], TOLERANCE, &format!("{name}[{index}]"));
            }
        }
    }
}

struct Found {
    gradients: GradientsParams,
    values: Vec<Vec<f64>>,
}

impl burn::module::ModuleVisitor for Found {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        self.values.extend(self.gradients.get::<D>(param.id).map(values));
    }
}

#[test]
fn finishing_finds_the_count_of_components() {
    let graphs: Vec<Graph> = (0..60).map(|seed| random_graph(seed, 1.0)).collect();
    let counts: Vec<f64> = graphs.iter().map(|graph| components::count(graph) as f64).collect();
    let config = WaveConfig::new(2, 1, 1, ReadoutKind::Sum);
    let model = GnnConfig::Waves(config).init(&device(), &mut InitRng::new(1)).unwrap();
    let (model, refit) = model.finish(&tensors(&graphs), &counts).unwrap();
    assert!(refit.unwrap().error_after.unwrap() < ROUNDING);
    let fresh: Vec<Graph> = (100..140).map(|seed| random_graph(seed, 1.0)).collect();
    let expected: Vec<Vec<f64>> = fresh.iter().map(|graph| vec![components::count(graph) as f64]).collect();
    close(&predict(&model, &fresh).values, &expected, 1.0);
}

#[test]
fn a_cap_is_reported_and_a_trace_ends_where_nothing_changes() {
    let edges: Vec<[u32; 2]> = (0..9).map(|node| [node, node + 1]).collect();
    let line = Graph::undirected(10, &edges)
        .and_then(|graph| graph.with_node_attributes(Attributes::new(2, (0..20).map(|at| at as f32).collect())))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, vec![1.0; 18])))
        .unwrap();
    let model =
        GnnConfig::Waves(WaveConfig::new(2, 1, 1, ReadoutKind::Sum)).init(&device(), &mut InitRng::new(1)).unwrap();
    let graph = tensors(&[line]);
    let run = |options: RunOptions| model.predict_with(&graph, &options).unwrap();
    let whole = run(RunOptions::inference().with_trace());
    assert_eq!((whole.loops.iterations[0], whole.loops.capped[0]), (10, false));
    let steps = &whole.traces[0].steps;
    assert_eq!(steps.len(), 10);
    assert!(steps[..9].iter().all(|step| step.change[0] > 0.0 && step.confidence[0] == 0.0));
    assert_eq!((steps[9].change[0], steps[9].confidence[0]), (0.0, 1.0));
    // Numbers grow along the line, so every node has a stronger neighbour.
    assert!(steps[0].changed[0] > 0.5 && steps[9].changed[0] == 0.0);
    assert_eq!(run(RunOptions::inference()).values, whole.values);
    let short = run(RunOptions::inference().with_cap(4));
    assert_eq!((short.loops.iterations[0], short.loops.capped[0]), (4, true));
    assert_ne!(short.values, whole.values);
}
