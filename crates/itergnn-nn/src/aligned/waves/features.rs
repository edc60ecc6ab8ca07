//! What the head of a wave model reads, on the host.

use std::collections::BTreeSet;

use super::spread::{Leaving, Settled};
use super::{Scaling, WaveConfig};
use crate::controllers::{SAFETY_CAP, Trace, TraceStep};
use crate::{GraphTensors, ReadoutKind};

/// Waves of a batch.
pub(super) struct Observed {
    /// What nodes see, `[nodes, local width]`.
    pub(super) local: Vec<f64>,
    /// Every channel.
    pub(super) waves: Vec<Settled>,
    /// Steps that every graph needed, the last of which changed nothing.
    pub(super) steps: Vec<usize>,
    /// Whether a cap ended the waves of a graph on their way.
    pub(super) capped: Vec<bool>,
    pub(super) trace: Option<Trace>,
}

/// What one step did to a graph.
#[derive(Debug, Clone, Default)]
struct Change {
    largest: f64,
    nodes: BTreeSet<u32>,
}

/// The input of the head, row by row.
pub(super) struct Rows {
    pub(super) features: Vec<Vec<f64>>,
    /// Origins, `[channels]` a row.
    pub(super) origins: Vec<Vec<f64>>,
}

/// Attributes of nodes, and the largest and smallest of those of their incoming edges (0 without any).
pub(super) fn local(config: &WaveConfig, graph: &GraphTensors) -> Vec<f64> {
    let numbers = |tensor: burn::tensor::Tensor<2>| -> Vec<f64> {
        tensor.detach().try_into_vec_as().expect("the device gives its tensors back")
    };
    let (nodes, width) = (numbers(graph.node_attributes()), config.edge_width);
    let edges = if width == 0 { Vec::new() } else { numbers(graph.edge_attributes()) };
    let mut local = Vec::with_capacity(graph.nodes() * config.local_width());
    for (node, incoming) in nodes.chunks_exact(config.node_width).zip(graph.incoming().iter()) {
        local.extend_from_slice(node);
        for pick in [f64::max, f64::min] {
            let column =
                |column| edges[incoming.start * width..incoming.end * width].iter().skip(column).step_by(width);
            local.extend((0..width).map(|at| column(at).copied().reduce(pick).unwrap_or(0.0)));
        }
    }
    local
}

/// `s`, channel by channel.
pub(super) fn strengths(start: &[f64], local: &[f64], width: usize) -> Vec<Vec<f64>> {
    let strength = |row: &[f64], node: &[f64]| row.iter().zip(node).map(|(weight, value)| weight * value).sum();
    start.chunks_exact(width).map(|row| local.chunks_exact(width).map(|node| strength(row, node)).collect()).collect()
}

impl Observed {
    /// Lets the waves run until they settle or for `cap` steps.
    pub(super) fn new(
        config: &WaveConfig,
        start: &[f64],
        graph: &GraphTensors,
        cap: Option<usize>,
        trace: bool,
    ) -> Self {
        let local = local(config, graph);
        let strengths = strengths(start, &local, config.local_width());
        let leaving = Leaving::new(graph);
        let mut waves: Vec<Settled> = strengths.iter().map(|strength| leaving.settle(strength)).collect();
        let needed: Vec<usize> = graph
            .node_segments()
            .iter()
            // One more than the last that changed anything; none for a graph without nodes.
            .map(|nodes| {
                waves.iter().flat_map(|wave| &wave.steps[nodes.clone()]).max().map_or(0, |&steps| 1 + steps as usize)
            })
            .collect();
        // No wave needs more steps than there are nodes, so without a cap all settle.
        let cap = cap.unwrap_or(SAFETY_CAP.max(graph.nodes() + 1));
        let largest = needed.iter().copied().max().unwrap_or(0);
        let mut changes = vec![Vec::new(); if trace { graph.graphs() } else { 0 }];
        if largest > cap || trace {
            let owner = graph.node_segments().ids();
            let mut watch = |step: usize, node: u32, gain: f64| {
                let Some(changes) = changes.get_mut(owner[node as usize] as usize) else { return };
                let changes: &mut Vec<Change> = changes;
                changes.resize(changes.len().max(step), Change::default());
                let change = &mut changes[step - 1];
                change.largest = change.largest.max(gain);
                change.nodes.insert(node);
            };
            waves = strengths.iter().map(|strength| leaving.advance(strength, cap, &mut watch)).collect();
        }
        let capped: Vec<bool> = needed.iter().map(|&steps| steps > cap).collect();
        let steps: Vec<usize> = needed.into_iter().map(|steps| steps.min(cap)).collect();
        let sizes: Vec<usize> = graph.node_segments().iter().map(|nodes| nodes.len()).collect();
        let trace = trace.then(|| traced(&changes, &sizes, &steps, &capped));
        Self { local, waves, steps, capped, trace }
    }

