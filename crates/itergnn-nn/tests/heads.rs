//! Edge heads and pointer heads: golden values from numpy, gradients against finite differences, both engines, corner
//! cases.
//!
//! The values are made by `reference/nn/make_golden_heads.py`.

#![allow(clippy::unwrap_used)]

mod fixtures;

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor, TensorData};
use fixtures::{EDGE_WIDTH, NODE_WIDTH, assert_close, assert_gradient, corner_graph, device, graph, tensors, values};
use itergnn_graph::{Graph, GraphBatch};
use itergnn_nn::layers::{Aggregation, LayerConfig, LayerKind};
use itergnn_nn::ops::Segments;
use itergnn_nn::{
    BlockConfig, ControllerConfig, Engine, GnnConfig, GnnModel, GraphModelConfig, GraphTensors, InitRng, Level,
    NamedTensor, Prior, ReadoutKind, RunOptions, TaskWidths, pointer, preset, replace_tensors,
};
use serde_json::Value;

/// Both sides compute in `f64`; sums of a few dozen terms differ in the last digits.
const TOLERANCE: f64 = 1e-12;

const GOLDEN: &str = include_str!("../../../reference/nn/golden-heads.json");

fn integers(value: &Value) -> Vec<usize> {
    serde_json::from_value(value.clone()).expect("a list of integers")
}

fn named(value: &Value) -> NamedTensor {
    NamedTensor { shape: integers(&value["shape"]), values: serde_json::from_value(value["values"].clone()).unwrap() }
}

fn tensor(value: &Value) -> Tensor<2> {
    let NamedTensor { shape, values } = named(value);
    Tensor::from_data(TensorData::new(values, shape), &device())
}

fn batch(golden: &Value) -> GraphTensors {
    let edges: Vec<[u32; 2]> = serde_json::from_value(golden["edge_list"].clone()).expect("pairs");
    let mut first = 0;
    let mut graphs = Vec::new();
    for size in integers(&golden["graph_sizes"]) {
        let inside = |&&[_, receiver]: &&[u32; 2]| (first..first + size as u32).contains(&receiver);
        let edges: Vec<[u32; 2]> = edges.iter().filter(inside).map(|&[s, r]| [s - first, r - first]).collect();
        graphs.push(Graph::new(size, &edges).expect("edges stay inside their graph"));
        first += size as u32;
    }
    GraphTensors::from_batch(&GraphBatch::new(&graphs).expect("graphs without attributes"), &device())
}

fn model(readout: ReadoutKind, output_width: usize, prior: Prior, hidden_width: usize, steps: usize) -> GnnModel {
    let layer = LayerConfig::new(LayerKind::PathSim, NODE_WIDTH, hidden_width, EDGE_WIDTH)
        .with_aggregation(Aggregation::Max)
        .with_homogeneous(prior != Prior::None);
    let config = GraphModelConfig {
        node_width: NODE_WIDTH,
        edge_width: EDGE_WIDTH,
        output_width,
        hidden_width,
        prior,
        embedding_layers: 2,
        embedding_final_activation: true,
        blocks: vec![BlockConfig { layer, controller: ControllerConfig::shared(steps) }],
        readout,
        head_layers: 1,
        head_final_activation: false,
        unit: 1.0,
    };
    GnnConfig::Graph(config).init(&device(), &mut InitRng::new(4)).unwrap()
}

/// The choices that are right, by node, as edges of the batch.
fn targets(graph: &GraphTensors, choices: &[usize]) -> Vec<Option<u32>> {
    let pick = |(edges, &choice): (std::ops::Range<usize>, &usize)| {
        (choice < edges.len()).then_some((edges.start + choice) as u32)
    };
    graph.incoming().iter().zip(choices).map(pick).collect()
}

struct Collector<'a> {
    path: Vec<String>,
    gradients: &'a Gradients,
    found: BTreeMap<String, Vec<f64>>,
}

