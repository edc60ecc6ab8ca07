//! The numbers of a model as its formulas use them, on the host.

use std::ops::Range;

use super::gate::GateRule;
use super::model::{ABSENT, FLOOR, MaxPlusModel};
use crate::aligned::parameter::host;
use crate::{GraphTensors, ReadoutKind};

/// A hard confidence is `clip((1 + 2 STRETCH) sigmoid - STRETCH, 0, 1)`: exactly 0 and 1 beyond a logit of 3.
pub(super) const STRETCH: f64 = 0.05;

/// A model that only predicts: rows of numbers in double precision, channels that no prediction depends on left out.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) classes: usize,
    pub(super) gate: Option<GateRule>,
    pub(super) channels: usize,
    /// `[classes, channels]`.
    pub(super) start: Vec<f64>,
    /// What a unit of weight adds to each channel.
    pub(super) rates: Vec<f64>,
    /// The first channel that travels against the edges.
    pub(super) first_against: usize,
    /// `[heads, channels]`, not negative.
    pub(super) read: Vec<f64>,
    /// `[heads, outputs]`.
    pub(super) head: Vec<f64>,
    pub(super) outputs: usize,
    pub(super) readout: ReadoutKind,
    /// `[confidence heads, channels]`, not negative, zero for drifting channels.
    pub(super) confidence_read: Vec<f64>,
    pub(super) confidence_weight: Vec<f64>,
    pub(super) bias: f64,
    /// What the logit loses while anything changes.
    pub(super) changed: f64,
    pub(super) gain: f64,
    pub(super) hard: bool,
}

impl Rule {
    /// The rule of a model, with the channels that matter.
    pub(super) fn read(model: &MaxPlusModel) -> Self {
        let whole = Self::whole(model);
        // Whether anything changed is a question about all channels that ever do.
        let waits = whole.changed != 0.0;
        let counts = |&channel: &usize| if waits { !whole.is_silent(channel) } else { whole.is_read(channel) };
        let kept: Vec<usize> = (0..whole.channels).filter(counts).collect();
        whole.keep(&kept)
    }

    /// Whether the prediction or the stop depends on what a channel holds.
    pub(super) fn is_read(&self, channel: usize) -> bool {
        let used = |rows: &[f64], weights: &[f64]| {
            let width = weights.len() / (rows.len() / self.channels);
            rows.chunks_exact(self.channels)
                .zip(weights.chunks_exact(width))
                .any(|(row, weights)| row[channel] > 0.0 && weights.iter().any(|&weight| weight != 0.0))
        };
        used(&self.read, &self.head) || used(&self.confidence_read, &self.confidence_weight)
    }

    /// Whether a channel starts nowhere: then it never changes.
    fn is_silent(&self, channel: usize) -> bool {
        self.start.chunks_exact(self.channels).all(|class| class[channel] <= ABSENT / 2.0)
    }

    /// The rule of a model with all its channels.
    pub(super) fn whole(model: &MaxPlusModel) -> Self {
        let (config, stage) = (&model.config, model.stage());
        let (channels, classes) = (config.channels, config.node_width);
        let positive = |values: Vec<f64>| values.into_iter().map(|value| value.max(0.0)).collect::<Vec<_>>();
        let (drifting, absent) = (host(&model.drifting), host(&model.absent));
        let mut embedding = Self::embedding(model);
        if stage.hard {
            embedding.iter_mut().zip(absent).filter(|(_, absent)| *absent > 0.5).for_each(|(e, _)| *e = stage.level);
        }
        let start = (0..classes * channels).map(|at| embedding[at % channels * classes + at / channels]).collect();
        let mut confidence_read = positive(host(&model.confidence_read));
        for row in confidence_read.chunks_exact_mut(channels) {
            row.iter_mut().zip(&drifting).for_each(|(value, drifting)| *value *= 1.0 - drifting);
        }
        Self {
            classes,
            gate: model.gate.as_ref().map(|gate| GateRule::read(gate, stage)),
            channels,
            start,
            rates: host(&model.rate).iter().zip(&drifting).map(|(rate, drifting)| rate.min(0.0) * drifting).collect(),
            first_against: config.first_against(),
            read: positive(host(&model.read)),
            head: host(&model.head),
            outputs: config.output_width,
            readout: config.readout,
            confidence_read,
            confidence_weight: positive(host(&model.confidence_weight)),
            bias: host(&model.confidence_bias)[0],
            changed: if config.residual { host(&model.confidence_changed)[0] } else { 0.0 },
            gain: stage.gain,
            hard: stage.hard,
        }
    }

    /// `E` before hardening, `[channels, classes]`.
    pub(super) fn embedding(model: &MaxPlusModel) -> Vec<f64> {
        let mut embedding = host(&model.embedding);
        for row in embedding.chunks_exact_mut(model.config.node_width) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|entry| *entry = (*entry - largest).max(-FLOOR));
        }
        embedding
    }

    fn keep(self, kept: &[usize]) -> Self {
        let columns = |rows: &[f64]| -> Vec<f64> {
            rows.chunks_exact(self.channels).flat_map(|row| kept.iter().map(|&channel| row[channel])).collect()
        };
        Self {
            channels: kept.len(),
            start: columns(&self.start),
            rates: columns(&self.rates),
            first_against: kept.iter().filter(|&&channel| channel < self.first_against).count(),
            read: columns(&self.read),
            confidence_read: columns(&self.confidence_read),
            ..self
        }
    }

    /// `c` for the largest features of a graph (before they are divided by 100 and the scale).
    pub(super) fn confidence(&self, features: &[f64], scale: f64, changed: bool) -> f64 {
        let sum: f64 = features.iter().zip(&self.confidence_weight).map(|(feature, weight)| feature * weight).sum();
        let logit = sum / (FLOOR * scale) + self.bias - if changed { self.changed } else { 0.0 };
        let confidence = 1.0 / (1.0 + (-self.gain * logit).exp());
        if self.hard { ((1.0 + 2.0 * STRETCH) * confidence - STRETCH).clamp(0.0, 1.0) } else { confidence }
    }
}

/// The class of every node (the place of its largest attribute, the first of equals), and the scale of every graph (its
/// largest attribute); both look at the last `classes` columns only.
pub(super) fn classes_and_scales(graph: &GraphTensors, classes: usize) -> (Vec<u32>, Vec<f64>) {
    let attributes: Vec<f64> =
        graph.node_attributes().detach().try_into_vec_as().expect("the device gives its tensors back");
    let width = graph.node_attributes().dims()[1].max(1);
    let marks = |rows: Range<usize>| attributes[rows.start * width..rows.end * width].chunks_exact(width);
    let places = marks(0..graph.nodes()).map(|row| {
        let row = &row[width - classes..];
        let best = row.iter().enumerate().fold(0, |best, (place, &value)| if value > row[best] { place } else { best });
        best as u32
    });
    let scale = |nodes: Range<usize>| {
        let values = marks(nodes).flat_map(|row| &row[width - classes..]);
        // A graph without positive attributes has no scale; any positive number keeps its features finite.
        values.copied().fold(f64::from(f32::MIN_POSITIVE), f64::max)
    };
    (places.collect(), graph.node_segments().iter().map(scale).collect())
}
