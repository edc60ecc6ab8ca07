//! One training step of a block: 32 graphs, 30 iterations, hidden 64, forward and backward.
//!
//! Prints the least and the median thread-CPU time of one thread, and the wall time of one and two threads. Nothing
//! stops early (confidences near zero). `growing` weights make every state change at every step, so that nothing can be
//! skipped: the worst case. `random` weights let states settle. `of peak` is the rate of the forward pass's matrix
//! products, everything else of the pass included in the time, as a share of the multiply-adds that one thread reaches
//! without memory; `changed` are the values that the last step still changed.

#![allow(clippy::print_stdout)]

mod measure;

use std::time::{Duration, Instant};

use itergnn_kernels::Isa;
use itergnn_kernels::block::*;
use itergnn_kernels::settings::*;
use measure::{Random, thread_time};

struct Graphs {
    node_offsets: Vec<u32>,
    edge_offsets: Vec<u32>,
    senders: Vec<u32>,
    receiver_offsets: Vec<u32>,
}

impl Graphs {
    fn new() -> Self {
        Self { node_offsets: vec![0], edge_offsets: vec![0], senders: Vec::new(), receiver_offsets: vec![0] }
    }

    fn push(&mut self, nodes: usize, edges: &[(usize, usize)]) {
        let first = self.node_offsets[self.node_offsets.len() - 1];
        for node in 0..nodes {
            self.senders.extend(edges.iter().filter(|edge| edge.1 == node).map(|edge| first + edge.0 as u32));
            self.receiver_offsets.push(self.senders.len() as u32);
        }
        self.node_offsets.push(first + nodes as u32);
        self.edge_offsets.push(self.senders.len() as u32);
    }

    fn lobsters(random: &mut Random, count: usize) -> Self {
        let mut graphs = Self::new();
        for _ in 0..count {
            let line = 4 + random.below(30);
            let mut links: Vec<(usize, usize)> = (1..line).map(|node| (node - 1, node)).collect();
            let leaves = (0..line).filter(|_| random.unit() < 0.2).count();
            let far = (0..leaves).filter(|_| random.unit() < 0.2).count();
            links.extend((0..leaves).map(|leaf| (random.below(line), line + leaf)));
            links.extend((0..far).map(|leaf| (line + random.below(leaves), line + leaves + leaf)));
            let edges: Vec<_> = links.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
            graphs.push(line + leaves + far, &edges);
        }
        graphs
    }

    fn erdos_renyi(random: &mut Random, count: usize) -> Self {
        let mut graphs = Self::new();
        for _ in 0..count {
            let nodes = 4 + random.below(30);
            let pairs = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b)));
            let edges: Vec<_> = pairs.filter(|pair| pair.0 != pair.1 && random.unit() < 0.5).collect();
            graphs.push(nodes, &edges);
        }
        graphs
    }
}

/// Least and median of some runs, in milliseconds.
fn measure(runs: usize, mut now: impl FnMut() -> Duration, mut work: impl FnMut()) -> (f64, f64) {
    work();
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = now();
            work();
            (now() - start).as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[runs / 2])
}

/// The blocks: name, layer, whether edges differ.
fn rows() -> Vec<(&'static str, LayerConfig, bool)> {
    use Aggregation::{Attention, Max};
    let layer = |kind, aggregation, homogeneous| {
        LayerConfig::new(kind, 3, 64, 1).with_aggregation(aggregation).with_homogeneous(homogeneous)
    };
    let convolution = |kind| LayerConfig { output_activation: Activation::LeakyRelu, ..layer(kind, Attention, false) };
    vec![
        ("path-sim max, weighted", layer(LayerKind::PathSim, Max, true), true),
        ("path-sim max, unweighted", layer(LayerKind::PathSim, Max, true), false),
        ("path-sim si-attention, weighted", layer(LayerKind::PathSim, Attention, true), true),
        ("path-sim si-attention, unweighted", layer(LayerKind::PathSim, Attention, true), false),
        ("path attention, weighted", layer(LayerKind::Path, Attention, false), true),
        ("path max, weighted", layer(LayerKind::Path, Max, true), true),
        ("30 layers gcn", convolution(LayerKind::Gcn), true),
        ("30 layers gat", convolution(LayerKind::Gat), true),
    ]
}

/// Operations of the matrix products that the states need in 30 steps, padding and what the inputs need left out.
fn operations(config: &BlockConfig, nodes: usize, edges: usize, weighted: bool) -> f64 {
    let (hidden, message) = (config.hidden_width(), config.message_width());
    let shared = config.layer.kind == LayerKind::PathSim && !weighted;
    let ends = if config.uses_receiver() { 2 } else { 1 };
    let second = match config.is_convolution() {
        true => 0,
        false => (if shared { nodes } else { edges }) * message * hidden,
    };
    2.0 * 30.0 * (nodes * hidden * message * ends + second) as f64
}

