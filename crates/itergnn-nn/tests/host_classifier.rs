//! The host's training step against the model's own tensors and automatic gradients.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use std::collections::BTreeMap;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use itergnn_graph::{Attributes, Graph, GraphBatch, rng};
use itergnn_nn::{
    GnnConfig, GnnModel, GraphTensors, HostClassifier, InitRng, ReadoutKind, RunOptions, TaskWidths, named_tensors,
    preset,
};
use rand::RngExt;

/// f32 through at most ten iterations of four blocks, whose sums run in another order; batch normalisation divides by
/// deviations well below 1.
const TOLERANCE: f64 = 5e-3;

/// Loss and running statistics are averages, which keep more digits.
const AVERAGE_TOLERANCE: f64 = 1e-4;

fn graphs(count: u64, width: usize) -> Vec<Graph> {
    let graph = |index| {
        let mut generator = rng::sample(4, index);
        let nodes = generator.random_range(3..12_u32);
        let mut edges: Vec<[u32; 2]> = (1..nodes).map(|node| [node, generator.random_range(0..node)]).collect();
        edges.push([0, nodes - 1]);
        edges.dedup();
        let tags: Vec<usize> = (0..nodes).map(|_| generator.random_range(0..width as u32) as usize).collect();
        let one_hot = tags.iter().flat_map(|&tag| (0..width).map(move |at| f32::from(u8::from(at == tag)))).collect();
        let graph = Graph::undirected(nodes as usize, &edges).unwrap();
        let ones = vec![1.0; graph.edges()];
        graph
            .with_node_attributes(Attributes::new(width, one_hot))
            .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, ones)))
            .unwrap()
    };
    (0..count).map(graph).collect()
}

fn model(name: &str, pooling: ReadoutKind, device: &Device) -> GnnModel {
    let mut config = preset(name, &TaskWidths::graph(3, 1, 2)).unwrap();
    if let GnnConfig::JumpingKnowledge(config) = &mut config {
        (config.hidden_width, config.blocks, config.pooling) = (10, 3, pooling);
    }
    config.init(device, &mut InitRng::new(11)).unwrap()
}

#[test]
fn a_step_is_the_models_own() {
    let device = Device::flex().autodiff();
    let graphs = graphs(9, 3);
    let batch = GraphBatch::new(&graphs).unwrap();
    let classes: Vec<u32> = (0..9).map(|graph| u32::from(graph % 3 == 0)).collect();
    for (name, pooling) in [("gin", ReadoutKind::Sum), ("gin", ReadoutKind::Mean), ("iter-gin", ReadoutKind::Mean)] {
        let model = model(name, pooling, &device);
        let mut host = HostClassifier::new(&model).unwrap();
        assert_eq!(host.named(), named_tensors(&model), "{name}: weights pass both ways");

        let tensors = GraphTensors::from_batch(&batch, &device);
        let output = model.forward(&tensors, &RunOptions::training().with_seed(5)).unwrap();
        let one_hot: Vec<f32> = classes.iter().flat_map(|&class| [1.0 - class as f32, class as f32]).collect();
        let one_hot = Tensor::<2>::from_data(TensorData::new(one_hot, [9, 2]), &device);
        let loss = (log_softmax(output.values.clone(), 1) * one_hot).sum().div_scalar(-9.0);
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        let step = host.loss_and_gradient(&batch, &classes, 5).unwrap();
        let loss = loss.into_scalar::<f64>();
        assert!((loss - step.loss).abs() < AVERAGE_TOLERANCE, "{name}: {loss} {}", step.loss);
        if name == "iter-gin" {
            assert_eq!(output.iterations(&tensors), step.iterations, "{name}");
        } else {
            // The host counts the blocks of a model that does not iterate.
            assert_eq!(step.iterations, [3; 9], "{name}");
        }

        let mut expected = Collected { gradients, path: Vec::new(), found: Default::default() };
        model.visit(&mut expected);
        let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        host.update(&step.gradient, |name, _, gradient| {
            found.insert(name.to_owned(), gradient.iter().map(|&value| f64::from(value)).collect());
        });
        let largest = found.values().flatten().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        assert!(
            largest > 1e-3 && expected.found.len() == found.len(),
            "{name}: {} {}",
            expected.found.len(),
            found.len()
        );
        for (name_of, gradient) in &found {
            for (ours, theirs) in gradient.iter().zip(&expected.found[name_of]) {
                assert!((ours - theirs).abs() < TOLERANCE * largest, "{name} {name_of}: {ours} {theirs}");
            }
        }

        // The model's running statistics have moved too; scores in inference agree after it.
        let moved = named_tensors(&model.valid());
        for (name_of, tensor) in host.named() {
            for (ours, theirs) in tensor.values.iter().zip(&moved[&name_of].values) {
                assert!(
                    (ours - theirs).abs() < AVERAGE_TOLERANCE * theirs.abs().max(1.0),
                    "{name} {name_of}: {ours} {theirs}"
                );
            }
        }
        let plain = GraphTensors::from_batch(&batch, &Device::flex());
        let theirs = model.predict(&plain).unwrap().values;
        for (ours, theirs) in host.scores(&batch).unwrap().iter().flatten().zip(theirs.iter().flatten()) {
            assert!(
                (f64::from(*ours) - theirs).abs() < AVERAGE_TOLERANCE * theirs.abs().max(1.0),
                "{name}: {ours} {theirs}"
            );
        }
    }
}

struct Collected {
    gradients: GradientsParams,
    path: Vec<String>,
    found: std::collections::BTreeMap<String, Vec<f64>>,
}

impl burn::module::ModuleVisitor for Collected {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            let is_field = |segment: &&String| !segment.starts_with(|letter: char| letter.is_ascii_uppercase());
            let name = self.path.iter().filter(is_field).cloned().collect::<Vec<_>>().join(".");
            self.found.insert(name, gradient.try_into_vec_as::<f64>().unwrap());
        }
    }
}

#[test]
fn other_models_are_refused() {
    let device = Device::flex();
    let other = preset("path", &TaskWidths::graph(3, 1, 2)).unwrap().init(&device, &mut InitRng::new(1)).unwrap();
    assert!(HostClassifier::new(&other).is_err());
    let pooled = model("gin", ReadoutKind::Max, &device);
    let message = HostClassifier::new(&pooled).unwrap_err().to_string();
    assert_eq!(message, "classifier: unsupported configuration: graphs are pooled by max");
    let mut host = HostClassifier::new(&model("gin", ReadoutKind::Sum, &device)).unwrap();
    assert!(host.loss_and_gradient(&GraphBatch::new(&graphs(2, 4)).unwrap(), &[0, 1], 0).is_err());
    assert!(host.loss_and_gradient(&GraphBatch::new(&graphs(2, 3)).unwrap(), &[0, 2], 0).is_err());
}
