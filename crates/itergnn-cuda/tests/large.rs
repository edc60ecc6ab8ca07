//! Graphs that all of the card works on against the kernels' reference; skipped where there is no card.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a panic is a failure, and a skipped test says so"
)]

mod support;

use itergnn_cuda::{Gpu, LargeGraph, Loss, Mode, Network, Perceptron, Readout};
use itergnn_kernels::block::BlockConfig;
use itergnn_kernels::settings::{
    Aggregation, ControllerConfig, IterConfig, LayerConfig, LayerKind, ReadoutKind, Scope,
};
use support::{Numbers, Sample, distance, gpu, truth};

const INPUTS: usize = 3;

fn iterative(change: impl FnOnce(&mut IterConfig)) -> ControllerConfig {
    ControllerConfig::iter_decay().with_iter(|options| {
        (options.training_cap, options.epsilon, options.confidence_bias) = (40, 1e-3, Some(false));
        change(options);
    })
}

fn network(layer: LayerKind, controller: ControllerConfig, biased: bool, hidden: usize, readout: Readout) -> Network {
    let layer = LayerConfig::new(layer, INPUTS, hidden, 1).with_aggregation(Aggregation::Max);
    let perceptron = |widths: Vec<usize>, final_activation| Perceptron { widths, biased, final_activation };
    let blocks = if readout == Readout::Mean { 2 } else { 1 };
    Network {
        embedding: perceptron(vec![INPUTS, (INPUTS + hidden) / 2, hidden], true),
        blocks: vec![BlockConfig { layer: layer.with_homogeneous(!biased), controller }; blocks],
        readout,
        ends: Vec::new(),
        head: perceptron(vec![hidden, 2], false),
    }
}

/// A graph with many leaves, one node that hundreds reach and some that none reaches.
fn graph(numbers: &mut Numbers, count: usize) -> Sample {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for node in 1..count {
        let other = if node % 3 == 0 { 0 } else { numbers.below(node) } as u32;
        pairs.push((other, node as u32));
        if node % 7 != 0 {
            pairs.push((node as u32, other));
        }
    }
    pairs.sort_by_key(|&(sender, receiver)| (receiver, sender));
    let mut incoming = vec![0_u32];
    for node in 0..count as u32 {
        incoming.push(pairs.iter().take_while(|pair| pair.1 <= node).count() as u32);
    }
    Sample {
        nodes: (0..count * INPUTS).map(|_| numbers.symmetric()).collect(),
        incoming,
        edges: pairs.iter().map(|_| 1.0 + 0.5 * numbers.symmetric()).collect(),
        senders: pairs.iter().map(|pair| pair.0).collect(),
        targets: vec![1.0, 1.0],
        target_rows: Vec::new(),
    }
}

#[test]
fn a_large_graph_is_predicted_as_the_reference_does() {
    let Some(gpu) = gpu("a_large_graph_is_predicted_as_the_reference_does") else { return };
    let controllers = [
        ("stack", ControllerConfig::stack(3), Readout::Max),
        ("shared", ControllerConfig::shared(5), Readout::Node),
        ("iter-decay", iterative(|_| {}), Readout::Min),
        ("normalised", iterative(|options| (options.decay, options.normalised) = (1.0, true)), Readout::First),
        ("settle", iterative(|options| (options.training_cap, options.settle) = (6, Some(0.3))), Readout::Sum),
        ("scale-free", iterative(|options| options.scale_free = true), Readout::Max),
        (
            "mean, two blocks",
            iterative(|options| (options.pooling, options.confidence_bias) = (ReadoutKind::Mean, Some(true))),
            Readout::Mean,
        ),
    ];
    // Compiling the kernels takes longer than running them, so networks go side by side.
    std::thread::scope(|scope| {
        for (kind, hidden) in [(LayerKind::PathSim, 64), (LayerKind::Path, 32), (LayerKind::MpnnMax, 10)] {
            for (seed, (name, controller, readout)) in controllers.iter().enumerate() {
                let (gpu, network) = (&gpu, network(kind, *controller, seed % 2 == 1, hidden, *readout));
                scope.spawn(move || compare(gpu, &format!("{kind} {name}"), &network, seed as u64 + 1));
            }
        }
    });
}

fn compare(gpu: &Gpu, name: &str, network: &Network, seed: u64) {
    let mut numbers = Numbers::new(seed);
    let mut sample = graph(&mut numbers, 700);
    if network.readout == Readout::Node {
        sample.target_rows = vec![3];
    }
    let scale = 1.5 / (network.blocks[0].hidden_width() as f32).sqrt();
    let parameters: Vec<f32> = (0..network.parameters()).map(|_| scale * numbers.symmetric()).collect();
    let large = LargeGraph::new(gpu, network, &sample.view()).unwrap();
    let mode = Mode { cap: None, settles: true };
    let found = large.predict(network, &parameters, mode).unwrap();
    let expected = truth(network, &parameters, &[&sample], Loss::Mse, 0.3);
    let error = distance(&found.values, &expected.predictions);
    println!("{name}: {error:.1e}, {} iterations", found.iterations);
    assert!(error < 1e-4, "{name}: {error:.2e}");
    assert_eq!((found.iterations as f64, f64::from(found.capped)), (expected.iterations, expected.capped));
    assert_eq!(found, again(&large, network, &parameters, found.seconds));
}

/// The same once more, but for the time that it took.
fn again(large: &LargeGraph, network: &Network, parameters: &[f32], seconds: f64) -> itergnn_cuda::LargeAnswer {
    let answer = large.predict(network, parameters, Mode { cap: None, settles: true }).unwrap();
    itergnn_cuda::LargeAnswer { seconds, ..answer }
}

#[test]
fn what_large_graphs_do_not_cover_is_known_without_a_card() {
    let nodes = iterative(|options| options.scope = Scope::Node);
    assert!(!LargeGraph::covers(&network(LayerKind::Path, nodes, true, 8, Readout::Max)));
    assert!(!LargeGraph::covers(&network(LayerKind::Gcn, iterative(|_| {}), true, 8, Readout::Max)));
    assert!(LargeGraph::covers(&network(LayerKind::Path, iterative(|_| {}), true, 8, Readout::Max)));
}