fn main() {
    // As with other benches, an argument that is not an option selects cases by name.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let runs = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(30);
    let mut random = Random(7);
    let families = [("lobster", Graphs::lobsters(&mut random, 32)), ("er", Graphs::erdos_renyi(&mut random, 32))];
    let engine = match Engine::new() {
        Ok(engine) => engine,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    let peak = engine.peak_gflops();
    let (isa, best) = (engine.isa(), Isa::best());
    println!("instruction set {isa:?}, best of this processor {best:?}, {peak:.0} GFLOP/s per thread, {runs} runs");
    println!(
        "{:<52} {:>15} {:>15} {:>15} {:>15} {:>11} {:>10}",
        "ms: least / median", "forward cpu", "backward cpu", "wall 1", "wall 2", "of peak", "changed"
    );
    for (family, graphs) in &families {
        println!("{family}: {} nodes, {} edges", graphs.receiver_offsets.len() - 1, graphs.senders.len());
    }
    let pools: Vec<_> =
        (1..=2).filter_map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()).collect();
    for (family, graphs, growing) in
        families.iter().flat_map(|(name, graphs)| [(name, graphs, true), (name, graphs, false)])
    {
        for (name, layer, weighted) in rows() {
            let name = format!("{family} {name}, {}", if growing { "growing" } else { "random" });
            let is_stack = matches!(layer.kind, LayerKind::Gcn | LayerKind::Gat);
            // Nothing of a convolution can be skipped, and thirty of them with growing weights overflow.
            if !name.contains(&filter) || (is_stack && growing) {
                continue;
            }
            let iterative = ControllerConfig::iter_decay().with_iter(|iter| iter.confidence_bias = Some(true));
            let config =
                BlockConfig { layer, controller: if is_stack { ControllerConfig::stack(30) } else { iterative } };
            let (nodes, edges) = (graphs.receiver_offsets.len() - 1, graphs.senders.len());
            let layout = ParameterLayout::new(&config);
            let mut parameters = vec![0.0; layout.len()];
            for slot in layout.slots() {
                let values = &mut parameters[slot.range()];
                let rows = slot.rows as f32;
                let mut draw = || {
                    if growing { 2.2 * random.unit() / rows } else { (2.0 * random.unit() - 1.0) / rows.sqrt() }
                };
                values.iter_mut().for_each(|value| *value = draw());
                match slot.kind {
                    ParameterKind::ConfidenceWeight => values.fill(1e-3),
                    ParameterKind::ConfidenceBias => values.fill(-8.0),
                    _ => (),
                }
            }
            let node_inputs: Vec<f32> = (0..nodes * 3).map(|index| f32::from(u8::from(index % 3 == 2))).collect();
            let hidden: Vec<f32> = (0..nodes * 64).map(|_| random.unit() - 0.5).collect();
            let edge_features: Vec<f32> =
                (0..edges).map(|_| if weighted { 0.5 + random.unit() } else { 1.0 }).collect();
            let gradient: Vec<f32> = (0..nodes * 64).map(|_| random.unit() - 0.5).collect();
            let batch =
                BatchView::new(&graphs.node_offsets, &graphs.edge_offsets, &graphs.senders, &graphs.receiver_offsets);
            let inputs = BlockInputs {
                batch,
                node_inputs: &node_inputs,
                hidden: &hidden,
                edge_features: &edge_features,
                parameters: &parameters,
            };
            let given = OutputGradients { output: &gradient, unspent: None };
            let run_forward = || forward(engine, &config, &inputs, Wanted::default()).expect("finite numbers");
            let step = || {
                let (output, tape) = run_forward();
                backward(engine, &inputs, &output, &tape, &given).expect("finite numbers");
            };
            let (output, tape) = run_forward();
            assert!(output.stops.steps.iter().all(|&steps| steps == 30), "the confidences stopped a graph");
            // The output of a controller that does not weigh its steps is the last state.
            let last_state = |steps| {
                let controller =
                    if is_stack { ControllerConfig::stack(steps) } else { ControllerConfig::shared(steps) };
                let config = BlockConfig { controller, ..config };
                let parameters = &parameters[..ParameterLayout::new(&config).len()];
                infer(engine, &config, &BlockInputs { parameters, ..inputs }).expect("finite numbers").output
            };
            let (last, before) = (last_state(30), last_state(29));
            let changed = last.iter().zip(&before).filter(|(last, before)| last != before).count();
            let (there, back) = pools[0].install(|| {
                let there = measure(runs, thread_time, || {
                    run_forward();
                });
                let back = measure(runs, thread_time, || {
                    backward(engine, &inputs, &output, &tape, &given).expect("finite numbers");
                });
                (there, back)
            });
            let start = Instant::now();
            let walls: Vec<_> =
                pools.iter().map(|pool| pool.install(|| measure(runs, || start.elapsed(), step))).collect();
            let cell = |(least, median): (f64, f64)| format!("{least:>6.2} /{median:>6.2}");
            println!(
                "{:<52} {:>15} {:>15} {:>15} {:>15} {:>10.0}% {:>9.0}%",
                name,
                cell(there),
                cell(back),
                cell(walls[0]),
                cell(walls[1]),
                100.0 * operations(&config, nodes, edges, weighted) / (there.0 * 1e6 * peak),
                100.0 * changed as f32 / hidden.len() as f32
            );
        }
    }
}
