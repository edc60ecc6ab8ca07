//! The fused engine of GIN classifiers against tensor operations and automatic gradients.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use std::collections::BTreeMap;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use itergnn_graph::{Attributes, Graph, GraphBatch, rng};
use itergnn_nn::{
    Engine, GnnConfig, GnnModel, GraphTensors, InitRng, NamedTensor, ReadoutKind, RunOptions, TaskWidths,
    named_tensors, preset,
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

fn model(name: &str, blocks: usize, pooling: ReadoutKind, device: &Device) -> GnnModel {
    let mut config = preset(name, &TaskWidths::graph(3, 1, 2)).unwrap();
    if let GnnConfig::JumpingKnowledge(config) = &mut config {
        (config.hidden_width, config.blocks, config.pooling) = (10, blocks, pooling);
    }
    config.init(device, &mut InitRng::new(11)).unwrap()
}

/// Everything a training step and predictions after it give.
struct Step {
    loss: f64,
    iterations: Vec<usize>,
    gradients: BTreeMap<String, Vec<f64>>,
    /// Weights and running statistics after it.
    tensors: BTreeMap<String, NamedTensor>,
    scores: Vec<f64>,
}

fn step(model: &GnnModel, batch: &GraphBatch, classes: &[u32], engine: Engine) -> Step {
    let device = Device::flex().autodiff();
    let tensors = GraphTensors::from_batch(batch, &device);
    let output = model.forward(&tensors, &RunOptions::training().with_seed(5).with_engine(engine)).unwrap();
    let one_hot: Vec<f32> = classes.iter().flat_map(|&class| [1.0 - class as f32, class as f32]).collect();
    let one_hot = Tensor::<2>::from_data(TensorData::new(one_hot, [classes.len(), 2]), &device);
    let iterations = output.iterations(&tensors);
    let loss = (log_softmax(output.values, 1) * one_hot).sum().div_scalar(-(classes.len() as f64));
    let gradients = GradientsParams::from_grads(loss.backward(), model);
    let mut collected = Collected { gradients, path: Vec::new(), found: BTreeMap::new() };
    model.visit(&mut collected);
    let valid = model.valid();
    let plain = GraphTensors::from_batch(batch, &Device::flex());
    let scores = valid.forward(&plain, &RunOptions::inference().with_engine(engine)).unwrap().values;
    Step {
        loss: loss.into_scalar::<f64>(),
        iterations,
        gradients: collected.found,
        tensors: named_tensors(&valid),
        scores: scores.into_data().convert::<f64>().iter::<f64>().collect(),
    }
}

#[test]
fn a_fused_step_is_that_of_tensor_operations() {
    let device = Device::flex().autodiff();
    let graphs = graphs(9, 3);
    let batch = GraphBatch::new(&graphs).unwrap();
    let classes: Vec<u32> = (0..9).map(|graph| u32::from(graph % 3 == 0)).collect();
    // Seven blocks have more parameters than the operation has places for tensors.
    for (name, blocks, pooling) in [
        ("gin", 3, ReadoutKind::Sum),
        ("gin", 3, ReadoutKind::Max),
        ("gin", 3, ReadoutKind::Mean),
        ("gin", 7, ReadoutKind::Sum),
        ("iter-gin", 3, ReadoutKind::Mean),
    ] {
        // Two models of their own: clones would share their running statistics.
        let run = |engine| step(&model(name, blocks, pooling, &device), &batch, &classes, engine);
        let (ours, theirs) = (run(Engine::Fused), run(Engine::Plain));
        assert!((ours.loss - theirs.loss).abs() < AVERAGE_TOLERANCE, "{name}: {} {}", ours.loss, theirs.loss);
        assert_eq!(ours.iterations, theirs.iterations, "{name}");
        assert!(ours.gradients.keys().eq(theirs.gradients.keys()), "{name}");
        let largest = theirs.gradients.values().flatten().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        assert!(largest > 1e-3, "{name}");
        for (place, gradient) in &ours.gradients {
            for (ours, theirs) in gradient.iter().zip(&theirs.gradients[place]) {
                assert!((ours - theirs).abs() < TOLERANCE * largest, "{name} {place}: {ours} {theirs}");
            }
        }
        let close = |ours: f64, theirs: f64| (ours - theirs).abs() < AVERAGE_TOLERANCE * theirs.abs().max(1.0);
        for (place, tensor) in &ours.tensors {
            for (&ours, &theirs) in tensor.values.iter().zip(&theirs.tensors[place].values) {
                assert!(close(ours, theirs), "{name} {place}: {ours} {theirs}");
            }
        }
        let before = named_tensors(&model(name, blocks, pooling, &device));
        assert!(ours.tensors.iter().any(|(place, tensor)| place.contains(".running_") && *tensor != before[place]));
        for (&ours, &theirs) in ours.scores.iter().zip(&theirs.scores) {
            assert!(close(ours, theirs), "{name}: {ours} {theirs}");
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
fn what_is_not_covered_says_why() {
    let device = Device::flex();
    let batch = GraphTensors::from_batch(&GraphBatch::new(&graphs(2, 3)).unwrap(), &device);
    let model = model("iter-gin", 3, ReadoutKind::Sum, &device);
    let options = RunOptions::inference().with_engine(Engine::Fused);
    assert!(model.forward(&batch, &options).is_ok());
    let message = model.forward(&batch, &options.with_cap(3)).unwrap_err().to_string();
    assert!(message.contains("another cap than that of training"), "{message}");
    assert!(model.forward(&batch, &RunOptions::inference().with_cap(3)).is_ok());
}
