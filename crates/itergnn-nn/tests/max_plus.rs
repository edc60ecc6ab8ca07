//! Max-plus models: the laws of a model, gradients, the schedule, and what finishing does.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod fixtures;

use std::collections::BTreeMap;
use std::slice::from_ref;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use fixtures::{assert_close, device, values};
use itergnn_graph::{Attributes, Graph, GraphBatch, rng};
use itergnn_nn::aligned::max_plus::MaxPlusConfig;
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::store::{self, ModelCard};
use itergnn_nn::{
    GnnConfig, GnnModel, GraphTensors, InitRng, NamedTensor, Prediction, ReadoutKind, named_tensors, replace_tensors,
};
use rand::RngExt;

/// Inference and training take sums in another order, in double precision.
const ROUNDING: f64 = 1e-9;

/// A connected graph, some edges one way only, with a source, a target and weights in [0.5, 1.5), all attributes times
/// `scale`.
fn random_graph(nodes: u32, seed: u64, scale: f32) -> Graph {
    let mut generator = rng::seeded(seed);
    let mut edges = Vec::new();
    for node in 1..nodes {
        let other = generator.random_range(0..node);
        edges.push([node, other]);
        if generator.random::<f32>() < 0.8 {
            edges.push([other, node]);
        }
    }
    let (source, target) = (generator.random_range(0..nodes), generator.random_range(0..nodes));
    let weights = edges.iter().map(|_| scale * (0.5 + generator.random::<f32>())).collect();
    let class = |node| if node == source { 0 } else { 1 + usize::from(node != target) };
    let attributes =
        (0..nodes).flat_map(|node| [0, 1, 2].map(|place| scale * f32::from(u8::from(class(node) == place))));
    Graph::new(nodes as usize, &edges)
        .and_then(|graph| graph.with_node_attributes(Attributes::new(3, attributes.collect())))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, weights)))
        .unwrap()
}

fn tensors(graphs: &[Graph]) -> GraphTensors {
    GraphTensors::from_batch(&GraphBatch::new(graphs).unwrap(), &device())
}

fn config(residual: bool, both_ways: bool) -> MaxPlusConfig {
    MaxPlusConfig { channels: 10, residual, both_ways, ..MaxPlusConfig::new(3, 1) }
}

fn model(config: MaxPlusConfig, seed: u64) -> GnnModel {
    let model = GnnConfig::MaxPlus(config).init(&device(), &mut InitRng::new(seed)).unwrap();
    // A bias and a price of change, so that all kinds of stops occur.
    let mut changed = named_tensors(&model);
    changed.get_mut("network.confidence_bias").unwrap().values[0] = 0.05;
    changed.get_mut("network.confidence_changed").unwrap().values[0] = 0.2;
    replace_tensors(model, &changed)
}

/// Models of every kind: soft, hard, with all options.
fn models(seed: u64) -> Vec<(String, GnnModel)> {
    let mut models = Vec::new();
    for (residual, both_ways) in [(false, false), (true, false), (false, true), (true, true)] {
        for progress in [0.0, 0.5, 1.0] {
            let name = format!("residual {residual}, both ways {both_ways}, progress {progress}");
            models.push((name, model(config(residual, both_ways), seed).at_progress(progress)));
        }
    }
    models
}

fn predict(model: &GnnModel, graphs: &[Graph]) -> Prediction {
    model.predict(&tensors(graphs)).unwrap()
}

#[test]
fn a_batch_is_its_graphs_one_by_one() {
    let graphs = [random_graph(12, 1, 1.0), random_graph(1, 2, 1.0), random_graph(30, 3, 2.0)];
    for (name, model) in models(4) {
        let together = predict(&model, &graphs);
        for (index, graph) in graphs.iter().enumerate() {
            let alone = predict(&model, from_ref(graph));
            assert_eq!(
                (&alone.values[0], alone.loops.iterations[0]),
                (&together.values[index], together.loops.iterations[index])
            );
            assert_eq!(alone.loops.capped[0], together.loops.capped[index], "{name}");
        }
    }
}

#[test]
fn renumbering_nodes_changes_nothing() {
    let graph = random_graph(25, 5, 1.0);
    let shift = |node: u32| (node + 7) % 25;
    let edges: Vec<[u32; 2]> = graph.edge_list().into_iter().map(|[from, to]| [shift(from), shift(to)]).collect();
    let mut attributes = vec![0.0; 75];
    for node in 0..25_u32 {
        let (old, new) = (3 * node as usize, 3 * shift(node) as usize);
        attributes[new..new + 3].copy_from_slice(&graph.node_attributes().values()[old..old + 3]);
    }
    let renumbered = Graph::new(25, &edges)
        .and_then(|new| new.with_node_attributes(Attributes::new(3, attributes)))
        .and_then(|new| new.with_edge_attributes(graph.edge_attributes_in_original_order()))
        .unwrap();
    for (name, model) in models(6) {
        let (left, right) = (predict(&model, from_ref(&graph)), predict(&model, from_ref(&renumbered)));
        assert_close(&left.values[0], &right.values[0], ROUNDING, &name);
        assert_eq!(left.loops.iterations, right.loops.iterations, "{name}");
    }
}

