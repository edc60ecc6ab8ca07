//! Times whole training steps: 32 graphs of sizes [4, 34), 30 iterations of which none stops early, hidden width 64.
//!
//! `cargo run --release -p itergnn-cuda --example step_time [steps] [threads blocks graphs tile cluster]
//! [part of a name]`; a 0 leaves the choice to the plan. Then one large graph.

use std::time::Instant;

use itergnn_cuda::{
    Ensemble, EnsembleOptions, Gpu, LargeGraph, Loss, Mode, ModelSpec, Network, Perceptron, Readout, Recipe,
    SampleView, Samples, Tuning,
};
use itergnn_kernels::block::BlockConfig;
use itergnn_kernels::settings::{Aggregation, ControllerConfig, LayerConfig, LayerKind};

struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }
}

/// A line with leaves on it, and leaves on those.
fn lobster(numbers: &mut Numbers) -> (usize, Vec<(u32, u32)>) {
    let line = 4 + numbers.below(30);
    let mut pairs: Vec<(u32, u32)> = (1..line as u32).map(|node| (node - 1, node)).collect();
    let mut count = line;
    let first = (0..line).filter(|_| numbers.unit() < 0.2).count();
    for leaf in 0..first {
        pairs.push((numbers.below(line) as u32, (line + leaf) as u32));
    }
    count += first;
    for _ in 0..(0..first).filter(|_| numbers.unit() < 0.2).count() {
        pairs.push(((line + numbers.below(first)) as u32, count as u32));
        count += 1;
    }
    (count, pairs.iter().flat_map(|&(left, right)| [(left, right), (right, left)]).collect())
}

/// Every directed edge with probability one half.
fn er(numbers: &mut Numbers) -> (usize, Vec<(u32, u32)>) {
    let count = 4 + numbers.below(30);
    let mut edges = Vec::new();
    for left in 0..count as u32 {
        for right in 0..count as u32 {
            if left != right && numbers.unit() < 0.5 {
                edges.push((left, right));
            }
        }
    }
    (count, edges)
}

/// Edges to every node from its eight nearest in the unit cube.
fn knn(numbers: &mut Numbers) -> (usize, Vec<(u32, u32)>) {
    let count = 4 + numbers.below(30);
    let points: Vec<f64> = (0..count).map(|_| numbers.unit()).collect();
    let mut edges = Vec::new();
    for centre in 0..count {
        let mut others: Vec<usize> = (0..count).filter(|&other| other != centre).collect();
        let distance = |other: usize| (points[other] - points[centre]).abs();
        others.sort_by(|&left, &right| distance(left).total_cmp(&distance(right)));
        edges.extend(others.iter().take(8).map(|&other| (other as u32, centre as u32)));
    }
    (count, edges)
}

/// A triangulation, both directions: a node more at a time inside a random triangle.
fn planar(numbers: &mut Numbers) -> (usize, Vec<(u32, u32)>) {
    let count = 4 + numbers.below(30);
    let mut edges = vec![(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)];
    let mut triangles = vec![[0, 1, 2], [0, 1, 2]];
    for node in 3..count as u32 {
        let [a, b, c] = triangles.swap_remove(numbers.below(triangles.len()));
        triangles.extend([[a, b, node], [b, c, node], [c, a, node]]);
        edges.extend([a, b, c].iter().flat_map(|&corner| [(corner, node), (node, corner)]));
    }
    (count, edges)
}

/// A picture of side 4 to 10, every pixel joined with those beside, above and below.
fn navigation(numbers: &mut Numbers) -> (usize, Vec<(u32, u32)>) {
    let side = 4 + numbers.below(7) as u32;
    let mut edges = Vec::new();
    for pixel in 0..side * side {
        if pixel % side + 1 < side {
            edges.extend([(pixel, pixel + 1), (pixel + 1, pixel)]);
        }
        if pixel + side < side * side {
            edges.extend([(pixel, pixel + side), (pixel + side, pixel)]);
        }
    }
    ((side * side) as usize, edges)
}

/// Draws the number of nodes and the edges of a graph.
type Draw = fn(&mut Numbers) -> (usize, Vec<(u32, u32)>);

const GRAPHS: [(&str, Draw); 5] =
    [("lobster", lobster), ("er", er), ("knn", knn), ("planar", planar), ("navigation", navigation)];

fn samples(draw: Draw) -> Samples {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut samples = Samples::new(3, 1);
    for _ in 0..2_000 {
        let (count, mut edges) = draw(&mut numbers);
        edges.sort_by_key(|&(_, receiver)| receiver);
        let mut incoming = vec![0_u32; count + 1];
        edges.iter().for_each(|&(_, receiver)| incoming[receiver as usize + 1] += 1);
        (0..count).for_each(|node| incoming[node + 1] += incoming[node]);
        let senders: Vec<u32> = edges.iter().map(|&(sender, _)| sender).collect();
        let weights: Vec<f32> = edges.iter().map(|_| 0.5 + numbers.unit() as f32).collect();
        let mut nodes = vec![0.0; 3 * count];
        (0..count).for_each(|node| nodes[3 * node + node.min(2)] = 1.0);
        let view = SampleView {
            nodes: &nodes,
            incoming: &incoming,
            senders: &senders,
            edges: &weights,
            targets: &[3.0],
            target_rows: &[],
        };
        samples.push(&view).expect("a graph");
    }
    samples
}

