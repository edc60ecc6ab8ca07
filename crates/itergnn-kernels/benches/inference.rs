//! Inference on one large graph: path-sim, maximum, hidden 64, an iterative controller.
//!
//! - `dense`: time per iteration on lobsters whose states grow at every step, all nodes computed; and the same by the
//!   active strategy, which shows from which share of active nodes on dense is the better choice.
//! - `bellman-ford`: hand-set weights on a line of a million nodes, source and target 100,000 apart, from the first
//!   iteration to the answer.
//!
//! Least wall time of a few runs, on one thread and on two. An argument selects rows by a part of their name.

#![allow(clippy::print_stdout)]

mod measure;

use std::time::Instant;

use itergnn_kernels::block::*;
use itergnn_kernels::settings::*;
use measure::{Random, peak_memory};

/// A graph with its numbers.
struct Case {
    receiver_offsets: Vec<u32>,
    senders: Vec<u32>,
    node_inputs: Vec<f32>,
    hidden: Vec<f32>,
    edge_features: Vec<f32>,
    parameters: Vec<f32>,
}

impl Case {
    fn infer(&self, config: &BlockConfig, strategy: Strategy) -> BlockOutput<f32> {
        let (nodes, edges) = ([0, self.nodes() as u32], [0, self.senders.len() as u32]);
        let inputs = BlockInputs {
            batch: BatchView::new(&nodes, &edges, &self.senders, &self.receiver_offsets),
            node_inputs: &self.node_inputs,
            hidden: &self.hidden,
            edge_features: &self.edge_features,
            parameters: &self.parameters,
        };
        let engine = Engine::new().expect("a usable instruction set");
        infer_with(engine, config, &inputs, strategy).expect("finite numbers")
    }

    fn nodes(&self) -> usize {
        self.receiver_offsets.len() - 1
    }
}

fn config(iterative: IterConfig) -> BlockConfig {
    let layer =
        LayerConfig::new(LayerKind::PathSim, 3, 64, 1).with_aggregation(Aggregation::Max).with_homogeneous(true);
    BlockConfig { layer, controller: ControllerConfig::Iter(iterative) }
}

fn by_receiver(nodes: usize, links: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let mut edges: Vec<(u32, u32)> = links.iter().flat_map(|&(a, b)| [(b, a), (a, b)]).collect();
    edges.sort_unstable();
    let mut offsets = vec![0; nodes + 1];
    edges.iter().for_each(|edge| offsets[edge.0 as usize + 1] += 1);
    (0..nodes).for_each(|node| offsets[node + 1] += offsets[node]);
    (offsets, edges.into_iter().map(|edge| edge.1).collect())
}

/// A line, then leaves on it, then leaves on these, numbered in this order: neighbours are far apart in memory until
/// they are reordered.
fn lobster(line: usize, random: &mut Random) -> (Vec<u32>, Vec<u32>) {
    let mut links: Vec<(u32, u32)> = (1..line as u32).map(|node| (node - 1, node)).collect();
    let first = line / 5;
    links.extend((0..first).map(|leaf| (random.below(line) as u32, (line + leaf) as u32)));
    let second = first / 5;
    links.extend((0..second).map(|leaf| ((line + random.below(first)) as u32, (line + first + leaf) as u32)));
    by_receiver(line + first + second, &links)
}

/// A lobster with weights that raise every state at every step.
fn growing(line: usize, weighted: bool, config: &BlockConfig) -> Case {
    let mut random = Random(3);
    let (receiver_offsets, senders) = lobster(line, &mut random);
    let nodes = receiver_offsets.len() - 1;
    let layout = ParameterLayout::new(config);
    let mut parameters = vec![0.0; layout.len()];
    for slot in layout.slots() {
        // A confidence of about 0.007, so that weight is given all the time.
        let scale = if slot.kind == ParameterKind::ConfidenceWeight { 0.0 } else { 2.1 / slot.rows as f32 };
        parameters[slot.range()].iter_mut().for_each(|value| *value = scale * random.unit());
        if slot.kind == ParameterKind::ConfidenceBias {
            parameters[slot.offset] = -5.0;
        }
    }
    Case {
        node_inputs: (0..nodes * 3).map(|index| f32::from(u8::from(index % 3 == 2))).collect(),
        hidden: (0..nodes * 64).map(|_| random.unit() - 0.5).collect(),
        edge_features: (0..senders.len()).map(|_| if weighted { 0.5 + random.unit() } else { 1.0 }).collect(),
        receiver_offsets,
        senders,
        parameters,
    }
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

fn seconds(repetitions: usize, run: impl Fn()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..repetitions).map(time).fold(f64::INFINITY, f64::min)
}

/// Seconds per iteration, the difference of two lengths, which takes preparation out.
fn seconds_per_iteration(case: &Case, iterative: IterConfig, strategy: Strategy, threads: usize) -> f64 {
    let most = (2_000_000 / case.nodes()).clamp(6, 60);
    let repetitions = if case.nodes() > 100_000 { 3 } else { 10 };
    let run = |training_cap| {
        let config = config(IterConfig { training_cap, ..iterative });
        seconds(repetitions, || drop(case.infer(&config, strategy)))
    };
    on_threads(threads, || run(most) - run(1)) / (most - 1) as f64
}