    /// What the head reads of every graph, or of every node.
    pub(super) fn rows(&self, config: &WaveConfig, start: &[f64], graph: &GraphTensors) -> Rows {
        let (width, channels) = (config.local_width(), config.channels);
        let strengths = match config.scaling {
            Scaling::Proportional => strengths(start, &self.local, width),
            Scaling::Invariant => Vec::new(),
        };
        let is_origin = |wave: &Settled, node: usize| f64::from(u8::from(wave.steps[node] == 0));
        let origins = |node: usize| self.waves.iter().map(move |wave| is_origin(wave, node)).collect::<Vec<f64>>();
        let features = |node: usize| -> Vec<f64> {
            match config.scaling {
                Scaling::Proportional => {
                    let taken = self.waves.iter().zip(&strengths);
                    let taken = taken.map(|(wave, strength)| strength[wave.origins[node] as usize]);
                    self.local[node * width..(node + 1) * width].iter().copied().chain(taken).collect()
                }
                Scaling::Invariant => {
                    let steps = self.waves.iter().map(|wave| f64::from(wave.steps[node]));
                    [1.0, 1.0].into_iter().chain(origins(node)).chain(steps).collect()
                }
            }
        };
        if config.readout == ReadoutKind::Node {
            let nodes = 0..graph.nodes();
            return Rows { features: nodes.clone().map(features).collect(), origins: nodes.map(origins).collect() };
        }
        let pool = |width: usize, of: &dyn Fn(usize) -> Vec<f64>, nodes: std::ops::Range<usize>| -> Vec<f64> {
            let mut pooled: Option<Vec<f64>> = None;
            for node in nodes {
                let row = of(node);
                match &mut pooled {
                    None => pooled = Some(row),
                    Some(pooled) if config.readout == ReadoutKind::Sum => {
                        pooled.iter_mut().zip(row).for_each(|(pooled, value)| *pooled += value);
                    }
                    Some(pooled) => pooled.iter_mut().zip(row).for_each(|(pooled, value)| *pooled = pooled.max(value)),
                }
            }
            pooled.unwrap_or(vec![0.0; width])
        };
        let mut rows = Rows { features: Vec::new(), origins: Vec::new() };
        for nodes in graph.node_segments().iter() {
            let mut row = pool(config.feature_width(), &features, nodes.clone());
            if config.scaling == Scaling::Invariant {
                // The first one is the same for every graph, whatever its nodes.
                row[0] = 1.0;
            }
            rows.features.push(row);
            rows.origins.push(pool(channels, &origins, nodes));
        }
        rows
    }
}

/// The largest change of every step and graph, and whether it was the last.
fn traced(changes: &[Vec<Change>], sizes: &[usize], steps: &[usize], capped: &[bool]) -> Trace {
    let last = steps.iter().copied().max().unwrap_or(0);
    let line = |step: usize| {
        let graphs: Vec<usize> = (0..steps.len()).filter(|&graph| step <= steps[graph]).collect();
        let of = |graph: usize| changes[graph].get(step - 1);
        let share = |graph: usize| of(graph).map_or(0.0, |change| change.nodes.len() as f64 / sizes[graph] as f64);
        let stops = |&graph: &usize| f64::from(u8::from(step == steps[graph] && !capped[graph]));
        TraceStep {
            step,
            change: graphs.iter().map(|&graph| of(graph).map_or(0.0, |change| change.largest)).collect(),
            changed: graphs.iter().map(|&graph| share(graph)).collect(),
            confidence: graphs.iter().map(stops).collect(),
            remaining: graphs.iter().map(|graph| 1.0 - stops(graph)).collect(),
            elements: graphs.clone(),
            graphs,
            nodes: None,
        }
    };
    Trace { steps: (1..=last).map(line).collect() }
}