/// Iterations of path-sim with maximum on one lobster of a million nodes.
#[allow(clippy::print_stdout)]
fn large(gpu: &Gpu) -> Result<(), itergnn_cuda::CudaError> {
    let mut numbers = Numbers(99);
    let count = 1_000_000;
    let line = count / 2;
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for node in 1..count {
        let other = if node < line { node - 1 } else { numbers.below(line) };
        edges.extend([(other as u32, node as u32), (node as u32, other as u32)]);
    }
    edges.sort_unstable_by_key(|&(sender, receiver)| (receiver, sender));
    let mut incoming = vec![0_u32; count + 1];
    edges.iter().for_each(|&(_, receiver)| incoming[receiver as usize + 1] += 1);
    (0..count).for_each(|node| incoming[node + 1] += incoming[node]);
    let senders: Vec<u32> = edges.iter().map(|&(sender, _)| sender).collect();
    let weights: Vec<f32> = edges.iter().map(|_| 0.5 + numbers.unit() as f32).collect();
    let nodes: Vec<f32> = (0..3 * count).map(|_| numbers.unit() as f32).collect();
    let view = SampleView {
        nodes: &nodes,
        incoming: &incoming,
        senders: &senders,
        edges: &weights,
        targets: &[],
        target_rows: &[],
    };
    let layer =
        LayerConfig::new(LayerKind::PathSim, 3, 64, 1).with_aggregation(Aggregation::Max).with_homogeneous(true);
    let controller = ControllerConfig::iter_decay().with_iter(|iter| (iter.epsilon, iter.training_cap) = (0.0, 64));
    let perceptron = |widths: Vec<usize>, final_activation| Perceptron { widths, biased: false, final_activation };
    let network = Network {
        embedding: perceptron(vec![3, 33, 64], true),
        blocks: vec![BlockConfig { layer, controller }],
        readout: Readout::Max,
        ends: Vec::new(),
        head: perceptron(vec![64, 1], false),
    };
    let parameters: Vec<f32> = (0..network.parameters()).map(|_| 0.12 * (2.0 * numbers.unit() as f32 - 1.0)).collect();
    let graph = LargeGraph::new(gpu, &network, &view)?;
    for _ in 0..3 {
        let answer = graph.predict(&network, &parameters, Mode { cap: None, settles: false })?;
        let rate = (graph.edges() * answer.iterations) as f64 / answer.seconds;
        println!(
            "{count} nodes, {} edges: {} iterations in {:.2} ms, {:.3} G edges/s, {:?}",
            graph.edges(),
            answer.iterations,
            1e3 * answer.seconds,
            rate / 1e9,
            answer.values
        );
    }
    Ok(())
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), itergnn_cuda::CudaError> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let steps = numbers.first().copied().unwrap_or(200);
    let at = |index: usize| numbers.get(index).copied().filter(|&value| value > 0);
    let tuning = Tuning {
        threads: at(1),
        blocks_per_multiprocessor: at(2),
        graphs: at(3),
        edge_tile: at(4),
        large: None,
        cluster: at(5),
    };
    let gpu = Gpu::open()?;
    println!("{}, {} multiprocessors", gpu.name(), gpu.multiprocessors());
    let iterative = ControllerConfig::iter_decay().with_iter(|iter| iter.epsilon = 0.0);
    let wanted: Vec<String> = std::env::args().skip(1).filter(|text| text.parse::<usize>().is_err()).collect();
    for (what, kind, aggregation, controller) in [
        ("path-sim max", LayerKind::PathSim, Aggregation::Max, iterative),
        ("path-sim max, stack", LayerKind::PathSim, Aggregation::Max, ControllerConfig::stack(30)),
        ("path-sim attention", LayerKind::PathSim, Aggregation::Attention, iterative),
        ("gcn-30", LayerKind::Gcn, Aggregation::Max, ControllerConfig::stack(30)),
    ] {
        let layer = LayerConfig::new(kind, 3, 64, 1).with_aggregation(aggregation).with_homogeneous(true);
        let block = BlockConfig { layer, controller };
        let perceptron = |widths: Vec<usize>, final_activation| Perceptron { widths, biased: false, final_activation };
        let network = Network {
            embedding: perceptron(vec![3, 33, 64], true),
            blocks: vec![block],
            readout: Readout::Max,
            ends: Vec::new(),
            head: perceptron(vec![64, 1], false),
        };
        for (name, draw) in GRAPHS {
            if wanted.iter().any(|part| !format!("{what} {name}").contains(part)) {
                continue;
            }
            for models in [1, 16] {
                let mut draws = Numbers(77);
                let recipe = Recipe {
                    loss: Loss::Mse,
                    price: 0.0,
                    beta_1: 0.9,
                    beta_2: 0.999,
                    epsilon: 1e-5,
                    weight_decay: 0.0,
                    clip_norm: Some(1.0),
                };
                let specs: Vec<ModelSpec> = (0..models)
                    .map(|_| {
                        let parameters =
                            (0..network.parameters()).map(|_| 0.12 * (2.0 * draws.unit() as f32 - 1.0)).collect();
                        ModelSpec { network: network.clone(), recipe, parameters }
                    })
                    .collect();
                let mut ensemble =
                    Ensemble::new(&gpu, &specs, samples(draw), EnsembleOptions { batch_size: 32, tuning })?;
                let mut batch = |step: usize, model: usize, list: &mut Vec<u32>| {
                    list.extend((0..32).map(|slot| ((step * 32 + slot) * 7 + 131 * model) as u32 % 2_000));
                    1e-4
                };
                ensemble.train(20, &mut batch)?;
                let start = Instant::now();
                let reports = ensemble.train(steps, &mut batch)?;
                let time = start.elapsed().as_secs_f64() / steps as f64 * 1e3;
                let last = reports.last().map(|reports| reports[0]);
                println!("{what} {name} {models} models: {time:.3} ms per step ({}); {last:?}", ensemble.layout());
            }
        }
    }
    if wanted.is_empty() {
        large(&gpu)?;
    }
    Ok(())
}
