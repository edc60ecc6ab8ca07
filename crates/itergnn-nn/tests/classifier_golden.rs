//! GIN and Iter-GIN classifiers against PyTorch (`reference/classifier`), by both engines.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, FloatDType, Gradients, Tensor, TensorData};
use itergnn_graph::{Attributes, Graph, GraphBatch};
use itergnn_nn::controllers::IterConfig;
use itergnn_nn::{
    ControllerConfig, Engine, GnnConfig, GnnModel, GraphTensors, InitRng, JumpingKnowledgeConfig, NamedTensor,
    ReadoutKind, RunOptions, named_tensors, replace_tensors,
};
use serde_json::Value;

/// Both compute in f64 through at most twenty normalised layers.
const TOLERANCE: f64 = 1e-9;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn places(value: &Value) -> Vec<usize> {
    numbers(value).into_iter().map(|number| number as usize).collect()
}

fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < TOLERANCE * expected.abs().max(1.0), "{what}: {found} {expected}");
    }
}

/// The names of parameters and of running statistics in the reference's order.
fn order(config: &JumpingKnowledgeConfig) -> (Vec<String>, Vec<String>) {
    let (mut parameters, mut statistics) = (Vec::new(), Vec::new());
    let affine = |names: &mut Vec<String>, path: &str| {
        names.extend(["weight", "bias"].map(|part| format!("{path}.{part}")));
    };
    let steps = config.iteration().map(|iteration| iteration.training_cap);
    if steps.is_some() {
        affine(&mut parameters, "network.embedding.layers.0");
    }
    for block in 0..config.blocks {
        let path = match steps {
            Some(_) => format!("network.iterated.{block}.layer"),
            None => format!("network.blocks.{block}"),
        };
        for map in 0..2 {
            affine(&mut parameters, &format!("{path}.mlp.layers.{map}"));
            parameters.extend(["gamma", "beta"].map(|part| format!("{path}.norms.{map}.{part}")));
            for step in 0..steps.unwrap_or(1) {
                let place = match step {
                    0 => format!("{path}.norms.{map}"),
                    later => format!("{path}.later_statistics.{}", 2 * (later - 1) + map),
                };
                statistics.extend(["running_mean", "running_var"].map(|part| format!("{place}.{part}")));
            }
        }
        if steps.is_some() {
            affine(&mut parameters, &format!("network.iterated.{block}.confidence.linear"));
        }
    }
    (0..=config.blocks).for_each(|vote| affine(&mut parameters, &format!("network.votes.{vote}")));
    (parameters, statistics)
}

/// The values of these tensors, one after the other.
fn flat(names: &[String], tensors: &BTreeMap<String, NamedTensor>) -> Vec<f64> {
    names.iter().flat_map(|name| tensors[name].values.clone()).collect()
}

/// The tensors with these values.
fn filled(names: &[String], tensors: &mut BTreeMap<String, NamedTensor>, values: &[f64]) {
    let mut rest = values;
    for name in names {
        let tensor = tensors.get_mut(name).unwrap();
        let (own, later) = rest.split_at(tensor.values.len());
        tensor.values = own.to_vec();
        rest = later;
    }
    assert!(rest.is_empty());
}

struct Collected<'a> {
    gradients: &'a Gradients,
    path: Vec<String>,
    found: BTreeMap<String, NamedTensor>,
}

impl ModuleVisitor for Collected<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad(self.gradients) {
            let is_field = |segment: &&String| !segment.starts_with(|letter: char| letter.is_ascii_uppercase());
            let name = self.path.iter().filter(is_field).cloned().collect::<Vec<_>>().join(".");
            let values = gradient.try_into_vec_as::<f64>().unwrap();
            self.found.insert(name, NamedTensor { shape: vec![values.len()], values });
        }
    }
}

fn model(config: JumpingKnowledgeConfig, case: &Value, device: &Device) -> GnnModel {
    let model = GnnConfig::JumpingKnowledge(config).init(device, &mut InitRng::new(1)).unwrap();
    let mut tensors = named_tensors(&model);
    let (parameters, statistics) = order(&config);
    assert_eq!(parameters.len() + statistics.len(), tensors.len());
    filled(&parameters, &mut tensors, &numbers(&case["parameters"]));
    filled(&statistics, &mut tensors, &numbers(&case["statistics"]));
    replace_tensors(model, &tensors)
}

