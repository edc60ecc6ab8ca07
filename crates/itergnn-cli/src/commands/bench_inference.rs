//! The part of `itergnn bench` about predictions for one large graph, with weights set by hand so that the work is
//! known.

use std::time::Instant;

use itergnn::{
    graph::{Attributes, Graph},
    nn::{
        ControllerConfig, Device, GnnConfig, GnnModel, GraphModelConfig, InitRng, LayerKind, Prior, RunOptions,
        TaskWidths, layers::Aggregation, named_tensors, replace_tensors,
    },
    train::{
        CardPredictor, TrainError,
        evaluation::{ModelPredictor, Predictor},
    },
};

use super::bench::Measurement;

/// Nodes on the lines of the lobsters: 6,200 and a million nodes with their leaves.
const LINE: usize = 5000;
const LARGE_LINE: usize = 806_500;

/// Iterations that are timed on a card, where they take a fraction of what the transfer of the graph takes.
const CARD_ITERATIONS: usize = 200;

/// Line and distance of the run to the answer.
const WAVE_NODES: usize = 1_000_000;
const WAVE_DISTANCE: usize = 100_000;
/// Above every distance, and a power of two.
const CEILING: f32 = 262_144.0;

/// Every state changes at every iteration; then, if `large` graphs are asked for, a million nodes and the run to an
/// exact answer.
pub(super) fn measurements(large: bool) -> Result<Vec<Measurement>, TrainError> {
    let mut results = vec![dense(LINE, false)?, dense(LINE, true)?];
    if large {
        results.extend([dense(LARGE_LINE, false)?, waves()?]);
    }
    Ok(results)
}

/// An iteration of the same on the card, weighted.
pub(super) fn on_card(large: bool) -> Result<Vec<Measurement>, TrainError> {
    let lines = if large { &[LINE, LARGE_LINE][..] } else { &[LINE] };
    let predictor = CardPredictor::new(&growing()?)?;
    lines.iter().map(|&line| iteration(&predictor, line, true, CARD_ITERATIONS)).collect()
}

fn dense(line: usize, weighted: bool) -> Result<Measurement, TrainError> {
    let predictor = ModelPredictor::new(&growing()?, &Device::flex());
    iteration(&predictor, line, weighted, (2_000_000 / line).clamp(6, 60))
}

/// Wall time of an iteration in which all nodes are computed: the difference of two lengths, which leaves embedding and
/// readout out.
fn iteration(predictor: &dyn Predictor, line: usize, weighted: bool, most: usize) -> Result<Measurement, TrainError> {
    let graph = lobster(line, weighted)?;
    let least = |cap: usize| -> Result<f64, TrainError> {
        let mut least = f64::INFINITY;
        for _ in 0..4 {
            least = least.min(seconds(predictor, &graph, cap)?);
        }
        Ok(least)
    };
    let iteration = (least(most)? - least(1)?).max(f64::MIN_POSITIVE) / (most - 1) as f64;
    let kind = if weighted { "weighted" } else { "unweighted" };
    Ok(Measurement {
        name: format!("inference/lobster-{line}/path-sim-max/{kind}/dense, an iteration"),
        edges_per_s: Some(graph.edges() as f64 / iteration),
        ms: 1e3 * iteration,
        peak_mib: peak_memory(),
        ..Measurement::default()
    })
}

/// From the first iteration to the exact answer, on a line of a million nodes whose ends are 100,000 apart.
fn waves() -> Result<Measurement, TrainError> {
    let ends = [(WAVE_NODES - WAVE_DISTANCE) / 2, (WAVE_NODES + WAVE_DISTANCE) / 2];
    let links: Vec<[u32; 2]> = (1..WAVE_NODES as u32).map(|node| [node - 1, node]).collect();
    let mut nodes = [0.0, 0.0, 1.0].repeat(WAVE_NODES);
    for (kind, end) in ends.into_iter().enumerate() {
        nodes[end * 3..][..3].fill(0.0);
        nodes[end * 3 + kind] = 1.0;
    }
    let graph = Graph::undirected(WAVE_NODES, &links)?;
    let ones = vec![1.0; graph.edges()];
    let graph =
        graph.with_node_attributes(Attributes::new(3, nodes))?.with_edge_attributes(Attributes::new(1, ones))?;
    let predictor = ModelPredictor::new(&two_waves()?, &Device::flex());
    let started = Instant::now();
    let predicted = predictor.predict(&[&graph], &RunOptions::inference())?;
    let ms = 1e3 * started.elapsed().as_secs_f64();
    Ok(Measurement {
        name: format!("inference/line-{WAVE_NODES}/bellman-ford, {} iterations", predicted.loops.iterations[0]),
        answer: Some(f64::from(predicted.values[0][0])),
        ms,
        peak_mib: peak_memory(),
        ..Measurement::default()
    })
}

