//! Memory at inference does not grow with the number of steps, also where the device could differentiate.

#![cfg(target_os = "linux")] // reads the resident size from /proc
#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use burn::tensor::Device;
use itergnn_graph::{Attributes, Graph};
use itergnn_nn::{ControllerConfig, GnnConfig, GnnModel, GraphTensors, InitRng, RunOptions, TaskWidths, preset};

/// Allowed growth from 100 to 1,600 steps: allocators keep some slack. Keeping the states alone would take 1,500 x 400
/// x 16 x 4 bytes = 38 MB.
const GROWTH_KILOBYTES: usize = 8_000;

fn resident_kilobytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn line(device: &Device) -> GraphTensors {
    let nodes = 400;
    let pairs: Vec<[u32; 2]> = (1..nodes).map(|node| [node - 1, node]).collect();
    let graph = Graph::undirected(nodes as usize, &pairs).unwrap();
    let edges = graph.edges();
    let graph = graph
        .with_node_attributes(Attributes::new(1, (0..nodes).map(|node| (node % 7) as f32).collect()))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, vec![1.0; edges])))
        .unwrap();
    GraphTensors::from_graph(&graph, device)
}

/// A model whose loop does not stop before its cap.
fn endless(device: &Device) -> GnnModel {
    let GnnConfig::Graph(config) = preset("iter-homo-path", &TaskWidths::graph(1, 1, 1)).unwrap() else {
        panic!("a graph model")
    };
    let controller = ControllerConfig::iter_decay().with_iter(|iter| {
        iter.epsilon = f64::MIN_POSITIVE;
        iter.scale_free = true;
    });
    let config = config.with_controller(&controller).with_hidden_width(16);
    GnnConfig::Graph(config).init(device, &mut InitRng::new(1)).unwrap()
}

#[test]
fn memory_does_not_grow_with_the_steps() {
    let device = Device::flex().autodiff();
    let (model, graph) = (endless(&device), line(&device));
    let run = |cap| model.predict_with(&graph, &RunOptions::inference().with_cap(cap)).unwrap();
    assert_eq!(run(100).loops.iterations, [100]);
    let before = resident_kilobytes();
    assert_eq!(run(1_600).loops.iterations, [1_600]);
    let growth = resident_kilobytes().saturating_sub(before);
    assert!(growth < GROWTH_KILOBYTES, "{growth} kB more after 1,500 more steps");
}
