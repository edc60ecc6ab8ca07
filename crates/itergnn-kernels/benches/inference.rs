//! Time per iteration of a block on one large lobster, without a tape: path-sim max, hidden 64. Thread-CPU time of one thread, wall time of two.
//!
//! `growing` weights change every state at every step (dense); `random` ones let states settle, so that most edges are skipped.

#![allow(clippy::print_stdout)]

mod measure;

use std::time::{Duration, Instant};

use itergnn_kernels::block::*;
use measure::{Random, thread_time};

/// A line of `line` nodes; each leaf hangs beside the node it is attached to, so that neighbours are close in memory.
fn lobster(line: usize, random: &mut Random) -> (Vec<u32>, Vec<u32>) {
    let mut links = Vec::new();
    let (mut nodes, mut last) = (0_u32, None);
    for _ in 0..line {
        let centre = nodes;
        nodes += 1;
        links.extend(last.map(|last| (last, centre)));
        if random.unit() < 0.2 {
            links.push((centre, nodes));
            nodes += 1;
            if random.unit() < 0.2 {
                links.push((nodes - 1, nodes));
                nodes += 1;
            }
        }
        last = Some(centre);
    }
    let mut edges: Vec<(u32, u32)> = links.iter().flat_map(|&(a, b)| [(b, a), (a, b)]).collect();
    edges.sort_unstable();
    let mut offsets = vec![0];
    offsets.extend((0..nodes).map(|node| edges.partition_point(|edge| edge.0 <= node) as u32));
    (offsets, edges.into_iter().map(|edge| edge.1).collect())
}

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let engine = Engine::new().expect("a usable instruction set");
    println!("instruction set {:?}", engine.isa());
    for line in [5_000, 50_000, 800_000] {
        for (growing, weighted) in [(true, true), (true, false), (false, true)] {
            let kind = if growing { "growing" } else { "random" };
            let name = format!("lobster {line} {kind} {}", if weighted { "weighted" } else { "unweighted" });
            if !name.contains(&filter) {
                continue;
            }
            let mut random = Random(3);
            let (receiver_offsets, senders) = lobster(line, &mut random);
            let (nodes, edges) = (receiver_offsets.len() - 1, senders.len());
            let config = |iterations| BlockConfig {
                layer: LayerKind::PathSim,
                aggregation: Aggregation::Max,
                controller: Controller::Shared { iterations },
                biased: false,
                input_width: 3,
                hidden_width: 64,
                edge_width: 1,
            };
            let layout = ParameterLayout::new(&config(1));
            let mut parameters = vec![0.0; layout.len()];
            for slot in layout.slots() {
                let rows = slot.rows as f32;
                parameters[slot.range()].iter_mut().for_each(|value| {
                    *value =
                        if growing { 2.1 * random.unit() / rows } else { (2.0 * random.unit() - 1.0) / rows.sqrt() }
                });
            }
            let node_inputs: Vec<f32> = (0..nodes * 3).map(|index| f32::from(u8::from(index % 3 == 2))).collect();
            let hidden: Vec<f32> = (0..nodes * 64).map(|_| random.unit() - 0.5).collect();
            let edge_features: Vec<f32> =
                (0..edges).map(|_| if weighted { 0.5 + random.unit() } else { 1.0 }).collect();
            let inputs = BlockInputs {
                batch: BatchView {
                    node_offsets: &[0, nodes as u32],
                    edge_offsets: &[0, edges as u32],
                    senders: &senders,
                    receiver_offsets: &receiver_offsets,
                },
                node_inputs: &node_inputs,
                hidden: &hidden,
                edge_features: &edge_features,
                parameters: &parameters,
            };
            // The difference of two lengths takes preparation out.
            let most = (2_000_000 / nodes).clamp(6, 60);
            let start = Instant::now();
            let wall = || start.elapsed();
            let clocks: [(usize, &str, &(dyn Fn() -> Duration + Sync)); 2] =
                [(1, "thread-CPU", &thread_time), (2, "wall", &wall)];
            for (threads, clock, now) in clocks {
                let time = |iterations| {
                    let run = |_| {
                        let start = now();
                        infer(engine, &config(iterations), &inputs).expect("finite numbers");
                        (now() - start).as_secs_f64()
                    };
                    (0..4).map(run).fold(f64::INFINITY, f64::min)
                };
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let seconds = pool.install(|| time(most) - time(1)) / (most - 1) as f64;
                println!(
                    "{name}: {nodes} nodes, {edges} edges, {threads} threads: {:.3} ms {clock} an iteration, {:.1} M edges/s",
                    1e3 * seconds,
                    edges as f64 / seconds / 1e6
                );
            }
        }
    }
}