fn dense(filter: &str) {
    let iterative = IterConfig { epsilon: 0.0, decay: 0.9999, confidence_bias: Some(true), ..IterConfig::default() };
    for line in [5_000, 50_000, 806_500] {
        for weighted in [false, true] {
            let name = format!("dense lobster {line} {}", if weighted { "weighted" } else { "unweighted" });
            if !name.contains(filter) {
                continue;
            }
            let case = growing(line, weighted, &config(iterative));
            let (nodes, edges) = (case.nodes(), case.senders.len());
            for (threads, strategy) in [(1, Strategy::Dense), (2, Strategy::Dense), (2, Strategy::Active)] {
                let seconds = seconds_per_iteration(&case, iterative, strategy, threads);
                println!(
                    "{name}: {nodes} nodes, {edges} edges, {threads} threads, {strategy:?}: {:.3} ms per iteration, {:.1} M edges/s, peak memory so far {} MiB",
                    1e3 * seconds,
                    edges as f64 / seconds / 1e6,
                    peak_memory() >> 20
                );
            }
        }
    }
}

/// A number above every distance.
const CEILING: f32 = 262_144.0;

/// Two waves on a line: channels 0 and 1 hold `CEILING - distance` from source and target, channel 2 that of the whole
/// way once they meet, which also ends the iteration.
fn two_waves(nodes: usize, apart: usize, weight: impl Fn(usize) -> f32) -> (BlockConfig, Case) {
    let iterative = IterConfig { training_cap: 1_000_000, confidence_bias: Some(true), ..IterConfig::default() };
    let config = config(iterative);
    let layout = ParameterLayout::new(&config);
    let mut parameters = vec![0.0; layout.len()];
    let mut set = |kind, row: usize, column: usize, value: f32| {
        let slot = layout.slots().iter().find(|slot| slot.kind == kind).expect("the configuration has it");
        parameters[slot.offset + row * slot.columns + column] = value;
    };
    let (inputs, edge) = (3, 3 + 64);
    for channel in 0..2 {
        set(ParameterKind::FirstWeight, inputs + channel, channel, 1.0);
        set(ParameterKind::FirstWeight, edge, channel, -1.0);
        set(ParameterKind::FirstWeight, inputs + channel, 2, 1.0);
        set(ParameterKind::SecondWeight, channel, channel, 1.0);
    }
    (0..3).for_each(|input| set(ParameterKind::FirstWeight, input, 2, -CEILING));
    set(ParameterKind::SecondWeight, 2, 2, 1.0);
    set(ParameterKind::ConfidenceWeight, 2, 0, 1.0);
    set(ParameterKind::ConfidenceBias, 0, 0, -40.0);
    let links: Vec<(u32, u32)> = (1..nodes as u32).map(|node| (node - 1, node)).collect();
    let (receiver_offsets, senders) = by_receiver(nodes, &links);
    let ends = [(nodes - apart) / 2, (nodes + apart) / 2];
    let mut case = Case {
        node_inputs: [0.0, 0.0, 1.0].repeat(nodes),
        hidden: vec![0.0; nodes * 64],
        edge_features: Vec::with_capacity(senders.len()),
        receiver_offsets,
        senders,
        parameters,
    };
    for (channel, &node) in ends.iter().enumerate() {
        case.node_inputs[node * 3..][..3].fill(0.0);
        case.node_inputs[node * 3 + channel] = 1.0;
        case.hidden[node * 64 + channel] = CEILING;
    }
    for receiver in 0..nodes {
        for edge in case.receiver_offsets[receiver]..case.receiver_offsets[receiver + 1] {
            case.edge_features.push(weight(receiver.min(case.senders[edge as usize] as usize)));
        }
    }
    (config, case)
}

fn bellman_ford(filter: &str) {
    let (nodes, apart) = (1_000_000, 100_000);
    // Multiples of 1/32, whose sums single precision holds exactly here.
    for weighted in [false, true] {
        let kind = if weighted { "weighted" } else { "unweighted" };
        let weight = |link: usize| if weighted { 0.5 + (link * 7 % 32) as f32 / 32.0 } else { 1.0 };
        let name = format!("bellman-ford line {nodes} {kind}");
        if !name.contains(filter) {
            continue;
        }
        let (config, case) = two_waves(nodes, apart, weight);
        let expected: f32 = ((nodes - apart) / 2..(nodes + apart) / 2).map(weight).sum();
        let iterative = *config.iterative().expect("it is iterative");
        for threads in [1, 2] {
            let dense =
                seconds_per_iteration(&case, IterConfig { epsilon: 0.0, ..iterative }, Strategy::Dense, threads);
            let answer = on_threads(threads, || case.infer(&config, Strategy::Automatic));
            let length = CEILING - answer.output.iter().skip(2).step_by(64).copied().fold(0.0, f32::max);
            let total = on_threads(threads, || seconds(3, || drop(case.infer(&config, Strategy::Automatic))));
            println!(
                "{name}, {threads} threads: {:.1} ms for {} iterations, {:.2} dense iterations of {:.1} ms; length {length}, exact {expected}, mean active share {:.2e}",
                1e3 * total,
                answer.stops.steps[0],
                total / dense,
                1e3 * dense,
                answer.mean_active_share(0)
            );
        }
        println!("peak memory of the process so far: {} MiB", peak_memory() >> 20);
    }
}

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    println!("instruction set {:?}", Engine::new().expect("a usable instruction set").isa());
    dense(&filter);
    bellman_ford(&filter);
}