#[test]
fn predictions_scale_and_iterations_do_not() {
    for factor in [0.25_f32, 8.0] {
        let (small, large) = (random_graph(40, 7, 1.0), random_graph(40, 7, factor));
        for (name, model) in models(8) {
            let (small, large) = (predict(&model, from_ref(&small)), predict(&model, from_ref(&large)));
            assert_eq!(small.loops.iterations, large.loops.iterations, "{name}");
            assert_close(&large.values[0], &[f64::from(factor) * small.values[0][0]], ROUNDING, &name);
        }
    }
}

#[test]
fn training_and_inference_agree() {
    let graphs = [random_graph(12, 1, 1.0), random_graph(1, 2, 1.0), random_graph(20, 3, 2.0)];
    for (name, model) in models(9) {
        let graph = tensors(&graphs);
        let cap = 40;
        let taught = model.forward(&graph, &RunOptions::training().with_cap(cap)).unwrap();
        let predicted = model.predict_with(&graph, &RunOptions::inference().with_cap(cap)).unwrap();
        assert_eq!(taught.iterations(&graph), predicted.loops.iterations, "{name}");
        assert_eq!(taught.capped(&graph), predicted.loops.capped, "{name}");
        let rows = values(taught.values);
        for (index, prediction) in
            predicted.values.iter().enumerate().filter(|(index, _)| !predicted.loops.capped[*index])
        {
            // At most 1e-7 of the probability is not spent at inference.
            assert_close(&rows[index..=index], prediction, 1e-4, &name);
        }
    }
}