impl ModuleVisitor for Collector<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let fields = self.path.iter().filter(|segment| !segment.starts_with(char::is_uppercase));
        let name = fields.map(String::as_str).collect::<Vec<_>>().join(".");
        self.found.insert(name, values(param.val().grad(self.gradients).expect("every parameter is used")));
    }
}

#[test]
fn models_with_heads_agree_with_numpy() {
    let golden: Value = serde_json::from_str(GOLDEN).expect("the golden file is JSON");
    let (hidden, steps) = (golden["hidden"].as_u64().unwrap() as usize, golden["steps"].as_u64().unwrap() as usize);
    for case in golden["cases"].as_array().unwrap() {
        let readout: ReadoutKind = serde_json::from_value(case["readout"].clone()).unwrap();
        let prior: Prior = serde_json::from_value(case["prior"].clone()).unwrap();
        let made = model(readout, case["output_width"].as_u64().unwrap() as usize, prior, hidden, steps);
        let parameters = case["parameters"].as_object().unwrap();
        let parameters = parameters.iter().map(|(name, value)| (name.clone(), named(value))).collect();
        assert_eq!(itergnn_nn::named_tensors(&made).len(), case["parameters"].as_object().unwrap().len());
        let made = replace_tensors(made, &parameters);
        for engine in [Engine::Plain, Engine::Fused] {
            let what = format!("{readout} {prior} {engine}");
            let (nodes, edges) = (tensor(&case["nodes"]).require_grad(), tensor(&case["edges"]).require_grad());
            let graph = batch(&golden).with_node_attributes(nodes.clone()).with_edge_attributes(edges.clone());
            let output = made.forward(&graph, &RunOptions::training().with_engine(engine)).unwrap().values;
            assert_eq!(output.dims().to_vec(), integers(&case["output"]["shape"]));
            assert_close(&values(output.clone()), &named(&case["output"]).values, TOLERANCE, &what);
            let loss = if readout == ReadoutKind::Pointer {
                let targets = targets(&graph, &integers(&golden["targets"]));
                pointer::cross_entropy(output, graph.structure(), &targets)
            } else {
                let count = output.shape().num_elements();
                let probe: Vec<f64> = (0..count).map(|at| 2.0 * at as f64 / (count - 1) as f64 - 1.0).collect();
                (output.clone() * Tensor::from_data(TensorData::new(probe, output.dims()), &device())).sum()
            };
            assert_close(&values(loss.clone()), &[case["loss"].as_f64().unwrap()], TOLERANCE, &what);
            let gradients = loss.backward();
            let of = |leaf: &Tensor<2>| values(leaf.grad(&gradients).unwrap());
            assert_close(&of(&nodes), &named(&case["node_gradient"]).values, TOLERANCE, &what);
            assert_close(&of(&edges), &named(&case["edge_gradient"]).values, TOLERANCE, &what);
            let mut collector = Collector { path: Vec::new(), gradients: &gradients, found: BTreeMap::new() };
            made.visit(&mut collector);
            for (name, expected) in case["gradients"].as_object().unwrap() {
                assert_close(&collector.found[name], &named(expected).values, TOLERANCE, &format!("{what} {name}"));
            }
        }
    }
}

#[test]
fn gradients_equal_finite_differences() {
    let base = tensors(&corner_graph());
    for (readout, outputs) in [(ReadoutKind::Edge, 2), (ReadoutKind::Pointer, 1)] {
        for engine in [Engine::Plain, Engine::Fused] {
            let model = model(readout, outputs, Prior::None, 5, 2);
            let run = |graph: &GraphTensors| {
                let values = model.forward(graph, &RunOptions::training().with_engine(engine)).unwrap().values;
                match readout {
                    ReadoutKind::Pointer => pointer::log_probabilities(values, graph.structure()),
                    _ => values,
                }
            };
            let what = format!("{readout} {engine}");
            assert_gradient(&base.node_attributes(), |nodes| run(&base.clone().with_node_attributes(nodes)), &what);
            assert_gradient(&base.edge_attributes(), |edges| run(&base.clone().with_edge_attributes(edges)), &what);
        }
    }
}