#[test]
fn steps_and_scores_are_pytorchs() {
    Device::flex().configure(FloatDType::F64).expect("no tensor was made before");
    let device = Device::flex().autodiff();
    let golden: Value = serde_json::from_str(include_str!("../../../reference/classifier/values.json")).unwrap();
    let width = |name: &str| golden[name].as_u64().unwrap() as usize;
    let (nodes, edges) = (places(&golden["node_offsets"]), places(&golden["edge_offsets"]));
    let (senders, labels) = (places(&golden["senders"]), places(&golden["labels"]));
    let graph = |range: &[usize]| {
        let own = range[0]..range[1];
        let into = own
            .clone()
            .flat_map(|node| senders[edges[node]..edges[node + 1]].iter().map(move |sender| [*sender, node]));
        let edges: Vec<[u32; 2]> = into.map(|edge| edge.map(|node| (node - own.start) as u32)).collect();
        let blank = Attributes::new(width("node_width"), vec![0.0; own.len() * width("node_width")]);
        Graph::new(own.len(), &edges).unwrap().with_node_attributes(blank).unwrap()
    };
    let graphs: Vec<Graph> = nodes.windows(2).map(graph).collect();
    let batch = GraphBatch::new(&graphs).unwrap();
    for (number, case) in golden["cases"].as_array().unwrap().iter().enumerate() {
        let controller = case["iteration"].as_object().map(|module| {
            let most_steps = module["most_steps"].as_u64().unwrap() as usize;
            ControllerConfig::Iter(IterConfig {
                epsilon: module["epsilon"].as_f64().unwrap(),
                decay: module["decay"].as_f64().unwrap(),
                training_cap: most_steps,
                inference_cap: Some(most_steps),
                ..IterConfig::default()
            })
        });
        let config = JumpingKnowledgeConfig {
            hidden_width: width("hidden_width"),
            blocks: width("blocks"),
            pooling: if case["pooling"] == "sum" { ReadoutKind::Sum } else { ReadoutKind::Mean },
            dropout: 0.0,
            controller,
            ..JumpingKnowledgeConfig::new(width("node_width"), width("classes"))
        };
        let features = TensorData::new(numbers(&case["features"]), [batch.union().nodes(), width("node_width")]);
        let with_features = |device: &Device| {
            let features = Tensor::from_data(features.clone(), device);
            GraphTensors::from_batch(&batch, device).with_node_attributes(features)
        };
        let (parameters, statistics) = order(&config);
        for engine in [Engine::Fused, Engine::Plain] {
            let what = |part: &str| format!("case {number}, {engine}: {part}");
            let model = model(config, case, &device);
            let graph = with_features(&device);
            let output = model.forward(&graph, &RunOptions::training().with_engine(engine)).unwrap();
            if config.controller.is_some() {
                assert_eq!(output.iterations(&graph), places(&case["steps"]), "{}", what("steps"));
            }
            let classes = width("classes");
            let chosen =
                labels.iter().flat_map(|&label| (0..classes).map(move |class| f64::from(u8::from(class == label))));
            let chosen = TensorData::new(chosen.collect::<Vec<f64>>(), [labels.len(), classes]);
            let chosen = Tensor::<2>::from_data(chosen, &device);
            let loss = (log_softmax(output.values, 1) * chosen).sum().mul_scalar(-1.0 / labels.len() as f64);
            let gradients = loss.backward();
            assert_close(&what("loss"), &[loss.into_scalar::<f64>()], &[case["loss"].as_f64().unwrap()]);
            let mut collected = Collected { gradients: &gradients, path: Vec::new(), found: BTreeMap::new() };
            model.visit(&mut collected);
            assert_close(&what("gradient"), &flat(&parameters, &collected.found), &numbers(&case["gradient"]));
            let valid = model.valid();
            let after = flat(&statistics, &named_tensors(&valid));
            assert_close(&what("statistics"), &after, &numbers(&case["statistics_after"]));
            let options = RunOptions::inference().with_engine(engine);
            let scores = valid.forward(&with_features(&Device::flex()), &options).unwrap().values;
            let scores: Vec<f64> = scores.into_data().iter::<f64>().collect();
            assert_close(&what("scores"), &scores, &numbers(&case["scores_after"]));
        }
    }
}