/// Central differences over kinks (maxima, clips) would be wrong; at random weights none is within a step.
#[test]
fn gradients_are_those_of_finite_differences() {
    const STEP: f64 = 1e-6;
    const TOLERANCE: f64 = 1e-5;
    let graph = tensors(&[random_graph(8, 10, 1.0), random_graph(5, 11, 1.0)]);
    for both_ways in [false, true] {
        let settings = MaxPlusConfig { channels: 6, training_cap: 5, ..config(false, both_ways) };
        let model = model(settings, 12);
        let mut tensors = named_tensors(&model);
        // Away from the clip at -100 and from each other, where the gradient is defined.
        let mut rng = InitRng::new(13);
        let embedding = tensors.get_mut("network.embedding").unwrap();
        embedding.values.iter_mut().for_each(|entry| *entry = 0.3 * *entry + f64::from(rng.symmetric(1.0)));
        let model = replace_tensors(model, &tensors);
        let loss = |tensors: &BTreeMap<String, NamedTensor>| {
            let model = replace_tensors(model.clone(), tensors);
            let output = model.forward(&graph, &RunOptions::training()).unwrap();
            output.values.square().sum() + output.auxiliary_loss.unwrap()
        };
        let model = &model;
        let output = model.forward(&graph, &RunOptions::training()).unwrap();
        let total = output.values.square().sum() + output.auxiliary_loss.unwrap();
        let gradients = GradientsParams::from_grads(total.backward(), model);
        let mut found = Found { gradients, values: Vec::new() };
        model.visit(&mut found);
        let names = ["embedding", "rate", "read", "head", "confidence_read", "confidence_weight", "confidence_bias"];
        assert_eq!(found.values.len(), names.len());
        for (name, gradient) in names.iter().zip(found.values) {
            let name = format!("network.{name}");
            for (index, gradient) in gradient.iter().enumerate() {
                let at = |shift: f64| {
                    let mut moved = tensors.clone();
                    moved.get_mut(&name).unwrap().values[index] += shift;
                    values(loss(&moved))[0]
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
fn a_hardened_model_is_read_back_to_the_bit() {
    let graphs = [random_graph(12, 1, 1.0)];
    for progress in [0.0, 0.45, 0.8] {
        let model = model(config(true, true), 14).at_progress(progress);
        let card = ModelCard {
            name: "max-plus".to_owned(),
            task: "shortest-path".to_owned(),
            seed: 14,
            training: serde_json::Value::Null,
        };
        let (read, _) = store::load_bytes(&store::to_bytes(&model, &card).unwrap(), &device()).unwrap();
        assert_eq!(named_tensors(&read), named_tensors(&model));
        assert_eq!(predict(&read, &graphs), predict(&model, &graphs));
        // It also goes on as the original would.
        let (read, model) = (read.at_progress(0.9), model.at_progress(0.9));
        assert_eq!(named_tensors(&read), named_tensors(&model));
    }
}

#[test]
fn entries_that_hardened_stay_absent() {
    let model = model(config(false, false), 15).at_progress(0.4);
    let mut tensors = named_tensors(&model);
    let absent = tensors["network.absent"].clone();
    assert_eq!(absent.values.iter().sum::<f64>(), 20.0, "two of three classes are absent in each of ten channels");
    tensors.get_mut("network.embedding").unwrap().values.fill(0.0);
    let later = replace_tensors(model, &tensors).at_progress(0.7);
    assert_eq!(named_tensors(&later)["network.absent"], absent);
}

/// A model that needs no training: waves from source and target with a wrong weight, a superfluous wave, a useless
/// head.
#[test]
fn finishing_finds_the_rule_that_is_there() {
    let graphs = (0..40).map(|seed| random_graph(15, seed, 1.0)).map(undirected);
    let graphs: Vec<Graph> = graphs.filter(|graph| distance(graph) > 0.0).collect();
    let targets: Vec<f64> = graphs.iter().map(distance).collect();
    let settings = MaxPlusConfig { channels: 5, heads: 2, confidence_heads: 1, ..MaxPlusConfig::new(3, 1) };
    let model = GnnConfig::MaxPlus(settings).init(&device(), &mut InitRng::new(16)).unwrap();
    let mut tensors = named_tensors(&model);
    let mut set =
        |name: &str, values: &[f64]| tensors.get_mut(&format!("network.{name}")).unwrap().values = values.to_vec();
    let class = |class: usize| (0..3).map(|place| if place == class { 0.0 } else { -100.0 }).collect::<Vec<_>>();
    // Distances from source and target, their bits, and a wave from everyone else.
    set("embedding", &[class(0), class(1), class(0), class(1), class(2)].concat());
    set("rate", &[-0.5, -0.5, 0.0, 0.0, -0.7]);
    set("drifting", &[1.0, 1.0, 0.0, 0.0, 1.0]);
    set("read", &[1.0, 1.0, 0.1, 0.1, 0.02, 0.0, 0.0, 0.3, 0.0, 0.01]);
    set("head", &[-1.7, 0.1]);
    set("confidence_read", &[0.0, 0.0, 1.0, 1.0, 0.0]);
    set("confidence_weight", &[1.0]);
    set("confidence_bias", &[0.5]);
    let (finished, refit) = replace_tensors(model, &tensors).finish(&self::tensors(&graphs), &targets).unwrap();
    let refit = refit.unwrap();
    assert!(refit.error_before > 0.1 && refit.error_after.unwrap() < 1e-9, "{refit:?}");
    let prediction = predict(&finished, &graphs);
    for (index, target) in targets.iter().enumerate() {
        assert!((prediction.values[index][0] - target).abs() < 1e-9 && !prediction.loops.capped[index]);
    }
    // Slopes of 1 in one head; the bits are needed to stop but not to read.
    let found = named_tensors(&finished);
    assert!(refit.snapped && found["network.head"].values == [-1.0, 0.0]);
    assert_eq!(found["network.read"].values[..5], [1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(found["network.confidence_read"].values, [0.0, 0.0, 1.0, 1.0, 0.0]);
    // The same rule on a graph far larger than any it was fitted on.
    let line = line(20_001);
    let prediction = predict(&finished, &[line]);
    assert_eq!((prediction.values[0][0], prediction.loops.iterations[0]), (20_000.0, 10_000));
}

/// Slopes of 1 and 1.4: exact once the waves have run their course, since at the source only the wave of the target
/// counts, and not to be rounded. The confidence is about one half when nothing changes any more.
#[test]
fn a_soft_stop_becomes_the_moment_at_which_nothing_changes() {
    let graphs: Vec<Graph> = (0..40).map(|seed| undirected(random_graph(15, seed, 1.0))).collect();
    let graphs: Vec<Graph> = graphs.into_iter().filter(|graph| distance(graph) > 0.0).collect();
    let targets: Vec<f64> = graphs.iter().map(distance).collect();
    let settings =
        MaxPlusConfig { channels: 4, heads: 1, confidence_heads: 1, residual: true, ..MaxPlusConfig::new(3, 1) };
    let model = GnnConfig::MaxPlus(settings).init(&device(), &mut InitRng::new(19)).unwrap();
    let mut tensors = named_tensors(&model);
    let mut set =
        |name: &str, values: &[f64]| tensors.get_mut(&format!("network.{name}")).unwrap().values = values.to_vec();
    set("embedding", &[0.0, -100.0, -100.0, -100.0, 0.0, -100.0, -100.0, 0.0, -100.0, -100.0, -100.0, 0.0]);
    set("rate", &[-0.5, -0.7, 0.0, -0.3]);
    set("drifting", &[1.0, 1.0, 0.0, 1.0]);
    set("read", &[1.0, 1.0, 0.0, 0.0]);
    set("head", &[-2.0]);
    set("confidence_read", &[0.0, 0.0, 0.001, 0.0]);
    set("confidence_weight", &[1.0]);
    set("confidence_bias", &[-0.001]);
    set("confidence_changed", &[0.3]);
    let soft = replace_tensors(model, &tensors);
    let late = predict(&soft.clone().at_progress(1.0), &graphs);
    let (finished, refit) = soft.finish(&self::tensors(&graphs), &targets).unwrap();
    let refit = refit.unwrap();
    assert!(!refit.snapped && refit.settled_stop && refit.error_after.unwrap() < ROUNDING, "{refit:?}");
    let prediction = predict(&finished, &graphs);
    for (index, target) in targets.iter().enumerate() {
        assert!((prediction.values[index][0] - target).abs() < ROUNDING && !prediction.loops.capped[index]);
        assert!(prediction.loops.iterations[index] + 20 < late.loops.iterations[index], "graph {index}");
    }
    // The wave that nobody reads is gone.
    let absent = &named_tensors(&finished)["network.absent"].values;
    assert_eq!(absent[9..], [1.0; 3]);
}

#[test]
fn a_model_that_cannot_stop_ends_as_capped() {
    let model = model(config(false, false), 17).at_progress(1.0);
    let mut tensors = named_tensors(&model);
    tensors.get_mut("network.confidence_bias").unwrap().values[0] = -5.0;
    let prediction = predict(&replace_tensors(model, &tensors), &[random_graph(9, 1, 1.0)]);
    assert_eq!(prediction.loops.capped, [true]);
}

#[test]
fn node_predictions_have_a_row_a_node_and_traces_a_line_a_step() {
    let settings = MaxPlusConfig { readout: ReadoutKind::Node, output_width: 2, ..config(false, false) };
    let graph = tensors(&[random_graph(9, 1, 1.0), random_graph(4, 2, 1.0)]);
    let prediction = model(settings, 18).predict_with(&graph, &RunOptions::inference().with_trace()).unwrap();
    assert!(prediction.values.len() == 13 && prediction.values.iter().all(|row| row.len() == 2));
    assert_eq!(prediction.traces[0].steps[0].graphs, [0, 1]);
    assert_eq!(prediction.traces[0].steps.last().unwrap().step, *prediction.loops.iterations.iter().max().unwrap());
}

/// The graph with every edge both ways.
fn undirected(graph: Graph) -> Graph {
    let mut pairs: Vec<[u32; 2]> =
        graph.edge_list().into_iter().map(|[from, to]| [from.min(to), from.max(to)]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let attributes = graph.node_attributes().clone();
    let weights = vec![1.0; 2 * pairs.len()];
    Graph::undirected(graph.nodes(), &pairs)
        .and_then(|graph| graph.with_node_attributes(attributes))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, weights)))
        .unwrap()
}

/// Steps between source and target; 0 if one node is both.
fn distance(graph: &Graph) -> f64 {
    let class = |class: usize| (0..graph.nodes()).find(|node| graph.node_attributes().values()[3 * node + class] > 0.0);
    let (Some(source), Some(target)) = (class(0), class(1)) else { return 0.0 };
    let mut reached = vec![source];
    for distance in 0.. {
        if reached.contains(&target) {
            return f64::from(distance);
        }
        let next = graph
            .edge_list()
            .into_iter()
            .filter(|[from, _]| reached.contains(&(*from as usize)))
            .map(|[_, to]| to as usize);
        let next: Vec<usize> = next.collect();
        reached.extend(next);
        reached.sort_unstable();
        reached.dedup();
    }
    unreachable!()
}

/// A line whose ends are source and target.
fn line(nodes: u32) -> Graph {
    let edges: Vec<[u32; 2]> = (1..nodes).map(|node| [node - 1, node]).collect();
    let attributes = (0..nodes).flat_map(|node| match node {
        0 => [1.0, 0.0, 0.0],
        _ if node == nodes - 1 => [0.0, 1.0, 0.0],
        _ => [0.0, 0.0, 1.0],
    });
    Graph::undirected(nodes as usize, &edges)
        .and_then(|graph| graph.with_node_attributes(Attributes::new(3, attributes.collect())))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, vec![1.0; 2 * edges.len()])))
        .unwrap()
}