#[test]
fn a_graph_gets_the_rows_it_has_alone() {
    let graphs = [corner_graph(), graph(1, &[], 4), graph(2, &[[0, 1]], 3)];
    let together = GraphTensors::from_batch(&GraphBatch::new(&graphs).unwrap(), &device());
    for readout in [ReadoutKind::Edge, ReadoutKind::Pointer] {
        let model = model(readout, 1, Prior::Core, 5, 2);
        let all = model.predict(&together).unwrap();
        assert_eq!(all.row_offsets, together.structure().row_offsets(readout.level()));
        assert_eq!(all.overflows(), [None; 3]);
        for (index, graph) in graphs.iter().enumerate() {
            let alone = model.predict(&tensors(graph)).unwrap().values;
            let rows = all.row_offsets[index] as usize..all.row_offsets[index + 1] as usize;
            assert_close(&all.values[rows].concat(), &alone.concat(), TOLERANCE, &readout.to_string());
        }
    }
}

#[test]
fn pointers_do_not_change_when_a_homogeneous_model_sees_scaled_inputs() {
    let graph = tensors(&corner_graph());
    let model = model(ReadoutKind::Pointer, 1, Prior::Full, 6, 3);
    let scaled = graph
        .clone()
        .with_node_attributes(graph.node_attributes() * 8.0)
        .with_edge_attributes(graph.edge_attributes() * 8.0);
    let (before, after) = (model.predict(&graph).unwrap().values, model.predict(&scaled).unwrap().values);
    let (before, after) = (before.concat(), after.concat());
    assert_close(&after, &before.iter().map(|score| 8.0 * score).collect::<Vec<_>>(), TOLERANCE, "scores");
    let pointed = |scores: &[f64]| pointer::pointed_at(scores, graph.structure());
    assert_eq!(pointed(&before), pointed(&after));
}

#[test]
fn every_paper_preset_takes_edges_and_pointers() {
    let graph = tensors(&corner_graph());
    for name in ["path", "iter-homo-path", "iter-homo-path-settle", "iter-homo-gat", "gcn"] {
        for widths in [TaskWidths::edge(NODE_WIDTH, EDGE_WIDTH, 2), TaskWidths::pointer(NODE_WIDTH, EDGE_WIDTH)] {
            let model = preset(name, &widths).unwrap().init(&device(), &mut InitRng::new(2)).unwrap();
            let rows = model.predict_with(&graph, &RunOptions::inference().with_cap(4)).unwrap().values.len();
            let expected = if widths.readout.level() == Level::Edge { 11 } else { 11 + 7 };
            assert_eq!(rows, expected, "{name}");
        }
    }
    let wrong = TaskWidths { output_width: 2, ..TaskWidths::pointer(NODE_WIDTH, EDGE_WIDTH) };
    assert!(preset("path", &wrong).and_then(|config| config.validate()).is_err());
}

#[test]
fn large_scores_have_finite_losses() {
    let graph = tensors(&corner_graph());
    let rows = pointer::choices(graph.structure());
    assert_eq!(rows, Segments::from_lengths([5, 3, 4, 1, 1, 2, 2]));
    let scores = (0..rows.rows()).map(|row| if row % 2 == 0 { 800.0 } else { -800.0 }).collect::<Vec<_>>();
    let scores = fixtures::matrix(&scores, rows.rows()).require_grad();
    let loss = pointer::cross_entropy(scores.clone(), graph.structure(), &targets(&graph, &[1, 0, 0, 0, 0, 0, 0]));
    let gradient = values(scores.grad(&loss.clone().backward()).unwrap());
    assert!(values(loss)[0].is_finite() && gradient.iter().all(|value| value.is_finite()));
}