fn seconds(predictor: &dyn Predictor, graph: &Graph, cap: usize) -> Result<f64, TrainError> {
    let started = Instant::now();
    predictor.predict(&[graph], &RunOptions::inference().with_cap(cap))?;
    Ok(started.elapsed().as_secs_f64())
}

/// A line with leaves, and leaves on these, that lie far from it in memory; no two nodes are alike, so that none can
/// stand for another.
fn lobster(line: usize, weighted: bool) -> Result<Graph, TrainError> {
    /// A prime, so that leaves are spread over the line.
    const STRIDE: usize = 7919;
    let (first, second) = (line / 5, line / 25);
    let mut links: Vec<[u32; 2]> = (1..line as u32).map(|node| [node - 1, node]).collect();
    links.extend((0..first).map(|leaf| [(leaf * STRIDE % line) as u32, (line + leaf) as u32]));
    links.extend((0..second).map(|leaf| [(line + leaf * STRIDE % first) as u32, (line + first + leaf) as u32]));
    let nodes = line + first + second;
    let mut rng = InitRng::new(0);
    let attributes = (0..3 * nodes).map(|_| rng.symmetric(1.0)).collect();
    let graph = Graph::undirected(nodes, &links)?;
    let weights = (0..graph.edges()).map(|_| if weighted { 1.0 + rng.symmetric(0.5) } else { 1.0 }).collect();
    Ok(graph.with_node_attributes(Attributes::new(3, attributes))?.with_edge_attributes(Attributes::new(1, weights))?)
}

fn untrained() -> Result<GnnModel, TrainError> {
    let task = TaskWidths::graph(3, 1, 1);
    let config =
        GraphModelConfig::new(&task, Prior::Core, LayerKind::PathSim, Aggregation::Max, ControllerConfig::iter());
    Ok(GnnConfig::Graph(config).init(&Device::flex(), &mut InitRng::new(0))?)
}

/// A model whose states grow by a tenth a step, and that is never sure.
fn growing() -> Result<GnnModel, TrainError> {
    let model = untrained()?;
    let mut rng = InitRng::new(1);
    let mut tensors = named_tensors(&model);
    for (name, tensor) in &mut tensors {
        let rows = tensor.shape[0] as f64;
        if name.contains("message") {
            tensor.values.iter_mut().for_each(|value| *value = 1.05 / rows * f64::from(1.0 + rng.symmetric(1.0)));
        } else if name.contains("confidence") {
            tensor.values.fill(if name.contains("bias") { -5.0 } else { 0.0 });
        }
    }
    Ok(replace_tensors(model, &tensors))
}

/// A model that sends a wave from source and from target and tells the length of the way when they meet: channels 0 and
/// 1 hold the ceiling less the distances, channel 2 the ceiling less their sum where both are known, channel 3 the
/// ceiling.
fn two_waves() -> Result<GnnModel, TrainError> {
    let model = untrained()?;
    let (hidden, edge) = (3, 3 + 64);
    let mut tensors = named_tensors(&model);
    for (name, tensor) in &mut tensors {
        tensor.values.fill(0.0);
        let columns = *tensor.shape.last().unwrap_or(&1);
        let mut set = |row: usize, column: usize, value: f32| tensor.values[row * columns + column] = value.into();
        let is = |part: &str, end: &str| name.contains(part) && name.ends_with(end);
        if is("embedding", "layers.0.weight") {
            (0..3).for_each(|input| set(input, input, 1.0));
        } else if is("embedding", "layers.1.weight") {
            (0..2).for_each(|channel| set(channel, channel, CEILING));
            (0..3).for_each(|input| set(input, 3, CEILING));
        } else if is("message", "layers.0.weight") {
            for channel in 0..2 {
                set(hidden + channel, channel, 1.0);
                set(edge, channel, -1.0);
                set(hidden + channel, 2, 1.0);
            }
            (0..3).for_each(|input| set(input, 2, -CEILING));
        } else if is("message", "layers.1.weight") {
            (0..3).for_each(|channel| set(channel, channel, 1.0));
        } else if is("confidence", "weight") {
            set(2, 0, 1.0);
        } else if is("confidence", "bias") {
            set(0, 0, -40.0);
        } else if is("head", "weight") {
            set(2, 0, -1.0);
            set(3, 0, 1.0);
        }
    }
    Ok(replace_tensors(model, &tensors))
}

/// Most memory of the process so far in MiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}
